"""Getting a server's binaries: `get_server` makes an install of a distribution's packages.

A folder of installs, `cache_folder`, keeps them for all studies. An install appears there whole,
by a rename, or not at all.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

from benchkit.apt import AptState, Candidate, Mirror, extract, find_mirror
from benchkit.bundle import PROGRAMS, make_bundle
from benchkit.errors import ServerError, unknown_name
from benchkit.install import Install
from benchkit.stage import building

_VERSION = re.compile(r"\d+(\.\d+)*")

_LIKELY = {"mysql": "unstable"}  # Debian has it in no other suite

Report = Callable[[str], object]


def cache_folder() -> Path:
    """Return the folder of installs that were got, which need not exist.

    It is BENCHKIT_SERVERS, or ``benchkit/servers`` below the user's cache; root's is below
    /var/cache, because the user that servers run as cannot enter root's home.
    """
    given = os.environ.get("BENCHKIT_SERVERS")
    if given:
        return Path(given).expanduser().absolute()
    if os.geteuid() == 0:
        return Path("/var/cache/benchkit/servers")
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home).absolute() / "benchkit" / "servers"


def get_server(
    product: str,
    version: str,
    directory: str | os.PathLike[str] | None = None,
    report: Report = lambda what: None,
) -> Install:
    """Return an install of a product and version, made of Debian's or Ubuntu's packages.

    One that is there is returned at once. The packages are not installed, and nothing of the
    system is changed; neither root nor a running service is needed.

    Parameters
    ----------
    product : "mariadb" or "mysql"
    version : str
        Such as ``"11.8"``; the newest release of it that the distribution's suites have.
    directory : path-like, optional
        Which folder to make it in; by default one in `cache_folder`.
    report : callable
        Is told what happens, in a few words.

    Raises
    ------
    ServerError
        When no suite has that version, with those that there are; when the folder holds
        something else; when this is no Debian or Ubuntu; in apt's words when it fails.
    """
    product = product.lower()
    if product not in PROGRAMS:
        raise ServerError(unknown_name("product", product, PROGRAMS))
    if not _VERSION.fullmatch(version):
        raise ServerError(f"{version!r} is not a version: write numbers, such as 11.8 or 9.7.4")
    target = cache_folder() / f"{product}-{version}" if directory is None else Path(directory)
    target = target.expanduser().absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        return _check_present(target, product, version)
    with building(target) as folder:
        state, candidate = _find(product, version, folder / "apt", report)
        _build(product, candidate, state, folder, report)
        _put(folder / "install", target, product, version)
    return Install(target)


def find_installs(folder: Path) -> list[Install]:
    """Return what may be installs, usable or not: the folder itself, or else those in it."""
    if _may_be_install(folder):
        return [Install(folder)]
    inside = sorted(folder.iterdir()) if folder.is_dir() else []
    return [Install(path) for path in inside if _may_be_install(path)]


def _may_be_install(folder: Path) -> bool:
    names = ("bin", "sbin", "libexec", "scripts")
    return not folder.name.startswith(".") and any((folder / name).is_dir() for name in names)


def _check_present(target: Path, product: str, version: str) -> Install:
    """Return the install that is in a folder; raise ServerError if it is not the wanted one."""
    install = Install(target).check()
    is_wanted = install.product.lower() == product and _is_of(_numbers(install.version), version)
    if not is_wanted:
        raise ServerError(
            f"{target} holds {install.product} {install.version}, not {product} {version}: "
            "choose another folder, or remove it"
        )
    return install


def _find(product: str, version: str, folder: Path, report: Report) -> tuple[AptState, Candidate]:
    """Return the first suite that has the version, and its newest package of it."""
    mirror = find_mirror()
    offered: list[Candidate] = []
    for suite in sorted(mirror.suites, key=lambda suite: suite != _LIKELY.get(product)):
        report(f"looking for {product} {version} in {mirror.distribution} {suite}")
        state = _read_suite(folder / suite, mirror, suite, report)
        found = list(state.candidates(f"{product}-server-core")) if state else []
        wanted = [each for each in found if _is_of(each.upstream, version)]
        if state and wanted:
            # A name without a version comes first: others may be there for transition only.
            return state, min(wanted, key=lambda each: len(each.package))
        offered += found
    raise ServerError(_not_offered(product, version, mirror, offered))


def _read_suite(folder: Path, mirror: Mirror, suite: str, report: Report) -> AptState | None:
    state = AptState(folder, mirror, suite)
    try:
        state.update()
    except ServerError as error:
        report(f"{suite} cannot be read: {error}")
        return None
    return state


def _not_offered(product: str, version: str, mirror: Mirror, offered: list[Candidate]) -> str:
    if not offered:
        return f"no suite of {mirror.address} could be read, or none of them has {product}"
    versions = ", ".join(
        dict.fromkeys(f"{_numbers(each.upstream)} ({each.suite})" for each in offered)
    )
    return (
        f"{mirror.distribution} has no {product} {version}. It has {versions}. For another "
        "version, download the vendor's .tar.gz, and benchkit server unpack it"
    )


def _build(
    product: str, candidate: Candidate, state: AptState, folder: Path, report: Report
) -> None:
    report(f"downloading {candidate.package} {candidate.upstream} and what it needs")
    client = candidate.package.replace("server-core", "client-core")
    packages = [f"{name}={candidate.version}" for name in (candidate.package, client)]
    files = folder / "files"
    files.mkdir()
    report("unpacking")
    for package in state.download(*packages):
        if package.name.startswith((product, "lib")):
            extract(package, files)
    (folder / "install").mkdir()
    make_bundle(product, files, folder / "install")
    Install(folder / "install").check()


def _put(made: Path, target: Path, product: str, version: str) -> None:
    """Move a complete install to its place; another process may have been faster."""
    try:
        made.rename(target)
    except OSError:
        _check_present(target, product, version)


def _numbers(version: str) -> str:
    found = _VERSION.match(version)
    return found[0] if found else ""


def _is_of(version: str, wanted: str) -> bool:
    """Tell whether a version is a wanted one: 11.8.9 is of 11.8, 11.80 is not."""
    return f"{_numbers(version)}.".startswith(f"{wanted}.")
