"""``rankgauge pool``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.asking import NO_CODE
from rankgauge.cli.options.declared import option, option_group, out_option
from rankgauge.cli.options.rankings import QUERIES, Asking, asking_group, is_live, read_rankings
from rankgauge.cli.options.reading import check_one_stdin, reading_options_and_set
from rankgauge.cli.options.terminal import collected_notes, print_warnings
from rankgauge.core.formatting import listing, plural
from rankgauge.core.settings import Section
from rankgauge.errors import Note, printable
from rankgauge.io.options import Reading
from rankgauge.io.queries import read_queries
from rankgauge.io.writing import check_writable
from rankgauge.labels.judged import read_judged
from rankgauge.labels.pooling import POOL_STRATEGIES, PoolOptions, pool_documents
from rankgauge.labels.records import PoolItem
from rankgauge.labels.texts import with_texts, write_pool


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
@click.argument("runs", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="RUN [RUN …]")
@out_option("Write the pool to FILE.")
@option_group(
    "options",
    PoolOptions,
    option(
        "--strategy",
        section=Section.POOL,
        type=click.Choice(POOL_STRATEGIES),
        default="depth",
        show_default=True,
        help="Take documents by their best rank, in RRF order, as a random sample, or where relevant ones were found.",
    ),
    option(
        "--depth",
        section=Section.POOL,
        type=click.IntRange(min=1),
        default=10,
        show_default=True,
        metavar="K",
        help="Pool the top K of each run.",
    ),
    option(
        "--budget",
        section=Section.POOL,
        type=click.IntRange(min=1),
        metavar="N",
        help="Choose N documents in all.  [default: the whole pool]",
    ),
    option(
        "--sample-queries",
        section=Section.POOL,
        type=click.IntRange(min=1),
        metavar="N",
        help="Pool only N queries, drawn at random.",
    ),
    option(
        "--seed",
        section=Section.POOL,
        type=int,
        default=0,
        show_default=True,
        metavar="N",
        help="Seed the random numbers.",
    ),
)
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
    help="Attach the texts of the documents, in any format of a corpus.",
)
@QUERIES
@asking_group
@NO_CODE
@reading_options_and_set
def command(
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

    The pool has the top of each RUN, without run, rank or score, so that `rankgauge judge` is blind. uniform and
    stratified are random samples: each document keeps the probability with which it was drawn. A RUN may be a live
    retriever, as module:callable, ./FILE.py:name or FILE.yaml; it is asked the queries of --queries.
    """
    inputs = [*(name for name in runs if not is_live(name)), *judged, *filter(None, (corpus, queries))]
    check_one_stdin(*inputs)
    check_writable(out, inputs=inputs)
    with collected_notes() as notes:
        known = None if queries is None else read_queries(queries)
        rankings, answer_notes = read_rankings(runs, known, options.depth, asking, reading)
        notes += answer_notes
        documents = pool_documents(rankings, options, judged=read_judged(judged, options, reading))
        texts = None
        if corpus is not None:
            from rankgauge.io.corpus.reading import read_corpus

            texts = read_corpus(corpus)
        items = with_texts(documents, texts, None if known is None else known.known_texts())
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
