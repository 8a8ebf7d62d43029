"""Rates that a workload is known by, counted twice: by the server, and by the client."""

from dataclasses import dataclass

from benchkit.workloads import check


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate per minute of the measurement, as one metric by the server and one by the client.

    Parameters
    ----------
    metric : str
        Such as ``"nopm"``; ``nopm_client`` is what the client counted.
    counters : tuple of str
        Variables of SHOW GLOBAL STATUS in lower case, or names in `queries`, whose growth is
        added up.
    transactions : tuple of str
        Of which each that commits counts at the client.
    every_attempt : bool
        At the client each attempt that is rolled back counts too.
    queries : tuple of (name, SELECT)
        Counters that the server does not have: a number each, read about once a second.
    """

    metric: str
    counters: tuple[str, ...]
    transactions: tuple[str, ...]
    every_attempt: bool = False
    queries: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        owner = f"rate {check.read_text('Rate', 'metric', self.metric)!r}"
        for name in ("counters", "transactions"):
            items = check.read_items(owner, name, getattr(self, name), (str,), "a name")
            object.__setattr__(self, name, items)
        queries = check.read_pairs(owner, "queries", self.queries, (str,), "(name, SELECT)")
        object.__setattr__(self, "queries", queries)
