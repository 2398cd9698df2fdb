"""``rankgauge report html`` and ``rankgauge report verify``."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import click

from rankgauge.benchmark.folder import MANIFEST, PAGE, read_report
from rankgauge.benchmark.verify import changed_files, verify_benchmark
from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import declared_options, option, option_group
from rankgauge.cli.options.outputs import format_option, write_html, write_page
from rankgauge.cli.printing import print_message, write, write_lines
from rankgauge.core.formatting import plural, text_of
from rankgauge.core.settings import Section
from rankgauge.core.verdicts import exit_code
from rankgauge.errors import InputError, UsageError, printable
from rankgauge.history.entries import ALL_ENTRIES, EntryFilter
from rankgauge.io.atomic_files import check_writable
from rankgauge.io.owned_databases import is_database
from rankgauge.io.stored_json import read_document
from rankgauge.io.text_checks import json_text
from rankgauge.render.documents.benchmark import BENCHMARK_SCHEMA
from rankgauge.report import manifest as manifests


@documented(
    "html",
    """
    # Write the page of a benchmark again
    rankgauge report html rankgauge-benchmark -o report.html
    # Write the history as a page
    rankgauge report html .rankgauge/history.db -o history.html
    """,
)
@click.argument("source", type=click.Path(), metavar="[DIR|REPORT.json|HISTORY.db]", required=False)
@option_group("filter", EntryFilter, *declared_options(EntryFilter))
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
def report_html_command(source: str | None, filter: EntryFilter, out: str) -> None:
    """Write the HTML report of a benchmark, or the page of a history.

    DIR is the folder that `rankgauge benchmark run` wrote, REPORT.json the BenchmarkReport.json in it; HISTORY.db is a
    history, by default that of the project. For your own runs and judgments, see `rankgauge evaluate --html` and
    `rankgauge compare --html`.

    The page of a history has the latest results of each collection, trends, and a list of all entries; --branch,
    --tag, --system, --collection and --since choose entries.
    """
    if source is None or is_database(source):
        _write_history(source, filter, out)
    elif filter != ALL_ENTRIES:
        raise UsageError(
            "only the page of a history takes options that choose entries",
            hint="rankgauge report html .rankgauge/history.db",
        )
    else:
        _write_benchmark(source, out)
    print_message(f"wrote {printable(out, None)}")


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
    hint = "run the benchmark again, or use `rankgauge evaluate --html` or `rankgauge compare --html` for other results"
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
