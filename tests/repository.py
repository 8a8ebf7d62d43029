"""A package repository on disk, in several suites, for apt: real packages of a real server."""

import hashlib
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchkit.apt import Mirror
from benchkit.install import Install

ARCHITECTURE = subprocess.run(
    ["dpkg", "--print-architecture"], capture_output=True, text=True, check=False
).stdout.strip()


@dataclass(frozen=True, slots=True)
class LocalMirror(Mirror):
    """A folder that apt reads without a signature."""

    def source_line(self, suite: str) -> str:
        return f"deb [trusted=yes] copy:{self.address} {suite} main\n"


def make_server_package(folder: Path) -> Path:
    """Make a package of the system's server, with its libraries and their loader."""
    install, root = Install(), folder / "server"
    for name in ("usr/sbin", "usr/bin", "usr/lib/mysql/plugin"):
        (root / name).mkdir(parents=True)
    shutil.copy(install.server, root / "usr/sbin/mariadbd")
    shutil.copy(install.install_db, root / "usr/bin/mariadb-install-db")
    for name in ("my_print_defaults", "resolveip"):
        shutil.copy(shutil.which(name), root / "usr/bin")
    shutil.copytree(install.share, root / "usr/share" / install.share.name)
    libraries = root / "usr/lib" / f"{_machine()}-linux-gnu"
    libraries.mkdir()
    listed = subprocess.run(["ldd", install.server], capture_output=True, text=True, check=True)
    for library in re.findall(r"(/\S+) \(0x", listed.stdout):
        shutil.copy(library, libraries)
    return _build(root, "mariadb-server-core", "1:10.11.77-0+test")


def make_empty_package(folder: Path, name: str, version: str, depends: str = "") -> Path:
    """Make a package without files."""
    root = folder / f"{name}-{re.sub(r'[^0-9.]', '', version)}"
    root.mkdir()
    return _build(root, name, version, depends)


def publish(mirror: Path, suite: str, packages: list[Path]) -> None:
    """Offer packages under a suite's name."""
    index = mirror / "dists" / suite / "main" / f"binary-{ARCHITECTURE}"
    index.mkdir(parents=True)
    (index / "Packages").write_text("".join(_entry(mirror, package) for package in packages))
    content = (index / "Packages").read_bytes()
    path = f"main/binary-{ARCHITECTURE}/Packages"
    (mirror / "dists" / suite / "Release").write_text(
        f"Suite: {suite}\nCodename: {suite}\nArchitectures: {ARCHITECTURE}\nComponents: main\n"
        f"Date: Mon, 01 Jan 2024 00:00:00 UTC\nSHA256:\n"
        f" {hashlib.sha256(content).hexdigest()} {len(content)} {path}\n"
    )


def _build(root: Path, name: str, version: str, depends: str = "") -> Path:
    (root / "DEBIAN").mkdir()
    needs = f"Depends: {depends}\n" if depends else ""
    (root / "DEBIAN" / "control").write_text(
        f"Package: {name}\nVersion: {version}\nArchitecture: {ARCHITECTURE}\n{needs}"
        "Maintainer: Tests <tests@localhost>\nDescription: for tests\n"
    )
    package = root.parent / f"{root.name}.deb"
    command = ["dpkg-deb", "-Znone", "--root-owner-group", "-b", root, package]
    subprocess.run(command, check=True, capture_output=True)
    return package


def _entry(mirror: Path, package: Path) -> str:
    control = subprocess.run(
        ["dpkg-deb", "-f", package], capture_output=True, text=True, check=True
    ).stdout
    content = package.read_bytes()
    return (
        f"{control}Filename: {package.relative_to(mirror)}\nSize: {len(content)}\n"
        f"SHA256: {hashlib.sha256(content).hexdigest()}\n\n"
    )


def _machine() -> str:
    return subprocess.run(["uname", "-m"], capture_output=True, text=True).stdout.strip()
