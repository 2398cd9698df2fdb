"""``rankgauge evaluate``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.declared import CONFIG_OPTIONS, option
from rankgauge.cli.options.engine import SparkOptions, engine_options
from rankgauge.cli.options.gold import LabelSources, gold_options
from rankgauge.cli.options.html import OutputRequest, output_options
from rankgauge.cli.options.live import LiveOptions, live_options
from rankgauge.cli.options.reading import check_one_stdin, reading_options
from rankgauge.cli.options.settings import (
    BY,
    CONFIDENCE,
    CONVENTION_OPTIONS,
    KPI,
    measure_option,
    settings_options,
)
from rankgauge.cli.options.terminal import collected_notes
from rankgauge.cli.options.view import (
    PAGE_FORMATS,
    PER_QUERY,
    PLOT,
    ROW_FORMATS,
    SORT,
    View,
    check_confidence,
    check_format,
    chosen_baseline,
    compared,
    format_option,
    show,
    view_options,
)
from rankgauge.config.settings import Settings, default_cache_file
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError
from rankgauge.evaluation.evaluate import Evaluation, evaluate_runs
from rankgauge.evaluation.notes import Note
from rankgauge.io.byte_streams import is_dataset, open_source, source_name
from rankgauge.io.options import Reading
from rankgauge.measures.sets import DEFAULT_MEASURES


def on_spark(options: SparkOptions, **inputs: Any) -> None:
    """Score the runs on Spark, which is imported only if it is asked for."""
    from rankgauge.cli.commands.spark import evaluate_on_spark

    evaluate_on_spark(options, **inputs)


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
    *CONFIG_OPTIONS,
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
        "--audit",
        section=Section.OUTPUT,
        is_flag=True,
        help="Show the range of each value over all orders of tied documents, and over all grades of unjudged ones.",
    ),
)
@gold_options
@output_options
@reading_options
@live_options
@engine_options(on_spark)
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

    QRELS holds judgments, each RUN a ranking per query, in any format that `rankgauge convert --help` lists, "-" for
    standard input. A log (JSON Lines with the retrieved and the relevant ids of each query) needs no second file.
    With --gold, every file is a RUN.
    """
    view.check()
    check_format(view, settings)
    check_confidence(settings, view, output.page)
    sources.check(needs_join=output.page.path is not None or view.audit)
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
        baseline = chosen_baseline(settings.baseline, runs)
        output.page.write(evaluation, settings, comparison=comparison, baseline=baseline, input_notes=notes)
    return None


def evaluate_files(
    qrels: str, runs: tuple[str, ...], sources: LabelSources, settings: Settings, view: View, reading: Reading
) -> Evaluation:
    """Score the runs in files, each read once; with a cache if the settings ask for one and nothing needs the join."""
    needs_hash = view.format == "json" or settings.significance_testing
    reading = replace(reading, fingerprint=reading.fingerprint or needs_hash)
    if sources.gold is not None:
        return sources.evaluate(runs, settings, reading)
    judgments, rankings = log_or_files(qrels, runs, reading)
    if settings.caching and not view.audit and not reading.keep_rankings and not reading.keep_top:
        from rankgauge.evaluation.cached import evaluate_runs_cached

        return evaluate_runs_cached(
            judgments,
            rankings,
            settings.measures,
            cache_file=settings.cache_file or default_cache_file(),
            conventions=settings.conventions,
            reading=reading,
            queries=sources.queries,
        )
    return evaluate_runs(
        judgments,
        rankings,
        settings.measures,
        conventions=settings.conventions,
        reading=reading,
        queries=sources.queries,
    )


def log_or_files(qrels: str, runs: tuple[str, ...], reading: Reading) -> tuple[Any, list[Any]]:
    """Judgments and runs; if only one file is named, it must be a log that has both."""
    if runs:
        return qrels, list(runs)
    from rankgauge.io.read import is_log, log_from_stream

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
