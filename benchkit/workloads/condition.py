"""What must be true of a workload's data, as SQL that finds where it is not."""

from dataclasses import dataclass
from typing import Literal

from benchkit.errors import WorkloadError
from benchkit.workloads import check

Moment = Literal["load", "run"]
"""After the load, or after a run."""

MOMENTS: tuple[Moment, ...] = ("load", "run")


@dataclass(frozen=True, slots=True)
class Condition:
    """A rule that the data keep, and the query that finds violations of it.

    Parameters
    ----------
    name : str
        Such as ``"condition 1"``.
    rule : str
        What is true of consistent data, in a few words.
    violations : str
        A SELECT with a row for each violation; its columns say where, and what was found.
    required : tuple of {"load", "run"}
        After what it must hold. Else violations are counted and reported, and that is all.
    looked_at : tuple of {"load", "run"}
        After what it makes sense to look.
    """

    name: str
    rule: str
    violations: str
    required: tuple[Moment, ...] = MOMENTS
    looked_at: tuple[Moment, ...] = MOMENTS

    def __post_init__(self) -> None:
        owner = f"condition {check.read_text('Condition', 'name', self.name)!r}"
        check.read_text(owner, "rule", self.rule)
        check.read_text(owner, "violations", self.violations)
        for field, moments in (("required", self.required), ("looked_at", self.looked_at)):
            if not set(moments) <= set(MOMENTS):
                check.refuse(owner, field, f"some of {MOMENTS}", moments)
        if not set(self.required) <= set(self.looked_at):
            raise WorkloadError(f"{owner} is required where it is not looked at")
