"""``rankgauge labels check``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.declared import is_given, option
from rankgauge.cli.options.reading import reading_options_and_set
from rankgauge.cli.options.terminal import collected_notes, print_warnings, write_document
from rankgauge.cli.options.view import (
    PAGE_FORMATS,
    ROW_FORMATS,
    View,
    format_option,
    view_options,
)
from rankgauge.core.formatting import listing, plural
from rankgauge.core.settings import Section
from rankgauge.errors import InputError, Note, UsageError, printable
from rankgauge.io.byte_streams import is_dataset, read_bytes
from rankgauge.io.corpus.reading import read_corpus
from rankgauge.io.formats.head import Head
from rankgauge.io.options import Reading
from rankgauge.labels.gold.reading import is_gold_record
from rankgauge.labels.stamping import stamp_labels
from rankgauge.render.documents.labels import check_document
from rankgauge.validation.label_rot import LabelCheck, check_labels

EXIT_ROTTED = 1


@documented(
    "check",
    """
    # Store the hash of each judged text, while the labels fit
    rankgauge labels check qrels.txt --corpus corpus.jsonl --stamp stamped.jsonl
    # Find labels whose documents changed, later
    rankgauge labels check stamped.jsonl --corpus corpus.jsonl
    # List each of them as CSV
    rankgauge labels check stamped.jsonl --corpus corpus.jsonl --format csv
    """,
)
@click.argument("labels", type=click.Path(), metavar="LABELS")
@option(
    "--corpus",
    section=Section.INPUT,
    required=True,
    type=click.Path(),
    metavar="PATH",
    help="Read the documents, in any format of a corpus.",
)
@option(
    "--stamp",
    section=Section.OUTPUT,
    type=click.Path(),
    metavar="FILE",
    help="Write the labels with the hash of each judged text to FILE, as JSON Lines, instead of checking them.",
)
@view_options(format_option("table", "json", *ROW_FORMATS, *PAGE_FORMATS))
@reading_options_and_set
def command(labels: str, corpus: str, stamp: str | None, view: View, reading: Reading) -> int:
    """Show which labels no longer fit the documents.

    A label rots if the text of its document changed after it was judged, or if the document is gone: re-splitting
    documents gives the same ids to other texts. Judgments of `rankgauge judge` keep the hash of the text, and --stamp
    adds it to others; without it, only missing documents are found. Exit codes: 0 if no label rotted, 1 if some did.
    """
    _check_not_gold(labels, corpus, reading)
    if stamp is not None:
        if is_given("format"):
            raise UsageError("--stamp writes labels and prints no table", hint="leave out --format")
        _write_stamped(labels, corpus, stamp, reading)
        return 0
    with collected_notes() as notes:
        check = check_labels(labels, corpus, reading=reading)
    write_document(check_document(check), view.format)
    print_warnings([*notes, *_unverified(check)])
    return EXIT_ROTTED if check.rotted else 0


def _check_not_gold(labels: str, corpus: str, reading: Reading) -> None:
    """Raise if labels are quotes, which need no check."""
    if is_dataset(labels):
        return
    record = Head(read_bytes(labels, limits=reading.limits)[0]).record
    if record is not None and is_gold_record(record):
        out = f"--chunks {printable(corpus, None)} -o FILE"
        raise InputError.at(
            labels,
            None,
            "labels by text do not rot: a quote is in the documents, or it is not",
            hint=f"list the quotes that are not: rankgauge labels resolve {printable(labels, None)} {out}",
        )


def _unverified(check: LabelCheck) -> list[Note]:
    """A warning if no label keeps a hash, so that changed texts are not found."""
    if check.counts["fits"] or check.counts["changed"]:
        return []
    files = f"{printable(check.source, None)} --corpus {printable(check.corpus, None)}"
    command = f"rankgauge labels check {files} --stamp FILE"
    return [Note("no-text-hashes", f"no label keeps the hash of its text; while labels fit, add them: {command}")]


def _write_stamped(labels: str, corpus: str, out: str, reading: Reading) -> None:
    """Write labels with the hashes of their texts; a hash that a label has already stays."""
    with collected_notes() as notes:
        counts = stamp_labels(labels, read_corpus(corpus, limits=reading.limits), out, reading=reading)
    if counts.missing:
        missing = f"{plural(len(counts.missing), 'labeled document')} not in {printable(corpus, None)}, without a hash"
        notes.append(Note("no-text", f"{missing}: {listing(map(printable, counts.missing))}"))
    print_warnings(notes)
    kept = f", {counts.kept:,} had one already" if counts.kept else ""
    print_message(f"wrote the hashes of {plural(counts.stamped, 'label')}{kept} to {printable(out, None)}")
