"""``rankgauge report html``."""

from __future__ import annotations

from pathlib import Path

import click

from rankgauge.benchmark.folder import MANIFEST, PAGE, read_report
from rankgauge.benchmark.verify import changed_files
from rankgauge.cli.options.html import write_page
from rankgauge.errors import InputError, printable
from rankgauge.io.records import read_document
from rankgauge.io.writing import check_writable
from rankgauge.render.text.benchmark import BENCHMARK_SCHEMA
from rankgauge.report import manifest as manifests


@click.command("html")
@click.argument("source", type=click.Path(), metavar="DIR|REPORT.json")
@click.option(
    "-o", "--out", type=click.Path(), default=PAGE, show_default=True, metavar="FILE", help="Write the report to FILE."
)
def command(source: str, out: str) -> None:
    """Write the HTML report of a benchmark.

    DIR is the folder that `rankgauge benchmark run` wrote, REPORT.json the BenchmarkReport.json in it. For your own
    runs and judgments, see `rankgauge evaluate --html` and `rankgauge compare --html`.
    """
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
    click.echo(f"wrote {printable(out, None)}", err=True)


def _folder_of(path: Path) -> Path:
    """The folder of a report; raise if the file is not the report of a benchmark."""
    hint = "an HTML report needs the rankings: use `rankgauge evaluate --html` or `rankgauge compare --html`"
    read_document(path, BENCHMARK_SCHEMA, hint=hint)
    return path.parent
