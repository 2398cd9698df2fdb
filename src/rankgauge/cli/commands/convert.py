"""``rankgauge convert``."""

from __future__ import annotations

import click
import numpy as np

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.inputs import parse_columns
from rankgauge.cli.printing import collected_notes, print_message, print_warnings
from rankgauge.core.batch import Batch
from rankgauge.core.formatting import plural
from rankgauge.errors import Note, UsageError, printable
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.conversion import convert
from rankgauge.io.formats.named_columns import Kind
from rankgauge.io.formats.registry import FORMATS
from rankgauge.io.formats.trec import write_trec_rows
from rankgauge.io.read import as_qrels
from rankgauge.io.reading_options import Reading
from rankgauge.labels.pool_files import read_pool, with_undrawn

READABLE_FORMATS = ", ".join(format.name for format in FORMATS)
WRITABLE_FORMATS = ", ".join(format.name for format in FORMATS if format.write is not None)


@documented(
    "convert",
    """
    # Write a run as CSV
    rankgauge convert my.run my.csv
    # Compress judgments, in the TREC format
    rankgauge convert qrels.txt qrels.trec.gz --to trec
    # Write judgments of a uniform sample, for infAP
    rankgauge convert judgments.jsonl sampled.qrels --pool pool.jsonl
    """,
)
@click.argument("source", metavar="IN", type=click.Path())
@click.argument("target", metavar="OUT", type=click.Path())
@click.option(
    "--from",
    "from_format",
    metavar="FORMAT",
    help=f"Set the format of IN: {READABLE_FORMATS}.  [default: detected from the content]",
)
@click.option(
    "--to", "to_format", metavar="FORMAT", help=f"Set the format of OUT: {WRITABLE_FORMATS}.  [default: by its name]"
)
@click.option(
    "--kind",
    type=click.Choice(["qrels", "run"]),
    help="Say whether IN holds judgments or a run.  [default: detected from the content]",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="ROLE=NAME",
    help="Read a column of IN as query, doc, score, grade, rank, iter or tag, if its name does not say so; repeatable.",
)
@click.option(
    "--pool",
    type=click.Path(),
    metavar="FILE",
    help="Add the documents of a uniform sample's pool that were not drawn, with grade -1 as infAP expects.",
)
@click.option(
    "--escape-formulas",
    is_flag=True,
    help="Put a ' before ids that a spreadsheet would read as a formula (csv and tsv); reading the file removes it.",
)
def convert_command(
    source: str,
    target: str,
    from_format: str | None,
    to_format: str | None,
    kind: Kind | None,
    columns: tuple[str, ...],
    pool: str | None,
    escape_formulas: bool,
) -> None:
    """Write judgments or a run in another format.

    OUT is written completely or not at all, and never over IN; "-" is standard input or output, and a name that ends
    in .gz is compressed. What the new format cannot hold is reported.
    """
    if pool is not None:
        if to_format not in (None, "trec") or kind == "run" or escape_formulas:
            raise UsageError(
                "--pool writes judgments as a TREC file", hint="leave out --to, --kind and --escape-formulas"
            )
        _write_sampled(source, target, pool, Reading(qrels_format=from_format, columns=parse_columns(columns) or None))
        return
    with collected_notes() as notes:
        conversion = convert(
            source,
            target,
            kind=kind,
            from_format=from_format,
            to_format=to_format,
            columns=parse_columns(columns),
            escape_formulas=escape_formulas,
        )
    lost = [Note("lost", f"{conversion.target} cannot hold: {printable(field)}") for field in conversion.lost]
    print_warnings([*notes, *lost])
    rows = plural(conversion.rows, "judgment" if conversion.kind == "qrels" else "result")
    print_message(f"wrote {rows} from {conversion.source} to {conversion.target}")


def _write_sampled(labels: str, out: str, pool: str, reading: Reading) -> None:
    """Write judgments of a uniform sample; documents of the pool that were not drawn get the grade -1."""
    with collected_notes() as notes, write_atomically(out, inputs=[labels, pool]) as file:
        qrels = with_undrawn(as_qrels(labels, reading), read_pool(pool))
        lines = np.zeros(len(qrels), dtype=np.int64)
        write_trec_rows(Batch(lines, qrels.queries.take(qrels.query), qrels.docs, qrels.grades), "qrels", file)
    print_warnings(notes)
    undrawn = int((qrels.grades < 0).sum())
    counts = f"{plural(len(qrels) - undrawn, 'judgment')} and {plural(undrawn, 'document')} that were not drawn"
    print_message(f"wrote {counts} to {printable(out, None)}")
