"""The scores of runs as ``rankgauge evaluate`` shows them, whether from files, from a live retriever or from Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankgauge.cli.options.declared import is_given
from rankgauge.cli.options.html import PageRequest
from rankgauge.cli.options.terminal import layout, print_run_warnings, print_warnings, write
from rankgauge.cli.options.view import ROW_FORMATS, View, page_text, rows_text
from rankgauge.config.settings import Settings
from rankgauge.errors import UsageError
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.notes import Note
from rankgauge.render.text import scores as render
from rankgauge.render.text.grid import Drawing, Lines
from rankgauge.render.text.terminal import text_of

if TYPE_CHECKING:
    from rankgauge.comparison.compare import AnyBaseline
    from rankgauge.comparison.result import Comparison
    from rankgauge.render.text.grid import Grid


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
    audits = audit.audits_of(evaluation, ties=view.audit, unjudged=view.audit)
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
    if view.audit:
        from rankgauge.render.text import audit

        audits = audit.audits_of(evaluation, ties=view.audit, unjudged=view.audit)
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
