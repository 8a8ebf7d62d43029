"""Packages of any release of this Debian or Ubuntu, without root and without installing them.

apt runs on a state of its own in a temporary folder, as if nothing were installed. Mirror, proxy
and keys are those that apt is configured with.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchkit.errors import ServerError

_TOOLS = ("apt-get", "apt-cache", "dpkg-deb")
_RELEASE_FILE = re.compile(r"^'(\S+?)/dists/([^/]+)/InRelease'", re.MULTILINE)
_KEYRING = "/usr/share/keyrings/{}-archive-keyring.gpg"

# The names that releases have by turns, so that none has to be listed here.
_DEBIAN_SUITES = ("stable", "testing", "unstable", "oldstable", "oldoldstable")
_UBUNTU_DEVELOPMENT = "devel"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A package that a suite offers."""

    package: str
    version: str  # with epoch and revision
    suite: str

    @property
    def upstream(self) -> str:
        """The version without what packaging adds: ``11.8.9`` of ``1:11.8.9-0+deb13u1``."""
        return re.sub(r"^\d+:|-[^-]*$", "", self.version)


@dataclass(frozen=True, slots=True)
class Mirror:
    """Where this system's packages come from."""

    address: str
    distribution: str  # debian or ubuntu
    codename: str

    @property
    def suites(self) -> tuple[str, ...]:
        """The suites to look in, one after the other."""
        if self.distribution == "debian":
            return _DEBIAN_SUITES
        return (self.codename, _UBUNTU_DEVELOPMENT)

    def source_line(self, suite: str) -> str:
        """Return a line of sources.list."""
        keyring = _KEYRING.format(self.distribution)
        signed = f"[signed-by={keyring}] " if Path(keyring).exists() else ""
        components = "main" if self.distribution == "debian" else "main universe"
        # apt would not copy packages from a mirror on disk, but name them where they are.
        address = re.sub(r"^file:", "copy:", self.address)
        return f"deb {signed}{address} {suite} {components}\n"


def find_mirror() -> Mirror:
    """Return the mirror that apt is configured with.

    Raises
    ------
    ServerError
        On a system without apt, or whose apt knows none.
    """
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        raise ServerError(
            f"this needs a Debian or Ubuntu with {', '.join(_TOOLS)}; {missing[0]} is not there. "
            "Elsewhere: download the vendor's .tar.gz, and benchkit server unpack it"
        )
    system = _read_os_release()
    likes = f"{system.get('ID')} {system.get('ID_LIKE')}"
    distribution = "ubuntu" if "ubuntu" in likes else "debian"
    codename = system.get("VERSION_CODENAME", "")
    answer = _run(
        ["apt-get", "update", "--print-uris", "-o", "Debug::NoLocking=1"], dict(os.environ)
    )
    found = _RELEASE_FILE.findall(answer)
    ranked = sorted(found, key=lambda each: _rank(each, codename, distribution))
    if not ranked:
        raise ServerError("apt knows no mirror: /etc/apt/sources.list and sources.list.d are empty")
    return Mirror(ranked[0][0], distribution, codename)


class AptState:
    """One suite as apt sees it; all its files are below `folder`, whose owner removes them."""

    def __init__(self, folder: Path, mirror: Mirror, suite: str) -> None:
        self.suite = suite
        self._folder = folder
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        (folder / "sources.list").write_text(mirror.source_line(suite))
        (folder / "apt.conf").write_text(_configuration(folder))
        self._environment = {**os.environ, "APT_CONFIG": str(folder / "apt.conf"), "LC_ALL": "C"}

    def update(self) -> None:
        """Read the suite's index.

        Raises
        ------
        ServerError
            In apt's words, where that fails.
        """
        self._apt("apt-get", "-qq", "update", "-o", "APT::Update::Error-Mode=any")

    def candidates(self, prefix: str) -> Iterator[Candidate]:
        """Yield what is offered under a name, and under that name with a version behind it."""
        names = re.findall(
            rf"^{re.escape(prefix)}(?:-\d[\d.]*)?$",
            self._apt("apt-cache", "pkgnames", prefix),
            re.M,
        )
        if names:
            for line in self._apt("apt-cache", "madison", *sorted(names)).splitlines():
                package, version, origin = (field.strip() for field in line.split("|"))
                if not origin.endswith("Sources"):
                    yield Candidate(package, version, self.suite)

    def download(self, *packages: str) -> list[Path]:
        """Download packages with all they depend on; return their files.

        Raises
        ------
        ServerError
            In apt's words, where that fails.
        """
        self._apt("apt-get", "-qq", "-y", "--download-only", "install", *packages)
        return sorted((self._folder / "cache" / "archives").glob("*.deb"))

    def _apt(self, *command: str) -> str:
        return _run(list(command), self._environment)


def extract(package: Path, folder: Path) -> None:
    """Put the files of a package into a folder."""
    _run(["dpkg-deb", "-x", str(package), str(folder)], dict(os.environ))


def _configuration(folder: Path) -> str:
    """Return apt's configuration for a state in a folder; the rest is as the system has it."""
    return "".join(
        f'{name} "{value}";\n'
        for name, value in {
            "Dir::State::Lists": f"{folder}/lists",
            "Dir::State::Status": f"{folder}/status",
            "Dir::State::extended_states": f"{folder}/extended_states",
            "Dir::Etc::SourceList": f"{folder}/sources.list",
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Cache": f"{folder}/cache",
            "Dir::Log": f"{folder}",
            "APT::Sandbox::User": "root",  # _apt may not enter the folder
            "APT::Install-Recommends": "false",
            "Acquire::Languages": "none",
            "Debug::NoLocking": "true",
        }.items()
    )


def _rank(found: tuple[str, str], codename: str, distribution: str) -> tuple[bool, bool]:
    """Sort the system's own release first, then what is called like an archive."""
    address, suite = found
    return suite != codename, not address.endswith(f"/{distribution}")


def _read_os_release() -> dict[str, str]:
    try:
        text = Path("/etc/os-release").read_text()
    except OSError:
        return {}
    return {name: value.strip('"') for name, value in re.findall(r"^(\w+)=(.*)$", text, re.M)}


def _run(command: list[str], environment: dict[str, str]) -> str:
    ran = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if ran.returncode != 0:
        said = "\n".join(line for line in ran.stderr.splitlines() if line.startswith("E:"))
        raise ServerError(
            f"{command[0]} failed: {said or ran.stderr.strip() or ran.stdout.strip()}"
        )
    return ran.stdout
