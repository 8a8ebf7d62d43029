"""The command line: ``benchkit run | plan | ls | show | compare | import | ...``.

Reads arguments, calls what does the work, and prints. Exit codes: 0 fine, 1 an error or a run
that failed, 2 wrong usage, 130 interrupted. Results go to the standard output; everything about
how things go, and errors, to the standard error.
"""

import functools
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from benchkit import doctor, inventory, terminal, views, workloads
from benchkit.api import Study
from benchkit.cli_server import server
from benchkit.commands import ERROR, INTERRUPTED, Commands, examples, report, verbatim
from benchkit.errors import StoreError, StudyWarning
from benchkit.execute import describe_failures
from benchkit.formats import FORMATS
from benchkit.hammerdb_export import FORMS
from benchkit.hammerdb_export import export as export_hammerdb
from benchkit.importers.percent import CONVENTIONS
from benchkit.importers.reading import FAMILIES, Order, import_files
from benchkit.modes import MODES
from benchkit.properties_study import study_from_properties
from benchkit.report import STYLES
from benchkit.results import load
from benchkit.store import StudyFolder, open_run, save_text
from benchkit.studyfile import EXAMPLE, default_folder, read_study
from benchkit.units import format_count
from benchkit.verify import verify_study
from benchkit.version import get_version


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Report Python's warnings once the work is done, without where in the code they came from."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StudyWarning)
        try:
            yield
        finally:
            for warning in caught:
                report(f"warning: {warning.message}")


_ITERATION_MODE = click.option(
    "--iteration-mode",
    type=click.Choice([*MODES]),
    help="How each run finds server and data, whatever the file says.  [default: restart for "
    "workloads that read, restore for those that write]",
)


_STUDY_FILE = verbatim("A study file:\n" + textwrap.indent(EXAMPLE, "  "))


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"benchkit {get_version()}")
        ctx.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples("benchkit doctor", "benchkit run flush_log.toml"),
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Measure MariaDB and MySQL servers, and tell which is faster.

    A study says what to compare: servers x workloads x thread counts x iterations, in a TOML
    file; `benchkit run --help` shows one.
    """


def _describes_a_study(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command take a study, from a study file or from a properties file."""

    @click.argument("study_file", metavar="[STUDY.toml]", required=False)
    @click.option(
        "--properties",
        metavar="FILE",
        help="Take the study from a properties file of TAF, or one stored with a run.",
    )
    @click.option(
        "--db-config-file",
        metavar="FILE",
        help="With --properties: the server's options, instead of those it says.",
    )
    @_ITERATION_MODE
    @functools.wraps(command)
    def wrapped(
        study_file: str | None,
        properties: str | None,
        db_config_file: str | None,
        iteration_mode: Any,
        **how: Any,
    ) -> None:
        if (study_file is None) == (properties is None):
            raise click.UsageError("give either a study file or --properties FILE")
        if db_config_file and properties is None:
            raise click.UsageError("--db-config-file goes with --properties")
        with _warnings_as_lines():
            study = (
                study_from_properties(properties, db_config_file=db_config_file)
                if properties
                else read_study(str(study_file))
            )
        if iteration_mode:
            study = replace(study, iteration_mode=iteration_mode)
        command(study=study, **how)

    return wrapped


@main.command(
    epilog=examples(
        "benchkit run flush_log.toml",
        "benchkit run flush_log.toml -o results/again",
        "benchkit run --properties doublewrite.properties",
    )
    + "\n\n"
    + _STUDY_FILE
)
@_describes_a_study
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The study's folder.  [default: results/NAME-OF-THE-STUDY]",
)
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="No progress: neither a bar nor, where there is no terminal, a line for each run.",
)
def run(study: Study, output: Path | None, quiet: bool) -> None:
    """Execute a study, and print the comparison.

    Each run is stored as it ends. After Ctrl-C, a crash or a failed run, the same command goes
    on with the runs that are missing; a study that is complete is only shown.

    Servers are started by benchkit, unless the file says where one runs; that one's password is
    read from the environment variable BENCHKIT_PASSWORD. `benchkit workloads` lists what can be
    run.
    """
    folder = output or default_folder(study.name)
    if not quiet:
        planned = study.plan()
        stored = inventory.count_stored(planned, folder)
        report(f"{planned.summary()}\n{stored} of {len(planned)} are stored in {folder}")
    try:
        with _warnings_as_lines():
            failures = study.measure(folder, progress=not quiet)
    except KeyboardInterrupt as stop:
        report("interrupted: what was measured is stored, the same command goes on from there")
        raise click.exceptions.Exit(INTERRUPTED) from stop
    results = load(folder)
    if len(study.servers) > 1 and len(results):
        terminal.draw([results.compare()])
    elif len(results):
        terminal.draw(views.means_view(inventory.compute_means(results)))
    if failures:
        report(f"error: {describe_failures(failures)}")
        raise click.exceptions.Exit(ERROR)


