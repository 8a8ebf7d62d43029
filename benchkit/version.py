"""The version of benchkit, as installed; read when first asked for."""

from functools import cache


@cache
def get_version() -> str:
    """Return the installed distribution's version, or "unknown" in a bare source tree."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version("mariadb-benchkit")
    except PackageNotFoundError:
        return "unknown"
