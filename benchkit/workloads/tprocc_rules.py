"""How the two flavours of TPROC-C draw what a transaction is about, and how long users wait.

Each number is said here once, for the stored procedures and for the client alike.
"""

from dataclasses import dataclass

from benchkit.generators import Generator, last_name, nurand, uniform
from benchkit.workloads.rate import Rate
from benchkit.workloads.tprocc_data import CUSTOMERS, ITEMS, LAST_NAME_C_RUN
from benchkit.workloads.tprocc_schema import HAMMERDB, SPEC

UNUSED_ITEM = ITEMS + 1
REMOTE_LINE_PERCENT = 1
REMOTE_PAYMENT_PERCENT = 15
BY_NAME_PERCENT = 60

NEW_ORDER, PAYMENT, DELIVERY = "new_order", "payment", "delivery"
STOCK_LEVEL, ORDER_STATUS = "stock_level", "order_status"

MIX = {NEW_ORDER: 10, PAYMENT: 10, DELIVERY: 1, STOCK_LEVEL: 1, ORDER_STATUS: 1}
"""Transaction -> its share of 23."""

RATES = (
    Rate(
        "nopm",
        ("new_orders",),
        (NEW_ORDER,),
        queries=(("new_orders", "SELECT SUM(d_next_o_id) FROM district"),),
    ),
    Rate("tpm", ("com_commit", "com_rollback"), tuple(MIX), every_attempt=True),
)
"""NOPM and TPM, as HammerDB has them: new orders that committed, commits and rollbacks."""

KEYING_S = {NEW_ORDER: 18, PAYMENT: 3, DELIVERY: 2, STOCK_LEVEL: 2, ORDER_STATUS: 2}
"""Transaction -> how long a user types, in seconds."""


AMOUNTS = {HAMMERDB: uniform(1, 5000), SPEC: uniform(100, 500_000)}
"""Flavour -> what is paid, in whole units or in hundredths."""

AMOUNT_SQL = {HAMMERDB: "?", SPEC: "? / 100"}
"""Flavour -> the amount as it stands in SQL."""


@dataclass(frozen=True, slots=True)
class Draws:
    """The numbers of one flavour.

    Parameters
    ----------
    unused_item_in : int
        One new order in so many asks for an item that does not exist, and is rolled back.
    item_a, item_c, customer_a, customer_c, name_c : int
        The constants A and C of NURand; A is 0 where the draw is uniform.
    thinking_s : dict of str to int
        Transaction -> mean time that a user thinks, in seconds.
    thinking_most : float
        Thinking times are cut at so many times their mean.
    whole_seconds : bool
        Round thinking times to seconds.
    """

    unused_item_in: int
    item_a: int
    item_c: int
    customer_a: int
    customer_c: int
    name_c: int
    thinking_s: dict[str, int]
    thinking_most: float
    whole_seconds: bool

    @property
    def item(self) -> Generator:
        """Draw an item's id."""
        return _number(self.item_a, self.item_c, ITEMS)

    @property
    def customer(self) -> Generator:
        """Draw a customer's id."""
        return _number(self.customer_a, self.customer_c, CUSTOMERS)

    @property
    def name(self) -> Generator:
        """Draw a customer's last name."""
        return last_name(c=self.name_c)

    @property
    def item_sql(self) -> str:
        """The SQL expression that draws an item's id."""
        drawn = f"FLOOR(1 + RAND() * {ITEMS})"
        if not self.item_a:
            return drawn
        return f"((FLOOR(RAND() * {self.item_a + 1}) | {drawn}) + {self.item_c}) % {ITEMS} + 1"


def _number(a: int, c: int, high: int) -> Generator:
    return nurand(a, 1, high, c) if a else uniform(1, high)


DRAWS = {
    HAMMERDB: Draws(
        unused_item_in=99,
        item_a=0,
        item_c=0,
        customer_a=0,
        customer_c=0,
        name_c=LAST_NAME_C_RUN[HAMMERDB],
        thinking_s={NEW_ORDER: 12, PAYMENT: 12, DELIVERY: 10, STOCK_LEVEL: 5, ORDER_STATUS: 5},
        thinking_most=1e6,
        whole_seconds=True,
    ),
    SPEC: Draws(
        unused_item_in=100,
        item_a=8191,
        item_c=6451,
        customer_a=1023,
        customer_c=487,
        name_c=LAST_NAME_C_RUN[SPEC],
        thinking_s={NEW_ORDER: 12, PAYMENT: 12, DELIVERY: 5, STOCK_LEVEL: 5, ORDER_STATUS: 10},
        thinking_most=10,
        whole_seconds=False,
    ),
}
"""Flavour -> how it draws."""
