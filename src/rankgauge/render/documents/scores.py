"""Scores of one or more runs on the same judgments: means, intervals, groups of queries, single queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.formatting import MISSING, NumberKind, listing, milliseconds, percent, plural, span, text_of
from rankgauge.core.run import SHOWN_FIGURES
from rankgauge.errors import printable
from rankgauge.evaluation.caveats import Note, caveat_sentences
from rankgauge.evaluation.scores import Scores, sorted_runs
from rankgauge.measures.column_measures import column_name
from rankgauge.measures.measure import Measure
from rankgauge.render.document import (
    NOTHING,
    Cell,
    DocumentSection,
    Number,
    Part,
    Range,
    Record,
    ResultDocument,
    Sentences,
    Table,
    TableColumn,
    Words,
    listed,
    name,
    numbers,
    sentence,
    words,
)

if TYPE_CHECKING:
    from rankgauge.config.bands import Bands
    from rankgauge.core.query_answers import Leak
    from rankgauge.evaluation.evaluate import Evaluation
    from rankgauge.evaluation.query_groups import GroupSummary
    from rankgauge.rag.retrieval_result import RetrievalResult
    from rankgauge.stats.results import Interval

SCORES_SCHEMA = "rankgauge.scores/1"
SCORE_FIELDS = ("run", "query", "measure", "value", "n", "labels", "depth", "conventions")
CONFIDENCE = 0.95
MAX_THRESHOLDS = 9  # in a table; JSON has all of them
MAX_LEAKS = 3  # named in a line; JSON has all of them
MAX_QUERIES = 20  # of one run, in its folded table by query


def document(result: Evaluation) -> ResultDocument:
    """The scores of its runs."""
    return scores_document(result.scores[0]) if len(result.scores) == 1 else score_list_document(result.scores)


def scores_document(scores: Scores) -> ResultDocument:
    """Each measure with its interval, the queries, and what to know of them."""
    return ResultDocument(
        f"{scores.run} on {scores.qrels}",
        lambda: [_one_run(scores, f"{scores.run} on {scores.qrels}"), _conventions([scores]), _queries(scores)],
        caveats=lambda: caveats([scores]),
    )


def score_list_document(scores: Sequence[Scores]) -> ResultDocument:
    """Runs as rows, best first; those on other judgments, or with other measures, in tables of their own."""
    tables: dict[tuple[object, ...], list[Scores]] = {}
    for run in scores:
        tables.setdefault((run.qrels, run.measures, run.conventions), []).append(run)

    def parts() -> list[Part]:
        made: list[Part] = []
        for runs in map(sorted_runs, tables.values()):
            made += [means_table(runs, title=f"{plural(len(runs), 'run')} on {runs[0].qrels}"), _conventions(runs)]
        return made

    return ResultDocument("Scores", parts, caveats=lambda: [line for runs in tables.values() for line in caveats(runs)])


def groups_document(groups: Sequence[GroupSummary]) -> ResultDocument:
    """One row per group and measure."""
    first = groups[0]
    rows = [[name(group.label), Words(group.measure), *_group_cells(group)] for group in groups]
    columns = [
        TableColumn(f"by {first.by}", is_words=True),
        *words("measure"),
        *_group_columns(first.interval.confidence),
    ]
    return ResultDocument(f"Groups by {first.by}", lambda: [Table(columns, rows, f"Groups by {first.by}")])


def retrieval_document(result: RetrievalResult) -> ResultDocument:
    """Each measure with its interval, latency, failed queries, and what to know of the answers."""
    title = f"{result.scores.run}: {plural(len(result), 'query')}"

    def parts() -> list[Part]:
        lines = [line for line in str(result).splitlines()[1:] if line not in result.remarks]
        failed = [f"{query}: {error}" for query, error in result.failures.items()]
        return [
            _one_run(result.scores, title),
            *(sentence(" ".join(line.split())) for line in lines),
            *listed("Failed queries", failed),
            _queries(result.scores),
        ]

    return ResultDocument(title, parts, caveats=lambda: result.remarks)


def footer(scores: Sequence[Scores]) -> list[str]:
    """How many queries the means are over, and under which conventions."""
    return [averaged_line(scores), *conventions_lines(scores)]


def caveats(scores: Sequence[Scores]) -> list[str]:
    """What to know of runs before trusting their numbers."""
    return caveat_sentences([(run.run, run.notes) for run in scores])


def _one_run(scores: Scores, title: str) -> Table:
    """Each measure with its interval, without the column of the run's name."""
    table = intervals_table([scores], confidence=CONFIDENCE)
    columns = [table.columns[0], *table.columns[2:]]
    return Table(columns, [[row[0], *row[2:]] for row in table.rows], title)


