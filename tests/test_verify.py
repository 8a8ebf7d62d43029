"""Verifying stored studies: files that changed, data that differ."""

import pytest
from click.testing import CliRunner
from studies import connect_to, small_study

from benchkit.cli import main
from benchkit.store import StudyFolder
from benchkit.verify import verify_study


@pytest.fixture(scope="module")
def stored(tmp_path_factory, server):
    folder = tmp_path_factory.mktemp("verify") / "s"
    small_study([connect_to(server)], threads=[1, 2]).run(folder, progress=False)
    return folder


def test_study_as_it_was_written_has_no_problems(stored):
    verification = verify_study(stored)
    assert (verification.runs, verification.problems) == (2, ())
    per_run = len(StudyFolder.open(stored).runs()[0].record.files)
    assert verification.files == 2 * per_run + 2  # of both: the host, the properties


def test_changed_and_missing_files_are_named(stored):
    one, other = StudyFolder.open(stored).runs()
    series, log = one.path / "series.npy", other.path / "latency.hlog"
    written, text = series.read_bytes(), log.read_bytes()
    series.write_bytes(written[:-1] + bytes([written[-1] ^ 1]))
    log.unlink()
    try:
        outcome = CliRunner().invoke(main, ["verify", str(stored)], prog_name="benchkit")
    finally:
        series.write_bytes(written)
        log.write_bytes(text)
    assert outcome.exit_code == 1
    assert f"error: {series} is not what was written" in outcome.output
    assert f"error: {log} cannot be read: No such file or directory" in outcome.output
    assert "2 runs, " in outcome.output
    assert "2 problems" in outcome.output
