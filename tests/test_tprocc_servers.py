"""TPROC-C as a study runs it, on several products: figures by both counts, and all conditions."""

import pytest
from installs import MARIADB_11_8, MYSQL_9_7, SYSTEM, find_install
from installs import small_config as small_config_of
from studies import connect_to, small_study

import benchkit as bk
from benchkit.suites.native import drop_data
from benchkit.workloads.tprocc_conditions import CONDITIONS

TRANSACTIONS = 4600  # 200 decks of 23


@pytest.fixture(
    scope="module",
    params=[
        MYSQL_9_7,
        pytest.param(MARIADB_11_8, marks=pytest.mark.slow),
        pytest.param(SYSTEM, marks=pytest.mark.slow),
    ],
)
def a_server(request, data_base):
    install = find_install(request.param)
    with bk.Server(small_config_of(install), install=install) as server:
        yield server


@pytest.fixture(params=["hammerdb6", "spec"])
def flavour(request):
    return request.param


def run_study(server, workload, folder):
    """Return the record of one run with 8 threads, and leave nothing on the server."""
    study = small_study(
        [connect_to(server)], workloads=[workload], threads=[8], transactions=TRANSACTIONS
    )
    (record,) = study.run(folder)["small"].records
    drop_data(server, bk.store.StudyFolder.open(folder).study["data_id"])
    return record


def test_study_counts_as_the_server_does_and_keeps_the_conditions(a_server, flavour, tmp_path):
    workload = bk.workloads.tprocc(warehouses=1, flavour=flavour, mix="deck")
    record = run_study(a_server, workload, tmp_path / "s")
    figures = record.metrics
    assert figures["nopm"] == pytest.approx(figures["nopm_client"], rel=0.01)
    assert figures["tpm"] == pytest.approx(figures["tpm_client"], rel=0.01)
    assert 2.28 < figures["tpm"] / figures["nopm"] < 2.37
    assert not [text for text in record.warnings if "counted" in text or "TPM" in text]
    looked_at = [c for c in CONDITIONS[flavour] if "run" in c.looked_at]
    assert set(record.consistency) == {c.name for c in looked_at}
    assert not any(record.consistency[c.name] for c in looked_at if "run" in c.required)
    assert {e.number for e in record.errors} <= {1213, 1205}  # whoever waits for whom
