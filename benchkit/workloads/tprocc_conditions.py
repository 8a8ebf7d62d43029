"""The twelve consistency conditions of TPC-C, clause 3.3.2, and which flavour keeps which.

| condition | ``spec``           | ``hammerdb6``                                    |
|-----------|--------------------|--------------------------------------------------|
| 1 to 9    | after load and run | after load and run                               |
| 10        | after load and run | with HammerDB's signs, after the load            |
| 11        | after the load     | after the load                                   |
| 12        | after load and run | never: payments are not added to c_ytd_payment   |

HammerDB adds payments to the balance that the specification takes from it, loads amounts for
delivered orders instead of undelivered ones, and reads the balance without a lock before it
writes it: concurrent payments of a customer overwrite each other, and concurrent deliveries of
an order count twice. So its condition 10 is only counted after a run.
"""

from benchkit.workloads.condition import Condition
from benchkit.workloads.tprocc_schema import HAMMERDB, SPEC

_NEWEST = """
SELECT d_w_id AS w_id, d_id, d_next_o_id, newest_order, newest_undelivered
FROM district
LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS newest_order
           FROM orders GROUP BY o_w_id, o_d_id) AS o ON o_w_id = d_w_id AND o_d_id = d_id
LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS newest_undelivered
           FROM new_order GROUP BY no_w_id, no_d_id) AS n ON no_w_id = d_w_id AND no_d_id = d_id
WHERE NOT d_next_o_id - 1 <=> newest_order
   OR newest_undelivered IS NOT NULL AND newest_undelivered <> newest_order"""

_LINES_OF_DISTRICT = """
SELECT o_w_id AS w_id, o_d_id AS d_id, promised, found
FROM (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS promised
      FROM orders GROUP BY o_w_id, o_d_id) AS o
LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS found
           FROM order_line GROUP BY ol_w_id, ol_d_id) AS l
       ON ol_w_id = o_w_id AND ol_d_id = o_d_id
WHERE NOT promised <=> found"""

_UNDELIVERED = """
SELECT o_w_id AS w_id, o_d_id AS d_id, o_id, o_carrier_id, no_o_id
FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)
UNION ALL
SELECT no_w_id, no_d_id, no_o_id, NULL, no_o_id
FROM new_order LEFT JOIN orders ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
WHERE o_id IS NULL"""

_LINES_OF_ORDER = """
SELECT o_w_id AS w_id, o_d_id AS d_id, o_id, o_ol_cnt, found
FROM orders
LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS found
           FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) AS l
       ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE NOT o_ol_cnt <=> found"""

_DELIVERY_DATES = """
SELECT ol_w_id AS w_id, ol_d_id AS d_id, ol_o_id AS o_id, ol_number, ol_delivery_d, o_carrier_id
FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)"""

_DELIVERED = """
SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered
FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE ol_delivery_d IS NOT NULL AND o_id > {loaded_as_delivered}
GROUP BY o_w_id, o_d_id, o_c_id"""

_BALANCES = """
SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance, {wanted} AS wanted
FROM customer
LEFT JOIN ({delivered}) AS o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid
           FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS h
       ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
WHERE c_balance <> {wanted}"""


def _balances(wanted: str, loaded_as_delivered: int) -> str:
    delivered = _DELIVERED.format(loaded_as_delivered=loaded_as_delivered)
    return _BALANCES.format(wanted=wanted, delivered=delivered)


