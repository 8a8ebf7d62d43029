"""HammerDB's output inside of a document of another tool, such as Ansible's."""

import json

import hammerdb_writer as writer
import pytest
from hammerdb_reading import only, read
from hammerdb_writer import Run, dumped, figures

from benchkit import from_auto

CAPTURED = [
    "SETTING CONFIGURATION",
    "Changed tpcc:maria_rampup from 2 to 1 for MariaDB",
    *writer.log(Run(users=2, counts=(0, 900, 1000)), banner="6.0"),
    *writer.profile(Run(users=2, timing=figures())),
    *dumped(writer.job_result(Run(users=2))),
]


@pytest.mark.parametrize(
    "document",
    [
        {"changed": True, "rc": 0, "stdout_lines": CAPTURED},
        {"stdout": "\n".join(CAPTURED), "stdout_lines": CAPTURED},
        {"results": [{"item": 2, "stdout": "\n".join(CAPTURED)}]},
    ],
)
@pytest.mark.parametrize("before", ["", "ok: [host-1] => ", "changed: [10.0.0.1]: FAILED! => "])
@pytest.mark.parametrize("indent", [None, 4])
def test_captured_output_is_read_as_what_was_printed(document, before, indent):
    def told(run):
        return run.threads, run.workload, run.metrics, run.extra, len(run.series)

    lines = (before + json.dumps(document, indent=indent)).splitlines()
    assert told(only(lines)) == told(only(CAPTURED))


def test_captured_outputs_are_runs_of_their_own():
    results = [{"stdout_lines": writer.log(Run(users=users, job=""))} for users in (1, 2, 4)]
    runs = read(json.dumps({"results": results}, indent=2).splitlines()).runs
    assert [run.threads for run in runs] == [1, 2, 4]


@pytest.mark.parametrize("form", [writer.job_result(Run()), writer.job_report(Run())])
def test_captured_document_is_read_as_a_document(form):
    run = only([json.dumps({"stdout": json.dumps(form)})])
    assert (run.extra["jobid"], run.metrics) == (Run().job, {"nopm": 42333, "tpm": 98385})


@pytest.mark.parametrize(
    "printed",
    [
        ["Value of a setting"] * 100 + writer.log(Run()),
        dumped(writer.job_timing(Run(timing=figures()))),
        writer.profile(Run(timing=figures())),
    ],
)
def test_captured_output_on_one_line_is_known(tmp_path, printed):
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"changed": True, "stdout": "\n".join(printed)}))
    assert len(from_auto(path).to_pandas()) == 1


@pytest.mark.parametrize("container", ["hammerdb-1  | ", "[pod/hammerdb-x1/hammerdb] "])
def test_document_on_one_line_of_a_container_is_read(container):
    made = Run(counts=[98385, 98385])
    document = {"result": writer.job_result(made), "tcount": writer.job_counts(made)}
    run = only([container + json.dumps(document)])
    assert (run.extra["jobid"], run.extra["tcount_tpm"]) == (made.job, made.counts)
