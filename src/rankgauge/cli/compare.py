"""``rankgauge compare``."""

from __future__ import annotations

import click

from rankgauge.cli.options import (
    COMPAT,
    bands_of,
    collected_notes,
    colour,
    kpi_option,
    limits_of,
    reading_options,
    say,
    say_of_runs,
    write,
)
from rankgauge.cli.progress import bar
from rankgauge.comparison.compare import CORRECTIONS, Correction, Statistics, compare
from rankgauge.core.ranking import Compat
from rankgauge.errors import UsageError
from rankgauge.evaluation import Conventions
from rankgauge.render import comparison as render
from rankgauge.render.kpi import band_lines
from rankgauge.stats.tests import PAIRED_TESTS, PairedTest

DEFAULT = ("nDCG@10", "RR@10", "R@10")


@click.command("compare")
@click.argument("qrels", type=click.Path(allow_dash=True))
@click.argument("runs", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="RUN RUN …")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help=f"What to compare on.  [default: {', '.join(DEFAULT)}]",
)
@click.option(
    "--baseline",
    metavar="RUN",
    help="The run to compare with: its name, or its file as it was given.  [default: the first]",
)
@click.option(
    "--test",
    type=click.Choice(PAIRED_TESTS),
    default="randomization",
    show_default=True,
    help="How a difference is tested.",
)
@click.option(
    "--correction",
    type=click.Choice(CORRECTIONS),
    default="holm",
    show_default=True,
    help="How p is corrected for the number of comparisons.",
)
@click.option(
    "--level",
    type=click.FloatRange(0.5, 1, max_open=True),
    default=0.95,
    show_default=True,
    help="The confidence level.",
)
@click.option(
    "--resamples", type=click.IntRange(100), default=100_000, show_default=True, help="How often chance is tried out."
)
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same p, everywhere.")
@click.option(
    "--by",
    "by",
    multiple=True,
    metavar="COLUMN",
    help="Look into groups of queries: category, difficulty, …; may be repeated.",
)
@click.option("--topics", type=click.Path(), metavar="FILE", help="The queries' texts and columns: JSON Lines, CSV, …")
@click.option(
    "--moved",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="How many queries to show that moved most, each way.",
)
@click.option(
    "--explain", "explained", is_flag=True, help="Every document that moved them, with its share of the difference."
)
@click.option("--format", "form", type=click.Choice(["table", "json", "markdown"]), default="table", show_default=True)
@COMPAT
@kpi_option
@reading_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    baseline: str | None,
    test: PairedTest,
    correction: Correction,
    level: float,
    resamples: int,
    seed: int,
    by: tuple[str, ...],
    topics: str | None,
    moved: int,
    explained: bool,
    form: str,
    compat: Compat,
    kpi: str | None,
    qrels_format: str | None,
    run_format: str | None,
    max_bytes: int | None,
    max_line: int | None,
) -> None:
    """Which run is better, how surely, and which queries moved.

    All runs are compared with the first, or with --baseline, over the same queries.
    """
    if [qrels, *runs].count("-") > 1:
        raise UsageError("standard input can be only one of the files")
    bands = bands_of(kpi)  # before the work: a wrong name is said at once
    with collected_notes() as notes, bar("reading") as progress:
        found = compare(
            qrels,
            runs,
            measures or DEFAULT,
            baseline=runs.index(baseline) if baseline in runs else baseline if baseline is not None else 0,
            statistics=Statistics(test=test, correction=correction, level=level, resamples=resamples, seed=seed),
            conventions=Conventions(compat),
            by=by,
            topics=topics,
            moved=moved,
            fingerprint=True,
            qrels_format=qrels_format,
            run_format=run_format,
            limits=limits_of(max_bytes, max_line),
            progress=progress,
        )
    match form:
        case "json":
            write(render.as_json(found, bands=bands))
        case "markdown":
            write(render.as_markdown(found))
        case _:
            write(render.as_table(found, colour=colour(), explained=explained) + "\n")
            write(band_lines(found.scores, bands))
            write(f"conventions: {found.scores[0].conventions}\n")
    say([*notes, *found.notes])
    say_of_runs(found.scores)
