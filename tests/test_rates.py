"""Rates per minute, as the server and as the client counted them, and when they are doubted."""

import numpy as np
import pytest

from benchkit.rates import compute_rates, doubt_rates
from benchkit.record import MEASUREMENT, SERIES_DTYPE, WARMUP
from benchkit.workloads.rate import Rate

NOPM = Rate("nopm", ("new_orders",), ("new_order",), queries=(("new_orders", "SELECT 1"),))
TPM = Rate("tpm", ("com_commit", "com_rollback"), ("new_order", "payment"), every_attempt=True)


def result(seconds=30.0):
    rows = np.zeros(3, SERIES_DTYPE)
    rows["phase"] = [WARMUP, MEASUREMENT, MEASUREMENT]
    names = ("name", "committed", "rolled_back", "failed", "retries")
    counts = [("new_order", 100, 2, 1, 3), ("payment", 50, 0, 0, 4), ("other", 9, 9, 9, 9)]
    transactions = [dict(zip(names, count, strict=True)) for count in counts]
    return {"rows": rows, "measured_s": seconds, "transactions": transactions}


def monitored(**columns):
    table = np.zeros(3, [(name, "<f8") for name in columns])
    for name, column in columns.items():
        table[name] = column
    return table


def test_server_counters_are_added_up_over_the_measurement():
    counted = monitored(new_orders=[7, 60, 40], com_commit=[9, 100, 50], com_rollback=[0, 6, 4])
    metrics = compute_rates(result(), counted, [NOPM, TPM])
    assert metrics["nopm"] == 200
    assert metrics["tpm"] == 320


def test_client_counts_commits_and_where_asked_every_attempt():
    metrics = compute_rates(result(), None, [NOPM, TPM])
    assert metrics == {"nopm_client": 200, "tpm_client": 2 * (100 + 2 + 1 + 3 + 50 + 4)}


def test_counter_that_never_moved_counts_nothing():
    counted = monitored(com_commit=[9, 100, 50])
    assert compute_rates(result(), counted, [TPM])["tpm"] == 300


def test_nothing_that_moved_is_a_rate_of_zero():
    users_that_type = result()
    users_that_type["transactions"] = []
    metrics = compute_rates(users_that_type, monitored(queries=[1, 1, 1]), [NOPM])
    assert metrics == {"nopm": 0, "nopm_client": 0}
    unread = compute_rates(users_that_type, monitored(host_cpu_user_s=[1, 1, 1]), [NOPM])
    assert unread == {"nopm_client": 0}


def test_nothing_measured_has_no_rates():
    assert compute_rates(result(0.0), None, [NOPM]) == {}


GOOD = {"nopm": 1000.0, "nopm_client": 1000.0, "tpm": 2323.0, "tpm_client": 2323.0}


@pytest.mark.parametrize(
    ("changes", "doubt"),
    [
        ({"nopm_client": 985.0}, "nopm: the server counted 1,000, the client 985"),
        ({"tpm": 2290.0}, "tpm: the server counted 2,290, the client 2,323"),
        ({"tpm": 2500.0, "tpm_client": 2500.0}, "TPM / NOPM is 2.500"),
        ({"tpm": 2200.0, "tpm_client": 2200.0}, "TPM / NOPM is 2.200"),
    ],
)
def test_what_disagrees_is_doubted(changes, doubt):
    (found,) = doubt_rates({**GOOD, **changes}, 100_000)
    assert doubt in found


def test_agreement_is_not_doubted():
    assert doubt_rates({**GOOD, "nopm_client": 991.0}, 100_000) == []


def test_mix_that_chance_draws_is_not_doubted():
    drawn = {**GOOD, "tpm": 2450.0, "tpm_client": 2450.0}
    assert doubt_rates(drawn, 2_000) == []
    assert doubt_rates(drawn, 200_000) == ["TPM / NOPM is 2.450, outside 2.23 to 2.42"]


def test_few_transactions_are_not_doubted():
    assert doubt_rates({**GOOD, "nopm_client": 900.0}, 100) == []


def test_rates_of_other_workloads_are_not_doubted():
    assert doubt_rates({"tps": 5.0}, 100_000) == []
