"""TPROC-C's payment as client SQL, and how a customer is found by name."""

from benchkit.generators import constant, timestamp
from benchkit.workloads.steps import (
    Begin,
    Calculate,
    Commit,
    Execute,
    If,
    Let,
    Offset,
    Source,
    Step,
)
from benchkit.workloads.tprocc_draws import draw_payment
from benchkit.workloads.tprocc_options import TproccOptions
from benchkit.workloads.tprocc_rules import AMOUNT_SQL
from benchkit.workloads.tprocc_schema import HAMMERDB, SPEC

BY_NAME = "c_w_id = ? AND c_d_id = ? AND c_last = ?"
BY_ID = "c_w_id = ? AND c_d_id = ? AND c_id = ?"


def _skip_to_customer(flavour: str) -> tuple[Step, ...]:
    """Return the steps from ``namesakes`` to how many of them come before the wanted one.

    The wanted one is the middle one, ceil(n / 2); with hammerdb6 the one behind it, if there is
    one: its procedures fetch once more than that, and fetching beyond the last changes nothing.
    """
    middle = (
        Let("skipped", Offset("namesakes", 1)),
        Let("skipped", Calculate("skipped", "//", 2)),
    )
    if flavour == SPEC:
        return (*middle, Let("skipped", Offset("skipped", -1)))
    last = Let("skipped", Offset("namesakes", -1))
    return (*middle, If("skipped", "==", "namesakes", (last,)))


def find_by_name(
    flavour: str, place: tuple[str, str], found: Execute, otherwise: tuple[Step, ...] = ()
) -> tuple[Step, ...]:
    """Return the steps that look for the customer of a name; ``found`` reads the one row."""
    return (
        Execute(
            f"SELECT COUNT(c_id) FROM customer WHERE {BY_NAME}",
            (*place, "c_last"),
            keep=(("namesakes", "integer"),),
            name="count_namesakes",
        ),
        If("namesakes", ">", 0, (*_skip_to_customer(flavour), found), otherwise),
    )


# Payment

_COLUMNS = (
    "c_first, c_middle, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit_lim, "
    "c_discount, c_since"
)
_ADDRESS = "{0}_street_1, {0}_street_2, {0}_city, {0}_state, {0}_zip"
_PAYER: tuple[Source, ...] = ("c_w_id", "c_d_id", "c_id")
_PAYER_PLACE = ("c_w_id", "c_d_id")


def _pay(options: TproccOptions) -> tuple[Step, ...]:
    """Return what both flavours begin with: the money goes to the warehouse and the district."""
    amount = AMOUNT_SQL[options.flavour]
    return (
        Begin(),
        Execute(
            f"UPDATE warehouse SET w_ytd = w_ytd + {amount} WHERE w_id = ?",
            ("amount", "w_id"),
            name="update_warehouse",
        ),
        Execute(
            f"SELECT w_name, {_ADDRESS.format('w')} FROM warehouse WHERE w_id = ?",
            ("w_id",),
            keep=(("w_name", "text"),),
            name="select_warehouse",
        ),
        Execute(
            f"UPDATE district SET d_ytd = d_ytd + {amount} WHERE d_w_id = ? AND d_id = ?",
            ("amount", "w_id", "d_id"),
            name="update_district_ytd",
        ),
        Execute(
            f"SELECT d_name, {_ADDRESS.format('d')} FROM district WHERE d_w_id = ? AND d_id = ?",
            ("w_id", "d_id"),
            keep=(("d_name", "text"),),
            name="select_district",
        ),
    )


def _record_payment(options: TproccOptions) -> tuple[Step, ...]:
    gap = {HAMMERDB: "' '", SPEC: "'    '"}[options.flavour]
    return (
        Execute(
            "INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, "
            f"h_data) VALUES (?, ?, ?, ?, ?, ?, {AMOUNT_SQL[options.flavour]}, "
            f"CONCAT(?, {gap}, ?))",
            (
                *("c_d_id", "c_w_id", "c_id", "d_id", "w_id"),
                *(timestamp(), "amount", "w_name", "d_name"),
            ),
            name="insert_history",
        ),
        Commit(),
    )


_READ_DATA = Execute(
    f"SELECT c_data FROM customer WHERE {BY_ID}",
    _PAYER,
    keep=(("c_data", "text"),),
    name="select_customer_data",
)

_IDS = ("c_id", "c_d_id", "c_w_id", "d_id", "w_id")

