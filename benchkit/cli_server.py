"""The commands ``benchkit server ...``: which servers there are, and how to get others."""

from collections.abc import Sequence
from pathlib import Path

import click

from benchkit import terminal, views
from benchkit.archive import unpack_server
from benchkit.commands import Commands, examples, report
from benchkit.errors import ServerError
from benchkit.fetch import cache_folder, find_installs, get_server
from benchkit.install import Install


@click.group(
    cls=Commands,
    epilog=examples("benchkit server installs", "benchkit server get mariadb 11.8"),
)
def server() -> None:
    """Servers' binaries: list, get and unpack them.

    An install is a folder with a server's binaries: `install = "DIR"` in a study file, or
    `bk.Server(config, install="DIR")`.
    """


@server.command(
    epilog=examples("benchkit server installs", "benchkit server installs /opt ~/builds/11.8")
)
@click.argument("directories", metavar="[DIR...]", nargs=-1)
def installs(directories: Sequence[str]) -> None:
    """List the servers that there are.

    The system's, those that were got, and those in folders, each with product and version, or
    with what keeps it from being used. A DIR is an install, or a folder that holds some. The exit
    code is 1 if there is nothing in a DIR.
    """
    found = [Install(), *find_installs(cache_folder())]
    empty = []
    for directory in directories:
        here = find_installs(Path(directory).expanduser())
        found += here
        empty += [] if here else [directory]
    terminal.draw(views.installs_view(dict.fromkeys(found)))
    if empty:
        raise ServerError(f"no install in {', '.join(empty)}")


@server.command(
    epilog=examples("benchkit server get mariadb 11.8", "benchkit server get mysql 9.7 ~/mysql-9.7")
)
@click.argument("product", metavar="mariadb|mysql")
@click.argument("version", metavar="VERSION")
@click.argument("directory", metavar="[DIR]", required=False)
def get(product: str, version: str, directory: str | None) -> None:
    """Get a version from packages, without root.

    On Debian and Ubuntu: whichever of the distribution's suites has the version is asked, the
    newest release of it is taken, and it brings the C library of that suite along. Nothing is
    installed, and root is not needed. Without DIR it is kept in BENCHKIT_SERVERS, or the user's
    cache. Where it is already, that is all. The folder's name is printed.
    """
    install = get_server(product, version, directory, report)
    report(f"{install.product} {install.version}")
    terminal.write(f"{install.label}\n")


@server.command(
    epilog=examples("benchkit server unpack mariadb-12.3.3-linux-systemd-x86_64.tar.gz ~/servers")
)
@click.argument("archive", metavar="ARCHIVE", type=click.Path(path_type=Path))
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
def unpack(archive: Path, directory: Path) -> None:
    """Unpack a vendor's archive.

    A .tar.gz or .tar.xz goes into a folder of its own below DIR. All of it or nothing: an archive
    that is damaged, that would write elsewhere, or that holds no server that runs here leaves
    nothing behind. The folder's name is printed.
    """
    install = unpack_server(archive, directory)
    report(f"{install.product} {install.version}")
    terminal.write(f"{install.label}\n")
