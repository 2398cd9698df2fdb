"""``rankgauge diff``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import declared_options, option_group
from rankgauge.cli.options.inputs import ASKED_QUERIES as QUERIES
from rankgauge.cli.options.inputs import (
    NO_CODE,
    asking_group,
    check_one_stdin,
    named_files,
    open_rankings,
    reading_options_and_set,
)
from rankgauge.cli.options.outputs import (
    CORPUS,
    HTML,
    PAGE_FORMATS,
    ROW_FORMATS,
    PageRequest,
    View,
    format_option,
    view_options,
)
from rankgauge.cli.printing import collected_notes, print_message, print_warnings, write_document
from rankgauge.comparison.run_difference import ComparedDepth, RunDifference, diff_runs
from rankgauge.config.settings import Settings
from rankgauge.core.formatting import listing
from rankgauge.core.run import Run, returned_texts
from rankgauge.core.settings import setting_of
from rankgauge.errors import UsageError, printable, shown
from rankgauge.evaluation.evaluate import unique_names
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.reading_options import Asking, Reading
from rankgauge.render.documents.ranking_agreement import difference_document


@dataclass(frozen=True)
class DiffRequest:
    """How much of the rankings is compared, and shown."""

    k: int = setting_of(ComparedDepth, "k")
    p: float = setting_of(ComparedDepth, "p")
    changes: int = setting_of(Settings, "changes", help="Show the rankings of the N queries that changed most.")


@documented(
    "diff",
    """
    # See how much a new retriever changes the top 10
    rankgauge diff old.run my.run
    # List the 5 queries that change most, with their texts
    rankgauge diff old.run my.run --queries queries.jsonl --set output.changes=5
    """,
)
@click.argument("first", type=click.Path(allow_dash=True), metavar="RESULTS")
@click.argument("second", type=click.Path(allow_dash=True), required=False, metavar="[RESULTS]")
@option_group("request", DiffRequest, *declared_options(DiffRequest))
@QUERIES
@asking_group
@NO_CODE
@option_group("page", PageRequest, HTML, CORPUS)
@view_options(format_option("table", "json", *ROW_FORMATS, *PAGE_FORMATS))
@reading_options_and_set
def diff_command(
    first: str,
    second: str | None,
    request: DiffRequest,
    queries: str | None,
    asking: Asking,
    page: PageRequest,
    view: View,
    reading: Reading,
) -> None:
    """Show how much two runs differ, without judgments.

    Overlap and Jaccard index of the top K, and rank-biased overlap; the queries that changed most, with both rankings
    side by side. RESULTS are those of `rankgauge evaluate`, two systems in all; a live retriever is asked the queries
    of --queries, or those of a log.
    """
    files = named_files(first, second)
    check_one_stdin(*files)
    page.check(*files, queries)
    with collected_notes() as notes:
        named = [first] if second is None else [first, second]
        opened = open_rankings(named, queries, request.k, asking, reading)
        runs, known = opened.results, opened.queries
        notes += opened.notes
        if len(runs) != 2:
            found = f"found {len(runs)}: {listing(shown(run.name) for run in runs)}"
            hint = "rankgauge diff old.run my.run; of several systems, choose by name: old.jsonl#NAME"
            raise UsageError(f"a difference is that of two systems, {found}", hint=hint)
    difference = diff_runs(*runs, k=request.k, p=request.p, names=run_names(runs))
    texts = {} if known is None else known.known_texts()
    write_document(difference_document(difference, texts, notes, top=request.changes), view.format)
    print_warnings(notes)
    write_page(difference, texts, runs, page)


def write_page(difference: RunDifference, texts: Mapping[str, str], runs: Sequence[Run], page: PageRequest) -> None:
    """Write the page with the query explorer, if one is asked for.

    The first words of documents are those of the corpus, or else of the texts that came with the results.
    """
    if page.path is None:
        return
    from rankgauge.render.html.difference_page import difference_page
    from rankgauge.report.report import shortened

    shown_docs = {doc for query in difference.queries for doc in (*query.first, *query.second)}
    if page.corpus is None:
        snippets = {doc: shortened(text) for doc, text in returned_texts(runs).items() if doc in shown_docs}
    else:
        from rankgauge.io.corpus.corpus_files import read_corpus

        snippets = {
            name: shortened(document.full_text)
            for document in read_corpus(page.corpus)
            if (name := document.id.decode("utf-8", "surrogateescape")) in shown_docs
        }
    with write_atomically(page.path) as file:
        file.write(difference_page(difference, texts, snippets).encode("utf-8", "surrogateescape"))
    print_message(f"wrote {printable(page.path, None)}")


def run_names(runs: Sequence[Run]) -> list[str]:
    """The names of runs, each once."""
    return unique_names([run.name for run in runs])
