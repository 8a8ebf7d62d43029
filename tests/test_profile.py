"""A server's stacks are sampled with perf where that can be; a run is as good without."""

import os
import shutil

import pytest
from studies import connect_to, small_study

import benchkit as bk
from benchkit import profile
from benchkit.errors import StudyError
from benchkit.profile import fold

SCRIPT = """\
one_connection  4711 1234.567890:     250000 cpu-clock:ppp:
\t      7f00deadbeef row_search_mvcc+0x1a (/usr/sbin/mariadbd)
\t      7f00deadbee0 handler::ha_index_read(int; char) (/usr/sbin/mariadbd)
\t      7f00deadbe00 [unknown] ([unknown])

one_connection  4711 1234.577890:     250000 cpu-clock:ppp:
\t      7f00deadbeef row_search_mvcc+0x2b (/usr/sbin/mariadbd)
\t      7f00deadbee0 handler::ha_index_read(int; char) (/usr/sbin/mariadbd)
\t      7f00deadbe00 [unknown] ([unknown])

io thread  4712 1234.587890:     250000 cpu-clock:ppp:
\t  ffffffff81000000 fsync (/usr/lib/libc.so.6)
"""


def test_stacks_are_folded_from_the_outermost_frame_and_counted():
    assert fold(SCRIPT) == (
        "one_connection;[unknown];handler::ha_index_read(int: char);row_search_mvcc 2\n"
        "io thread;fsync 1\n"
    )


def test_nothing_folds_to_nothing():
    assert fold("") == ""


def profiled(servers, folder, **changes):
    study = small_study(
        servers, profile="perf", transactions=0, duration="1.5s", threads=[2], **changes
    )
    return study.run(folder)["small"].runs[0]


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_profile_has_the_stacks_of_the_server(small_config, tmp_path):
    run = profiled([bk.Server(small_config)], tmp_path / "s")
    if not run.profile():
        assert any("no profile: perf" in warning for warning in run.record.warnings)
        pytest.skip(run.record.warnings[-1])
    assert all(samples > 0 for samples in run.profile().values())
    assert run.record.conditions == {"profile": "perf"}


def test_absent_perf_is_a_warning(small_config, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    run = profiled([bk.Server(small_config)], tmp_path / "s")
    assert run.profile() == {}
    assert any("perf is not installed" in warning for warning in run.record.warnings)


def test_forbidden_perf_is_a_warning_in_its_own_words(small_config, tmp_path, monkeypatch):
    forbidden = tmp_path / "perf"
    forbidden.write_text(
        "#!/bin/sh\necho 'Access to performance monitoring is limited.'\nexit 255\n"
    )
    forbidden.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    run = profiled([bk.Server(small_config)], tmp_path / "s")
    assert any("Access to performance monitoring" in warning for warning in run.record.warnings)
    assert run.record.status == "complete"


def test_server_whose_process_is_not_known_is_a_warning(server, tmp_path, monkeypatch):
    monkeypatch.setattr(profile.shutil, "which", lambda name: "/usr/bin/perf")
    run = profiled([connect_to(server)], tmp_path / "s")
    assert any("process is not known" in warning for warning in run.record.warnings)


def test_unknown_profiler_is_refused(server):
    with pytest.raises(StudyError, match="perf"):
        small_study([connect_to(server)], profile="gprof")
