"""The runs of one server setup under one workload, as arrays.

A `Dataset` is a read-only view of stored runs, thread counts x iterations. Metrics come from
each ``run.json``; the interval series are memory maps and the histograms are decoded when they
are asked for. What a run did not measure is NaN. Which runs make up a dataset is decided in
``results.py``.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchkit._core import Histogram
from benchkit.errors import MetricError, unknown_name
from benchkit.hlog import PHASE_PREFIX, merge_histograms
from benchkit.metrics import METRICS, find_metric
from benchkit.record import RunRecord, threads_text
from benchkit.series import Column, find_column, phase_slice
from benchkit.stored import StoredRun

Floats = NDArray[np.float64]


class Dataset:
    """All runs of one server setup under one workload.

    Made by `load`; `results[label]` returns one.

    Parameters
    ----------
    label : str
        The name that tells it apart within its results.
    runs : list of StoredRun
        With the same study, server and workload, and different (threads, iteration).
    """

    def __init__(self, label: str, runs: list[StoredRun]) -> None:
        self.label = label
        self._runs = {_cell(run): run for run in sorted(runs, key=_cell)}
        first = runs[0].record
        self.study = first.study
        self.server = first.factors.server
        self.workload = first.factors.workload

    @property
    def threads(self) -> NDArray[np.int64]:
        """The thread counts, ascending."""
        return np.unique([threads for threads, _ in self._runs])

    @property
    def iterations(self) -> NDArray[np.int64]:
        """The iteration numbers, ascending."""
        return np.unique([iteration for _, iteration in self._runs])

    @property
    def runs(self) -> list[StoredRun]:
        """The stored runs, by threads, then iteration."""
        return list(self._runs.values())

    @property
    def records(self) -> list[RunRecord]:
        """The runs' records, by threads, then iteration."""
        return [run.record for run in self._runs.values()]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that some run has a value of."""
        present = {
            name
            for record in self.records
            for name, value in record.metrics.items()
            if not math.isnan(value)
        }
        return tuple(name for name in METRICS if name in present)

    def array(self, metric: str) -> Floats:
        """Return a metric of every run.

        Parameters
        ----------
        metric : str

        Returns
        -------
        ndarray, shape (threads, iterations)
            In the metric's unit; NaN where a run or its value is absent. The rows and columns
            are those of `threads` and `iterations`.

        Raises
        ------
        MetricError
            If there is no such metric.
        """
        name = find_metric(metric).name
        row = {threads: i for i, threads in enumerate(self.threads.tolist())}
        column = {iteration: i for i, iteration in enumerate(self.iterations.tolist())}
        values = np.full((len(row), len(column)), np.nan)
        for (threads, iteration), run in self._runs.items():
            values[row[threads], column[iteration]] = run.record.metrics.get(name, np.nan)
        return values

    def series(
        self,
        metric: str,
        *,
        threads: int | None = None,
        iteration: int | None = None,
        phase: str = "measurement",
    ) -> NDArray[Any]:
        """Return a metric, or a raw field, interval by interval (about a second each).

        Parameters
        ----------
        metric : str
            Such as ``"tps"`` or ``"latency_p95"``; a field of ``series.npy`` such as
            ``"time_s"``; or what the server and the host counted, such as
            ``"innodb_data_fsyncs"``, ``"threads_running"`` or ``"server_cpu_s"``: growth in the
            interval, or value at its end where it goes up and down. ``_per_s`` after a
            counter's name divides by the interval's length.
        threads : int, optional
            May be left out where the dataset has one thread count only.
        iteration : int, optional
            One iteration instead of all.
        phase : str
            ``"measurement"``, ``"warmup"``, ``"drain"`` or ``"all"``.

        Returns
        -------
        ndarray, shape (iterations, intervals) or (intervals,)
            Two-dimensional without `iteration`: a row for each of `iterations`, padded at its
            end with NaN. With `iteration`, one-dimensional, and for a raw field a read-only
            view of the memory-mapped file.

        Raises
        ------
        MetricError
            If there is no such metric, thread count, iteration or phase.
        """
        column = find_column(metric, self.runs)
        count = self._one_thread_count(threads)
        if iteration is not None:
            run = self._run(count, iteration)
            return column(run, phase_slice(run, phase))
        return self._padded(column, count, phase)

    def _padded(self, column: Column, threads: int, phase: str) -> Floats:
        """Return the series of every iteration as rows of one length."""
        runs = [self._runs.get((threads, iteration)) for iteration in self.iterations.tolist()]
        rows = [
            np.empty(0) if run is None else column(run, phase_slice(run, phase)) for run in runs
        ]
        padded = np.full((len(rows), max(len(row) for row in rows)), np.nan)
        for target, row in zip(padded, rows, strict=True):
            target[: len(row)] = row
        return padded

    def histogram(
        self,
        threads: int | None = None,
        iteration: int | None = None,
        tag: str | None = None,
        phase: str = "measurement",
    ) -> Histogram:
        """Return response times in nanoseconds, merged over intervals and runs.

        Parameters
        ----------
        threads, iteration : int, optional
            Take these runs only; by default all.
        tag : str, optional
            Such as ``"transaction.oltp_read_only"`` or ``"statement.commit"``; by default all
            transactions.
        phase : str
            ``"measurement"``, ``"warmup"`` or ``"drain"``.

        Raises
        ------
        MetricError
            If there is no such run, tag or phase.
        """
        if phase not in PHASE_PREFIX:
            raise MetricError(unknown_name("phase", phase, PHASE_PREFIX))
        logs = [run.log() for run in self._matching(threads, iteration)]
        prefix = PHASE_PREFIX[phase]
        tags = dict.fromkeys(tag for log in logs for tag in log.tags)
        wanted = [name for name in tags if name.startswith(f"{prefix}transaction.")]
        if tag is not None:
            wanted = [prefix + tag]
        merged = merge_histograms(
            histogram for log in logs if (histogram := log.merged(wanted)) is not None
        )
        if merged is None and tag is None:
            raise MetricError(
                f"dataset {self.label!r} has no response times of the {phase}: no transaction was "
                "committed in it, or its runs came without histograms"
            )
        if merged is None:
            raise MetricError(unknown_name("tag", wanted[0], tags))
        return merged

    def _matching(self, threads: int | None, iteration: int | None) -> list[StoredRun]:
        """Return the runs of these factors; None stands for any."""
        if threads is not None:
            self._one_thread_count(threads)
        if threads is not None and iteration is not None:
            return [self._run(threads, iteration)]
        runs = [
            run
            for cell, run in self._runs.items()
            if (threads is None or cell[0] == threads)
            and (iteration is None or cell[1] == iteration)
        ]
        if not runs:
            known = ", ".join(map(str, self.iterations))
            raise MetricError(
                f"dataset {self.label!r} has no iteration {iteration}; it has {known}"
            )
        return runs

    def _run(self, threads: int, iteration: int) -> StoredRun:
        if (threads, iteration) not in self._runs:
            known = ", ".join(str(i) for t, i in self._runs if t == threads)
            raise MetricError(
                f"dataset {self.label!r} has no iteration {iteration} with {threads} threads; "
                f"it has {known}"
            )
        return self._runs[threads, iteration]

    def _one_thread_count(self, threads: int | None) -> int:
        """Return the thread count that was asked for, or the only one there is."""
        counts = self.threads.tolist()
        if threads is None and len(counts) == 1:
            return int(counts[0])
        if threads is None or threads not in counts:
            asked = "needs threads=" if threads is None else f"has no runs with {threads} threads"
            known = ", ".join(map(str, counts))
            raise MetricError(f"dataset {self.label!r} {asked}; it has {known}")
        return threads

    def __repr__(self) -> str:
        return (
            f"<Dataset {self.label!r}: {self.workload} on {self.server}, "
            f"threads {', '.join(map(threads_text, self.threads))}, {len(self._runs)} runs>"
        )


def _cell(run: StoredRun) -> tuple[int, int]:
    return run.record.factors.threads, run.record.factors.iteration
