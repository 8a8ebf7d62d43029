"""What an option of a server means, however it is written. Pure functions on names and values.

``log-bin``, ``log_bin=ON`` and ``enable_log_bin`` mean one thing, ``1G`` and ``1073741824`` too.
"""

import re
from dataclasses import dataclass

_ON, _OFF = "ON", "OFF"
_SWITCHES = {"on": _ON, "1": _ON, "true": _ON, "yes": _ON}
_SWITCHES |= {"off": _OFF, "0": _OFF, "false": _OFF, "no": _OFF}
_PREFIXES = {"skip_": _OFF, "disable_": _OFF, "enable_": _ON}
_SIZE = re.compile(r"(\d{1,20})([kmgtpe])b?", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?")
_WORD = re.compile(r"[A-Za-z_-]+")


@dataclass(frozen=True, slots=True)
class Option:
    """An option as it is meant.

    Parameters
    ----------
    name : str
        With ``_``, in lower case, without a prefix that only switches it.
    value : str
        Equal for values that mean the same.
    shown : str
        The value as it was written; ON or OFF where only a name was.
    """

    name: str
    value: str
    shown: str


def normalise_option(name: str, value: str | None) -> Option:
    """Return an option as it is meant, however it is written."""
    key = name.strip().lower().replace("-", "_").removeprefix("loose_")
    text = _ON if value is None else _unquoted(value.strip())
    meant = meaning_of(text)
    for prefix, sense in _PREFIXES.items():
        if key.startswith(prefix) and meant in (_ON, _OFF):
            switched = sense if meant == _ON else _opposite(sense)
            return Option(key.removeprefix(prefix), switched, switched)
    return Option(key, meant, text)


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def meaning_of(text: str) -> str:
    """Return a value in the one form of all that mean the same: sizes, switches, numbers, words."""
    size = _SIZE.fullmatch(text)
    if size:
        return str(int(size[1]) << (10 * (" kmgtpe".index(size[2].lower()))))
    switch = _SWITCHES.get(text.lower())
    if switch:
        return switch
    if _NUMBER.fullmatch(text):
        whole, _, part = text.partition(".")
        return f"{int(whole)}.{part.rstrip('0')}".rstrip(".")
    return text.lower() if _WORD.fullmatch(text) else text


def _opposite(switch: str) -> str:
    return _OFF if switch == _ON else _ON


_SECRET = re.compile(r"(pass(word|wd|phrase)?|secret|token|sst_auth|filekey)$", re.IGNORECASE)
_NO_SECRETS = ("disconnect_on_expired_password",)
REDACTED = "(not stored)"
"""What stands for a password in all that is stored."""


def is_secret(name: str) -> bool:
    """Tell whether an option, a variable or a property holds a password."""
    key = name.replace("-", "_")
    return _SECRET.search(key) is not None and key not in _NO_SECRETS
