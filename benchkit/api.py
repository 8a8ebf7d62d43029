"""Where the two halves meet for users: a study that returns its results, and tables for plans.

The measuring half never imports the analysing half; this module knows both.
"""

import html
import os
import warnings

from benchkit import plan as planning
from benchkit import study as measuring
from benchkit.errors import StudyWarning
from benchkit.execute import describe_failures
from benchkit.results import Results, load


class Plan(planning.Plan):
    """A plan that shows itself as a table, in a terminal and in a notebook."""

    __slots__ = ()

    def __repr__(self) -> str:
        columns = zip(planning.PLAN_COLUMNS, *self.rows(), strict=True)
        widths = [max(map(len, column)) for column in columns]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (planning.PLAN_COLUMNS, *self.rows())
        ]
        return "\n".join([self.summary(), *lines])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in planning.PLAN_COLUMNS)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows()
        )
        return (
            f"<p>{html.escape(self.summary())}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


class Study(measuring.Study):  # noqa: D101 - inherited
    __doc__ = measuring.Study.__doc__
    __slots__ = ()

    def plan(self) -> Plan:
        """Return the runs in their order, with an estimate of the time; nothing runs."""
        plan = super().plan()
        return Plan(plan.study, plan.grid, plan.runs)

    def run(self, path: str | os.PathLike[str], *, progress: bool = True) -> Results:
        """Execute what the folder lacks, and return all its results.

        Safe to interrupt: Ctrl-C, a crash or a killed notebook loses at most the run that was
        under way, and the same line goes on from there.

        Parameters
        ----------
        path : path-like
            The study's folder; made if it does not exist.
        progress : bool
            Show a progress bar.

        Returns
        -------
        Results

        Raises
        ------
        BenchkitError
            As `measure`. Runs that fail do not stop a study: they are warned of
            (`StudyWarning`) and tried again by the next call.
        """
        failures = self.measure(path, progress=progress)
        if failures:
            warnings.warn(describe_failures(failures), StudyWarning, stacklevel=2)
        return load(path)