@main.command(epilog=examples("benchkit plan flush_log.toml"))
@_describes_a_study
def plan(study: Study) -> None:
    """Show the runs of a study, and how long they take.

    Nothing runs, and nothing is written.
    """
    terminal.draw(views.plan_view(study.plan()))


@main.command("ls", epilog=examples("benchkit ls", "benchkit ls results/flush-log --runs"))
@click.argument("directory", metavar="[DIR]", default=".")
@click.option("--runs", is_flag=True, help="DIR is a study: list its runs.")
def list_studies(directory: str, runs: bool) -> None:
    """List the studies below a folder, or the runs of one."""
    if runs:
        study = inventory.take_inventory(directory)
        terminal.draw(views.runs_view(study))
        return
    found, damaged = [], False
    for path in inventory.find_studies(directory):
        try:
            found.append(inventory.take_inventory(path))
        except StoreError as error:  # the others can be listed all the same
            report(f"error: {error}")
            damaged = True
    if found:
        terminal.draw(views.studies_view(found))
    elif not damaged:
        report(f"no study in {directory} or below it")
    if damaged:
        raise click.exceptions.Exit(ERROR)


@main.command(
    epilog=examples(
        "benchkit show results/flush-log", "benchkit show results/flush-log/runs/0153f12027be7547"
    )
)
@click.argument("path", metavar="PATH")
def show(path: str) -> None:
    """Show a study, or one of its runs.

    Of a study: its settings, servers and workloads, the mean of each dataset, warnings, and
    attempts that did not finish. Of a run: its metrics, transactions, statements, errors,
    warnings and load.
    """
    if (Path(path) / "run.json").exists():
        terminal.draw(views.run_view(open_run(path)))
        return
    found = inventory.take_inventory(path)
    terminal.draw(views.study_view(found, inventory.compute_means(found.results)))


@main.command(
    epilog=examples(
        "benchkit compare results/flush-log --metric latency_p95",
        'benchkit compare results/june results/july --baseline "baseline · june" -f csv',
        "benchkit compare results/flush-log -m tps -m latency_p95 --style modern -o report.html",
    )
)
@click.argument("directories", metavar="DIR...", nargs=-1, required=True)
@click.option(
    "-m",
    "--metric",
    "metrics",
    metavar="NAME",
    multiple=True,
    help="Such as latency_p95; may be repeated.  [default: tps, of TPROC-C nopm, of an imported "
    "report what it is about]",
)
@click.option(
    "-b", "--baseline", metavar="NAME", help="The server to compare with.  [default: the first]"
)
@click.option(
    "-s",
    "--style",
    type=click.Choice([*STYLES]),
    help="A report instead of means and ratios: everything, as TAF's, or percent per test.",
)
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", *FORMATS]),
    help="How to write it.  [default: text, or what the ending of FILE says]",
)
@click.option("-o", "--output", metavar="FILE", help="Where to write it.")
@click.option(
    "--allow-different",
    is_flag=True,
    help="Compare even what differs in workload, scale or metric.",
)
def compare(
    directories: Sequence[str],
    metrics: Sequence[str],
    style: str | None,
    form: str | None,
    output: str | None,
    **how: Any,
) -> None:
    """Compare the servers of one or more studies."""
    comparison = load(list(directories)).compare(metrics or None, **how)
    if style or output or (comparison.also and form in FORMATS):
        report = comparison.table(style or "modern")
        if output:
            report.save(output, form)
        else:
            terminal.write(report.render(form or "text"))
    elif form in FORMATS:
        terminal.write(FORMATS[form](comparison).rstrip("\n") + "\n")
    else:
        terminal.draw([comparison])