# The balance was read before: what others added to it meanwhile is lost, as with HammerDB.
_SUM = "c_balance = CAST(? AS DECIMAL(12,2)) + ?"
_PAID = "CONCAT(?, ' ', ?, ' ', ?, ' ', ?, ' ', ?, ' ', FORMAT(?, 2), ?, ?, ' ', ?)"
_PAID_SOURCES: tuple[Source, ...] = (*_IDS, "amount", timestamp(), "w_name", "d_name")


def _charge(
    changes: str, sources: tuple[Source, ...], data: str, data_sources: tuple[Source, ...]
) -> tuple[Step, ...]:
    """Return the steps that change a customer; one of bad credit has the payment noted too."""
    noting = Execute(
        f"UPDATE customer SET {changes}, c_data = {data} WHERE {BY_ID}",
        (*sources, *data_sources, *_PAYER),
        name="update_customer_data",
    )
    paying = Execute(
        f"UPDATE customer SET {changes} WHERE {BY_ID}", (*sources, *_PAYER), name="update_customer"
    )
    return (If("credit", "==", constant("BC"), (_READ_DATA, noting), (paying,)),)


_HAMMERDB_CREDIT = _charge(
    _SUM,
    ("balance", "amount"),
    f"SUBSTR(CONCAT({_PAID}, ?), 1, 500 - LENGTH({_PAID}))",
    (*_PAID_SOURCES, "c_data", *_PAID_SOURCES),
)

_HAMMERDB_CUSTOMER: tuple[Step, ...] = (
    If(
        "by_name",
        "==",
        1,
        find_by_name(
            HAMMERDB,
            _PAYER_PLACE,
            Execute(
                f"SELECT c_id, c_balance, c_credit, {_COLUMNS} FROM customer WHERE {BY_NAME} "
                "ORDER BY c_first LIMIT 1 OFFSET ?",
                (*_PAYER_PLACE, "c_last", "skipped"),
                keep=(("c_id", "integer"), ("balance", "text"), ("credit", "text")),
                name="select_customer_by_name",
            ),
            (Let("balance", constant("0")), Let("credit", constant("0"))),
        ),
        (
            Execute(
                f"SELECT c_balance, c_credit, c_last, {_COLUMNS} FROM customer WHERE {BY_ID}",
                _PAYER,
                keep=(("balance", "text"), ("credit", "text")),
                name="select_customer",
            ),
        ),
    ),
)

_PAY_OFF = (
    "c_balance = c_balance - ? / 100, c_ytd_payment = c_ytd_payment + ? / 100, "
    "c_payment_cnt = c_payment_cnt + 1"
)
_SPEC_PAID = "CONCAT(?, ' ', ?, ' ', ?, ' ', ?, ' ', ?, ' ', CAST(? / 100 AS DECIMAL(6,2)), ' ', ?)"

_SPEC_CREDIT = _charge(
    _PAY_OFF,
    ("amount", "amount"),
    f"LEFT({_SPEC_PAID}, 500)",
    (*_IDS, "amount", "c_data"),
)

_SPEC_CUSTOMER: tuple[Step, ...] = (
    If(
        "by_name",
        "==",
        1,
        find_by_name(
            SPEC,
            _PAYER_PLACE,
            Execute(
                f"SELECT c_id FROM customer WHERE {BY_NAME} ORDER BY c_first LIMIT 1 OFFSET ?",
                (*_PAYER_PLACE, "c_last", "skipped"),
                keep=(("c_id", "integer"),),
                name="select_customer_by_name",
            ),
        ),
    ),
    Execute(
        f"SELECT c_credit, c_balance, c_last, {_COLUMNS} FROM customer WHERE {BY_ID} FOR UPDATE",
        _PAYER,
        keep=(("credit", "text"),),
        rollback_if_none=True,
        name="select_customer",
    ),
)

_CUSTOMERS = {HAMMERDB: _HAMMERDB_CUSTOMER, SPEC: _SPEC_CUSTOMER}
_CREDITS = {HAMMERDB: _HAMMERDB_CREDIT, SPEC: _SPEC_CREDIT}


def payment(options: TproccOptions) -> tuple[Step, ...]:
    """Return the steps of a payment."""
    return (
        *draw_payment(options),
        *_pay(options),
        *_CUSTOMERS[options.flavour],
        *_CREDITS[options.flavour],
        *_record_payment(options),
    )
