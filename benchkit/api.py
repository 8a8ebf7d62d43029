"""Where the parts meet for users: studies that return their results, plans, and past results.

The measuring half never imports the analysing half; this module knows both.
"""

import atexit
import html
import os
import shutil
import tempfile
import warnings
from pathlib import Path

from benchkit import install as binaries
from benchkit import plan as planning
from benchkit import study as measuring
from benchkit.archive import unpack_server
from benchkit.errors import StudyWarning
from benchkit.fetch import get_server
from benchkit.importers.reading import FAMILIES, Order, Paths, import_files
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


class Install(binaries.Install):  # noqa: D101 - inherited
    __doc__ = binaries.Install.__doc__

    @classmethod
    def unpack(
        cls,
        archive: str | os.PathLike[str],
        directory: str | os.PathLike[str],
        *,
        progress: bool = True,
    ) -> "Install":
        """Unpack a vendor's ``.tar.gz`` or ``.tar.xz`` into a folder of its own.

        Parameters
        ----------
        archive : path-like
        directory : path-like
            The install becomes a folder in it, named as in the archive.
        progress : bool
            Show a bar.

        Returns
        -------
        Install

        Raises
        ------
        ServerError
            When the archive is damaged, unsafe or not of a server that runs here, or the folder
            is there already. Nothing is left of it then.
        """
        return cls(unpack_server(Path(archive), Path(directory), progress))

    @classmethod
    def get(
        cls, product: str, version: str, directory: str | os.PathLike[str] | None = None
    ) -> "Install":
        """Return an install made of packages of Debian or Ubuntu; at once if it is there.

        Neither root nor a service is needed, and nothing of the system is changed.

        Parameters
        ----------
        product : "mariadb" or "mysql"
        version : str
            Such as ``"11.8"``: the newest release of it that a suite of the distribution has.
        directory : path-like, optional
            Which folder to make it in; by default one below BENCHKIT_SERVERS, or the user's
            cache.

        Returns
        -------
        Install

        Raises
        ------
        ServerError
            When there is no such version, with those that there are; on other systems.
        """
        return cls(get_server(product, version, directory))


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
            from benchkit.execute import describe_failures

            warnings.warn(describe_failures(failures), StudyWarning, stacklevel=2)
        return load(path)


def from_auto(
    paths: Paths,
    folder: str | os.PathLike[str] | None = None,
    *,
    label: str | None = None,
    lenient: bool = False,
) -> Results:
    """Return results of others' files, each in the format that it looks like.

    What was measured is in ``results.to_pandas()``, a row per run with its dataset, threads and
    metrics, the file it is from and what is doubtful about it; in ``ds.array("tps")`` and
    ``ds.series("tps", threads=8)`` of each dataset; and in ``ds.records``, whose ``warnings`` and
    ``facts["extra"]`` hold all else that the files say.

    Parameters
    ----------
    paths : path-like, or a sequence of them
        Files, or folders of them, of TAF, sysbench and HammerDB. A folder's files of other
        formats are passed over, which is warned of (`StudyWarning`).
    folder, label, lenient
        As in `from_taf`.

    Raises
    ------
    ImportFormatError, StoreError
        As `from_taf`.
    """
    return _import(paths, folder, Order(FAMILIES, label, lenient))


def from_taf(
    paths: Paths,
    folder: str | os.PathLike[str] | None = None,
    *,
    label: str | None = None,
    lenient: bool = False,
    convention: str | None = None,
) -> Results:
    """Return results of the TAF framework: comparison reports, result files, percent tables.

    Parameters
    ----------
    paths : path-like, or a sequence of them
        Files; a folder stands for all files in it.
    folder : path-like, optional
        Where the runs are stored, as a study that `load` reads later. By default a temporary
        folder that lasts until Python exits.
    label : str, optional
        What to call the dataset; by default what the files say.
    lenient : bool
        Keep what is readable of damaged files; what is not is warned of (`StudyWarning`).
    convention : {"ratio", "change"}, optional
        What a percent table's numbers are, where it does not say: candidate / baseline * 100,
        or percent change.

    Raises
    ------
    ImportFormatError
        When a file is of another format or damaged, naming file, line and what was expected.
    StoreError
        When a file was imported into the folder before, or the folder is something else's.
    """
    return _import(paths, folder, Order(("taf",), label, lenient, convention))


def from_sysbench(
    paths: Paths,
    folder: str | os.PathLike[str] | None = None,
    *,
    label: str | None = None,
    lenient: bool = False,
) -> Results:
    """Return results in logs of sysbench 0.4, 0.5, 1.0 or 1.1.

    Parameters and errors are those of `from_taf`.
    """
    return _import(paths, folder, Order(("sysbench",), label, lenient))


def from_hammerdb(
    paths: Paths,
    folder: str | os.PathLike[str] | None = None,
    *,
    label: str | None = None,
    lenient: bool = False,
) -> Results:
    """Return results of HammerDB: its logs, jobs, time profiles and transaction counters.

    Parameters and errors are those of `from_taf`.
    """
    return _import(paths, folder, Order(("hammerdb",), label, lenient))


def _import(paths: Paths, folder: str | os.PathLike[str] | None, order: Order) -> Results:
    target = _temporary_folder() if folder is None else folder
    outcome = import_files(paths, target, order)
    for problem in outcome.problems:
        warnings.warn(str(problem), StudyWarning, stacklevel=3)
    return load(target)


def _temporary_folder() -> str:
    """Make a folder that is removed when the interpreter exits."""
    folder = tempfile.mkdtemp(prefix="benchkit-import-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
