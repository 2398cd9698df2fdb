"""``rankgauge diff``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.asking import NO_CODE
from rankgauge.cli.options.declared import option, option_group
from rankgauge.cli.options.html import CORPUS, HTML, PageRequest
from rankgauge.cli.options.rankings import QUERIES, Asking, asking_group, is_live, read_rankings, run_names
from rankgauge.cli.options.reading import check_one_stdin, reading_options_and_set
from rankgauge.cli.options.terminal import collected_notes, print_warnings, write_document
from rankgauge.cli.options.view import (
    PAGE_FORMATS,
    ROW_FORMATS,
    View,
    format_option,
    view_options,
)
from rankgauge.comparison.ranking_difference import DEFAULT_DIFF_DEPTH, DEFAULT_RBO_P, RunDifference, diff_runs
from rankgauge.core.settings import Section
from rankgauge.errors import printable
from rankgauge.io.options import Reading
from rankgauge.io.queries import read_queries
from rankgauge.io.writing import write_atomically
from rankgauge.render.documents.agreement import difference_document


@dataclass(frozen=True)
class DiffRequest:
    """How much of the rankings is compared, and shown."""

    k: int
    p: float
    changes: int


@documented(
    "diff",
    """
    # See how much a new retriever changes the top 10
    rankgauge diff old.run my.run
    # List the 5 queries that change most, with their texts
    rankgauge diff old.run my.run --queries queries.jsonl --changes 5
    """,
)
@click.argument("first", type=click.Path(allow_dash=True), metavar="RUN")
@click.argument("second", type=click.Path(allow_dash=True), metavar="RUN")
@option_group(
    "request",
    DiffRequest,
    option(
        "--k",
        section=Section.MEASURES,
        type=click.IntRange(min=1),
        default=DEFAULT_DIFF_DEPTH,
        show_default=True,
        metavar="K",
        help="Compare the top K of each ranking.",
    ),
    option(
        "--p",
        section=Section.MEASURES,
        rare=True,
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=DEFAULT_RBO_P,
        show_default=True,
        metavar="P",
        help="Set the persistence of RBO: higher looks deeper.",
    ),
    option(
        "--changes",
        section=Section.OUTPUT,
        type=click.IntRange(min=0),
        default=3,
        show_default=True,
        metavar="N",
        help="Show the rankings of the N queries that changed most.",
    ),
)
@QUERIES
@asking_group
@NO_CODE
@option_group("page", PageRequest, HTML, CORPUS)
@view_options(format_option("table", "json", *ROW_FORMATS, *PAGE_FORMATS))
@reading_options_and_set
def command(
    first: str,
    second: str,
    request: DiffRequest,
    queries: str | None,
    asking: Asking,
    page: PageRequest,
    view: View,
    reading: Reading,
) -> None:
    """Show how much two runs differ, without judgments.

    Overlap and Jaccard index of the top K, and rank-biased overlap; the queries that changed most, with both rankings
    side by side. A RUN may be a live retriever, as module:callable, ./FILE.py:name or FILE.yaml; it is asked the
    queries of --queries.
    """
    files = [name for name in (first, second) if not is_live(name)]
    check_one_stdin(*files)
    page.check(*files, queries)
    with collected_notes() as notes:
        known = None if queries is None else read_queries(queries)
        runs, answer_notes = read_rankings([first, second], known, request.k, asking, reading)
        notes += answer_notes
    difference = diff_runs(*runs, k=request.k, p=request.p, names=run_names(runs))
    texts = {} if known is None else known.known_texts()
    write_document(difference_document(difference, texts, notes, top=request.changes), view.format)
    print_warnings(notes)
    write_page(difference, texts, page)


def write_page(difference: RunDifference, texts: Mapping[str, str], page: PageRequest) -> None:
    """Write the page with the query explorer, if one is asked for."""
    if page.path is None:
        return
    from rankgauge.render.html.difference_page import difference_page

    snippets: dict[str, str] = {}
    if page.corpus is not None:
        from rankgauge.io.corpus.reading import read_corpus
        from rankgauge.report.snippets import shortened

        shown_docs = {doc for query in difference.queries for doc in (*query.first, *query.second)}
        for document in read_corpus(page.corpus):
            name = document.id.decode("utf-8", "surrogateescape")
            if name in shown_docs:
                snippets[name] = shortened(document.full_text)
    with write_atomically(page.path) as file:
        file.write(difference_page(difference, texts, snippets).encode("utf-8", "surrogateescape"))
    print_message(f"wrote {printable(page.path, None)}")
