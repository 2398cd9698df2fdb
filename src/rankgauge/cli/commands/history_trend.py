"""``rankgauge history trend``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.declared import option, option_group
from rankgauge.cli.options.history import FORMAT, filter_options
from rankgauge.cli.options.saving import HISTORY
from rankgauge.cli.options.settings import CONFIDENCE
from rankgauge.cli.options.terminal import write_document
from rankgauge.core.settings import Section
from rankgauge.history.filters import EntryFilter
from rankgauge.history.store import History
from rankgauge.history.trends import DEFAULT_LAST, TrendOptions
from rankgauge.measures.sets import DEFAULT_MEASURES
from rankgauge.render.documents.history import trend_document


def make_options(by: str | None, last: int, confidence: float, seed: int) -> TrendOptions:
    """Build ``TrendOptions`` from the values of its options."""
    return TrendOptions(by, last or None, confidence, seed)


@documented(
    "trend",
    """
    # Show nDCG@10 over time
    rankgauge history trend -m nDCG@10
    # Show the last 20 results of one system
    rankgauge history trend --system my -n 20
    """,
)
@option(
    "-m",
    "--measure",
    section=Section.MEASURES,
    default=DEFAULT_MEASURES[0],
    show_default=True,
    metavar="NAME",
    help="Show this measure.",
)
@option_group(
    "options",
    make_options,
    option(
        "--by",
        section=Section.MEASURES,
        metavar="COLUMN",
        help="Also show each group of queries of a column: category, difficulty, …",
    ),
    option(
        "-n",
        "--last",
        section=Section.ENTRIES,
        type=click.IntRange(min=0),
        default=DEFAULT_LAST,
        show_default=True,
        metavar="N",
        help="Show the newest N entries; 0 shows all.",
    ),
    CONFIDENCE,
    option(
        "--seed",
        section=Section.STATISTICS,
        type=int,
        default=0,
        show_default=True,
        metavar="N",
        help="Seed the random sign flips of the test.",
    ),
)
@filter_options
@FORMAT
@HISTORY
def command(measure: str, options: TrendOptions, filter: EntryFilter, format: str, history_file: str | None) -> None:
    """Show a measure over time, with intervals and change points.

    The entries must be of one system and one collection: choose them with --system, --collection and --branch. Change
    points are tested on the queries that entries share, with the same judgments. Beside the values is what else
    changed: queries added and removed, how much of the top 10 is judged, and latency.
    """
    with History.open(history_file, create=False) as history:
        trend = history.trend(measure, filter, options)
    write_document(trend_document(trend), format)
