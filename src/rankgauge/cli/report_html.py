"""``rankgauge report html``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from rankgauge.benchmark.folder import MANIFEST, PAGE, REPORT, read_report
from rankgauge.cli.html import write_page
from rankgauge.errors import InputError
from rankgauge.experiment import manifest as manifests
from rankgauge.render.benchmark import SCHEMA


@click.command("html")
@click.argument("source", type=click.Path(), metavar="DIR|REPORT.json")
@click.option("-o", "--out", type=click.Path(), default=PAGE, show_default=True, metavar="FILE")
def command(source: str, out: str) -> None:
    """Write the page of a benchmark.

    The folder of `rankgauge benchmark run`, or the BenchmarkReport.json in it. For runs and judgments of your own, see
    `rankgauge evaluate --html` and `rankgauge compare --html`.
    """
    folder = Path(source) if Path(source).is_dir() else _folder_of(Path(source))
    report = read_report(folder, manifests.opened(folder / MANIFEST))
    write_page(report, out, inputs=[folder / MANIFEST, folder / REPORT])
    click.echo(f"wrote {out}", err=True)


def _folder_of(path: Path) -> Path:
    """The folder that a report lies in; raises where the file is none of a benchmark."""
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError.at(path, None, f"cannot read: {error.strerror}") from error
    except ValueError as error:
        raise InputError.at(path, None, f"is no JSON: {error}") from error
    found = data.get("schema") if isinstance(data, dict) else None
    if found != SCHEMA:
        raise InputError.at(
            path,
            None,
            f"expected the schema {SCHEMA}, found {found}",
            hint="a page needs the rankings: `rankgauge evaluate --html` or `rankgauge compare --html` write one",
        )
    return path.parent
