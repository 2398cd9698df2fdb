"""``rankgauge report html``."""

from __future__ import annotations

from pathlib import Path

import click

from rankgauge.benchmark.folder import MANIFEST, PAGE, read_report
from rankgauge.benchmark.verify import changed_files
from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.declared import option
from rankgauge.cli.options.history import filter_options
from rankgauge.cli.options.html import write_html, write_page
from rankgauge.core.settings import Section
from rankgauge.errors import InputError, UsageError, printable
from rankgauge.history.filters import ALL_ENTRIES, EntryFilter
from rankgauge.io.records import read_document
from rankgauge.io.writing import check_writable
from rankgauge.render.documents.benchmark import BENCHMARK_SCHEMA
from rankgauge.report import manifest as manifests

PROJECT = ""  # --history without a file: that of the project


@documented(
    "html",
    """
    # Write the page of a benchmark again
    rankgauge report html rankgauge-benchmark -o report.html
    # Write the history as a page
    rankgauge report html --history .rankgauge/history.db -o history.html
    """,
)
@click.argument("source", type=click.Path(), metavar="[DIR|REPORT.json]", required=False)
@option(
    "--history",
    "history_file",
    section=Section.HISTORY,
    type=click.Path(),
    is_flag=False,
    flag_value=PROJECT,
    metavar="[FILE]",
    help="Write the page of a history instead: that in FILE, or that of the project.",
)
@filter_options
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
def command(source: str | None, history_file: str | None, filter: EntryFilter, out: str) -> None:
    """Write the HTML report of a benchmark, or the page of a history.

    DIR is the folder that `rankgauge benchmark run` wrote, REPORT.json the BenchmarkReport.json in it. For your own
    runs and judgments, see `rankgauge evaluate --html` and `rankgauge compare --html`.

    The page of a history has the latest results of each collection, trends, and a list of all entries; --branch,
    --tag, --system, --collection and --since choose entries.
    """
    if (source is None) == (history_file is None):
        raise UsageError(
            "expected either the folder of a benchmark or --history",
            hint="rankgauge report html DIR, or rankgauge report html --history -o FILE",
        )
    if source is not None:
        if filter != ALL_ENTRIES:
            raise UsageError("only the page of a history takes options that choose entries", hint="use --history")
        _write_benchmark(source, out)
    else:
        _write_history(history_file or None, filter, out)
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
