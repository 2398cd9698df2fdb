"""``rankgauge labels agree``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.declared import option
from rankgauge.cli.options.reading import check_one_stdin, reading_options_and_set
from rankgauge.cli.options.settings import BY, CONFIDENCE, settings_options
from rankgauge.cli.options.terminal import collected_notes, print_warnings, write_document
from rankgauge.cli.options.view import (
    PAGE_FORMATS,
    QUERIES,
    ROW_FORMATS,
    View,
    format_option,
    view_options,
)
from rankgauge.config.settings import Settings
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError
from rankgauge.io.options import Reading
from rankgauge.io.queries import read_queries
from rankgauge.labels.agreement import rater_agreement
from rankgauge.labels.raters import ratings_of, read_raters
from rankgauge.render.documents.labels import raters_document


@documented(
    "agree",
    """
    # Compare two files of judgments
    rankgauge labels agree judgments.jsonl qrels.txt
    # Compare them within groups of queries
    rankgauge labels agree judgments.jsonl qrels.txt --queries queries.jsonl \\
      --by category
    """,
)
@click.argument("files", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="LABELS [LABELS]")
@option(
    "--assessor",
    "assessors",
    section=Section.INPUT,
    multiple=True,
    metavar="NAME",
    help="Compare these assessors of one file; repeatable.  [default: all]",
)
@QUERIES
@settings_options(
    CONFIDENCE,
    BY,
)
@view_options(format_option("table", "json", *ROW_FORMATS, *PAGE_FORMATS))
@reading_options_and_set
def command(
    files: tuple[str, ...],
    assessors: tuple[str, ...],
    queries: str | None,
    settings: Settings,
    view: View,
    reading: Reading,
) -> None:
    """Show how closely assessors agree.

    LABELS are two files of judgments, of a person and a program for example, or one file that several assessors share.
    Cohen's kappa, unweighted and weighted, Krippendorff's alpha (ordinal) and the confusion table; intervals resample
    queries. `rankgauge agreement` shows whether two sets of judgments rank runs in the same order.
    """
    if len(files) > 2:
        raise UsageError(
            f"expected one or two files of judgments, found {len(files)}",
            hint="`rankgauge agreement QRELS1 QRELS2 RUN…` takes runs",
        )
    check_one_stdin(*files)
    with collected_notes() as notes:
        raters = read_raters(files, assessors, reading)
        columns = {} if queries is None else read_queries(queries).columns
        agreements = rater_agreement(
            ratings_of(raters), columns=columns, by=settings.by or (), confidence=settings.statistics.confidence
        )
    write_document(raters_document(agreements, notes), view.format)
    print_warnings(notes)
