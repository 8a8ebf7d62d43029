"""What tests/test_architecture.py asks of the sources: functions, includes, imports, tables.

Reads files and nothing else; knows no rule.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
C_FILES = sorted((ROOT / "csrc").glob("*.[ch]"))
C_TEST_FILES = sorted((ROOT / "tests" / "c").glob("*.[ch]"))
PACKAGE_FILES = sorted((ROOT / "benchkit").rglob("*.py"))
SCRIPT_FILES = sorted(
    [ROOT / "setup.py", *(ROOT / "tests").rglob("*.py"), *(ROOT / "examples").glob("*.py")]
)

_COMMENTS_AND_STRINGS = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL
)
_DIRECTIVES = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_TOKENS = re.compile(r"\w+|[^\w\s]")
_OPENING = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_PYTHON_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)


@dataclass(frozen=True, slots=True)
class Function:
    """A function: where it is and how big."""

    place: str
    lines: int
    parameters: int
    nesting: int


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def table_rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading of ARCHITECTURE.md, without its head."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    section = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def names_in(cell: str) -> list[str]:
    """Return the names of a table's cell, which are separated by commas."""
    return [name.strip().replace("\\_", "_") for name in cell.split(",")]


# C


def includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def c_functions(path: Path) -> Iterator[Function]:
    """Find the function definitions of a C file in this project's layout."""
    code = _COMMENTS_AND_STRINGS.sub(_blank, path.read_text())
    code = _DIRECTIVES.sub(_blank, code)
    for signature, start, end in _top_level_blocks(code):
        name = re.search(r"(\w+)\s*\((.*)\)\s*$", signature, re.DOTALL)
        if name is None:
            continue  # a struct, an enum, an initialiser
        # Where the name is, not where its return type may stand.
        lines = code.count("\n", start - len(signature) + name.start(), end) + 1
        body = _TOKENS.findall(code[start:end])
        nesting = _StatementReader(body).statement(0)
        yield Function(f"{relative(path)}:{name[1]}", lines, _c_parameters(name[2]), nesting)


def _c_parameters(text: str) -> int:
    """Count parameters; those of a function that is passed are inside brackets of their own."""
    own = re.sub(r"\([^()]*\)", "", text)
    return 0 if own.strip() in ("", "void") else own.count(",") + 1


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _top_level_blocks(code: str) -> Iterator[tuple[str, int, int]]:
    """Find (text before it, start, end) of every pair of braces that is in no other."""
    depth = start = signature = 0
    for at, character in enumerate(code):
        if character == "{":
            depth += 1
            start = at if depth == 1 else start
        elif character == "}":
            depth -= 1
        if depth == 0 and character == "}":
            yield code[signature:start], start, at + 1
        if depth == 0 and character in ";}":
            signature = at + 1


class _StatementReader:
    """Reads the tokens of a function's body; each method returns the deepest nesting it met."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def statement(self, depth: int) -> int:
        token = self._tokens[self._at]
        if token == "{":
            return self._block(depth)
        if token in ("if", "for", "while", "switch"):
            self._at += 1
            self._skip_group()
            body = self.statement(depth + 1)
            return max(depth + 1, body, self._else(depth) if token == "if" else 0)
        if token == "do":
            self._at += 1
            return max(depth + 1, self.statement(depth + 1), self.statement(depth))
        if token in ("case", "default") or self._tokens[self._at + 1] == ":":
            self._at = self._tokens.index(":", self._at) + 1
            return depth if self._tokens[self._at] == "}" else self.statement(depth)
        while self._tokens[self._at] != ";":
            self._skip_group()
        self._at += 1
        return depth

    def _else(self, depth: int) -> int:
        if self._at == len(self._tokens) or self._tokens[self._at] != "else":
            return depth
        self._at += 1
        return self.statement(depth if self._tokens[self._at] == "if" else depth + 1)

    def _block(self, depth: int) -> int:
        deepest = depth
        self._at += 1
        while self._tokens[self._at] != "}":
            deepest = max(deepest, self.statement(depth))
        self._at += 1
        return deepest

    def _skip_group(self) -> None:
        """Pass one token, or all up to the bracket that closes it."""
        open_brackets = 0
        while True:
            open_brackets += _OPENING.get(self._tokens[self._at], 0)
            self._at += 1
            if open_brackets == 0:
                return


# Python


def module_name(path: Path) -> str:
    """Return a module's name inside the package; the package's own is ``__init__``."""
    parts = path.relative_to(ROOT / "benchkit").with_suffix("").parts
    inner = parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
    return ".".join(inner)


def imports(path: Path) -> Iterator[str]:
    """Find every module that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (_imported(node.module or "", alias.name) for alias in node.names)


def _imported(module: str, name: str) -> str:
    """Return ``module.name`` where that is a module of the package, else ``module``."""
    folder = ROOT.joinpath(*module.split("."), name)
    in_package = module.split(".")[0] == "benchkit"
    if in_package and (folder.is_dir() or folder.with_suffix(".py").exists() or name == "_core"):
        return f"{module}.{name}"
    return module


def python_functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            place = f"{relative(path)}:{node.name}"
            yield Function(place, _code_lines(node), _parameters(node), _python_nesting(node.body))


def calls(path: Path, name: str) -> bool:
    """Tell whether a file calls a function by this name."""
    nodes = ast.walk(ast.parse(path.read_text()))
    called = (node.func for node in nodes if isinstance(node, ast.Call))
    return any(isinstance(function, ast.Name) and function.id == name for function in called)


def _code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    lines = (node.end_lineno or 0) - node.lineno + 1
    if ast.get_docstring(node) is None:
        return lines
    docstring = node.body[0]
    return lines - ((docstring.end_lineno or 0) - docstring.lineno + 1)


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count what a caller may pass by position; options that must be named explain themselves."""
    named = [*node.args.posonlyargs, *node.args.args]
    return len([argument for argument in named if argument.arg not in ("self", "cls")])


def _python_nesting(body: list[ast.stmt]) -> int:
    """Return how deep blocks stand in blocks; an ``elif`` is no deeper than its ``if``."""
    return max((_statement_nesting(statement) for statement in body), default=0)


def _statement_nesting(node: ast.stmt) -> int:
    if not isinstance(node, _PYTHON_BLOCKS):
        return 0
    if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        return max(1 + _python_nesting(node.body), _statement_nesting(node.orelse[0]))
    return 1 + _python_nesting(_inner_statements(node))


def _inner_statements(node: ast.stmt) -> list[ast.stmt]:
    bodies = [getattr(node, field, []) for field in ("body", "orelse", "finalbody")]
    bodies += [part.body for field in ("handlers", "cases") for part in getattr(node, field, [])]
    return [statement for body in bodies for statement in body]
