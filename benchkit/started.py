"""Waiting for the moment a run's warmup begins, and counting from it."""

import threading
import time
from collections.abc import Callable

_LOOK_AGAIN_S = 0.01
_NS_PER_S = 1e9


def await_start(start_ns: Callable[[], int | None], ended: threading.Event) -> int | None:
    """Return when the warmup began, by ``time.monotonic_ns``; None if the run ended before."""
    while (started := start_ns()) is None:
        if ended.wait(_LOOK_AGAIN_S):
            return start_ns()
    return started


def since_s(start_ns: int) -> float:
    """Return how many seconds ago that was."""
    return (time.monotonic_ns() - start_ns) / _NS_PER_S