_COMMON = (
    Condition(
        "condition 1",
        "a warehouse's year to date is the sum of its districts'",
        "SELECT w_id, w_ytd, SUM(d_ytd) AS of_districts FROM warehouse "
        "LEFT JOIN district ON d_w_id = w_id GROUP BY w_id, w_ytd "
        "HAVING NOT w_ytd <=> SUM(d_ytd)",
    ),
    Condition(
        "condition 2",
        "a district's next order follows its newest order, which is its newest undelivered one",
        _NEWEST,
    ),
    Condition(
        "condition 3",
        "the undelivered orders of a district have consecutive numbers",
        "SELECT no_w_id AS w_id, no_d_id AS d_id, MIN(no_o_id) AS oldest, MAX(no_o_id) AS newest, "
        "COUNT(*) AS found FROM new_order GROUP BY no_w_id, no_d_id "
        "HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)",
    ),
    Condition(
        "condition 4",
        "a district has as many order lines as its orders say together",
        _LINES_OF_DISTRICT,
    ),
    Condition(
        "condition 5",
        "an order has no carrier if, and only if, it is among the undelivered",
        _UNDELIVERED,
    ),
    Condition("condition 6", "an order has as many lines as it says", _LINES_OF_ORDER),
    Condition(
        "condition 7",
        "an order line has no delivery date if, and only if, its order has no carrier",
        _DELIVERY_DATES,
    ),
    Condition(
        "condition 8",
        "a warehouse's year to date is the sum of the payments to it",
        "SELECT w_id, w_ytd, paid FROM warehouse LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS paid "
        "FROM history GROUP BY h_w_id) AS h ON h_w_id = w_id WHERE NOT w_ytd <=> paid",
    ),
    Condition(
        "condition 9",
        "a district's year to date is the sum of the payments to it",
        "SELECT d_w_id AS w_id, d_id, d_ytd, paid FROM district LEFT JOIN (SELECT h_w_id, h_d_id, "
        "SUM(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) AS h "
        "ON h_w_id = d_w_id AND h_d_id = d_id WHERE NOT d_ytd <=> paid",
    ),
)

_ORDERS_DELIVERED_AT_LOAD = 2100

_BALANCE = {
    # Of the payments, the loaded one is in the loaded balance of -10 with the other sign.
    HAMMERDB: Condition(
        "condition 10",
        "a customer's balance is what was delivered plus what was paid since the load, less 10",
        _balances("COALESCE(delivered, 0) + COALESCE(paid, 0) - 20", _ORDERS_DELIVERED_AT_LOAD),
        required=("load",),
    ),
    SPEC: Condition(
        "condition 10",
        "a customer's balance is what was delivered less what was paid",
        _balances("COALESCE(delivered, 0) - COALESCE(paid, 0)", 0),
    ),
}

_DELIVERED_AT_LOAD = Condition(
    "condition 11",
    "a district has 2100 orders more than undelivered ones",
    "SELECT d_w_id AS w_id, d_id, all_orders, undelivered FROM district "
    "LEFT JOIN (SELECT o_w_id, o_d_id, COUNT(*) AS all_orders FROM orders "
    "GROUP BY o_w_id, o_d_id) AS o ON o_w_id = d_w_id AND o_d_id = d_id "
    "LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS undelivered FROM new_order "
    "GROUP BY no_w_id, no_d_id) AS n ON no_w_id = d_w_id AND no_d_id = d_id "
    f"WHERE NOT all_orders - undelivered <=> {_ORDERS_DELIVERED_AT_LOAD}",
    required=("load",),
    looked_at=("load",),
)

_SPENT = Condition(
    "condition 12",
    "a customer's balance and payments together are what was delivered",
    "SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance, c_ytd_payment, delivered "
    f"FROM customer LEFT JOIN ({_DELIVERED.format(loaded_as_delivered=0)}) AS o "
    "ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id "
    "WHERE c_balance + c_ytd_payment <> COALESCE(delivered, 0)",
)

CONDITIONS: dict[str, tuple[Condition, ...]] = {
    HAMMERDB: (*_COMMON, _BALANCE[HAMMERDB], _DELIVERED_AT_LOAD),
    SPEC: (*_COMMON, _BALANCE[SPEC], _DELIVERED_AT_LOAD, _SPENT),
}
"""Flavour -> the conditions that are looked at."""
