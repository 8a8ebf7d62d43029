"""What a server was started with: where its options come from, the file it read, what took effect.

The study's folder keeps the file. No password is stored.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchkit.config import left_out
from benchkit.effective import find_ineffective
from benchkit.optionvalue import REDACTED, is_secret
from benchkit.record import Json
from benchkit.server import Server
from benchkit.store import StudyFolder

Enums = Mapping[str, tuple[str, ...]]
"""The words that the numbers 0, 1, ... of a variable stand for."""

_LOG_LINES = 400
_OPTION_LINE = re.compile(r"^(\S+) = .*$", re.MULTILINE)
_OPTION_FILE = "server.cnf"


@dataclass(frozen=True, slots=True)
class Start:
    """How a private server was started.

    Parameters
    ----------
    facts : mapping
        origin, source, included and changed, as `config.Provenance` has them but for the
        folders; run_file: how reports call the file that the server read; malloc: the server's
        own; ineffective: options that did not take effect. Empty for a server that somebody
        else runs, or that does not run.
    run_text : str
        What is in the file.
    warnings : tuple of str
        What did not take effect, for people.
    """

    facts: Json
    run_text: str = ""
    warnings: tuple[str, ...] = ()

    def store(self, folder: StudyFolder) -> Json:
        """Keep the file, and return the facts with its place in the study's folder."""
        if not self.facts:
            return {}
        return {**self.facts, "run_file_ref": folder.save_config(self.run_text)}


def describe_start(server: Server, variables: Mapping[str, str], enums: Enums) -> Start:
    """Describe how a server was started, whether it still runs or not.

    Parameters
    ----------
    server : Server
    variables : mapping
        Its SHOW GLOBAL VARIABLES; empty where it could not be asked.
    enums : mapping
        From `ask_enums`.
    """
    if not server.private or server.directory is None or not variables:
        return Start({})
    asked = {name: value for name, value in server.options.items() if name in server.config.options}
    ineffective = find_ineffective(asked, variables, server.read_log(_LOG_LINES), enums)
    provenance = server.config.provenance
    path = server.directory / _OPTION_FILE
    facts = {
        "origin": provenance.origin,
        "source": provenance.source and provenance.source.name,
        "included": [each.name for each in provenance.included],
        "changed": list(provenance.changed),
        "run_file": _name_run_file(server.product, path),
        "malloc": variables.get("version_malloc_library"),
        "ineffective": [asdict(each) for each in ineffective],
    }
    warnings = (*left_out(server.config), *map(str, ineffective))
    return Start(facts, _read_run_file(path), warnings)


def ask_enums(server: Server) -> Enums:
    """Ask a server that runs for the words that the numbers of its options stand for.

    MySQL does not tell them.
    """
    names = ", ".join(f"'{name}'" for name in server.config.options)
    if server.product != "MariaDB" or not names:
        return {}
    rows = server.query(
        "SELECT LOWER(variable_name), enum_value_list FROM information_schema.system_variables "
        f"WHERE variable_type = 'ENUM' AND variable_name IN ({names})"
    )
    return {str(name): tuple(str(words).split(",")) for name, words in rows}


def without_secrets(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return a server's variables, or options, as they are stored."""
    return {
        name: REDACTED if value and is_secret(name) else value for name, value in variables.items()
    }


def _name_run_file(product: str, path: Path) -> str:
    """Return a name with the time at which the file was written, in UTC."""
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return f"{product.lower()}_{format_stamp(written)}.cnf"


def format_stamp(time: datetime) -> str:
    """Return a time as it is part of a name: ``2026_9_14_22_20_10``."""
    return f"{time.year}_{time.month}_{time.day}_{time:%H_%M_%S}"


def _read_run_file(path: Path) -> str:
    return _OPTION_LINE.sub(
        lambda line: f"{line[1]} = {REDACTED}" if is_secret(line[1]) else line[0],
        path.read_text(encoding="utf-8"),
    )
