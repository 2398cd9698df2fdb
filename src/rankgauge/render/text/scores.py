"""Scores of one or more runs on the same judgments, in each output format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.formatting import number, plural
from rankgauge.errors import InputError
from rankgauge.evaluation.notes import Note
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Measure
from rankgauge.render.text.grid import Cell, Grid, TerminalPart, full
from rankgauge.render.text.terminal import PLAIN, Layout, text_of

if TYPE_CHECKING:
    from rankgauge.config.bands.bands import Bands
    from rankgauge.render.text.records import Record

SCORES_SCHEMA = "rankgauge.scores/1"


def as_table(scores: Sequence[Scores], layout: Layout = PLAIN, *, per_query: bool, bands: Bands | None = None) -> str:
    """Runs as rows and measures as columns, or transposed if that fits better; bands below their runs."""
    return text_of(score_parts(scores, per_query=per_query, bands=bands), layout)


def score_parts(scores: Sequence[Scores], *, per_query: bool, bands: Bands | None = None) -> list[TerminalPart]:
    """The means, then the value of each query if asked for."""
    return [grid(scores, bands=bands), *(query_grid(run) for run in scores if per_query)]


def grid(scores: Sequence[Scores], *, bands: Bands | None = None) -> Grid:
    """Runs as rows, measures as columns, bands below; the best of several runs is marked."""
    measures = scores[0].measures
    values = [[run.over_queries[measure.name][0] for measure in measures] for run in scores]
    best = [best_of(measure, [row[column] for row in values]) for column, measure in enumerate(measures)]
    rows = [
        [
            Cell(full(run.run)),
            *(
                Cell(value_text(measure, value), best=value is not None and value == best[column])
                for column, (measure, value) in enumerate(zip(measures, row, strict=True))
            ),
        ]
        for run, row in zip(scores, values, strict=True)
    ]
    if bands is not None:
        from rankgauge.render.text.bands import band_rows

        rows += band_rows(scores, bands, full)
    return Grid(["", *(measure.name for measure in measures)], rows, transposable=True)


def query_grid(scores: Scores) -> Grid:
    """One row per query of one run."""
    rows = [
        [Cell(full(scores.queries[row]))]
        + [
            Cell(value_text(measure, float(value)))
            for measure, value in zip(scores.measures, scores.values[row], strict=True)
        ]
        for row in np.flatnonzero(scores.averaged).tolist()
    ]
    return Grid([full(scores.run), *(measure.name for measure in scores.measures)], rows)


def value_text(measure: Measure, value: float | None) -> str:
    """The value of a measure over all queries, or for one: four decimals, none for a count."""
    return number(value, 0 if _is_count(measure) else 4)


def _is_count(measure: Measure) -> bool:
    return measure.definition.aggregate == "sum"


def best_of(measure: Measure, values: Sequence[float | None]) -> float | None:
    """The best of several values that are not all the same; None if there is none."""
    present = [value for value in values if value is not None]
    if not present or not measure.definition.direction or len(set(present)) == 1:
        return None
    return max(present) if measure.definition.better == "higher" else min(present)


def as_dict(scores: Sequence[Scores], *, per_query: bool, notes: Iterable[Note] = ()) -> dict[str, Any]:
    """The JSON schema of every command that prints scores."""
    first = scores[0]
    warnings = [{"code": note.code, "message": note.message} for note in notes]
    for run in scores:
        warnings += [{"code": note.code, "message": note.message, "run": run.run} for note in run.notes]
    return {
        "schema": SCORES_SCHEMA,
        "conventions": first.conventions.to_dict(),
        "qrels": {"name": first.qrels, "sha256": first.qrels_sha256, "queries": len(first)},
        "runs": [run.to_dict(per_query=per_query) for run in scores],
        "warnings": warnings,
    }


def as_json(scores: Sequence[Scores], *, per_query: bool, notes: Iterable[Note] = ()) -> str:
    """The schema as text: full precision, null for a missing value."""
    return dumped(as_dict(scores, per_query=per_query, notes=notes))


def dumped(data: dict[str, Any]) -> str:
    """JSON as it is printed; a value that is not a number raises."""
    from rankgauge.io.text import json_text  # which the other formats do without

    return json_text(data, indent=2) + "\n"


SCORE_FIELDS = ("run", "query", "measure", "value", "n", "conventions")


def records(scores: Sequence[Scores], *, per_query: bool) -> Iterator[Record]:
    """One per value; without a query if it is the value over all of them."""
    for run in scores:
        common: Record = {"run": run.run, "conventions": str(run.conventions)}
        for measure, (value, n) in run.over_queries.items():
            yield {**common, "measure": measure, "value": value, "n": n}
        if per_query:
            for row in np.flatnonzero(run.averaged).tolist():
                for column, query_value in zip(run.measures, run.values[row].tolist(), strict=True):
                    present = None if query_value != query_value else query_value
                    yield {**common, "query": run.queries[row], "measure": column.name, "value": present}


def as_trec(scores: Sequence[Scores], *, per_query: bool) -> str:
    """trec_eval's three columns under our names."""
    if len(scores) != 1:
        raise InputError(f"the trec format holds one run, found {len(scores)}", hint="use --format json or csv")
    run = scores[0]
    lines = []
    if per_query:
        if "all" in run.queries:
            raise InputError("a query is named 'all', as the summary is", hint="use --format json or csv")
        for row in np.flatnonzero(run.averaged).tolist():
            for measure, value in zip(run.measures, run.values[row].tolist(), strict=True):
                lines.append((measure, run.queries[row], value))
    for measure in run.measures:
        value_ = run.over_queries[measure.name][0]
        lines.append((measure, "all", float("nan") if value_ is None else value_))
    return "".join(
        f"{measure.name:<22s}\t{query}\t{value:.0f}\n"
        if _is_count(measure) and value == value
        else f"{measure.name:<22s}\t{query}\t{value:6.4f}\n"
        for measure, query, value in lines
    )


def averaged_line(scores: Sequence[Scores]) -> str:
    """The number of queries that the means are over."""
    total = len(scores[0])
    counts = [int(run.averaged.sum()) for run in scores]
    if len(set(counts)) == 1:
        return f"averaged over {counts[0]} of {plural(total, 'query')}"
    counts_by_run = ", ".join(f"{full(run.run)} {count}" for run, count in zip(scores, counts, strict=True))
    return f"averaged over, of {plural(total, 'query')}: {counts_by_run}"


def conventions_lines(scores: Sequence[Scores]) -> list[str]:
    """What was decided wherever tools disagree; before it, which values are incomplete, and the part of the queries."""
    part = [] if scores[0].conventions.split is None else [f"judgments: {scores[0].qrels}"]
    return [*incomplete_lines(scores), *part, f"conventions: {scores[0].conventions}"]


def incomplete_lines(scores: Sequence[Scores]) -> list[str]:
    """Which values are incomplete, in a line; none if all are complete."""
    names = ", ".join(dict.fromkeys(name for run in scores for name in run.incomplete))
    return [f"incomplete: {names} (runs or judgments are shallower than the cutoff)"] if names else []
