"""What is shown while a study runs: in a terminal, in a notebook, in a log file, or nowhere."""

import io
from types import SimpleNamespace

import pytest
from studies import small_plan

from benchkit import progress
from benchkit.progress import LineProgress, LoadMeter, make_progress
from benchkit.record import DRAIN, MEASUREMENT, WARMUP

RUNS = small_plan(iterations=1).runs
METRICS = {"tps": 1234.4, "latency_p95": 0.00321}


class Screen(io.StringIO):
    """A stderr that shows all characters, and may be a terminal."""

    encoding = "utf-8"

    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal

    def last_line(self):
        return self.getvalue().rstrip("\n").rpartition("\r")[2].rstrip()


def show_on(monkeypatch, stderr, modules):
    """Have progress see this stderr, which pytest would replace, and these modules."""
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stderr, modules=modules))
    return stderr


@pytest.fixture
def terminal(monkeypatch):
    return show_on(monkeypatch, Screen(True), {})


@pytest.fixture
def notebook(monkeypatch):
    """Return the stderr of a notebook, which is no terminal but can be drawn over."""
    shell = SimpleNamespace(kernel=object())
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    return show_on(monkeypatch, Screen(False), {"IPython": ipython})


def row(phase=MEASUREMENT, errors=0, elapsed_s=1.0):
    return {
        "phase": phase,
        "committed": 1500,
        "elapsed_s": elapsed_s,
        "response_p95_s": 0.00215,
        "errors": errors,
    }


def run_all(bar):
    """Report the runs of the plan, of a second of warmup and five of measurement each."""
    for run in RUNS:
        bar.begin_run(run)
        bar.show_step("starting a")
        bar.show_row(row(WARMUP))
        for _ in range(5):
            bar.show_row(row(errors=2))
        bar.show_row(row(DRAIN))
        bar.end_run(METRICS)


def test_terminal_shows_throughput_response_time_errors_and_time_left(terminal):
    with make_progress(RUNS, True) as bar:
        bar.begin_run(RUNS[0])
        bar.show_row(row(WARMUP))
        assert "left, warmup, 1,500 tps, p95 2.15 ms, 0 errors, 1/4 a, " in terminal.last_line()
        bar.show_row(row(errors=3))
        line = terminal.last_line()
    assert "00:00 left, 1,500 tps, p95 2.15 ms, 3 errors, 1/4 a, oltp_point_select, 1 thr" in line
    assert line.startswith("  8% |")


def test_narrow_terminal_still_shows_the_numbers(terminal, monkeypatch):
    monkeypatch.setattr("tqdm.std._screen_shape_wrapper", lambda: lambda _: (79, 25))
    with make_progress(RUNS, True) as bar:
        bar.begin_run(RUNS[0])
        bar.show_row(row())
        line = terminal.last_line()
    assert len(line) <= 79
    assert "1,500 tps, p95 2.15 ms, 0 errors" in line


def test_terminal_shows_what_comes_before_a_run(terminal):
    with make_progress(RUNS, True) as bar:
        bar.show_step("starting a")
        assert terminal.last_line().endswith("left, starting a")
        bar.begin_run(RUNS[0])
        bar.show_step("loading 40%")
        assert "loading 40%, 1/4 a, oltp_point_select" in terminal.last_line()


def test_load_shows_rows_per_second_and_the_time_left(monkeypatch):
    now_s = iter([10.0, 12.0, 13.0])
    monkeypatch.setattr("time.monotonic", lambda: next(now_s))
    shown = []
    meter = LoadMeter(1000, shown.append)
    for rows in (400, 500, 1020):  # 400 were there before; 1000 is an estimate
        meter(rows)
    assert shown == [
        "loading 40%",
        "loading 50%, 50 rows/s, 10 s left",
        "loading 100%, 207 rows/s, 0 s left",
    ]


def test_interval_without_responses_shows_none(terminal):
    with make_progress(RUNS, True) as bar:
        bar.begin_run(RUNS[0])
        bar.show_row(row() | {"committed": 0, "response_p95_s": float("nan")})
        assert "left, 0 tps, 0 errors, 1/4 a, " in terminal.last_line()


def test_bar_is_full_at_the_end(terminal):
    with make_progress(RUNS, True) as bar:
        run_all(bar)
    assert terminal.last_line().startswith("100% |████████████| 00:00 left")


def test_run_shorter_or_longer_than_planned_counts_as_planned(terminal):
    with make_progress(RUNS, True) as bar:
        bar.begin_run(RUNS[0])
        bar.show_row(row(elapsed_s=100.0))
        bar.end_run(METRICS)
        bar.begin_run(RUNS[1])
        bar.end_run(METRICS)
    assert terminal.last_line().startswith(" 50% |")


def test_failure_stays_above_the_bar(terminal):
    with make_progress(RUNS, True) as bar:
        bar.begin_run(RUNS[0])
        bar.fail_run("a, iteration 1: no such table")
    assert "\rfailed: a, iteration 1: no such table\n" in terminal.getvalue()


def test_log_file_gets_one_line_for_each_run(capsys):
    with make_progress(RUNS, True) as bar:
        run_all(bar)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(RUNS)
    assert lines[0].startswith(
        "1/4 a, oltp_point_select, 1 thread, iteration 1: 1,234 tps, p95 3.21 ms, 10 errors, "
    )
    assert lines[0].endswith(" left")
    assert not lines[-1].endswith(" left")


def test_log_file_gets_a_line_for_a_failure(capsys):
    bar = LineProgress(RUNS)
    bar.begin_run(RUNS[0])
    bar.fail_run("no such table")
    assert capsys.readouterr().err.startswith("1/4 failed: no such table")


def test_nothing_is_shown_where_nothing_is_wanted(capsys):
    with make_progress(RUNS, False) as bar:
        run_all(bar)
    assert capsys.readouterr() == ("", "")


def test_nothing_is_shown_where_nothing_is_to_do(terminal):
    make_progress([], True).close()
    assert terminal.getvalue() == ""


def test_notebook_without_widgets_has_a_bar_of_text(notebook, monkeypatch):
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    with make_progress(RUNS, True) as bar:
        run_all(bar)
    assert "100% |████████████| 00:00 left" in notebook.getvalue()


def test_notebook_with_widgets_has_a_widget(notebook, monkeypatch):
    pytest.importorskip("ipywidgets")
    made = []
    monkeypatch.setattr("tqdm.notebook.tqdm_notebook", lambda **options: made.append(options))
    make_progress(RUNS, True)
    assert made[0]["total"] == pytest.approx(24.0)
    assert notebook.getvalue() == ""
