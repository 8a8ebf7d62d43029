"""Where a server spends its time: `perf` during the measurement, as folded stacks.

A folded stack is a line of the frames from the outermost in, joined by semicolons, and how many
samples had it; flame graph tools read it. Where perf is absent or forbidden there is a reason
instead, and the run is as good as any.
"""

import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from benchkit.plan import Timing
from benchkit.started import await_start, since_s

PROFILERS = ("perf",)

_SAMPLES_PER_S = 199  # in step with nothing, unlike 200
_STOP_LIMIT_S = 10.0
_SCRIPT_LIMIT_S = 120.0
_FRAME = re.compile(r"^\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \(.*\)$")
_HEAD = re.compile(r"^(\S.*?)\s+\d+")


class Profile:
    """Samples a server's process during a run's measurement; a context manager around the run.

    Parameters
    ----------
    pid : int or None
        The server's; None when it is not known, as on another machine.
    timing : Timing
        When the measurement begins and ends.
    start_ns : callable
        Returns when the run's warmup began, by ``time.monotonic_ns``; None before.
    """

    def __init__(self, pid: int | None, timing: Timing, start_ns: Callable[[], int | None]) -> None:
        self._pid = pid
        self._timing = timing
        self._start_ns = start_ns
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="profile", daemon=True)
        self._folded = ""
        self.problem: str | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def folded(self) -> str:
        """The stacks; empty where there are none, and `problem` says why."""
        return self._folded

    def _sample(self) -> None:
        perf = shutil.which("perf")
        if perf is None or self._pid is None:
            self.problem = (
                "no profile: perf is not installed"
                if perf is None
                else "no profile: the server's process is not known"
            )
            return
        start_ns = await_start(self._start_ns, self._ended)
        if start_ns is None or self._ended.wait(self._timing.warmup_s - since_s(start_ns)):
            return
        with tempfile.TemporaryDirectory(prefix="benchkit-perf-") as folder:
            self._record(perf, Path(folder) / "perf.data", start_ns)

    def _record(self, perf: str, file: Path, start_ns: int) -> None:
        command = [perf, "record", "-q", "-g", "-F", str(_SAMPLES_PER_S), "-p", str(self._pid)]
        with (file.parent / "said").open("w+") as said:
            recording = subprocess.Popen(
                [*command, "-o", str(file)], stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
            duration_s = self._timing.duration_s
            end_s = None if duration_s is None else self._timing.warmup_s + duration_s
            self._ended.wait(None if end_s is None else max(0.0, end_s - since_s(start_ns)))
            _end(recording)
            said.seek(0)
            complaint = said.read().strip()
        if not file.exists() or not file.stat().st_size:
            first = next(iter(complaint.splitlines()), f"exit code {recording.returncode}")
            self.problem = f"no profile: perf could not record: {first}"
            return
        self._folded = fold(_read_samples(perf, file))
        if not self._folded:
            self.problem = "no profile: perf recorded no sample"


def fold(script: str) -> str:
    """Return what ``perf script`` printed as folded stacks, the most frequent first."""
    stacks: Counter[str] = Counter()
    for sample in script.split("\n\n"):
        head, *lines = sample.strip("\n").splitlines() or [""]
        name = _HEAD.match(head)
        frames = [match[1] for line in lines if (match := _FRAME.match(line))]
        if name and frames:
            stack = [name[1].strip(), *reversed(frames)]
            stacks[";".join(frame.replace(";", ":") for frame in stack)] += 1
    return "".join(f"{stack} {count}\n" for stack, count in stacks.most_common())


def _end(recording: "subprocess.Popen[bytes]") -> None:
    recording.send_signal(signal.SIGINT)
    try:
        recording.wait(_STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        recording.kill()
        recording.wait()


def _read_samples(perf: str, file: Path) -> str:
    try:
        answer = subprocess.run(
            [perf, "script", "-i", str(file)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SCRIPT_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ""
    return answer.stdout
