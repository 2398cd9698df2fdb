"""``rankgauge compare``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from rankgauge.cli.options.common import (
    bands_of,
    collected_notes,
    colour,
    config_option,
    convention_options,
    kpi_option,
    limits_of,
    reading_options,
    say,
    say_of_runs,
    width,
    write,
)
from rankgauge.cli.options.forms import PAGES, ROWS, ascii_only, check_plot, plot_option, rows
from rankgauge.cli.options.forms import page as as_page
from rankgauge.cli.options.html import Page, html_option, texts_option
from rankgauge.cli.options.progress import bar
from rankgauge.comparison.compare import CORRECTIONS, Correction, Statistics, compare
from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.stored import stored_baseline
from rankgauge.core.ranking import Compat
from rankgauge.core.run import OnDuplicate
from rankgauge.errors import UsageError
from rankgauge.evaluation.evaluate import AnyQrels, Conventions, NoRelevant, Queries
from rankgauge.render.text import comparison as render
from rankgauge.stats.tests import PAIRED_TESTS, PairedTest

DEFAULT = ("nDCG@10", "RR@10", "R@10")


def said_in(path: str) -> dict[str, Any]:
    """What a configuration says of the options of this command."""
    from rankgauge.config.reading import load_config

    config = load_config(path)
    measures, statistics = config.measures, config.statistics
    said = statistics.model_dump(include={"test", "correction", "resamples", "seed", "baseline"}, exclude_none=True)
    said |= measures.model_dump(include={"compat", "queries", "no_relevant", "on_duplicate"})
    said |= {} if measures.names is None else {"measures": tuple(measures.names)}
    return said | {"confidence": round(1 - statistics.alpha_level, 12)}


@click.command("compare")
@click.argument("qrels", type=click.Path(allow_dash=True))
@click.argument("runs", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="RUN …")
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
    help="The run to compare with: its name, its file as it was given, or what `gate --write-baseline` stored.  "
    "[default: the first]",
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
    "--confidence",
    type=click.FloatRange(0.5, 1, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence of the intervals; p is compared with 1 − LEVEL.",
    metavar="LEVEL",
)
@click.option(
    "--resamples", type=click.IntRange(100), default=100_000, show_default=True, help="How often chance is tried out."
)
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same p, everywhere.")
@click.option(
    "--equivalence",
    "margin",
    type=click.FloatRange(min=0, min_open=True),
    metavar="MARGIN",
    help="Whether runs are shown to be equivalent: a difference within ±MARGIN, by two one-sided t tests.",
)
@click.option(
    "--wanted",
    type=click.FloatRange(min=0, min_open=True),
    metavar="DIFFERENCE",
    help="How many queries would show a true difference of this size, at 80 % power.",
)
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
@click.option("-q", "--per-query", is_flag=True, help="The values of each query too: in json, csv and jsonl.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", *ROWS, *PAGES]),
    default="table",
    show_default=True,
    help="json, csv and jsonl hold full precision.",
)
@plot_option
@html_option
@texts_option
@convention_options
@config_option(said_in)
@kpi_option
@reading_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    baseline: str | None,
    test: PairedTest,
    correction: Correction,
    confidence: float,
    resamples: int,
    seed: int,
    margin: float | None,
    wanted: float | None,
    by: tuple[str, ...],
    topics: str | None,
    moved: int,
    explained: bool,
    per_query: bool,
    form: str,
    plot: bool,
    page: str | None,
    corpus: str | None,
    queries: Queries,
    no_relevant: NoRelevant,
    on_duplicate: OnDuplicate,
    compat: Compat,
    config: str | None,
    kpi: str | None,
    qrels_format: str | None,
    run_format: str | None,
    max_bytes: int | None,
    max_line: int | None,
    strict: bool,
) -> None:
    """Which run is better, how surely, and which queries moved.

    All runs are compared with the first, or with --baseline, over the same queries.
    """
    if [qrels, *runs].count("-") > 1:
        raise UsageError("standard input can be only one of the files")
    check_plot(plot, form)
    if explained and form != "table":
        raise UsageError(f"--format {form} does not explain", hint="use --format table; json has every document anyway")
    if per_query and form not in ("json", *ROWS):
        raise UsageError(f"--format {form} has no queries one by one", hint="use --format json, csv or jsonl")
    limits = limits_of(max_bytes, max_line, strict=strict)
    files: dict[str, Any] = {
        "qrels_format": qrels_format,
        "run_format": run_format,
        "limits": limits,
        "on_duplicate": on_duplicate,
    }
    wanted_page = Page(page, corpus, topics, files)
    wanted_page.check([qrels, *runs])
    bands = bands_of(kpi, config)  # before the work: a wrong name is said at once
    against = compared_with(baseline, runs)
    chosen = measures or (against.measures if isinstance(against, Baseline) else DEFAULT)
    judged: AnyQrels = qrels
    conventions, rel = Conventions(compat, queries, no_relevant), None
    with collected_notes() as notes, bar("reading") as progress:
        if config is not None:
            from rankgauge.config.apply import load_plan

            plan = load_plan(config).but(measures=chosen)
            judged, rel = plan.judgments(qrels, format=qrels_format, limits=limits), plan.rel
            conventions = replace(plan.conventions, compat=compat, queries=queries, no_relevant=no_relevant)
        how = Statistics(test, correction, confidence, resamples=resamples, seed=seed, margin=margin, wanted=wanted)
        found = compare(
            judged,
            runs,
            chosen,
            baseline=against,
            statistics=how,
            conventions=conventions,
            rel=rel,
            by=by,
            topics=topics,
            moved=moved,
            fingerprint=True,
            progress=progress,
            **files,
        )
    match form:
        case "json":
            write(render.as_json(found, per_query=per_query, bands=bands))
        case "csv" | "jsonl":
            write(rows(form, render.fields(found), render.records(found, per_query=per_query)))
        case "markdown" | "latex":
            write(as_page(form, render.parts(found, bands=bands)))
        case _:
            write(render.as_table(found, colour=colour(), explained=explained, bands=bands) + "\n")
            write(f"conventions: {found.scores[0].conventions}\n")
            if plot:
                from rankgauge.render.text.plot import of_comparison

                write("\n" + of_comparison(found, width=width(), ascii=ascii_only()))
    say([*notes, *found.notes])
    say_of_runs(found.scores)
    if page is not None:
        from rankgauge.report.settings import Settings

        asked = Settings(tuple(map(str, chosen)), rel, conventions, how, None, by, bands, moved)
        wanted_page.write(judged, runs, lambda: asked, comparison=found)


def compared_with(baseline: str | None, runs: tuple[str, ...]) -> str | int | Baseline:
    """What --baseline names: a run by its place or its name, or a stored baseline."""
    if baseline is None or baseline in runs:
        return 0 if baseline is None else runs.index(baseline)
    return stored_baseline(baseline) or baseline
