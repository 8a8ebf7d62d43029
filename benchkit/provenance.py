"""What a server was started with: where its options come from, the file it read, what took effect.

Asks a server that runs; the study's folder keeps the file. No password is stored.
"""

import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from benchkit.config import left_out
from benchkit.effective import Ineffective, find_ineffective
from benchkit.optionvalue import REDACTED, is_secret
from benchkit.record import Json
from benchkit.server import Server
from benchkit.store import StudyFolder

_LOG_LINES = 400
_OPTION_LINE = re.compile(r"^(\S+) = .*$", re.MULTILINE)
_OPTION_FILE = "server.cnf"


@dataclass(frozen=True, slots=True)
class Start:
    """What is stored of a private server's start.

    Parameters
    ----------
    facts : mapping
        origin, source, included and changed, as `config.Provenance` has them but for the
        folders; run_file and run_file_ref: the file that the server read, by name and by its
        place in the study's folder; malloc: the server's own; ineffective: options that did not
        take effect. Empty for a server that somebody else runs.
    warnings : tuple of str
        The same for people.
    """

    facts: Json
    warnings: tuple[str, ...] = ()


def describe_start(server: Server, variables: Json, folder: StudyFolder) -> Start:
    """Describe how a server that runs was started, and keep the file it read.

    Parameters
    ----------
    server : Server
    variables : mapping
        Its SHOW GLOBAL VARIABLES.
    folder : StudyFolder

    Raises
    ------
    DatabaseError
        When the server does not answer.
    StoreError
        When the file cannot be kept.
    """
    if not server.private or server.directory is None:
        return Start({})
    provenance = server.config.provenance
    ineffective = _ask_ineffective(server, variables)
    name, text = _read_run_file(server)
    facts = {
        "origin": provenance.origin,
        "source": provenance.source and provenance.source.name,
        "included": [path.name for path in provenance.included],
        "changed": list(provenance.changed),
        "run_file": name,
        "run_file_ref": folder.save_config(text),
        "malloc": variables.get("version_malloc_library"),
        "ineffective": [asdict(each) for each in ineffective],
    }
    return Start(facts, (*left_out(server.config), *map(str, ineffective)))


def without_secrets(variables: Json) -> dict[str, str]:
    """Return a server's variables as they are stored."""
    return {
        name: REDACTED if value and is_secret(name) else value for name, value in variables.items()
    }


def _ask_ineffective(server: Server, variables: Json) -> tuple[Ineffective, ...]:
    asked = {name: value for name, value in server.options.items() if name in server.config.options}
    enums = _ask_enums(server, list(asked)) if server.product == "MariaDB" and asked else {}
    return find_ineffective(asked, variables, server.read_log(_LOG_LINES), enums)


def _ask_enums(server: Server, names: list[str]) -> dict[str, tuple[str, ...]]:
    """Return the words that the numbers of these variables stand for."""
    quoted = ", ".join(f"'{name}'" for name in names)
    rows = server.query(
        "SELECT LOWER(variable_name), enum_value_list FROM information_schema.system_variables "
        f"WHERE variable_type = 'ENUM' AND variable_name IN ({quoted})"
    )
    return {str(name): tuple(str(words).split(",")) for name, words in rows}


def _read_run_file(server: Server) -> tuple[str, str]:
    """Return the name that reports give the file a server was started with, and its text."""
    assert server.directory is not None
    path = server.directory / _OPTION_FILE
    began = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    stamp = f"{began.year}_{began.month}_{began.day}_{began:%H_%M_%S}"
    text = _OPTION_LINE.sub(
        lambda line: f"{line[1]} = {REDACTED}" if is_secret(line[1]) else line[0],
        path.read_text(encoding="utf-8"),
    )
    return f"{server.product.lower()}_{stamp}.cnf", text
