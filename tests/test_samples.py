"""Option and properties files of others, where a folder of samples is there.

Each line of its index says what a file holds, counted with the tools that the file is for.
"""

import csv
import os
import re
import warnings
from pathlib import Path

import pytest

from benchkit.config import Config
from benchkit.errors import StudyWarning
from benchkit.optionfile import read_option_file
from benchkit.properties import read_properties

ROOT = Path(__file__).parent.parent
SAMPLES = Path(os.environ.get("BENCHKIT_SAMPLES", ROOT.parent / "shared/reference/samples"))


def index(kind: str) -> list[tuple[Path, str]]:
    """Return each sample of a kind, and what is expected of it."""
    file = SAMPLES / "INDEX.tsv"
    if not file.exists():
        return []
    rows = csv.DictReader(file.read_text().splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        (SAMPLES / row["file"], row["expected"]) for row in rows if row["file"].startswith(kind)
    ]


def number(expected: str, name: str) -> int:
    return int(re.search(rf"\b{name}=(\d+)", expected)[1])


@pytest.mark.parametrize(("path", "expected"), index("cnf/"))
def test_option_file_holds_what_the_index_says(path, expected):
    file = read_option_file(path)
    assert file.option_lines == number(expected, "option_lines")
    assert file.effective_options == number(expected, "effective_options")
    # name=value, up to the next ; or ( or ,<blank>
    facts = expected.partition("my_print_defaults); ")[2]
    for name, value in re.findall(r"(\w+)=([^;()]+?)(?: \(|;|$)", facts):
        found = file.values[name] or ""
        assert value in (found, {"OFF": "disabled"}.get(found)), name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StudyWarning)
        config = Config.from_file(path)
    assert len(config.options) == file.effective_options


@pytest.mark.parametrize(("path", "expected"), [x for x in index("cnf/") if "3 values" in x[1]])
def test_option_that_adds_up_has_all_values_of_the_index(path, expected):
    name, values = re.search(r"(\w+)\[3 values: ([^]]+)\]", expected).groups()
    assert read_option_file(path).values[name] == tuple(values.split(" | "))


COUNTS = ("property_lines", "distinct_keys", "null_values", "taf_keys")


@pytest.mark.parametrize(("path", "expected"), index("properties/"))
def test_properties_file_holds_what_the_index_says(path, expected):
    file = read_properties(path)
    assert file.problems == ()
    for name in COUNTS:
        assert getattr(file, name) == number(expected, name), name
    options = re.search(r"inline_db_config_options=(\d+)", expected)
    assert file.inline_db_config_options == (int(options[1]) if options else 0)
    facts = expected.partition("Properties.pm)")[2]
    for key, value in re.findall(r"((?:taf|hammerdb_tprocc)\.\w+)=([^;]+?)(?: \(|;|$)", facts):
        if "comma separated" not in value:  # words about the value follow some
            assert value.startswith(file.values[key] or "null"), key


def test_inline_block_of_the_sample_has_its_options():
    paths = [path for path, expected in index("properties/") if "inline_db" in expected]
    if not paths:
        pytest.skip("no samples here")
    file = read_properties(paths[0])
    options = file.block.server_options()
    assert options["innodb_buffer_pool_size"] == "64G"
    assert options["innodb_log_buffer_size"] == "4G"
    assert options["optimizer_switch"].count("=on") == 5
    assert not any(key.startswith("innodb") for key in file.values)
