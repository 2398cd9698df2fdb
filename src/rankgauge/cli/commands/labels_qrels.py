"""``rankgauge labels qrels``."""

from __future__ import annotations

import click
import numpy as np

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.groups import option, out_option
from rankgauge.cli.options.reading import reading_options_and_set
from rankgauge.cli.options.terminal import collected_notes, print_warnings
from rankgauge.core.batch import Batch
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section
from rankgauge.errors import printable
from rankgauge.io.options import Reading
from rankgauge.io.read import as_qrels
from rankgauge.io.trec_writer import write_trec_rows
from rankgauge.io.writing import write_atomically
from rankgauge.labels.export import with_undrawn
from rankgauge.labels.reading import read_pool


@documented(
    "qrels",
    """
    # Write judgments of a uniform sample, for infAP
    rankgauge labels qrels judgments.jsonl --pool pool.jsonl -o sampled.qrels
    # Compute infAP from them
    rankgauge evaluate sampled.qrels my.run -m infAP
    """,
)
@click.argument("labels", type=click.Path(), metavar="LABELS")
@option(
    "--pool",
    section=Section.INPUT,
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="Read the pool that LABELS judge, made by `rankgauge pool --strategy uniform`.",
)
@out_option("Write the TREC judgments to FILE.")
@reading_options_and_set
def command(labels: str, pool: str, out: str, reading: Reading) -> None:
    """Write judgments of a uniform sample as qrels for infAP.

    Documents of the pool that were not drawn get the grade -1, from which infAP knows how many there are. Judgments of
    any other pool are converted by `rankgauge convert`.
    """
    with collected_notes() as notes, write_atomically(out, inputs=[labels, pool]) as file:
        qrels = with_undrawn(as_qrels(labels, reading), read_pool(pool))
        rows = Batch(
            np.zeros(len(qrels), dtype=np.int64),
            qrels.queries.take(qrels.query),
            qrels.docs,
            qrels.grades,
        )
        write_trec_rows(rows, "qrels", file)
    print_warnings(notes)
    undrawn = int((qrels.grades < 0).sum())
    counts = f"{plural(len(qrels) - undrawn, 'judgment')} and {plural(undrawn, 'document')} that were not drawn"
    print_message(f"wrote {counts} to {printable(out, None)}")
