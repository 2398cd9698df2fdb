"""``rankgauge labels agree``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.declared import option
from rankgauge.cli.options.reading import check_one_stdin, reading_options_and_set
from rankgauge.cli.options.settings import BY, CONFIDENCE, settings_options
from rankgauge.cli.options.terminal import collected_notes, print_warnings, write, write_parts
from rankgauge.cli.options.view import (
    PAGE_FORMATS,
    QUERIES,
    ROW_FORMATS,
    View,
    format_option,
    page_text,
    rows_text,
    view_options,
)
from rankgauge.config.settings import Settings
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError
from rankgauge.io.options import Reading
from rankgauge.io.queries import read_queries
from rankgauge.labels.agreement import rater_agreement
from rankgauge.labels.raters import ratings_of, read_raters
from rankgauge.render.text import labels as render


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
    match view.format:
        case "json":
            write(render.agreement_json(agreements, None, notes))
        case "csv" | "jsonl":
            write(rows_text(view.format, render.LABEL_AGREEMENT_FIELDS, render.agreement_records(agreements)))
        case "markdown" | "latex":
            write(page_text(view.format, render.agreement_parts(agreements, None)))
        case _:
            write_parts(render.agreement_parts(agreements, None))
    print_warnings(notes)