def _conventions(scores: Sequence[Scores]) -> Sentences:
    return sentence("; ".join(footer(scores)), "footnote")


def _queries(scores: Scores) -> DocumentSection:
    table = query_table(scores)
    first = Table(
        [*words("query"), *table.columns[1:]], table.rows[:MAX_QUERIES], f"{scores.run} by query", total=len(table.rows)
    )
    return DocumentSection("Values by query", [first], folded=True)


# ----------------------------------------------------------------------------------------------------------- tables


def means_table(scores: Sequence[Scores], *, bands: Bands | None = None, title: str = "Means") -> Table:
    """Runs as rows, measures as columns, bands below; the best of several runs is marked."""
    measures = scores[0].measures
    values = [[run.over_queries[measure.name][0] for measure in measures] for run in scores]
    best = [best_of(measure, [row[column] for row in values]) for column, measure in enumerate(measures)]
    costs = cost_cells(scores)
    rows: list[list[Cell]] = [
        [
            name(run.run),
            *(
                value_cell(measure, value, best=value is not None and value == best[column])
                for column, (measure, value) in enumerate(zip(measures, row, strict=True))
            ),
            *(cells[place] for cells in costs.values()),
        ]
        for place, (run, row) in enumerate(zip(scores, values, strict=True))
    ]
    if bands is not None:
        from rankgauge.render.documents.bands import band_rows

        rows += [[*row, *(NOTHING for _ in costs)] for row in band_rows(scores, bands)]
    titles = [*(measure.shown for measure in measures), *costs]
    return Table([*words(""), *numbers(*titles)], rows, title, may_transpose=True)


def cost_cells(scores: Sequence[Scores]) -> dict[str, list[Number]]:
    """What logs cost, by the titles of columns, one cell for each run; the lowest of several is the best.

    What no run has is left out, and so are live retrievers, whose times differ from run to run.
    """
    figures = [{} if run.extras is None or run.extras.is_live else run.extras.figures() for run in scores]
    columns = {}
    for figure, title in SHOWN_FIGURES.items():
        present = [row[figure] for row in figures if figure in row]
        best = min(present) if len(set(present)) > 1 else None
        if present:
            values = [row.get(figure) for row in figures]
            columns[title] = [
                Number(value, _cost_kind(title), best=value is not None and value == best) for value in values
            ]
    return columns


def _cost_kind(title: str) -> NumberKind:
    return "milliseconds" if title.endswith("ms") else "amount"


def query_table(scores: Scores) -> Table:
    """One row per query of one run."""
    kinds = [_kind(measure) for measure in scores.measures]
    costs = {} if scores.extras is None or scores.extras.is_live else scores.extras.by_query()
    rows: list[list[Cell]] = [
        [
            name(scores.queries[row]),
            *map(Number, scores.values[row].tolist(), kinds),
            *(Number(values.get(scores.queries[row]), _cost_kind(title)) for title, values in costs.items()),
        ]
        for row in np.flatnonzero(scores.averaged).tolist()
    ]
    titles = [*(measure.shown for measure in scores.measures), *costs]
    return Table([*words(scores.run), *numbers(*titles)], rows, scores.run)


def intervals_table(scores: Sequence[Scores], *, confidence: float) -> Table:
    """One row per measure and run, then what the runs cost."""
    title = f"{percent(confidence)} CI"
    rows: list[list[Cell]] = [
        [
            Words("" if place else measure.shown),
            name(run.run),
            value_cell(measure, run[measure]),
            range_cell(run.interval(measure, confidence=confidence)),
        ]
        for measure in scores[0].measures
        for place, run in enumerate(scores)
    ]
    for what, cells in cost_cells(scores).items():
        rows += [
            [Words("" if place else what), name(run.run), replace(cell, best=False), NOTHING]
            for place, (run, cell) in enumerate(zip(scores, cells, strict=True))
        ]
    return Table([*words("measure", "run"), *numbers("mean", title)], rows, "Values with intervals")


def group_tables(scores: Sequence[Scores], by: Sequence[str], *, confidence: float) -> list[Table]:
    """One table per column of the queries."""
    return [_group_table(scores, column, confidence) for column in by]


