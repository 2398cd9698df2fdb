"""``rankgauge labels resolve``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.declared import option, option_group, out_option
from rankgauge.cli.options.gold import COVERAGE, DOCUMENTS, TOLERANCE
from rankgauge.cli.options.terminal import collected_notes, print_warnings
from rankgauge.cli.options.view import QUERIES
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section
from rankgauge.errors import Note, printable
from rankgauge.io.corpus.reading import read_corpus
from rankgauge.io.options import Reading
from rankgauge.io.trec_writer import write_trec_rows
from rankgauge.io.writing import check_writable, write_atomically
from rankgauge.labels.gold.evaluation import GoldInputs, match_notes, with_query_ids
from rankgauge.labels.gold.options import GoldOptions
from rankgauge.labels.gold.resolution import ResolvedLabels, resolve_labels


@documented(
    "resolve",
    """
    # Turn quotes into judgments of chunks
    rankgauge labels resolve gold.jsonl --chunks chunks.jsonl -o chunks.qrels
    # Write one grade per chunk
    rankgauge labels resolve gold.jsonl --chunks chunks.jsonl -o chunks.qrels \\
      --plain
    """,
)
@click.argument("labels", type=click.Path(), metavar="LABELS")
@option(
    "--chunks",
    section=Section.GOLD,
    required=True,
    type=click.Path(),
    metavar="PATH",
    help="Read the texts of the chunks.",
)
@out_option("Write the judgments to FILE.")
@option(
    "--plain",
    section=Section.OUTPUT,
    rare=True,
    is_flag=True,
    help="Write one grade per chunk instead of subtopics, for tools that read nothing else.",
)
@DOCUMENTS
@QUERIES
@option_group("options", GoldOptions, COVERAGE, TOLERANCE)
def command(
    labels: str, chunks: str, out: str, plain: bool, documents: str | None, queries: str | None, options: GoldOptions
) -> None:
    """Write labels by text as qrels for one chunking.

    LABELS has quotes or spans: one JSON object per query. Each is a subtopic of its query, and FILE has a line for
    each chunk that contains enough of it (--coverage): query, subtopic, chunk, 1. Every quote that is in no chunk is
    listed, with the text most like it.
    """
    corpus = read_corpus(chunks)
    check_writable(out, inputs=[labels, *corpus.files])
    with collected_notes() as notes:
        gold = with_query_ids(GoldInputs(labels, documents=documents).labels(Reading()), queries, Reading())
        resolved = resolve_labels(gold, corpus, options)
    rows = resolved.plain_rows() if plain else resolved.subtopic_rows()
    with write_atomically(out, inputs=[labels, *corpus.files]) as file:
        write_trec_rows(rows, "qrels", file)
    print_warnings([*notes, *gold.notes, *_notes(resolved, plain=plain)])
    found = len(gold.passages) - len(resolved.matches.missing)
    counts = f"{plural(len(rows), 'judgment')} of {found:,} of {plural(len(gold.passages), 'quote')}"
    print_message(f"wrote {counts} to {printable(out, None)}")


def _notes(resolved: ResolvedLabels, *, plain: bool) -> list[Note]:
    notes = [*resolved.missing_notes(), *match_notes(resolved.labels, resolved.matches, is_complete=False)]
    if resolved.split:
        first = resolved.labels.passages[resolved.split[0]]
        notes.append(
            Note(
                "gold-split",
                f"{plural(len(resolved.split), 'quote')} split over chunks, none of which has enough of it: the one "
                f"with most counts ({first.place}, for example); `rankgauge evaluate --gold` counts chunks together",
            )
        )
    if plain:
        notes.append(
            Note(
                "plain-qrels",
                "chunks that overlap are several relevant documents now: a ranking that has the same quote twice gets "
                "credit twice; leave out --plain for subtopics",
            )
        )
    return notes
