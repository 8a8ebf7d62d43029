"""How a study tells what it is doing: a bar, lines in a log, or nothing.

A bar moves over the planned seconds of the runs to come and says how the present run is going.
Where nothing can be drawn over, in a log file say, there is one line for each run instead.
"""

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

from tqdm.std import tqdm

from benchkit.plan import PlannedRun
from benchkit.record import DRAIN, WARMUP
from benchkit.units import format_duration

# What matters most comes first: a line that is too long for a terminal loses its end.
_TEXT_FORMAT = "{percentage:3.0f}% |{bar:12}| {remaining} left, {desc}"
_WIDGET_FORMAT = "{percentage:3.0f}% {bar} {remaining} left, {desc}"


class Progress:
    """Tells nobody; the others override what they tell.

    Parameters
    ----------
    runs : sequence of PlannedRun
        What is left to do.
    """

    def __init__(self, runs: Sequence[PlannedRun]) -> None:
        self._runs = runs

    def begin_run(self, run: PlannedRun) -> None:
        """Name the run that starts now."""

    def show_step(self, what: str) -> None:
        """Say what happens before a run can begin."""

    def show_row(self, row: Mapping[str, float]) -> None:
        """Show an interval of the run."""

    def end_run(self, metrics: Mapping[str, float]) -> None:
        """Count a run as done, however long it took."""

    def fail_run(self, message: str) -> None:
        """Say how a run failed, and count it as done."""

    def close(self) -> None:
        """Say no more."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class LoadMeter:
    """Says how a load goes, each time it is told how many rows are there.

    Parameters
    ----------
    total : int
        Rows at the end, or about so many.
    show : callable
        Takes the text: a share, rows per second, and the time left.
    """

    def __init__(self, total: int, show: Callable[[str], None]) -> None:
        self._total = total
        self._show = show
        self._began: tuple[float, int] | None = None

    def __call__(self, rows: int) -> None:
        """Say how far it is with so many rows there."""
        now_s = time.monotonic()
        began_s, before = self._began = self._began or (now_s, rows)
        share = min(rows / max(self._total, 1), 1.0)
        text = f"loading {share:.0%}"
        if rows > before:
            per_s = (rows - before) / (now_s - began_s)
            left_s = max(self._total - rows, 0) / per_s
            text += f", {per_s:,.0f} rows/s, {format_duration(round(left_s))} left"
        self._show(text)


class LineProgress(Progress):
    """Prints a line to stderr as each run ends."""

    def __init__(self, runs: Sequence[PlannedRun]) -> None:
        super().__init__(runs)
        self._began_s = time.monotonic()
        self._ended = 0
        self._errors = 0
        self._label = ""

    def begin_run(self, run: PlannedRun) -> None:
        """Remember how the run is called."""
        self._errors = 0
        self._label = run.label

    def show_row(self, row: Mapping[str, float]) -> None:
        """Count the errors."""
        self._errors += int(row["errors"])

    def end_run(self, metrics: Mapping[str, float]) -> None:
        """Print what was measured."""
        self._print(f"{self._label}: {_describe(metrics, self._errors)}")

    def fail_run(self, message: str) -> None:
        """Print how the run failed."""
        self._print(f"failed: {message}")

    def _print(self, what: str) -> None:
        self._ended += 1
        total = len(self._runs)
        left_s = (time.monotonic() - self._began_s) / self._ended * (total - self._ended)
        left = f", {format_duration(round(left_s))} left" if left_s else ""
        print(f"{self._ended}/{total} {what}{left}", file=sys.stderr, flush=True)


class BarProgress(Progress):
    """Moves a bar of tqdm.

    Parameters
    ----------
    runs : sequence of PlannedRun
    bar_class : type
        tqdm, or one of its kin.
    bar_format : str
    """

    def __init__(self, runs: Sequence[PlannedRun], bar_class: Any, bar_format: str) -> None:
        super().__init__(runs)
        self._begun = 0
        self._errors = 0
        self._left_of_run_s = 0.0
        self._label = ""
        self._bar = bar_class(
            total=max(round(sum(run.expected_s for run in runs), 3), 0.001),
            bar_format=bar_format,
            file=sys.stderr,
            dynamic_ncols=True,
            miniters=0,
        )

    def begin_run(self, run: PlannedRun) -> None:
        """Name the run that starts now."""
        self._begun += 1
        self._errors = 0
        self._left_of_run_s = run.expected_s
        self._label = f"{self._begun}/{len(self._runs)} {run.label}"
        self._show("")

    def show_step(self, what: str) -> None:
        """Say what happens before a run can begin."""
        self._show(what)

    def show_row(self, row: Mapping[str, float]) -> None:
        """Show an interval: throughput now, 95th percentile, errors so far in this run."""
        self._errors += int(row["errors"])
        if row["phase"] == DRAIN:
            return
        now = {
            "tps": row["committed"] / row["elapsed_s"],
            "latency_p95": row["response_p95_s"],
        }
        phase = "warmup, " if row["phase"] == WARMUP else ""
        self._advance(row["elapsed_s"])
        self._show(f"{phase}{_describe(now, self._errors)}")

    def end_run(self, metrics: Mapping[str, float]) -> None:
        """Move to the planned end of the run."""
        self._advance(self._left_of_run_s)

    def fail_run(self, message: str) -> None:
        """Print a line that stays, above the bar."""
        self._bar.write(f"failed: {message}", file=sys.stderr)
        self._advance(self._left_of_run_s)

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.close()

    def _show(self, what: str) -> None:
        description = ", ".join(filter(None, (what, self._label)))
        if description != self._bar.desc:
            self._bar.set_description_str(description)

    def _advance(self, seconds: float) -> None:
        seconds = min(seconds, self._left_of_run_s)
        self._left_of_run_s -= seconds
        self._bar.update(seconds)


def make_progress(runs: Sequence[PlannedRun], enabled: bool) -> Progress:
    """Return what can be shown here: a widget, a bar of text, lines, or nothing.

    Parameters
    ----------
    runs : sequence of PlannedRun
        What is left to do.
    enabled : bool
        Whether anything is to be shown.
    """
    if not enabled or not runs:
        return Progress(runs)
    if _in_notebook():
        if find_spec("ipywidgets") is None:  # tqdm's widget would only complain
            return BarProgress(runs, tqdm, _TEXT_FORMAT)
        from tqdm.notebook import tqdm_notebook

        return BarProgress(runs, tqdm_notebook, _WIDGET_FORMAT)
    if sys.stderr.isatty():
        return BarProgress(runs, tqdm, _TEXT_FORMAT)
    return LineProgress(runs)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")


def _describe(metrics: Mapping[str, float], errors: int) -> str:
    p95_ms = 1000.0 * metrics["latency_p95"]
    response = "" if math.isnan(p95_ms) else f"p95 {p95_ms:.2f} ms, "
    return f"{metrics['tps']:,.0f} tps, {response}{errors} errors"