def _group_table(scores: Sequence[Scores], by: str, confidence: float) -> Table:
    """One row per group, measure and run: the runs below each other; one run is not repeated."""
    groups: dict[tuple[str, str], list[tuple[Scores, GroupSummary]]] = {}
    for run in scores:
        for group in run.by(by, confidence=confidence):
            groups.setdefault((group.label, group.measure), []).append((run, group))
    rows = [
        [
            NOTHING if place else name(group.label),
            Words("" if place else group.shown),
            *([] if len(scores) == 1 else [name(run.run)]),
            *_group_cells(group),
        ]
        for same_group in groups.values()
        for place, (run, group) in enumerate(same_group)
    ]
    titles = words(f"by {by}", "measure", *([] if len(scores) == 1 else ["run"]))
    return Table([*titles, *_group_columns(confidence)], rows, f"Groups by {by}")


def _group_columns(confidence: float) -> list[TableColumn]:
    return [*numbers("queries", "mean", f"{percent(confidence)} CI"), TableColumn("median", may_hide=1)]


def _group_cells(group: GroupSummary) -> list[Cell]:
    return [Number(group.n, "count"), Number(group.mean), range_cell(group.interval), Number(group.median)]


def value_cell(measure: Measure, value: float | None, *, best: bool = False, mark: str = "") -> Number:
    """The value of a measure over all queries, or for one."""
    return Number(value, _kind(measure), best=best, mark=mark)


def _kind(measure: Measure) -> NumberKind:
    return "count" if is_count(measure) else "value"


def value_text(measure: Measure, value: float | None) -> str:
    """The value of a measure in a sentence or beside a chart."""
    return value_cell(measure, value).text


def range_cell(interval: Interval) -> Range:
    """The interval of a mean."""
    return Range(interval.low, interval.high)


def interval_span(interval: Interval) -> str:
    """The ends of an interval of a mean; a dash if there is none."""
    return span(interval.low, interval.high) or MISSING


def is_count(measure: Measure) -> bool:
    """Whether a measure counts."""
    return measure.definition.aggregate == "sum"


def best_of(measure: Measure, values: Sequence[float | None]) -> float | None:
    """The best of several values that are not all the same; None if there is none."""
    present = [value for value in values if value is not None]
    if not present or not measure.definition.direction or len(set(present)) == 1:
        return None
    return max(present) if measure.definition.better == "higher" else min(present)


# ------------------------------------------------------------------------------------------------------ for programs


def as_dict(scores: Sequence[Scores], *, per_query: bool, notes: Iterable[Note] = ()) -> dict[str, Any]:
    """The JSON schema of every command that prints scores."""
    first = scores[0]
    requested = dict(zip(first.measures, first.requested or first.measures, strict=True))
    names = {measure.name: asked.shown for measure, asked in requested.items() if measure.name != asked.shown}
    warnings = warning_dicts(notes)
    for run in scores:
        warnings += [{"code": note.code, "message": note.message, "run": run.run} for note in run.notes]
    return {
        "schema": SCORES_SCHEMA,
        "conventions": first.conventions.to_dict(),
        "qrels": {"name": first.qrels, "sha256": first.qrels_sha256, "queries": len(first)},
        **({"requested": names} if names else {}),
        "runs": [run.to_dict(per_query=per_query) for run in scores],
        **({"labels": dict(first.labels.of_query)} if per_query and first.labels is not None else {}),
        "warnings": warnings,
    }


def warning_dicts(notes: Iterable[Note]) -> list[dict[str, Any]]:
    """Warnings as JSON has them."""
    return [{"code": note.code, "message": note.message} for note in notes]


def group_dicts(run: Scores, by: Sequence[str], *, confidence: float) -> list[dict[str, Any]]:
    """The groups of one run, for JSON."""
    return [
        {
            "by": group.by,
            "label": group.label,
            "measure": group.measure,
            "n": group.n,
            "mean": group.mean,
            "median": group.median,
            "ci": group.interval.to_dict(),
        }
        for column in by
        for group in run.by(column, confidence=confidence)
    ]


def interval_dicts(run: Scores, measure: str, *, confidence: float) -> dict[str, Any]:
    """The interval of a mean, for JSON."""
    return {"ci": run.interval(measure, confidence=confidence).to_dict()}


