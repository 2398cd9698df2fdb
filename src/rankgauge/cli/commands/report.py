"""``rankgauge report html`` and ``rankgauge report verify``."""

from __future__ import annotations

import re
import time
from dataclasses import asdict, replace
from pathlib import Path

import click

from rankgauge.benchmark.folder import MANIFEST, PAGE, read_report
from rankgauge.benchmark.verify import changed_files, verify_benchmark
from rankgauge.cli.command_tree import documented
from rankgauge.cli.commands.evaluate import evaluate_inputs
from rankgauge.cli.options.declared_options import (
    CONFIG_OPTIONS,
    declared_options,
    flag_of,
    option,
    option_group,
    option_names,
    option_names_given,
)
from rankgauge.cli.options.evaluation_settings import (
    BY,
    CONVENTION_OPTIONS,
    KPI,
    measure_option,
    settings_options,
    statistics_options,
)
from rankgauge.cli.options.inputs import (
    NO_CODE,
    LabelSources,
    NamedInputs,
    asking_with_k,
    check_baseline_file,
    check_one_stdin,
    chosen_baseline,
    label_options,
    matching_options,
)
from rankgauge.cli.options.outputs import (
    CORPUS,
    OutputRequest,
    PageRequest,
    SaveRequest,
    View,
    format_option,
    write_html,
    write_page,
)
from rankgauge.cli.printing import (
    collected_notes,
    print_message,
    print_run_warnings,
    print_warnings,
    write,
    write_lines,
)
from rankgauge.comparison.compare import compare_evaluation
from rankgauge.config.settings import Settings
from rankgauge.core.formatting import plural, text_of
from rankgauge.core.settings import Section
from rankgauge.core.verdicts import exit_code
from rankgauge.errors import InputError, UsageError, printable
from rankgauge.history.entries import ALL_ENTRIES, EntryFilter
from rankgauge.io.atomic_files import check_writable
from rankgauge.io.formats.json_text import json_text
from rankgauge.io.owned_databases import is_database
from rankgauge.io.reading_options import Asking, Reading
from rankgauge.io.stored_json import read_document
from rankgauge.measures.registry import DEFAULT_MEASURES
from rankgauge.render.documents.benchmark import BENCHMARK_SCHEMA
from rankgauge.report import manifest as manifests


@documented(
    "html",
    """
    # Write the page of a benchmark again
    rankgauge report html rankgauge-benchmark -o report.html
    # Write the history as a page
    rankgauge report html .rankgauge/history.db -o history.html
    # Write the page of labels and results
    rankgauge report html qrels.txt old.run my.run -o report.html
    """,
)
@click.argument("names", type=click.Path(allow_dash=True), nargs=-1, metavar="[SOURCE | LABELS RESULTS …]")
@option_group("filter", EntryFilter, *declared_options(EntryFilter))
@settings_options(
    measure_option(f"Compute a measure, in any notation; repeatable.  [default: {', '.join(DEFAULT_MEASURES)}]"),
    *declared_options(Settings, "baseline", help="Compare with RUN: the name or the file of a run.  [default: first]"),
    *statistics_options(),
    BY,
    *CONVENTION_OPTIONS,
    *CONFIG_OPTIONS,
    KPI,
)
@label_options
@option(
    "-o",
    "--out",
    section=Section.OUTPUT,
    type=click.Path(),
    default=PAGE,
    show_default=True,
    metavar="FILE",
    help="Write the page to FILE.",
)
@CORPUS
@matching_options()
@asking_with_k
@NO_CODE
def report_html_command(
    names: tuple[str, ...],
    filter: EntryFilter,
    sources: LabelSources,
    settings: Settings,
    reading: Reading,
    asking: Asking,
    out: str,
    corpus: str | None,
) -> int | None:
    """Write the HTML report of results, of a benchmark, or of a history.

    SOURCE is the folder that `rankgauge benchmark run` wrote, or the BenchmarkReport.json in it; or a history, by
    default that of the project. LABELS and RESULTS are those of `rankgauge evaluate`; several systems are compared with
    the first, or with --baseline. A log holds both.

    The page of a history has the latest results of each collection, trends, and a list of all entries; --branch,
    --tag, --system, --collection and --since choose entries.
    """
    source = names[0] if len(names) == 1 and sources.labels is None else None
    is_history = (not names and sources.labels is None) or (source is not None and is_database(source))
    if not is_history and filter != ALL_ENTRIES:
        raise UsageError(
            "only the page of a history takes options that choose entries",
            hint="rankgauge report html .rankgauge/history.db",
        )
    if is_history or (source is not None and _is_benchmark(source)):
        unused = next((name for name in option_names_given() if name not in OWN_OPTIONS), None)
        if unused is not None:
            raise UsageError(
                f"{flag_of(unused)} applies to labels and results", hint="rankgauge report html LABELS RESULTS …"
            )
        if is_history:
            _write_history(source, filter, out)
        else:
            _write_benchmark(str(source), out)
        print_message(f"wrote {printable(out, None)}")
        return None
    named = sources.split(names[0] if names else None, names[1:])
    return _write_results(named, settings, reading, asking, PageRequest(out, corpus))


OWN_OPTIONS = ("names", "out", *option_names(*declared_options(EntryFilter)))  # those of stored pages


def _is_benchmark(source: str) -> bool:
    """Whether a path is a folder, or JSON that rankgauge wrote: a report."""
    path = Path(source)
    if not path.is_file():
        return path.is_dir()
    with path.open("rb") as file:
        return REPORT_MARK.search(file.read(4096)) is not None


