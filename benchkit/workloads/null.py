"""A workload without statements, to measure the driver itself."""

from dataclasses import dataclass

from benchkit.workloads.factory import Family
from benchkit.workloads.model import Transaction, Workload

PERSONALITY = "benchkit"


@dataclass(frozen=True, slots=True)
class NullOptions:
    """None."""


_FAMILY = Family(NullOptions, (PERSONALITY,))


@_FAMILY.workload()
def null(options: NullOptions) -> Workload:
    """Do nothing: what is measured is the driver's own work for each transaction."""
    return Workload(identity=f"{PERSONALITY}:null", transactions=(Transaction("null", ()),))