def records(scores: Sequence[Scores], *, per_query: bool) -> Iterator[Record]:
    """One per value; without a query if it is the value over all of them."""
    for run in scores:
        depth = None if run.depth is None else run.depth.documents
        common: Record = {"run": run.run, "depth": depth, "conventions": str(run.conventions)}
        for measure, (value, n) in run.over_queries.items():
            yield {**common, "measure": measure, "value": value, "n": n}
        if per_query:
            labels, asked = {} if run.labels is None else run.labels.of_query, run.asked
            for row in np.flatnonzero(run.averaged).tolist():
                for column, query_value in zip(run.measures, run.values[row].tolist(), strict=True):
                    present = None if query_value != query_value else query_value
                    query = run.queries[row]
                    own = {"query": query, "labels": labels.get(query), "n": None if asked[row] else 0}
                    yield {**common, **own, "measure": column.name, "value": present}


# -------------------------------------------------------------------------------------------------------- sentences


def averaged_line(scores: Sequence[Scores]) -> str:
    """The number of queries that the means are over; by measure, if they are over different queries."""
    total = len(scores[0])
    counts = [int(run.averaged.sum()) for run in scores]
    if len(set(counts)) > 1:
        counted = zip(scores, counts, strict=True)
        counts_by_run = ", ".join(f"{printable(run.run, None)} {count}" for run, count in counted)
        return f"averaged over, of {plural(total, 'query')}: {counts_by_run}"
    of_measures = {measure: [run.over_queries[measure][1] for run in scores] for measure in scores[0].over_queries}
    differing = {measure: of_runs for measure, of_runs in of_measures.items() if len(set(of_runs)) > 1}
    if differing:
        names = [printable(run.run, None) for run in scores]
        parts = [
            f"{measure} {', '.join(f'{run} {count}' for run, count in zip(names, of_runs, strict=True))}"
            for measure, of_runs in differing.items()
        ]
        return f"averaged over {counts[0]} of {plural(total, 'query')}, except {'; '.join(parts)}"
    by_count: dict[int, list[str]] = {}
    for measure, (count, *_) in of_measures.items():
        by_count.setdefault(count, []).append(measure)
    classes = class_text(scores[0])
    if len(by_count) < 2 and not classes:
        return f"averaged over {counts[0]} of {plural(total, 'query')}"
    parts = [f"{count} ({', '.join(names)})" for count, names in sorted(by_count.items(), reverse=True)]
    return f"averaged over, of {plural(total, 'query')}{classes}: {', '.join(parts)}"


def class_text(scores: Scores) -> str:
    """How many queries have an answer and how many have none, if both are counted."""
    answerable, unanswerable = scores.class_sizes
    return f" ({answerable:,} with an answer, {unanswerable:,} without)" if unanswerable else ""


def leak_lines(scores: Sequence[Scores]) -> list[str]:
    """How many queries got a forbidden document, at most how many would, and which documents these are."""
    lines = []
    for run in scores:
        prefix = f"{printable(run.run, None)}: " if len(scores) > 1 else ""
        known: list[list[Leak]] = []
        for measure in run.measures:
            value, n = run.over_queries[measure.name]
            if measure.definition.name != "Leak" or value is None or run.leaks(measure) in known:
                continue
            known.append(run.leaks(measure))
            interval = run.interval(measure)
            bound = f"at most {text_of(interval.high, 'share')} ({percent(interval.confidence)} confidence)"
            found = [leak_text(leak) for leak in run.leaks(measure)]
            named = f": {listing(found, MAX_LEAKS)}" if found else ""
            lines.append(f"{prefix}{measure.shown}: {round(value * n)} of {plural(n, 'query')}, {bound}{named}")
    return lines


def threshold_parts(scores: Sequence[Scores], confidence: float) -> list[Part]:
    """For runs with scores: what a minimum score would cost in right answers, and how many false answers it allows."""
    if not any(run.answers is not None and run.answers.is_unanswerable.any() for run in scores):
        return []
    from rankgauge.evaluation.run_answers import threshold_curve  # which most evaluations do without

    parts: list[Part] = []
    for run in scores:
        curve = threshold_curve(run, confidence)
        if curve is None:
            continue
        columns = numbers("min score", f"right answers @{curve.cutoff}", "false answers")
        rows: list[list[Cell]] = [
            [Number(row.score, "given"), Number(row.right_answers, "share"), Number(row.false_answers, "share")]
            for row in curve.sample(MAX_THRESHOLDS)
        ]
        parts.append(Table(columns, rows, f"{run.run}: thresholds", total=len(curve.thresholds)))
        ends = interval_span(curve.interval)
        classes = f"{plural(curve.answerable, 'query')} that have an answer from {curve.unanswerable} that have none"
        area = f"AUROC {text_of(curve.auroc, 'value')} ({percent(confidence)} CI {ends}); 0.5 is chance"
        parts.append(sentence(f"{printable(run.run, None)}: the highest score separates {classes}: {area}"))
    return parts