@main.command(
    "import",
    epilog=examples(
        "benchkit import sysbench logs/11.8/*.log -o results/11.8 --label 11.8",
        "benchkit import auto old_report.txt -o results/old --lenient",
    ),
)
@click.argument(
    "kind", metavar="taf|sysbench|hammerdb|auto", type=click.Choice(["auto", *FAMILIES])
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="DIR", required=True, help="The study's folder.")
@click.option("-l", "--label", metavar="NAME", help="What to call the dataset.")
@click.option("--name", metavar="NAME", help="The study's name.  [default: the first file's]")
@click.option("--lenient", is_flag=True, help="Keep what is readable of damaged files.")
@click.option(
    "--convention",
    type=click.Choice(CONVENTIONS),
    help="What a percent table's numbers are, where it does not say: 100 or 0 is equal.",
)
def import_results(
    kind: str, files: Sequence[str], output: str, label: str | None, **how: Any
) -> None:
    """Store past results as a study, to be compared like any other.

    They are reports and result files of TAF, logs of sysbench, and logs and jobs of HammerDB; a
    folder stands for all files in it. The files are kept beside the runs. A later import can add
    to the same folder.
    """
    families = FAMILIES if kind == "auto" else (kind,)
    outcome = import_files(list(files), output, Order(families, label, **how))
    for problem in outcome.problems:
        report(f"warning: {problem}")
    runs, read = format_count(outcome.runs, "run"), format_count(outcome.files, "file")
    report(f"{runs} of {read} stored in {output}")


@main.command("verify", epilog=examples("benchkit verify results/flush-log"))
@click.argument("directories", metavar="DIR...", nargs=-1, required=True)
def verify(directories: Sequence[str]) -> None:
    """Check that studies are as they were written.

    Every file of every run is compared with its hash, and what was loaded on a server with what
    was loaded on the others. The exit code is 1 if something is wrong.
    """
    found = [verify_study(directory) for directory in directories]
    for directory, verification in zip(directories, found, strict=True):
        for problem in verification.problems:
            report(f"error: {problem}")
        runs, files = verification.runs, verification.files
        wrong = format_count(len(verification.problems), "problem")
        click.echo(
            f"{directory}: {format_count(runs, 'run')}, {format_count(files, 'file')}, {wrong}"
        )
    if any(verification.problems for verification in found):
        raise click.exceptions.Exit(ERROR)


@main.command(
    epilog=examples(
        "benchkit export hammerdb results/doublewrite --form summary",
        "benchkit export hammerdb results/doublewrite/runs/0153f12027be7547 -f report -o job.json",
    )
)
@click.argument("kind", metavar="hammerdb", type=click.Choice(["hammerdb"]))
@click.argument("path", metavar="PATH")
@click.option(
    "-f",
    "--form",
    type=click.Choice(FORMS),
    default="summary",
    show_default=True,
    help="As `jobs <id> FORM` prints it; report is `jobs <id> save`, line the log's.",
)
@click.option("-o", "--output", metavar="FILE", help="Where to write it.")
def export(kind: str, path: str, form: str, output: str | None) -> None:
    """Write runs of TPROC-C in the forms of HammerDB's own results.

    PATH is a study, or one of its runs.
    """
    single = (Path(path) / "run.json").exists()
    text = export_hammerdb([open_run(path)] if single else StudyFolder.open(path).runs(), form)
    if output:
        save_text(output, text)
    else:
        terminal.write(text)


@main.command("doctor", epilog=examples("benchkit doctor", "benchkit doctor flush_log.toml"))
@click.argument("study_file", metavar="[STUDY.toml]", required=False)
def examine(study_file: str | None) -> None:
    """Check whether machine and server are fit to measure.

    With a study, also whether its servers can take its threads, tables and rows. The exit code
    is 1 if a check fails.
    """
    checks = doctor.examine_study(read_study(study_file)) if study_file else doctor.examine()
    terminal.draw(views.checks_view(checks))
    if any(check.status == "fail" for check in checks):
        raise click.exceptions.Exit(ERROR)


@main.command(
    "workloads", epilog=examples("benchkit workloads", "benchkit workloads oltp_read_write")
)
@click.argument("name", metavar="[NAME]", required=False)
def list_workloads(name: str | None) -> None:
    """List the workloads, or the options of one."""
    view = views.workload_view(workloads.factory(name)) if name else views.workloads_view()
    terminal.draw(view)


main.add_command(server)
