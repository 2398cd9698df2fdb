"""``rankgauge evaluate``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli.options.audits import Asked, Audits, audit_options
from rankgauge.cli.options.common import collected_notes, convention_options, limits_of, reading_options
from rankgauge.cli.options.forms import plot_option
from rankgauge.cli.options.html import Page, html_option, texts_option
from rankgauge.cli.options.live import LiveOptions, live_options
from rankgauge.cli.options.progress import bar
from rankgauge.cli.options.showing import FORMS, View, show
from rankgauge.core.ranking import Compat
from rankgauge.core.run import OnDuplicate
from rankgauge.errors import UsageError
from rankgauge.evaluation.evaluate import Conventions, NoRelevant, Queries, asked_measures, joined_scores
from rankgauge.measures.parse import DEFAULT

if TYPE_CHECKING:
    from rankgauge.config.bands.bands import Bands
    from rankgauge.report.settings import Settings


@click.command("evaluate")
@click.argument("qrels", type=click.Path(allow_dash=True), required=False)
@click.argument("runs", type=click.Path(allow_dash=True), nargs=-1, metavar="[RUN …]")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="A measure or a set of them, in any notation: nDCG@10, map, P.5,10, 'AP(rel=2)@100', rag@5, all_trec.",
)
@click.option("-q", "--per-query", is_flag=True, help="The value for each query too.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    default="table",
    show_default=True,
    help="json, csv and jsonl hold full precision.",
)
@click.option(
    "-l",
    "--level",
    type=click.FloatRange(min=0),
    metavar="GRADE",
    help="The grade from which a document is relevant, for measures that do not say their own.  [default: 1]",
)
@convention_options
@click.option(
    "--config",
    type=click.Path(),
    metavar="FILE",
    help="Measures, conventions and statistics from a rankgauge.yaml; an option given here wins.",
)
@click.option("--ci", "intervals", is_flag=True, help="The 95 % interval of each mean.")
@click.option("--by", multiple=True, metavar="COLUMN", help="Each group of queries too: category, difficulty, …")
@click.option("--topics", type=click.Path(), metavar="FILE", help="The queries' columns: JSON Lines, CSV, …")
@plot_option
@html_option
@texts_option
@audit_options
@reading_options
@live_options
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    form: str,
    level: float | None,
    queries: Queries,
    no_relevant: NoRelevant,
    on_duplicate: OnDuplicate,
    compat: Compat,
    config: str | None,
    intervals: bool,
    by: tuple[str, ...],
    topics: str | None,
    plot: bool,
    page: str | None,
    corpus: str | None,
    qrels_format: str | None,
    run_format: str | None,
    max_bytes: int | None,
    max_line: int | None,
    strict: bool,
    live: LiveOptions | None,
    audits: Asked,
) -> int | None:
    """Score runs against judgments.

    QRELS holds judgments, each RUN results, in any format that `rankgauge convert --help` lists: told by their content,
    compressed or not, "-" for standard input. A log (JSON Lines with what was retrieved and what was wanted for each
    question) needs no second file.
    """
    view = View(form, per_query, by, intervals, plot)
    view.check()
    if live is not None:
        return live.run([qrels, *runs], measures, form)
    if qrels is None:
        raise UsageError("name the judgments and a run, or a --retriever and its --cases")
    if [qrels, *runs].count("-") > 1:
        raise UsageError("standard input can be only one of the files")
    limits = limits_of(max_bytes, max_line, strict=strict)
    audits.check(form)
    files: dict[str, Any] = {"qrels_format": qrels_format, "run_format": run_format, "limits": limits}
    wanted = Page(page, corpus, topics, files | {"on_duplicate": on_duplicate})
    wanted.check([qrels, *runs])
    bands = audits.bands(config)
    if config is not None:
        by_config(config, qrels, runs, files | {"topics": topics}, view, audits, bands, wanted)
        return None
    with collected_notes() as notes, bar("reading") as progress:
        judged, given = sides(qrels, runs, on_duplicate=on_duplicate)
        conventions = Conventions(compat, queries, no_relevant)
        judged, joined, scores, _ = joined_scores(
            judged,
            given,
            asked_measures(measures or None, conventions, level),
            conventions,
            on_duplicate=on_duplicate,
            fingerprint=form == "json",
            topics=topics,
            progress=progress,
            **files,
        )
    found = audits.of(judged, joined, scores, bands)
    show(scores, notes, view, audits=found)
    wanted.write(judged, given, partial(page_settings, measures, level, conventions, by, bands))
    return None


GIVEN = ("measures", "level", "queries", "no_relevant", "on_duplicate", "compat")


def by_config(
    config: str,
    qrels: str,
    runs: tuple[str, ...],
    reading: dict[str, Any],
    view: View,
    audits: Asked,
    bands: Bands | None,
    page: Page,
) -> None:
    """Evaluate as a configuration says, except for what was given on the command line."""
    from click.core import ParameterSource

    from rankgauge.config.apply import load_plan
    from rankgauge.config.statistics import statistics_of

    context = click.get_current_context()
    own = [name for name in GIVEN if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    plan = load_plan(config).but(
        **{name: context.params[name] for name in own}, confidence_intervals=view.intervals or None
    )
    with collected_notes() as notes, bar("reading") as progress:
        named, given = sides(qrels, runs, on_duplicate=plan.on_duplicate)
        reading |= {"fingerprint": view.form == "json", "progress": progress}
        if audits.audits:  # they look at the join, which no cache holds
            judged, joined, scores = plan.joined(named, given, **reading)
            found = audits.of(judged, joined, scores, bands)
        else:
            scores, found = plan.evaluate(named, given, **reading), Audits(bands=bands)
    statistics = statistics_of(scores, plan)
    show(scores, notes, replace(view, intervals=False), statistics=statistics, audits=found)
    if page.path is not None:
        judgments = plan.judgments(named, format=reading["qrels_format"], limits=reading["limits"])
        asked = partial(page_settings, plan.measures or (), plan.rel, plan.conventions, view.by, bands, plan.alpha)
        page.write(judgments, given, asked)


def page_settings(
    measures: tuple[str, ...],
    level: float | None,
    conventions: Conventions,
    by: tuple[str, ...],
    bands: Bands | None,
    alpha: float = 0.05,
) -> Settings:
    """What the page is to hold: runs beside each other, the first as the baseline."""
    from rankgauge.comparison.compare import Statistics
    from rankgauge.report.settings import Settings

    how = Statistics(confidence=round(1 - alpha, 12))
    return Settings(measures or DEFAULT, level, conventions, how, by=by, bands=bands)


def sides(qrels: str, runs: tuple[str, ...], *, on_duplicate: OnDuplicate) -> tuple[Any, list[Any]]:
    """Judgments and runs; where only one file is named, it must be a log that has both."""
    if runs:
        return qrels, list(runs)
    from rankgauge.io.reading import looks_like_log, read_log

    if not looks_like_log(qrels):
        raise UsageError(
            f"{qrels}: one file is enough only if it is a log that has both sides",
            hint="name a run behind the judgments, or see `rankgauge evaluate --help`",
        )
    judged, run = read_log(qrels, on_duplicate=on_duplicate)
    return judged, [run]
