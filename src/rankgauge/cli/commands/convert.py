"""``rankgauge convert``."""

from __future__ import annotations

import click

from rankgauge.cli.options.terminal import collected_notes, print_warnings
from rankgauge.errors import UsageError, printable, shown
from rankgauge.io.conversion import convert
from rankgauge.io.formats.names import Kind
from rankgauge.io.formats.registry import FORMATS

READ = ", ".join(format.name for format in FORMATS)
WRITTEN = ", ".join(format.name for format in FORMATS if format.write is not None)


@click.command("convert")
@click.argument("source", metavar="IN", type=click.Path())
@click.argument("target", metavar="OUT", type=click.Path())
@click.option("--from", "from_format", metavar="FORMAT", help=f"IN's format: {READ}.  [default: by its content]")
@click.option("--to", "to_format", metavar="FORMAT", help=f"OUT's format: {WRITTEN}.  [default: by its name]")
@click.option("--kind", type=click.Choice(["qrels", "run"]), help="What IN holds.  [default: by its content]")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="ROLE=NAME",
    help="Which column of IN is the query, doc, score, grade, rank, iter or tag, where its name does not say.",
)
@click.option(
    "--escape-formulas",
    is_flag=True,
    help="Put a ' before ids that a spreadsheet would take for a formula (csv and tsv; the ids change).",
)
def command(
    source: str,
    target: str,
    from_format: str | None,
    to_format: str | None,
    kind: Kind | None,
    columns: tuple[str, ...],
    escape_formulas: bool,
) -> None:
    """Write judgments or a run in another format.

    OUT is written whole or not at all, and never over IN; "-" is standard input or output, and a name that ends in
    .gz is packed. What the new format cannot hold is said.
    """
    with collected_notes() as notes:
        done = convert(
            source,
            target,
            kind=kind,
            from_format=from_format,
            to_format=to_format,
            columns=roles(columns),
            escape_formulas=escape_formulas,
        )
    print_warnings(notes)
    for what in done.lost:
        click.echo(f"warning: {done.target} cannot hold: {printable(what)} [lost]", err=True)
    word = "judgments" if done.kind == "qrels" else "results"
    click.echo(f"wrote {done.rows} {word} from {done.source} to {done.target}", err=True)


def roles(given: tuple[str, ...]) -> dict[str, str]:
    """``query=qid`` as a pair."""
    out: dict[str, str] = {}
    for text in given:
        role, mark, name = text.partition("=")
        if not mark or not role or not name:
            raise UsageError(f"--column takes ROLE=NAME, found {shown(text)}", hint="--column query=question_no")
        out[role] = name
    return out
