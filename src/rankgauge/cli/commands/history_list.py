"""``rankgauge history list``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.declared import option
from rankgauge.cli.options.history import FORMAT, filter_options
from rankgauge.cli.options.saving import HISTORY
from rankgauge.cli.options.settings import measure_option
from rankgauge.cli.options.terminal import layout, write_document
from rankgauge.core.settings import Section
from rankgauge.history.filters import EntryFilter
from rankgauge.history.store import History
from rankgauge.render.documents.history import Listing, listing_document

SHOWN_ENTRIES = 20


@documented(
    "list",
    """
    # List the last 5 results
    rankgauge history list -n 5
    # List those of one system, by one measure
    rankgauge history list --system my -m nDCG@10
    """,
)
@option(
    "-n",
    "--last",
    section=Section.ENTRIES,
    type=click.IntRange(min=0),
    default=SHOWN_ENTRIES,
    show_default=True,
    metavar="N",
    help="List the newest N entries; 0 lists all.",
)
@measure_option("Show a measure; repeatable.  [default: those of the newest entry, as many as fit]")
@filter_options
@FORMAT
@HISTORY
def command(last: int, measures: tuple[str, ...], filter: EntryFilter, format: str, history_file: str | None) -> None:
    """List the entries of the history, the newest first."""
    with History.open(history_file, create=False) as history:
        entries = [*reversed(history.entries(filter, last=last or None))]
        count = history.count(filter)
    fit = layout()
    room = None if fit.width is None else fit.chart_width
    write_document(listing_document(Listing(entries, count, measures, room)), format)
