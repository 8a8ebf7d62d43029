"""Whether a workload's data are as its conditions say, after a load and after a run."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchkit._core import Connection
from benchkit.errors import InconsistentError
from benchkit.workloads.condition import Condition, Moment

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one condition.

    Parameters
    ----------
    condition : str
    rule : str
    required : bool
        Whether it had to hold.
    violations : int
    examples : tuple of str
        Where the first violations are, such as ``w_id = 1, d_id = 3, found = 299``.
    """

    condition: str
    rule: str
    required: bool
    violations: int
    examples: tuple[str, ...] = ()

    @property
    def violated(self) -> bool:
        """Whether something that had to hold does not."""
        return self.required and self.violations > 0

    def __str__(self) -> str:
        more = self.violations - len(self.examples)
        rest = f", and {more} more" if more else ""
        return f"{self.condition} ({self.rule}) does not hold at {'; '.join(self.examples)}{rest}"


def look_at(
    admin: Connection, conditions: Iterable[Condition], moment: Moment
) -> tuple[Finding, ...]:
    """Look at the data of a database for violations.

    Parameters
    ----------
    admin : Connection
        In the database; nothing else uses it meanwhile.
    conditions : iterable of Condition
    moment : {"load", "run"}
        After what; conditions that say nothing of it are left out.

    Raises
    ------
    DatabaseError
        When the server refuses a query.
    """
    return tuple(
        _find(admin, condition, required=moment in condition.required)
        for condition in conditions
        if moment in condition.looked_at
    )


def require(findings: Iterable[Finding], when: str) -> None:
    """Raise InconsistentError where something that had to hold does not.

    Parameters
    ----------
    findings : iterable of Finding
    when : str
        For the message: ``"after the load"``.
    """
    violated = [str(finding) for finding in findings if finding.violated]
    if violated:
        raise InconsistentError(f"the data are inconsistent {when}: {'; '.join(violated)}")


def _find(admin: Connection, condition: Condition, *, required: bool) -> Finding:
    columns, rows = admin.table(f"SELECT * FROM ({condition.violations}) AS v LIMIT {_SHOWN + 1}")
    violations = len(rows)
    if violations > _SHOWN:
        count = admin.query(f"SELECT COUNT(*) FROM ({condition.violations}) AS v")
        violations = int(str(count[0][0]))
    examples = tuple(
        ", ".join(f"{name} = {value}" for name, value in zip(columns, row, strict=True))
        for row in rows[:_SHOWN]
    )
    return Finding(condition.name, condition.rule, required, violations, examples)
