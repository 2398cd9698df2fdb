"""``rankgauge labels stamp``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.groups import option, out_option
from rankgauge.cli.options.reading import reading_options_and_set
from rankgauge.cli.options.terminal import collected_notes, print_warnings
from rankgauge.core.formatting import listing, plural
from rankgauge.core.settings import Section
from rankgauge.errors import Note, printable
from rankgauge.io.corpus.reading import read_corpus
from rankgauge.io.options import Reading
from rankgauge.labels.stamping import stamp_labels


@documented(
    "stamp",
    """
    # Store the hash of each judged text
    rankgauge labels stamp qrels.txt --corpus corpus.jsonl -o stamped.jsonl
    # Find labels that no longer fit, later
    rankgauge labels check stamped.jsonl --corpus corpus.jsonl
    """,
)
@click.argument("labels", type=click.Path(), metavar="LABELS")
@option(
    "--corpus",
    section=Section.INPUT,
    required=True,
    type=click.Path(),
    metavar="PATH",
    help="Read the documents that were judged, in any format of a corpus.",
)
@out_option("Write the labels to FILE.")
@reading_options_and_set
def command(labels: str, corpus: str, out: str, reading: Reading) -> None:
    """Add to each label the hash of the text that was judged.

    Do this while LABELS, judgments in any format, fit the corpus. FILE is JSON Lines, which every command reads as
    judgments; `rankgauge labels check` and `rankgauge gate --corpus` then find labels whose texts changed. A hash that
    a label has already stays.
    """
    with collected_notes() as notes:
        counts = stamp_labels(labels, read_corpus(corpus, limits=reading.limits), out, reading=reading)
    if counts.missing:
        missing = f"{plural(len(counts.missing), 'labeled document')} not in {printable(corpus, None)}, without a hash"
        notes.append(Note("no-text", f"{missing}: {listing(map(printable, counts.missing))}"))
    print_warnings(notes)
    kept = f", {counts.kept:,} had one already" if counts.kept else ""
    print_message(f"wrote the hashes of {plural(counts.stamped, 'label')}{kept} to {printable(out, None)}")
