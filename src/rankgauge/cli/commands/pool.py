"""``rankgauge pool``."""

from __future__ import annotations

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import declared_options, option, option_group, out_option
from rankgauge.cli.options.inputs import ASKED_QUERIES as QUERIES
from rankgauge.cli.options.inputs import (
    NO_CODE,
    asking_group,
    check_one_stdin,
    named_files,
    open_rankings,
    reading_options_and_set,
)
from rankgauge.cli.printing import collected_notes, print_message, print_warnings
from rankgauge.core.formatting import listing, plural
from rankgauge.core.run import returned_texts
from rankgauge.core.settings import Section
from rankgauge.errors import Note, printable
from rankgauge.io.atomic_files import check_writable
from rankgauge.io.reading_options import Asking, Reading
from rankgauge.labels.pool_files import PoolItem, read_judged, with_texts, write_pool
from rankgauge.labels.pooling import PoolOptions, pool_documents


@documented(
    "pool",
    """
    # Pool the top 10 of two runs, with the texts to judge
    rankgauge pool old.run my.run --depth 10 --corpus corpus.jsonl \\
      --queries queries.jsonl -o pool.jsonl
    # Draw 200 documents at random, for unbiased estimates
    rankgauge pool old.run my.run --strategy stratified --budget 200 \\
      -o sample.jsonl
    """,
)
@click.argument("runs", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="RESULTS …")
@out_option("Write the pool to FILE.")
@option_group("options", PoolOptions, *declared_options(PoolOptions))
@option(
    "--judged",
    section=Section.INPUT,
    type=click.Path(),
    multiple=True,
    metavar="FILE",
    help="Leave out what is judged already: judgments in any format; repeatable.",
)
@option(
    "--corpus",
    section=Section.INPUT,
    type=click.Path(),
    metavar="PATH",
    help="Attach the texts of the documents, in any format of a corpus.  [default: those that came with the results]",
)
@QUERIES
@asking_group
@NO_CODE
@reading_options_and_set
def pool_command(
    runs: tuple[str, ...],
    out: str,
    options: PoolOptions,
    judged: tuple[str, ...],
    corpus: str | None,
    queries: str | None,
    asking: Asking,
    reading: Reading,
) -> None:
    """Choose which documents to judge.

    The pool has the top of all RESULTS, without run, rank or score, so that `rankgauge judge` is blind. uniform and
    stratified are random samples: each document keeps the probability with which it was drawn. RESULTS are those of
    `rankgauge evaluate`; a live retriever is asked the queries of --queries, or those of a log.
    """
    inputs = named_files(*runs, *judged, corpus, queries)
    check_one_stdin(*inputs)
    check_writable(out, inputs=inputs)
    with collected_notes() as notes:
        opened = open_rankings(runs, queries, options.depth, asking, reading)
        rankings, known = opened.results, opened.queries
        notes += opened.notes
        documents = pool_documents(rankings, options, judged=read_judged(judged, options, reading))
        texts = None
        if corpus is not None:
            from rankgauge.io.corpus.corpus_files import read_corpus

            texts = read_corpus(corpus)
        query_texts = None if known is None else known.known_texts()
        items = with_texts(documents, texts, query_texts, returned_texts(rankings))
    write_pool(items, out, inputs=inputs)
    print_warnings([*notes, *_missing_texts(items, corpus)])
    sampled = [item for item in items if item.sampled]
    queries_text = plural(len({item.query for item in sampled}), "query")
    print_message(f"wrote {plural(len(sampled), 'document')} of {queries_text} to {printable(out, None)}")
    print_message(f"next: rankgauge judge {printable(out, None)} -o judgments.jsonl")


def _missing_texts(items: list[PoolItem], corpus: str | None) -> list[Note]:
    """A warning if documents have no text, which a judge needs."""
    missing = list(dict.fromkeys(item.doc for item in items if item.sampled and item.text is None))
    if corpus is None or not missing:
        return []
    names = listing(map(printable, missing))
    return [Note("no-text", f"{plural(len(missing), 'document')} not found in {printable(corpus, None)}: {names}")]