def correlation_lines(scores: Sequence[Scores], confidence: float) -> list[str]:
    """Whether queries with a better ranking have higher values in a column, a line for each."""
    if not any(column_name(measure) is not None for measure in scores[0].measures):
        return []
    from rankgauge.evaluation.column_values import correlations  # which most evaluations do without

    lines = []
    for run in scores:
        for measure, ideal, found in correlations(run, confidence):
            whose = f" in {printable(run.run, None)}" if len(scores) > 1 else ""
            start = f"rank correlation of {measure.shown} with {ideal.shown}{whose}"
            if found.estimate is None:
                lines.append(f"{start}: none, because {found.reason}")
                continue
            ends = "" if found.reason is not None else f"{percent(confidence)} CI {interval_span(found)}, "
            is_known = found.low is not None and found.high is not None and found.low * found.high > 0
            which = "higher" if found.estimate > 0 else "lower"
            said = f"queries with a better ranking have {which} values" if is_known else "no relation is shown"
            value = text_of(found.estimate, "value")
            lines.append(f"{start}: {value} ({ends}{plural(found.n, 'query')}): {said}")
    return lines


def correlation_dicts(run: Scores, confidence: float) -> dict[str, Any]:
    """The rank correlation of each column with nDCG, for JSON; nothing if there is none."""
    if not any(column_name(measure) is not None for measure in run.measures):
        return {}
    from rankgauge.evaluation.column_values import correlations

    return {
        measure.name: {"with": ideal.name, "rho": found.estimate, "n": found.n, "ci": found.to_dict()}
        for measure, ideal, found in correlations(run, confidence)
    }


def threshold_dict(run: Scores, confidence: float) -> dict[str, Any] | None:
    """The thresholds of a run for JSON; None if it has none."""
    if run.answers is None or not run.answers.is_unanswerable.any():
        return None
    from rankgauge.evaluation.run_answers import threshold_curve

    curve = threshold_curve(run, confidence)
    return None if curve is None else curve.to_dict()


def leak_text(leak: Leak) -> str:
    """A forbidden document in a ranking."""
    return f"{printable(leak.query)} has {printable(leak.document)} at rank {leak.rank} ({printable(leak.reason)})"


def conventions_lines(scores: Sequence[Scores]) -> list[str]:
    """What was decided wherever tools disagree; before it, how live retrievers answered, and what is incomplete.

    The part of the queries is named, too, if others are left out.
    """
    part = [] if scores[0].conventions.split is None else [f"judgments: {scores[0].qrels}"]
    before = [*leak_lines(scores), *call_lines(scores), *incomplete_lines(scores)]
    return [*before, *part, f"conventions: {scores[0].conventions}"]


def call_lines(scores: Sequence[Scores]) -> list[str]:
    """The latency of each live retriever, and the queries for which it failed."""
    lines = []
    for run in scores:
        if run.extras is None or not (run.extras.figures() or run.extras.errors):
            continue
        calls = run.extras.to_dict()
        times = [f"{name} {milliseconds(value)}" for name, value in (calls["latency_ms"] or {}).items()]
        failures = [f"{printable(query)}: {printable(reason)}" for query, reason in calls["errors"].items()]
        failed = [f"{len(failures)} failed ({listing(failures)})"] if failures else []
        latency = [f"latency {', '.join(times)}"] if times else []
        figures = run.extras.figures()
        costs = [
            f"{name} {text_of(figures[f'mean_{name}'], 'amount')} per query, "
            f"{text_of(figures[f'total_{name}'], 'amount')} in total"
            for name in ("tokens", "cost")
            if f"mean_{name}" in figures
        ]
        lines.append(f"{printable(run.run, None)}: {'; '.join([*latency, *costs, *failed])}")
    return lines


def incomplete_lines(scores: Sequence[Scores]) -> list[str]:
    """Which values are incomplete, in a line; none if all are complete."""
    names = ", ".join(dict.fromkeys(run.shown_name(name) for run in scores for name in run.incomplete))
    return [f"incomplete: {names} (runs or judgments are shallower than the cutoff)"] if names else []
