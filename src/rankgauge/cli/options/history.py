"""The options that several commands of ``rankgauge history`` share."""

from __future__ import annotations

import click

from rankgauge.cli.options.declared import Option, option, option_group
from rankgauge.core.settings import Section
from rankgauge.history.filters import EntryFilter
from rankgauge.history.times import parse_time, time_text

FORMAT: Option = option(
    "--format",
    "format",
    section=Section.OUTPUT,
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="json has full precision.",
)


def make_filter(
    branch: str | None, tag: str | None, system: str | None, collection: str | None, since: str | None
) -> EntryFilter:
    """Build an ``EntryFilter`` from the values of its options."""
    return EntryFilter(branch, tag, system, collection, None if since is None else time_text(parse_time(since)))


SELECTION: tuple[Option, ...] = (
    option("--branch", section=Section.ENTRIES, metavar="NAME", help="Only entries of this git branch."),
    option("--tag", section=Section.ENTRIES, metavar="TAG", help="Only entries with this tag."),
    option("--system", section=Section.ENTRIES, metavar="NAME", help="Only entries of this system."),
    option("--collection", section=Section.ENTRIES, metavar="NAME", help="Only entries with judgments of this name."),
)
filter_options = option_group(
    "filter",
    make_filter,
    *SELECTION,
    option(
        "--since",
        section=Section.ENTRIES,
        metavar="TIME",
        help="Only entries from TIME on: 2026-11-02, or 7d for the last week.",
    ),
)
