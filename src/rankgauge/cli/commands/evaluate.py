"""``rankgauge evaluate``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.engine import engine_options
from rankgauge.cli.options.gold import LabelSources, gold_options
from rankgauge.cli.options.groups import Section, is_given, option
from rankgauge.cli.options.html import OutputRequest, PageRequest, output_options
from rankgauge.cli.options.live import LiveOptions, live_options
from rankgauge.cli.options.reading import check_one_stdin, configured_reading, large_reading_options
from rankgauge.cli.options.settings import (
    BY,
    CONFIDENCE,
    CONFIG,
    CONVENTION_OPTIONS,
    KPI,
    measure_option,
    settings_options,
)
from rankgauge.cli.options.terminal import collected_notes, layout, print_run_warnings, print_warnings, write
from rankgauge.cli.options.view import (
    PAGE_FORMATS,
    PER_QUERY,
    PLOT,
    ROW_FORMATS,
    SORT,
    View,
    format_option,
    page_text,
    rows_text,
    view_options,
)
from rankgauge.config.settings import Settings, default_cache_file
from rankgauge.errors import UsageError
from rankgauge.evaluation.evaluate import Evaluation, evaluate_runs
from rankgauge.evaluation.notes import Note
from rankgauge.io.options import Reading
from rankgauge.measures.sets import DEFAULT_MEASURES
from rankgauge.render.text import scores as render
from rankgauge.render.text.grid import Drawing, Lines
from rankgauge.render.text.terminal import text_of

if TYPE_CHECKING:
    from rankgauge.comparison.compare import AnyBaseline
    from rankgauge.comparison.result import Comparison
    from rankgauge.render.text.grid import Grid


@documented(
    "evaluate",
    """
    # Score a run
    rankgauge evaluate qrels.txt my.run
    # Choose measures, with confidence intervals
    rankgauge evaluate qrels.txt my.run -m nDCG@10 -m RR --ci
    # Score a live retriever on test cases
    rankgauge evaluate --retriever ./search.py:search --cases cases.jsonl
    """,
)
@click.argument("qrels", type=click.Path(allow_dash=True), required=False)
@click.argument("runs", type=click.Path(allow_dash=True), nargs=-1, metavar="[RUN …]")
@settings_options(
    measure_option(
        "Compute a measure or a set of them, in any notation: nDCG@10, map, P.5,10, 'AP(rel=2)@100', rag@5, all_trec.  "
        f"[default: {', '.join(DEFAULT_MEASURES)}]"
    ),
    *CONVENTION_OPTIONS,
    CONFIG,
    option(
        "--ci",
        "confidence_intervals",
        section=Section.STATISTICS,
        is_flag=True,
        help="Show the confidence interval of each mean.",
    ),
    CONFIDENCE,
    BY,
    KPI,
)
@view_options(
    PER_QUERY,
    SORT,
    format_option("table", "json", "trec", *ROW_FORMATS, *PAGE_FORMATS),
    PLOT,
    option(
        "--ties",
        section=Section.OUTPUT,
        is_flag=True,
        help="Show the worst, expected and best value over all orders of tied documents.",
    ),
    option(
        "--unjudged",
        section=Section.OUTPUT,
        is_flag=True,
        help="Show the range of each value over all grades of unjudged documents.",
    ),
)
@gold_options
@output_options
@large_reading_options
@live_options
@engine_options
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    sources: LabelSources,
    settings: Settings,
    reading: Reading,
    view: View,
    output: OutputRequest,
    live: LiveOptions | None,
) -> int | None:
    """Score runs against judgments.

    QRELS holds judgments, each RUN a ranking per query, in any format that `rankgauge convert --help` lists: detected
    from the content, compressed or not, "-" for standard input. A log (JSON Lines with the retrieved and the relevant
    ids of each query) needs no second file. With --gold, every file is a RUN.
    """
    view.check()
    check_format(view, settings)
    check_confidence(settings, view, output.page)
    sources.check(needs_join=output.page.path is not None or view.audits)
    if live is not None:
        live.check(sources, qrels, *runs)
        if settings.conventions.split is not None and sources.gold is None:
            raise UsageError("--split needs a file of judgments", hint="write the run with --out, and evaluate that")
        from rankgauge.cli.commands.live import evaluate_live

        return evaluate_live(live, sources, settings, view, output)
    if qrels is None:
        if sources.gold is not None:
            raise UsageError("name the runs to score on --gold, or a --retriever")
        raise UsageError(
            "name the judgments and a run, or a --retriever and its --cases",
            hint="rankgauge evaluate qrels.txt my.run; `rankgauge evaluate --help` explains the rest",
        )
    check_one_stdin(qrels, *runs)
    output.check(qrels, *runs, *sources.files)
    runs = runs if sources.gold is None else (qrels, *runs)
    with collected_notes() as notes:
        reading = output.reading(reading)
        evaluation = evaluate_files(qrels, runs, sources, settings, view, reading)
    comparison = compared(evaluation, settings, runs)
    if settings.significance_testing and comparison is None:
        notes.append(Note("no-tests", "significance tests need at least two runs, found 1"))
    show(evaluation, comparison, notes, settings, view)
    output.saving.write(evaluation)
    if output.page.path is not None:
        baseline = named_baseline(settings, runs)
        output.page.write(evaluation, settings, comparison=comparison, baseline=baseline, input_notes=notes)
    return None


def check_format(view: View, settings: Settings) -> None:
    """Raise if the format cannot show what the settings ask for."""
    if view.format not in (*ROW_FORMATS, "trec"):
        return
    hint = "use --format json or table"
    if settings.by or settings.confidence_intervals or settings.significance_testing:
        raise UsageError(f"--format {view.format} has no groups, intervals or tests", hint=hint)
    if is_given("kpi"):
        raise UsageError(f"--format {view.format} has no target bands", hint=hint)


def check_confidence(settings: Settings, view: View, page: PageRequest) -> None:
    """Raise if a confidence is given and nothing that is shown has one."""
    used = settings.confidence_intervals or settings.significance_testing or settings.by or view.plot or page.path
    if is_given("confidence") and not used:
        raise UsageError("--confidence is for intervals and tests, and none are shown", hint="show intervals with --ci")


def evaluate_files(
    qrels: str, runs: tuple[str, ...], sources: LabelSources, settings: Settings, view: View, reading: Reading
) -> Evaluation:
    """Score the runs in files, each read once; with a cache if the settings ask for one and nothing needs the join."""
    needs_hash = view.format == "json" or settings.significance_testing
    reading = replace(configured_reading(reading, settings), fingerprint=reading.fingerprint or needs_hash)
    if sources.gold is not None:
        return sources.evaluate(runs, settings, reading)
    judgments, rankings = log_or_files(qrels, runs, reading)
    if settings.caching and not view.audits and not reading.keep_rankings and not reading.keep_top:
        from rankgauge.evaluation.cached import evaluate_runs_cached

        return evaluate_runs_cached(
            judgments,
            rankings,
            settings.measures,
            cache_file=settings.cache_file or default_cache_file(),
            conventions=settings.conventions,
            reading=reading,
            topics=sources.topics,
        )
    return evaluate_runs(
        judgments, rankings, settings.measures, conventions=settings.conventions, reading=reading, topics=sources.topics
    )


def log_or_files(qrels: str, runs: tuple[str, ...], reading: Reading) -> tuple[Any, list[Any]]:
    """Judgments and runs; if only one file is named, it must be a log that has both."""
    if runs:
        return qrels, list(runs)
    from rankgauge.io.byte_streams import is_dataset, open_source, source_name
    from rankgauge.io.reading import is_log, log_from_stream

    not_a_log = UsageError(
        f"{qrels}: a single file must be a log with retrieved and relevant ids",
        hint="name a run after the judgments, or see `rankgauge evaluate --help`",
    )
    if is_dataset(qrels):
        raise not_a_log
    with open_source(qrels, limits=reading.limits, hashed=True) as stream:
        if not is_log(stream):
            raise not_a_log
        judgments, run = log_from_stream(
            stream, columns=reading.columns, name=source_name(qrels), on_duplicate=reading.on_duplicate
        )
    return judgments, [run]


def compared(evaluation: Evaluation, settings: Settings, runs: Sequence[str] = ()) -> Comparison | None:
    """The comparison with the baseline, if the settings ask for tests and there are two runs; ``runs`` are files."""
    if not settings.significance_testing or len(evaluation.scores) < 2:
        return None
    from rankgauge.cli.commands.compare import check_baseline_file
    from rankgauge.comparison.compare import compare_evaluation

    check_baseline_file(settings.baseline, runs, evaluation)
    return compare_evaluation(
        evaluation, named_baseline(settings, runs), statistics=settings.statistics, by=settings.by or (), changes=0
    )


def named_baseline(settings: Settings, runs: Sequence[str]) -> AnyBaseline:
    """The baseline of the settings, or else the first run."""
    from rankgauge.cli.commands.compare import chosen_baseline

    return chosen_baseline(settings.baseline, runs)


def show(
    evaluation: Evaluation, comparison: Comparison | None, notes: list[Note], settings: Settings, view: View
) -> None:
    """Print scores on standard output and warnings on standard error."""
    scores = evaluation.scores
    match view.format:
        case "json":
            write(render.dumped(evaluation_dict(evaluation, comparison, notes, settings, view)))
        case "csv" | "jsonl":
            records = render.records(view.sorted_runs(scores), per_query=view.per_query)
            write(rows_text(view.format, render.SCORE_FIELDS, records))
        case "markdown" | "latex":
            write(page_text(view.format, _page_parts(evaluation, comparison, settings, view)))
        case "trec":
            write(render.as_trec(scores, per_query=view.per_query))
        case _:
            write(evaluation_tables(evaluation, comparison, settings, view))
    print_warnings(notes)
    print_run_warnings(scores)


def evaluation_dict(
    evaluation: Evaluation, comparison: Comparison | None, notes: list[Note], settings: Settings, view: View
) -> dict[str, Any]:
    """For JSON."""
    from rankgauge.render.text import audit, bands, groups

    confidence = settings.statistics.confidence
    data = render.as_dict(evaluation.scores, per_query=view.per_query, notes=notes)
    for entry, run in zip(data["runs"], evaluation.scores, strict=True):
        if settings.by:
            entry["by"] = groups.as_dicts(run, settings.by, confidence=confidence)
        if settings.confidence_intervals:
            for measure, value in entry["measures"].items():
                value |= groups.interval_dicts(run, measure, confidence=confidence)
    if comparison is not None:
        data["comparison"] = comparison.to_dict()
    audits = audit.audits_of(evaluation, ties=view.ties, unjudged=view.unjudged)
    data = audit.with_audits(data, audits, per_query=view.per_query)
    return bands.with_bands(data, evaluation.scores, settings.bands, comparison)


def _page_parts(
    evaluation: Evaluation, comparison: Comparison | None, settings: Settings, view: View
) -> list[str | Grid]:
    """The tables and sentences of a Markdown or LaTeX page."""
    from rankgauge.render.text import groups

    scores, confidence = view.sorted_runs(evaluation.scores), settings.statistics.confidence
    parts: list[str | Grid] = [render.grid(scores, bands=settings.bands).for_page()]
    parts += [render.query_grid(run) for run in scores] if view.per_query else []
    parts += [groups.intervals_grid(scores, confidence=confidence)] if settings.confidence_intervals else []
    if comparison is not None:
        from rankgauge.comparison.order import sort_systems
        from rankgauge.render.text.comparison import difference_parts

        parts += difference_parts(sort_systems(comparison, view.sort))
    parts += groups.grids(scores, settings.by or (), confidence=confidence)
    return [*parts, *uplifts(evaluation, comparison, settings), *footer(evaluation)]


def evaluation_tables(evaluation: Evaluation, comparison: Comparison | None, settings: Settings, view: View) -> str:
    """The tables and charts of a terminal; modules that a plain evaluation does not need are not imported."""
    confidence, fit = settings.statistics.confidence, layout()
    scores = view.sorted_runs(evaluation.scores)
    parts = render.score_parts(scores, per_query=view.per_query, bands=settings.bands)
    if settings.confidence_intervals or settings.by:
        from rankgauge.render.text import groups

        parts += [groups.intervals_grid(scores, confidence=confidence)] if settings.confidence_intervals else []
        parts += groups.grids(scores, settings.by or (), confidence=confidence)
    if comparison is not None:
        from rankgauge.comparison.order import sort_systems
        from rankgauge.render.text.comparison import terminal_parts

        parts += terminal_parts(sort_systems(comparison, view.sort), fit)
    if view.audits:
        from rankgauge.render.text import audit

        audits = audit.audits_of(evaluation, ties=view.ties, unjudged=view.unjudged)
        parts += audit.audit_parts(audits)
    parts.append(Lines([*uplifts(evaluation, comparison, settings), *footer(evaluation)]))
    if view.plot:
        from rankgauge.render.text.plot import of_scores

        parts.append(Drawing(of_scores(scores, fit, confidence=confidence).removesuffix("\n")))
    return text_of(parts, fit) + "\n"


def uplifts(evaluation: Evaluation, comparison: Comparison | None, settings: Settings) -> Sequence[str]:
    """The uplifts that the bands aim at; without a comparison, that each needs a baseline."""
    if settings.bands is None:
        return []
    from rankgauge.render.text.bands import uplift_lines

    return uplift_lines(evaluation.scores, settings.bands, comparison)


def footer(evaluation: Evaluation) -> Sequence[str]:
    """How many queries the means are over, and under which conventions."""
    return [render.averaged_line(evaluation.scores), *render.conventions_lines(evaluation.scores)]
