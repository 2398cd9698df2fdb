"""``rankgauge history check``."""

from __future__ import annotations

import os
from dataclasses import dataclass

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.declared import option, option_group
from rankgauge.cli.options.history import FORMAT, SELECTION, make_filter
from rankgauge.cli.options.saving import HISTORY
from rankgauge.cli.options.settings import measure_option
from rankgauge.cli.options.terminal import print_warnings, write_document
from rankgauge.core.settings import Section
from rankgauge.errors import Note
from rankgauge.history.checks import DEFAULT_CONFIDENCE, CheckOptions, QualityChange, alert_message
from rankgauge.history.delivery import WEBHOOK_VARIABLE, checked_webhook, command_words, post_message, run_program
from rankgauge.history.filters import EntryFilter
from rankgauge.history.store import History
from rankgauge.history.trends import DEFAULT_LAST
from rankgauge.render.documents.history import changes_document

EXIT_CHANGED = 1


@dataclass(frozen=True)
class Delivery:
    """Where a report goes besides standard output."""

    words: list[str] | None  # of a program
    url: str | None
    dry_run: bool

    def send(self, changes: list[QualityChange]) -> None:
        """Send a report, if there is anything to report."""
        if not changes:
            return
        message = alert_message(changes)
        if self.words is not None:
            click.echo(run_program(self.words, message), err=True, nl=False)
        if self.url is not None:
            post_message(self.url, message)


def make_delivery(program: str | None, webhook: str | None, dry_run: bool) -> Delivery:
    """Build a ``Delivery`` from the values of its options and the environment."""
    url = webhook if webhook is not None else os.environ.get(WEBHOOK_VARIABLE) or None
    return Delivery(
        None if program is None else command_words(program), None if url is None else checked_webhook(url), dry_run
    )


def make_options(measures: tuple[str, ...], last: int, confidence: float, worse_only: bool, seed: int) -> CheckOptions:
    """Build ``CheckOptions`` from the values of its options."""
    return CheckOptions(measures, last or None, confidence, worse_only, seed)


@documented(
    "check",
    """
    # Report changes of the last week, each once
    rankgauge history check --since 7d
    # Show them without marking any as reported
    rankgauge history check --since 7d --dry-run
    """,
)
@option_group(
    "filter",
    make_filter,
    option(
        "--since",
        section=Section.ENTRIES,
        default="7d",
        show_default=True,
        metavar="TIME",
        help="Report changes from TIME on: 2026-11-02, or 7d for the last week.",
    ),
    *SELECTION,
)
@option_group(
    "options",
    make_options,
    measure_option("Check a measure; repeatable.  [default: nDCG@10, or the first that an entry has]"),
    option("--worse-only", section=Section.STATISTICS, is_flag=True, help="Report no improvements."),
    option(
        "-n",
        "--last",
        section=Section.ENTRIES,
        type=click.IntRange(min=0),
        default=DEFAULT_LAST,
        show_default=True,
        metavar="N",
        help="Look at the newest N entries of each system, collection and branch; 0 is all.",
    ),
    option(
        "--confidence",
        section=Section.STATISTICS,
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=DEFAULT_CONFIDENCE,
        show_default=True,
        metavar="P",
        help="Confidence that a check finds no change if there is none.",
    ),
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
@option_group(
    "delivery",
    make_delivery,
    option(
        "--exec",
        "program",
        section=Section.OUTPUT,
        metavar="CMD",
        help="Run CMD, without a shell, with the new changes as JSON on its standard input.",
    ),
    option(
        "--webhook",
        section=Section.OUTPUT,
        metavar="URL",
        help=f"Post the new changes as JSON to URL.  [default: ${WEBHOOK_VARIABLE}]",
    ),
    option(
        "--dry-run",
        section=Section.OUTPUT,
        is_flag=True,
        help="Show all changes; send nothing, and count none as reported.",
    ),
)
@FORMAT
@HISTORY
def command(
    filter: EntryFilter, options: CheckOptions, delivery: Delivery, format: str, history_file: str | None
) -> None:
    """Report recent changes of quality, each once: for cron and CI.

    Every system, collection and branch with entries since TIME is checked for change points, among all of its entries.
    A change that an earlier check reported is not reported again. The exit code is 1 if there is a new change, else 0.
    If --exec or --webhook fails, the next check reports the change again.
    """
    with History.open(history_file, create=False) as history:
        check = history.check(filter, options)

        def show(changes: list[QualityChange]) -> None:
            write_document(changes_document(check, changes), format)

        if delivery.dry_run:
            new = [*check.changes]
            show(new)
        else:
            with history.unreported(check.changes) as new:
                show(new)
                delivery.send(new)
    if not check.series:
        text = f"no entries since {filter.since}: are results still being saved?"
        print_warnings([Note("no-recent-entries", text)])
    if new:
        click.get_current_context().exit(EXIT_CHANGED)
