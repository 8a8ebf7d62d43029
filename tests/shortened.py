"""Examples and notebooks as tests run them: the same text, with shorter times and fewer rows."""

import re

_SHORTER = (
    (re.compile(r'\bduration="\d+s"'), 'duration="0.5s"'),
    (re.compile(r'\bwarmup="\d+s"'), 'warmup="0.2s"'),
    (re.compile(r"\brows=[\d_]+"), "rows=1_000"),
)


def shorten(source: str) -> str:
    for pattern, replacement in _SHORTER:
        source = pattern.sub(replacement, source)
    return source
