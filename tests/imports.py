"""Files as studies: imports for tests, from known values."""

import warnings

import taf_writer

from benchkit import from_taf
from benchkit.errors import StudyWarning


def write(path, text):
    """Write a file, and return its path."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def report_of(*datasets, **changes):
    """Return a comparison report of datasets; numbers are values at one thread."""
    return taf_writer.tab_report(taf_writer.Report(list(datasets), **changes))


def dataset(version, *values, **facts):
    """Return a column with these iterations at 8 threads."""
    return taf_writer.Dataset(version, {8: list(values)}, **facts)


def imported(folder, text, name="report", **how):
    """Return the results in a text of TAF's, stored below a folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StudyWarning)
        return from_taf(write(folder / f"{name}.txt", text), folder / name, **how)
