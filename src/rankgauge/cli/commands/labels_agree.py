"""``rankgauge labels agree``."""

from __future__ import annotations

from dataclasses import replace

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.groups import Section, option
from rankgauge.cli.options.reading import check_one_stdin, configured_reading, reading_options
from rankgauge.cli.options.settings import BY, CONFIDENCE, CONVENTION_OPTIONS, measure_option, settings_options
from rankgauge.cli.options.terminal import collected_notes, print_warnings, write_document
from rankgauge.cli.options.view import (
    PAGE_FORMATS,
    ROW_FORMATS,
    TOPICS,
    View,
    format_option,
    view_options,
)
from rankgauge.comparison.order_agreement import QrelsAgreement, qrels_agreement
from rankgauge.config.settings import Settings
from rankgauge.errors import UsageError
from rankgauge.io.options import Reading
from rankgauge.io.queries import read_queries
from rankgauge.labels.agreement import rater_agreement
from rankgauge.labels.raters import Rater, ratings_of, read_raters
from rankgauge.measures.sets import DEFAULT_MEASURES
from rankgauge.render.documents.labels import raters_document


@documented(
    "agree",
    """
    # Compare two files of judgments
    rankgauge labels agree judgments.jsonl qrels.txt
    # Also see whether both order two runs alike
    rankgauge labels agree qrels.txt other-qrels.txt --run old.run --run my.run
    """,
)
@click.argument("files", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="LABELS [LABELS]")
@option(
    "--run",
    "runs",
    section=Section.INPUT,
    type=click.Path(),
    multiple=True,
    metavar="RUN",
    help="Show whether both rank runs in the same order; name at least two.",
)
@option(
    "--assessor",
    "assessors",
    section=Section.INPUT,
    multiple=True,
    metavar="NAME",
    help="Compare these assessors of one file; repeatable.  [default: all]",
)
@TOPICS
@settings_options(
    measure_option(f"Order runs by a measure; repeatable.  [default: {', '.join(DEFAULT_MEASURES)}]"),
    *CONVENTION_OPTIONS,
    CONFIDENCE,
    BY,
)
@view_options(format_option("table", "json", *ROW_FORMATS, *PAGE_FORMATS))
@reading_options
def command(
    files: tuple[str, ...],
    runs: tuple[str, ...],
    assessors: tuple[str, ...],
    topics: str | None,
    settings: Settings,
    view: View,
    reading: Reading,
) -> None:
    """Show how closely assessors agree, and whether they rank runs in the same order.

    LABELS are two files of judgments, of a person and a program for example, or one file that several assessors share.
    Cohen's kappa, unweighted and weighted, Krippendorff's alpha (ordinal) and the confusion table; intervals resample
    queries.
    """
    if len(files) > 2:
        raise UsageError(f"expected one or two files of judgments, found {len(files)}", hint="name runs with --run RUN")
    check_one_stdin(*files, *runs)
    reading = configured_reading(reading, settings)
    with collected_notes() as notes:
        raters = read_raters(files, assessors, reading)
        columns = {} if topics is None else read_queries(topics).columns
        agreements = rater_agreement(
            ratings_of(raters), columns=columns, by=settings.by or (), confidence=settings.statistics.confidence
        )
        order = _order(raters, runs, settings, reading)
    write_document(raters_document(agreements, order, notes), view.format)
    print_warnings(notes)


def _order(raters: list[Rater], runs: tuple[str, ...], settings: Settings, reading: Reading) -> QrelsAgreement | None:
    """The order of runs by the first two raters."""
    if not runs:
        return None
    first, second = (replace(rater.qrels, name=rater.name) for rater in raters[:2])
    return qrels_agreement(
        first,
        second,
        runs,
        settings.measures,
        conventions=settings.conventions,
        reading=replace(reading, fingerprint=True),
    )
