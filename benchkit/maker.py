"""Which product and release made a data directory, and whether a server may use it.

Servers note that in their data; old ones do not, so it is noted beside the data too.

No server is started on data that it would upgrade: a study that did so would measure something
else than it says, and the older server could not read its data any more.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

from benchkit.errors import ServerError

_FILE = "made_by.json"
_MARIADB, _MYSQL = "MariaDB", "MySQL"
_UPGRADE_INFO = ("mariadb_upgrade_info", "mysql_upgrade_info")
_UPGRADE_HISTORY = "mysql_upgrade_history"


class Maker(NamedTuple):
    """A product and its version; the version is empty where only the product is known."""

    product: str
    version: str

    @property
    def release(self) -> tuple[str, ...]:
        """What must be equal for data to be used without an upgrade.

        MariaDB keeps its formats within a series; MySQL may change them with every release.
        """
        numbers = re.findall(r"\d+", self.version)
        return tuple(numbers[: 2 if self.product == _MARIADB else 3])


def write_maker(directory: Path, maker: Maker) -> None:
    """Note in a server's directory who makes its data."""
    (directory / _FILE).write_text(json.dumps(maker._asdict()))


def find_maker(directory: Path, data: Path) -> Maker | None:
    """Return who made the data: as they tell, or as is noted; None where nothing does."""
    history = _read(data / _UPGRADE_HISTORY).get("upgrade_history")
    if isinstance(history, list) and history:
        return Maker(_MYSQL, str(history[-1].get("version", "")))
    for name in _UPGRADE_INFO:
        if (data / name).is_file():
            version = (data / name).read_text(errors="replace").strip()
            return Maker(_MARIADB if "MariaDB" in version else _MYSQL, version)
    noted = _read(directory / _FILE)
    if noted:
        return Maker(str(noted.get("product")), str(noted.get("version")))
    if (data / "mysql.ibd").is_file():
        return Maker(_MYSQL, "")
    return Maker(_MARIADB, "") if (data / "aria_log_control").is_file() else None


def check_maker(data: Path, maker: Maker | None, server: Maker) -> None:
    """Raise ServerError when a server is not to use data that another one has made."""
    if maker is None:
        return
    same_product = (maker.product == _MARIADB) == (server.product == _MARIADB)
    if same_product and (not maker.version or maker.release == server.release):
        return
    raise ServerError(
        f"the data in {data} were made by {' '.join(maker).strip()}, and this server is "
        f"{' '.join(server)}, which would have to upgrade them or cannot read them: give it "
        "another directory, or that version"
    )


def _read(path: Path) -> dict[str, object]:
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
