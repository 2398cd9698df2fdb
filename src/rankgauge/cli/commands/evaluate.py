"""``rankgauge evaluate``: results in files, of live retrievers, or on Spark (``--engine``).

What only Spark or a retriever needs is imported in functions, so that the evaluation of files starts fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import CONFIG_OPTIONS, declared_options, is_given
from rankgauge.cli.options.evaluation_settings import (
    BY,
    COLUMNS,
    CONFIDENCE,
    CONVENTION_OPTIONS,
    KPI,
    measure_option,
    settings_options,
)
from rankgauge.cli.options.inputs import (
    NO_CODE,
    LabelSources,
    NamedInputs,
    asking_with_out,
    check_baseline_file,
    check_one_stdin,
    chosen_baseline,
    is_history,
    label_options,
    matching_options,
)
from rankgauge.cli.options.live_output import check_run_output, write_live_runs
from rankgauge.cli.options.outputs import (
    PAGE_FORMATS,
    ROW_FORMATS,
    OutputRequest,
    PageRequest,
    View,
    evaluation_output_options,
    format_option,
    view_options,
)
from rankgauge.cli.options.spark_engine import SparkOptions, engine_options
from rankgauge.cli.printing import (
    collected_notes,
    print_message,
    print_run_warnings,
    print_warnings,
    write,
    write_document,
)
from rankgauge.config.settings import Settings
from rankgauge.core.dataclass import dataclass
from rankgauge.core.run import Run
from rankgauge.errors import UsageError
from rankgauge.evaluation.caveats import Note, several_expected
from rankgauge.evaluation.evaluate import (
    DEFAULT_DEPTH,
    Evaluation,
    evaluate_measures,
    evaluate_opened,
    needed_depth,
)
from rankgauge.io.byte_streams import source_name
from rankgauge.io.reading_options import Asking, Reading
from rankgauge.measures.registry import DEFAULT_MEASURES
from rankgauge.render.document import ResultDocument
from rankgauge.render.documents.evaluation import ScoresExtent, evaluation_document

if TYPE_CHECKING:
    from rankgauge.comparison.comparison_result import Comparison
    from rankgauge.evaluation.scores import Scores


def evaluate_on_spark(
    options: SparkOptions,
    qrels: str,
    runs: tuple[str, ...],
    queries: str | None,
    settings: Settings,
    reading: Reading,
    view: View,
) -> None:
    """Read the judgments here and the runs on Spark, and show the scores."""
    from tempfile import NamedTemporaryFile  # none of which an evaluation in this process needs

    from rankgauge.distributed.spark import collect_scores, evaluate, start_session
    from rankgauge.distributed.spark.session import read_frame, spark_errors
    from rankgauge.io.queries import as_queries
    from rankgauge.io.read import as_qrels

    view.check()
    check_format(view, settings)
    check_confidence(settings, view, PageRequest(None, None))
    with collected_notes() as notes:
        judgments, texts = as_qrels(qrels, reading), {}
        if queries is not None:
            described = as_queries(queries, limits=reading.limits)
            judgments, texts = judgments.with_columns(described.columns), described.known_texts()
        scores: list[Scores] = []
        with NamedTemporaryFile(prefix="rankgauge-spark-", suffix=".log") as log:
            session = start_session(options.master, settings=options.settings, log=log)
            for path in runs:
                with spark_errors(path):
                    frame = read_frame(session, path, reading.run_format)
                    result = evaluate(
                        frame,
                        judgments,
                        settings.measures,
                        conventions=settings.conventions,
                        columns=reading.columns,
                        default_name=source_name(path),
                    )
                    scores += collect_scores(result, columns=judgments.columns).values()
            session.stop()
    judged = settings.conventions.judgments(judgments)
    evaluation = Evaluation(judged, (), tuple(scores), texts).uniquely_named()
    show(evaluation, compared(evaluation, settings, runs), notes, settings, view)


@documented(
    "evaluate",
    """
    # Score a run
    rankgauge evaluate qrels.txt my.run
    # Choose measures, with confidence intervals
    rankgauge evaluate qrels.txt my.run -m nDCG@10 -m RR --ci
    # Score a live retriever on test cases
    rankgauge evaluate cases.jsonl ./search.py:search
    """,
    sections=("spark",),
)
@click.argument("qrels", type=click.Path(allow_dash=True), required=False, metavar="LABELS")
@click.argument("runs", type=click.Path(allow_dash=True), nargs=-1, metavar="[RESULTS …]")
@settings_options(
    measure_option(
        "Compute a measure or a set of them, in any notation: nDCG@10, map, P.5,10, 'AP(rel=2)@100', rag@5, all_trec.  "
        f"[default: {', '.join(DEFAULT_MEASURES)}]"
    ),
    *CONVENTION_OPTIONS,
    *CONFIG_OPTIONS,
    *declared_options(Settings, "confidence_intervals"),
    CONFIDENCE,
    BY,
    KPI,
    COLUMNS,
)
@view_options(
    *declared_options(View, "per_query", "sort"),
    format_option("table", "json", "trec", *ROW_FORMATS, *PAGE_FORMATS),
    *declared_options(View, "plot", "audit"),
)
@label_options
@evaluation_output_options
@matching_options("match")
@asking_with_out
@NO_CODE
@engine_options(evaluate_on_spark)
def evaluate_command(
    qrels: str | None,
    runs: tuple[str, ...],
    sources: LabelSources,
    settings: Settings,
    reading: Reading,
    view: View,
    output: OutputRequest,
    asking: Asking,
) -> int | None:
    """Score results on labels.

    LABELS holds judgments, test cases, or labels by text (quotes). RESULTS are runs in any format that `rankgauge
    convert --help` lists, "-" for standard input; logs, folders, scores, saved results (history:NAME); and live
    retrievers: module:object, ./FILE.py:name, FILE.yaml. A log (JSON Lines with the retrieved and the relevant
    ids of each query) holds both: it needs no second file.
    """
    view.check()
    check_format(view, settings)
    check_confidence(settings, view, output.page)
    sources.check(needs_join=output.page.path is not None or view.audit)
    named = sources.split(qrels, runs)
    if named.labels is None:
        raise UsageError(
            "name the labels and the results, or a log that has both",
            hint="rankgauge evaluate qrels.txt my.run; `rankgauge evaluate --help` explains the rest",
        )
    check_one_stdin(*named.files)
    named.check_asking(also=("k", "out"))
    output.check(*named.kept, reads_history=any(map(is_history, runs)))
    journals = check_run_output(asking, named)
    with collected_notes() as notes:
        reading = output.reading(sources.reading(reading))
        evaluated = evaluate_inputs(named, settings, view, reading, asking, output)
        notes += evaluated.notes
    evaluation = evaluated.evaluation
    comparison = compared(evaluation, settings, evaluated.names)
    if settings.significance_testing and comparison is None:
        notes.append(Note("no-tests", "significance tests need at least two runs, found 1"))
    show(evaluation, comparison, notes, settings, view)
    if evaluated.has_too_many_failures(asking):
        return _end_after_failures(asking.out, output)
    if asking.out is not None:
        write_live_runs(evaluation, evaluated.live, evaluated.own_id, asking.out, named.files, journals)
    output.saving.write(evaluation)
    if output.manifest.manifest is not None:
        from rankgauge.benchmark.record import EvaluatedSources

        read = EvaluatedSources(named.labels, named.sources.queries, evaluated.names, asking.out)
        output.manifest.write(evaluation, settings, read, asking.k or needed_depth(evaluation.scores[0].measures))
    if output.page.path is not None:
        baseline = chosen_baseline(settings.baseline, evaluated.names)
        output.page.write(evaluation, settings, comparison=comparison, baseline=baseline, input_notes=notes)
    return None


@dataclass(frozen=True)
class EvaluatedInputs:
    """An evaluation, the names of its results as they were given, what to know, and what retrievers answered."""

    evaluation: Evaluation
    names: tuple[str, ...]
    notes: tuple[Note, ...] = ()
    live: tuple[Run, ...] = ()
    own_id: Callable[[str], str] | None = None

    def has_too_many_failures(self, asking: Asking) -> bool:
        """Whether a retriever failed more queries than are allowed."""
        failed = max((len(run.extras.errors) for run in self.live if run.extras is not None), default=0)
        return asking.max_failures is not None and failed > asking.max_failures


def evaluate_inputs(
    named: NamedInputs, settings: Settings, view: View, reading: Reading, asking: Asking, output: OutputRequest
) -> EvaluatedInputs:
    """Score results, each read or asked once."""
    needs_hash = view.format == "json" or settings.significance_testing
    reading = replace(reading, fingerprint=reading.fingerprint or needs_hash)
    conventions = settings.conventions
    given = named.scores(reading)
    if given is not None:
        from rankgauge.evaluation.given_scores import evaluate_scores

        names = tuple(name for name in (named.labels, *named.results) if name is not None)
        queries = named.sources.queries
        return EvaluatedInputs(evaluate_scores(given, settings.measures, conventions, queries=queries), names)
    if named.are_plain(reading):
        evaluation = evaluate_files(named.labels, list(named.results), named.sources.queries, settings, reading)
        return EvaluatedInputs(evaluation, named.results)
    from rankgauge.io.results import Opening

    depth = needed_depth(conventions.measures(settings.measures))
    opening = Opening(
        depth,
        depth if settings.measures else DEFAULT_DEPTH,
        asking=replace(asking, keeps_partial=True),  # what was answered is shown, however many failed
        needs_rankings=view.audit,
        history=output.saving.folder,
    )
    opened = named.open(reading, opening, shows_corpus=output.page.path is not None)
    names = named.results if len(opened.results) == len(named.results) else (str(named.labels), *named.results)
    notes = opened.notes
    if opened.are_cases and not settings.measures and opened.measures is None:
        settings = replace(settings, measures=opened.default_measures)
        notes += several_expected(opened.labels)
    if opened.is_by_text or opened.measures is not None or not opened.results:
        evaluation = evaluate_opened(opened, settings.measures, conventions=conventions, reading=reading)
    else:
        evaluation = evaluate_files(opened.labels, opened.results, opened.queries, settings, reading)
    return EvaluatedInputs(evaluation, names, notes, opened.answered, opened.own_id)


def evaluate_files(labels: Any, results: list[Any], queries: Any, settings: Settings, reading: Reading) -> Evaluation:
    """Score runs."""
    conventions = settings.conventions
    requested = conventions.measures(settings.measures) if settings.measures else None
    return evaluate_measures(labels, results, requested, conventions=conventions, reading=reading, queries=queries)


def _end_after_failures(out: str | None, output: OutputRequest) -> int:
    """Say what is not written because too many queries failed."""
    if out is not None:
        print_message("hint: the answers are saved: evaluate again to ask only the failed queries")
    else:
        print_message("hint: allow failures: --max-failures N")
    if output.saving.save:
        print_message("not saved: too many queries failed")
    from rankgauge.core.verdicts import exit_code  # which a command that succeeds does without

    return exit_code("fail")


# -------------------------------------------------------------------------------- what ``rankgauge evaluate`` shows


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


def compared(evaluation: Evaluation, settings: Settings, runs: Sequence[str] = ()) -> Comparison | None:
    """The comparison with the baseline, if the settings ask for tests and there are two runs; ``runs`` are files."""
    if not settings.significance_testing or len(evaluation.scores) < 2:
        return None
    from rankgauge.comparison.compare import compare_evaluation

    check_baseline_file(settings.baseline, runs, evaluation)
    return compare_evaluation(
        evaluation,
        chosen_baseline(settings.baseline, runs),
        statistics=settings.statistics,
        by=settings.by or (),
        changes=0,
    )


def scores_shown(
    evaluation: Evaluation,
    comparison: Comparison | None,
    settings: Settings,
    view: View,
    notes: Sequence[Note] = (),
) -> ResultDocument:
    """The scores with what the settings and the options ask for."""
    wanted = ScoresExtent(
        per_query=view.per_query,
        intervals=bool(settings.confidence_intervals),
        by=settings.by or (),
        ties=view.audit,
        unjudged=view.audit,
        plot=view.plot,
        sort=view.sort,
        confidence=settings.statistics.confidence,
        bands=settings.bands,
    )
    return evaluation_document(evaluation, wanted, comparison, notes)


def show(
    evaluation: Evaluation, comparison: Comparison | None, notes: list[Note], settings: Settings, view: View
) -> None:
    """Print scores on standard output and warnings on standard error."""
    if view.format == "trec":
        from rankgauge.render.formats.data_rows import as_trec

        write(as_trec(evaluation.scores, per_query=view.per_query), is_data=True)
    else:
        write_document(scores_shown(evaluation, comparison, settings, view, notes), view.format)
    print_warnings(notes)
    print_run_warnings(evaluation.scores)
