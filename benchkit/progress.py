"""The progress bar of a study: planned seconds done, and how the present run is going."""

import sys
from importlib.util import find_spec
from typing import Any, Self

from tqdm.std import tqdm

from benchkit.plan import PlannedRun
from benchkit.record import DRAIN, WARMUP


class Progress:
    """A tqdm bar over the planned time of the runs to come; silent if not wanted.

    Parameters
    ----------
    runs : list of PlannedRun
        What is left to do.
    enabled : bool
    """

    def __init__(self, runs: list[PlannedRun], enabled: bool) -> None:
        self._bar = _make_bar(sum(run.expected_s for run in runs), enabled)
        self._total = len(runs)
        self._started = 0
        self._errors = 0
        self._left_of_run_s = 0.0

    def begin_run(self, run: PlannedRun) -> None:
        """Name the run that starts now."""
        self._started += 1
        self._errors = 0
        self._left_of_run_s = run.expected_s
        self._bar.set_description_str(f"{self._started}/{self._total} {run.label}")
        self._bar.set_postfix_str("")

    def show_step(self, what: str) -> None:
        """Say what happens before the run can begin."""
        self._bar.set_postfix_str(what)

    def show_row(self, row: dict[str, float]) -> None:
        """Show an interval of the run: throughput now, 95th percentile, errors so far."""
        self._errors += int(row["errors"])
        if row["phase"] == DRAIN:
            return
        tps = row["committed"] / row["elapsed_s"]
        p95_ms = 1000.0 * row["response_p95_s"]
        phase = "warmup, " if row["phase"] == WARMUP else ""
        self._bar.set_postfix_str(
            f"{phase}{tps:,.0f} tps, p95 {p95_ms:.2f} ms, errors {self._errors}", refresh=False
        )
        self._advance(row["elapsed_s"])

    def end_run(self) -> None:
        """Count the run as done, however long it took."""
        self._advance(self._left_of_run_s)

    def write(self, message: str) -> None:
        """Print a line that stays, above the bar."""
        self._bar.write(message)

    def _advance(self, seconds: float) -> None:
        seconds = min(seconds, self._left_of_run_s)
        self._left_of_run_s -= seconds
        self._bar.update(seconds)
        self._bar.refresh()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()


def _make_bar(total_s: float, enabled: bool) -> Any:
    """Return a notebook bar where that can be shown, and a text bar elsewhere."""
    bar_class = _notebook_bar() if enabled else None
    return (bar_class or tqdm)(
        total=max(round(total_s, 3), 0.001),
        disable=not enabled,
        bar_format="{desc} |{bar}| {percentage:3.0f}% [{elapsed}<{remaining}{postfix}]",
        dynamic_ncols=True,
        miniters=0,
    )


def _notebook_bar() -> Any:
    """Return tqdm's widget bar in a notebook that has ipywidgets, else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    in_notebook = shell is not None and hasattr(shell, "kernel")
    if not in_notebook or find_spec("ipywidgets") is None:  # without it, tqdm only warns
        return None
    from tqdm.notebook import tqdm_notebook

    return tqdm_notebook