REPORT_MARK = re.compile(rb'"schema":\s*"rankgauge\.')


def _write_results(
    named: NamedInputs, settings: Settings, reading: Reading, asking: Asking, page: PageRequest
) -> int | None:
    """Score results on labels, compare them if there are several, and write the page."""
    output = OutputRequest(page, SaveRequest())
    named.sources.check(needs_join=True)
    check_one_stdin(*named.files)
    named.check_asking(also=("k",))
    output.check(*named.files, reads_history=True)
    with collected_notes() as notes:
        reading = output.reading(replace(reading, fingerprint=True))
        evaluated = evaluate_inputs(named, settings, View(), reading, asking, output)
        evaluation, comparison = evaluated.evaluation, None
        if not evaluation.scores:
            raise UsageError(
                f"{printable(named.labels or '', None)} holds labels only",
                hint="name the results after the labels, or a log that has both",
            )
        notes += evaluated.notes
        baseline = chosen_baseline(settings.baseline, evaluated.names)
        if len(evaluation.scores) > 1:
            check_baseline_file(settings.baseline, evaluated.names, evaluation)
            comparison = compare_evaluation(
                evaluation, baseline, statistics=settings.statistics, by=settings.by or (), changes=settings.changes
            )
    print_warnings([*notes, *(() if comparison is None else comparison.notes)])
    print_run_warnings(evaluation.scores)
    if evaluated.has_too_many_failures(asking):
        print_message("hint: allow failures: --max-failures N")
        return exit_code("fail")
    page.write(evaluation, settings, comparison=comparison, baseline=baseline, input_notes=notes)
    return None


def _write_history(file: str | None, filter: EntryFilter, out: str) -> None:
    from rankgauge.history.store import History
    from rankgauge.render.html.history_page import history_page

    with History.open(file, create=False) as history:
        check_writable(out, inputs=[history.path])
        write_html(history_page(history, filter), out, inputs=[history.path])


def _write_benchmark(source: str, out: str) -> None:
    folder = Path(source) if Path(source).is_dir() else _folder_of(Path(source))
    manifest = manifests.load(folder / MANIFEST)
    if not manifests.is_intact(manifest):
        raise InputError.at(folder / MANIFEST, None, "has changed since it was written")
    changed = next((str(change) for change in changed_files(folder, manifest) if change.file != PAGE), None)
    if changed is not None:
        raise InputError.at(folder, None, changed, hint="`rankgauge report verify` lists everything that has changed")
    inputs = [folder / name for name in (MANIFEST, *manifest["files"]) if name != PAGE]
    check_writable(out, inputs=inputs)
    write_page(read_report(folder, manifest), out, inputs=inputs)


def _folder_of(path: Path) -> Path:
    """The folder of a report; raise if the file is not the report of a benchmark."""
    hint = "run the benchmark again, or name labels and results: rankgauge report html LABELS RESULTS …"
    read_document(path, BENCHMARK_SCHEMA, hint=hint)
    return path.parent


MAX_LISTED = 20  # tolerated differences in a text


@documented(
    "verify",
    """
    # Check that a benchmark's numbers follow from its files
    rankgauge report verify rankgauge-benchmark
    # Print the result as JSON
    rankgauge report verify rankgauge-benchmark --format json
    """,
)
@click.argument("folder", type=click.Path(), metavar="DIR")
@format_option("table", "json")
@click.option(
    "--index", type=click.Path(), metavar="DIR", help="Also check the indexes that `benchmark run --index DIR` kept."
)
def report_verify_command(folder: str, format: str, index: str | None) -> int | None:
    """Recompute every number in the folder of a benchmark.

    Every report, page and table is generated again from the stored runs, judgments and queries, and compared. Scores
    must be the same to the last digit; intervals, p and other statistics may differ by a relative 1e-9, as SciPy's
    versions do, and each such difference is listed. The result proves that the numbers follow from the files in the
    folder, not who made them: whoever can run rankgauge can make a whole folder from other runs. Exit codes:
    0 unchanged, 1 changed, 2 not a benchmark.
    """
    start = time.monotonic()
    verification = verify_benchmark(folder, index=index)
    if format == "json":
        data = {
            "ok": verification.ok,
            "files": verification.files,
            "numbers": verification.recomputed,
            "tolerated": [asdict(difference) for difference in verification.tolerated],
            "changes": [asdict(change) for change in verification.changes],
        }
        write(json_text(data, indent=2) + "\n")
    elif verification.ok:
        seconds = time.monotonic() - start
        counts = f"{plural(verification.files, 'file')}, {plural(verification.recomputed, 'number')} recomputed"
        tolerated = f", {plural(len(verification.tolerated), 'difference')} tolerated" if verification.tolerated else ""
        write_lines(f"{printable(folder, None)}: ok, {counts}{tolerated}")
        for difference in verification.tolerated[:MAX_LISTED]:
            write_lines(f"  {printable(str(difference), None)}")
        if len(verification.tolerated) > MAX_LISTED:
            write_lines(f"  {len(verification.tolerated) - MAX_LISTED:,} more; --format json lists them all")
        print_message(f"in {text_of(seconds, 'seconds')}")
    else:
        for change in verification.changes:
            write_lines(printable(str(change), None))
    return exit_code("pass" if verification.ok else "fail")
