"""The steps of a transaction, as frozen values, and their plain form for the C core.

In the SQL of a step, ``?`` is a parameter and ``{name}`` is replaced by the value of an integer
register with known bounds (a table number, say): one statement is prepared for each value.
`plain_steps` turns steps into the tuples that ``csrc/py_program.c`` reads. What a step is made
of is checked as it is made; how steps go together is checked by ``csrc/program.c``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from benchkit.errors import WorkloadError
from benchkit.generators import Generator
from benchkit.workloads import check

RegisterType = Literal["integer", "real", "text"]
Spec = tuple[object, ...]

BUILT_IN_REGISTERS = ("worker", "workers")
"""The worker's number, from 1, and how many workers there are."""

Arithmetic = Literal["+", "-", "*", "//", "%"]
Comparison = Literal["==", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Offset:
    """The value of an integer register plus a constant, as a parameter or in a `Let`."""

    register: str
    plus: int

    def __post_init__(self) -> None:
        check.read_register("Offset", "register", self.register)
        plus = check.read_integer("Offset", "plus", self.plus)
        object.__setattr__(self, "plus", plus)


@dataclass(frozen=True, slots=True)
class Calculate:
    """Integer arithmetic with a register and another one, or a constant.

    ``//`` and ``%`` round down, as Python's. Anything with NULL, and a division by 0, is NULL.

    Parameters
    ----------
    left : str
        A register.
    operator : {"+", "-", "*", "//", "%"}
    right : int or str
        A number, or a register.
    """

    left: str
    operator: Arithmetic
    right: int | str

    def __post_init__(self) -> None:
        check.read_register("Calculate", "left", self.left)
        check.read_word("Calculate", "operator", self.operator, get_args(Arithmetic))
        if isinstance(self.right, str):
            check.read_register("Calculate", "right", self.right)
        else:
            right = check.read_integer("Calculate", "right", self.right)
            object.__setattr__(self, "right", right)


Source = str | Generator | Offset | Calculate
"""A parameter: a register's name, a generator drawn at that moment, or what is calculated."""

_SOURCES = (
    "a register's name, a generator such as uniform(1, 10) or constant(5), an Offset or a Calculate"
)


def _read_sources(owner: str, value: object) -> tuple[Source, ...]:
    return check.read_items(owner, "params", value, (str, Generator, Offset, Calculate), _SOURCES)


@dataclass(frozen=True, slots=True)
class Let:
    """Draw a value into a register."""

    register: str
    source: Generator | Offset | Calculate

    def __post_init__(self) -> None:
        check.read_register("Let", "register", self.register)
        if not isinstance(self.source, Generator | Offset | Calculate):
            wanted = "a generator such as uniform(1, 10), an Offset or a Calculate"
            check.refuse(f"Let({self.register!r})", "source", wanted, self.source)


@dataclass(frozen=True, slots=True)
class Execute:
    """Execute a prepared statement.

    Parameters
    ----------
    sql : str
        With ``?`` for parameters and ``{register}`` for a table number.
    params : tuple of Source
        One for each ``?``.
    keep : tuple of (register, type)
        Registers that take the first columns of the first row.
    rollback_if_none : bool
        End the transaction with ROLLBACK when a query finds no row or a change affects none.
    name : str
        How the statement is called in counts and histograms; by default the first word of
        the SQL.
    """

    sql: str
    params: tuple[Source, ...] = ()
    keep: tuple[tuple[str, RegisterType], ...] = ()
    rollback_if_none: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        owner = f"Execute({check.show(self.sql)})"
        check.read_text("Execute", "sql", self.sql)
        params = _read_sources(owner, self.params)
        marks = check.count_marks(self.sql)
        if marks != len(params):
            raise WorkloadError(f"{owner} has {marks} parameter marks (?) but {len(params)} params")
        keep = check.read_pairs(owner, "keep", self.keep, (str,), "(register, type)")
        for register, _ in keep:
            check.read_register(owner, "a register of keep", register)
        object.__setattr__(self, "params", params)
        object.__setattr__(self, "keep", keep)
        name = self.name or check.first_word(self.sql)
        object.__setattr__(self, "name", check.read_text(owner, "name", name))


@dataclass(frozen=True, slots=True)
class InsertRows:
    """Append one row to a multi-row INSERT that is sent when its packet is full.

    ``sql`` is the text up to VALUES; the packet holds 512 KiB. What is left at the end of the
    run is sent then. Of registers, only ``{worker}`` may stand in the text.
    """

    sql: str
    params: tuple[Source, ...]
    name: str = "insert_rows"

    def __post_init__(self) -> None:
        owner = f"InsertRows({check.show(self.sql)})"
        if not check.read_text("InsertRows", "sql", self.sql).rstrip().upper().endswith("VALUES"):
            check.refuse("InsertRows", "sql", "an INSERT that ends with VALUES", self.sql)
        check.read_text(owner, "name", self.name)
        object.__setattr__(self, "params", _read_sources(owner, self.params))


@dataclass(frozen=True, slots=True)
class Begin:
    """BEGIN."""


@dataclass(frozen=True, slots=True)
class Commit:
    """COMMIT."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """ROLLBACK; the transaction counts as rolled back."""


@dataclass(frozen=True, slots=True)
class RolledBack:
    """End the transaction as rolled back: the server has done so already, and is told nothing."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Run the steps a number of times (0 is fine), or as often as a register says."""

    times: int | str
    steps: tuple["Step", ...]

    def __post_init__(self) -> None:
        if isinstance(self.times, str):
            check.read_register("Repeat", "times", self.times)
        else:
            object.__setattr__(self, "times", check.read_integer("Repeat", "times", self.times))
        object.__setattr__(self, "steps", read_steps("Repeat", self.steps))


@dataclass(frozen=True, slots=True)
class Choose:
    """Run one of the branches; each is (weight, steps)."""

    branches: tuple[tuple[float, tuple["Step", ...]], ...]

    def __post_init__(self) -> None:
        wanted = "(weight, steps)"
        branches = check.read_items("Choose", "branches", self.branches, (tuple, list), wanted)
        for number, branch in enumerate(branches, 1):
            if len(branch) != 2:
                check.refuse("Choose", f"item {number} of branches", wanted, branch)
        read = tuple(
            (check.read_number("Choose", "a weight", weight), read_steps("Choose", steps))
            for weight, steps in branches
        )
        object.__setattr__(self, "branches", read)


@dataclass(frozen=True, slots=True)
class If:
    """Run the steps of ``then`` if a comparison holds, else those of ``otherwise``.

    Parameters
    ----------
    left : str
        A register that holds an integer or a text.
    comparison : {"==", "!=", "<", "<=", ">", ">="}
        Texts can only be equal or not. With NULL on one side only ``!=`` holds.
    right : int, str, None or constant(...)
        A number, a register, NULL (None), or ``constant("text")``.
    then, otherwise : tuple of Step
    """

    left: str
    comparison: Comparison
    right: int | str | Generator | None
    then: tuple["Step", ...]
    otherwise: tuple["Step", ...] = ()

    def __post_init__(self) -> None:
        check.read_register("If", "left", self.left)
        check.read_word("If", "comparison", self.comparison, get_args(Comparison))
        object.__setattr__(self, "right", _read_compared(self.right))
        object.__setattr__(self, "then", read_steps("If", self.then))
        object.__setattr__(self, "otherwise", read_steps("If", self.otherwise))


_CONSTANTS = ("constant_integer", "constant_text")


def _read_compared(value: object) -> int | str | Generator | None:
    """Return the right side of a comparison."""
    if value is None:
        return None
    if isinstance(value, str):
        return check.read_register("If", "right", value)
    if isinstance(value, Generator):
        if value.kind not in _CONSTANTS:
            check.refuse("If", "right", "a number, a register, None or constant(...)", value)
        return value
    return check.read_integer("If", "right", value)


# Statements that leave the tables as they are. A CALL may do anything, so it writes.
_READING = (
    *("begin", "commit", "rollback", "start"),
    *("select", "statement", "table", "values", "with"),
    *("do", "explain", "help", "set", "show", "use"),
)

Step = Let | Execute | InsertRows | Begin | Commit | Rollback | RolledBack | Repeat | Choose | If


def read_steps(owner: str, value: object) -> tuple[Step, ...]:
    """Return steps as a tuple, or raise WorkloadError where something is none."""
    names = [kind.__name__ for kind in get_args(Step)]
    wanted = f"a step ({', '.join(names)})"
    return check.read_items(owner, "steps", value, get_args(Step), wanted)


def all_steps(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Yield the steps in order, those of a Repeat or Choose after it."""
    for step in steps:
        yield step
        match step:
            case Repeat(_, inner):
                yield from all_steps(inner)
            case Choose(branches):
                for _, inner in branches:
                    yield from all_steps(inner)
            case If():
                yield from all_steps(step.then)
                yield from all_steps(step.otherwise)


def written_registers(steps: tuple[Step, ...]) -> Iterator[str]:
    """Yield the registers that some step gives a value."""
    for step in all_steps(steps):
        match step:
            case Let(register, _):
                yield register
            case Execute():
                yield from (register for register, _ in step.keep)


def read_registers(steps: tuple[Step, ...]) -> Iterator[str]:
    """Yield the registers that some step takes a value from."""
    for step in all_steps(steps):
        match step:
            case Let():
                yield from _registers_of(step.source)
            case Execute() | InsertRows():
                yield from check.find_placeholders(step.sql)
                for source in step.params:
                    yield from _registers_of(source)
            case Repeat(str() as times, _):
                yield times
            case If():
                yield step.left
                yield from [step.right] if isinstance(step.right, str) else []


def _registers_of(source: Source) -> Iterator[str]:
    """Yield the registers that a source is made of."""
    match source:
        case str():
            yield source
        case Offset(register, _):
            yield register
        case Calculate(left, _, right):
            yield left
            yield from [right] if isinstance(right, str) else []


def writes(statement: str) -> bool:
    """Return whether a statement may change what tables hold."""
    return check.first_word(statement) not in _READING


def any_writes(steps: tuple[Step, ...]) -> bool:
    """Return whether some step may change what tables hold."""
    return any(
        isinstance(step, InsertRows) or (isinstance(step, Execute) and writes(step.sql))
        for step in all_steps(steps)
    )


def leaves_open(steps: tuple[Step, ...]) -> bool:
    """Return whether the steps begin a transaction that none of them ends."""
    begins = ends = False
    for step in all_steps(steps):
        begins |= isinstance(step, Begin)
        ends |= isinstance(step, Commit | Rollback)
        if isinstance(step, Execute):
            ends |= check.first_word(step.sql) in ("commit", "rollback")
    return begins and not ends


class HiddenRegisters:
    """Names for the registers behind generators that are written as parameters."""

    def __init__(self) -> None:
        self.count = 0

    def next_name(self) -> str:
        """Return a name that no other register has."""
        self.count += 1
        return f"_{self.count}"


def _source_spec(register: str, source: Generator | Offset | Calculate) -> Spec:
    match source:
        case Offset():
            return ("add", register, source.register, source.plus)
        case Calculate():
            operand = _operand_spec(source.right)
            return ("calculate", register, source.left, source.operator, operand)
        case Generator():
            return ("let", register, source.spec())


def _operand_spec(operand: int | str | Generator | None) -> Spec:
    match operand:
        case str():
            return ("register", operand)
        case Generator():
            return ("constant", dict(operand.arguments)["value"])
    return ("constant", operand)


def _parameters(
    params: tuple[Source, ...], hidden: HiddenRegisters
) -> tuple[list[Spec], list[str]]:
    """Return the draws that must come first, and the register of each parameter."""
    draws: list[Spec] = []
    registers: list[str] = []
    for source in params:
        if isinstance(source, str):
            registers.append(source)
        else:
            registers.append(hidden.next_name())
            draws.append(_source_spec(registers[-1], source))
    return draws, registers


def _execute_spec(step: Execute, hidden: HiddenRegisters) -> Iterator[Spec]:
    draws, registers = _parameters(step.params, hidden)
    yield from draws
    yield ("execute", step.name, step.sql, registers, list(step.keep), step.rollback_if_none)


def _insert_rows_spec(step: InsertRows, hidden: HiddenRegisters) -> Iterator[Spec]:
    draws, registers = _parameters(step.params, hidden)
    yield from draws
    yield ("insert_rows", step.name, step.sql, registers)


def _step_spec(step: Step, hidden: HiddenRegisters) -> Iterator[Spec]:
    match step:
        case Let(register, source):
            yield _source_spec(register, source)
        case Execute():
            yield from _execute_spec(step, hidden)
        case InsertRows():
            yield from _insert_rows_spec(step, hidden)
        case Begin() | Commit() | Rollback() | RolledBack():
            yield (type(step).__name__.lower(),)
        case Repeat(times, steps):
            yield ("repeat", times, plain_steps(steps, hidden))
        case Choose(branches):
            yield ("choose", [(float(w), plain_steps(s, hidden)) for w, s in branches])
        case If():
            then, otherwise = (plain_steps(s, hidden) for s in (step.then, step.otherwise))
            yield ("if", step.left, step.comparison, _operand_spec(step.right), then, otherwise)


def plain_steps(steps: tuple[Step, ...], hidden: HiddenRegisters) -> list[Spec]:
    """Return the plain form of the steps that the C core reads."""
    return [spec for step in steps for spec in _step_spec(step, hidden)]
