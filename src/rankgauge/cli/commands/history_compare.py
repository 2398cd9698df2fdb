"""``rankgauge history compare``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.history import FORMAT
from rankgauge.cli.options.saving import HISTORY
from rankgauge.cli.options.settings import measure_option, settings_options, statistics_options
from rankgauge.cli.options.terminal import print_warnings, write_document
from rankgauge.config.settings import Settings
from rankgauge.history.store import History
from rankgauge.render.documents.history import entries_comparison_document


@documented(
    "compare",
    """
    # Compare a tagged result with the newest
    rankgauge history compare release-1
    # Compare two results by one measure
    rankgauge history compare release-1 latest -m nDCG@10
    """,
)
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="[AFTER]", default="latest")
@settings_options(
    measure_option("Compare on a measure; repeatable.  [default: all that both entries have]"),
    *statistics_options(),
)
@FORMAT
@HISTORY
def command(before: str, after: str, settings: Settings, format: str, history_file: str | None) -> None:
    """Compare two entries on the queries they share, although labels may have changed.

    BEFORE and AFTER are names, "latest", or tags. The change of each measure is split into the parts of the system, the
    labels and the queries; only the system's part is tested. That needs the runs (--save-run); otherwise the parts of
    system and labels are reported jointly, and the systems are compared on queries whose judgments did not change.
    """
    with History.open(history_file, create=False) as history:
        older, newer = history.summary(before), history.summary(after)
        compared = history.compare(older.name, newer.name, settings.measures, statistics=settings.statistics)
    write_document(entries_comparison_document(compared, older, newer), format)
    if compared.comparison is not None:
        print_warnings(compared.comparison.notes)
