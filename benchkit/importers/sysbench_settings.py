"""What sysbench prints about a run's settings, before it and in its first lines."""

import re

from benchkit.importers.sysbench_draft import Heading

_BEGIN = r"(?:^|\s\s)\s{0,8}"  # lines may be glued, by the blanks that filled a screen's width
_FACTS = (
    (re.compile(r"Target transaction rate\s?:\s{0,8}(\d{1,12})"), "rate"),
    (re.compile(r"Report intermediate results every (\d{1,9}) second"), "report_interval_s"),
    (re.compile(r"Report checkpoint\(s\) at ([\d, ]{1,200}) seconds"), "checkpoints_at_s"),
    (re.compile(r"number generator from seed \((-?\d{1,20})\)"), "seed"),
    (re.compile(r"Forcing shutdown in (\d{1,9}) seconds"), "forced_shutdown_s"),
    (re.compile(r"Warmup time\s?:\s{0,8}(\d{1,9})"), "warmup_s"),
    (re.compile(r"Prime numbers limit\s?:\s{0,8}(\d{1,12})"), "cpu_max_prime"),
    (re.compile(r"prime number checked in CPU test\s?:\s{0,8}(\d{1,12})"), "cpu_max_prime"),
    (re.compile(_BEGIN + r"(\d{1,9} files, \S{1,20}) each"), "files"),
    (re.compile(_BEGIN + r"Block size (\S{1,20})"), "block_size"),
    (re.compile(_BEGIN + r"(\S{1,20}) total file size"), "total_file_size"),
    (re.compile(_BEGIN + r"block size: (\S{1,20})"), "memory_block_size"),
    (re.compile(_BEGIN + r"total size: (\S{1,20})"), "memory_total_size"),
    (re.compile(_BEGIN + r"operation: (\w{1,20})"), "memory_operation"),
    (re.compile(_BEGIN + r"scope: (\w{1,20})"), "memory_scope"),
    (re.compile(r"No DB drivers specified, using (\w{1,20})"), "db_driver"),
)
_TESTS = (
    (re.compile(r"Doing OLTP test"), "oltp"),
    (re.compile(r"Doing CPU performance benchmark|Prime numbers limit:"), "cpu"),
    (re.compile(r"Doing thread subsystem performance test"), "threads"),
    (re.compile(r"Doing mutex performance test"), "mutex"),
    (re.compile(r"memory (?:operations )?speed test"), "memory"),
    (re.compile(r"Extra file open flags"), "fileio"),
)
_MODES = (
    re.compile(r"Running (\w{1,20}) OLTP test"),
    re.compile(r"Doing (read-only|read-write) test"),
    re.compile(r"Doing ((?:sequential|random|combined) [\w /()-]{1,40}) test"),
)


def read_settings(heading: Heading, text: str) -> None:
    """Add the settings in a line to a run's heading; the first of two stays."""
    for pattern, name in _FACTS:
        if match := pattern.search(text):
            heading.facts.setdefault(name, match[1].strip())
    for pattern, script in _TESTS:
        if pattern.search(text):
            heading.script = heading.script or script
    for pattern in _MODES:
        match = pattern.search(text)
        if match and match[1] not in heading.modes and len(heading.modes) < 8:
            heading.modes.append(match[1])
