"""Scores of one or more runs on the same judgments, in each output format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.errors import InputError
from rankgauge.evaluation.evaluate import Scores
from rankgauge.evaluation.notes import Note
from rankgauge.measures.spec import Measure
from rankgauge.render.text.grid import Cell, Grid, Show, full
from rankgauge.render.text.records import Record
from rankgauge.render.text.terminal import name, number, table

if TYPE_CHECKING:
    from rankgauge.config.bands.bands import Bands

SCHEMA = "rankgauge.scores/1"


def as_table(scores: Sequence[Scores], *, per_query: bool, colour: bool, width: int, bands: Bands | None = None) -> str:
    """Runs as rows and measures as columns, or the other way round where that is too wide; bands below their runs."""
    found = grid(scores, bands=bands, show=name)
    wide = table(found.head, found.rows, colour=colour)
    if max(len(line) for line in wide.split("\n")) > width:
        found = found.turned()
        wide = table(found.head, found.rows, colour=colour)
    queries = [query_grid(run, show=name) for run in scores] if per_query else []
    return "\n\n".join([wide, *(table(one.head, one.rows, colour=colour) for one in queries)])


def grid(scores: Sequence[Scores], *, bands: Bands | None = None, show: Show = full) -> Grid:
    """Runs as rows, measures as columns, bands below; the best of several runs is told."""
    measures = scores[0].measures
    values = [[run.over_queries[measure.name][0] for measure in measures] for run in scores]
    best = [best_of(measure, [row[place] for row in values]) for place, measure in enumerate(measures)]
    rows = [
        [
            Cell(show(run.run)),
            *(
                Cell(number(value, whole=_whole(measure)), best=value is not None and value == best[place])
                for place, (measure, value) in enumerate(zip(measures, row, strict=True))
            ),
        ]
        for run, row in zip(scores, values, strict=True)
    ]
    if bands is not None:
        from rankgauge.render.text.bands import band_rows

        rows += band_rows(scores, bands, show)
    legend = "" if all(value is None for value in best) else "bold: the best"
    return Grid(["", *(measure.name for measure in measures)], rows, legend=legend)


def query_grid(scores: Scores, *, show: Show = full) -> Grid:
    """A row a query of one run."""
    rows = [
        [Cell(show(scores.queries[row]))]
        + [
            Cell(number(float(value), whole=_whole(measure)))
            for measure, value in zip(scores.measures, scores.values[row], strict=True)
        ]
        for row in np.flatnonzero(scores.averaged).tolist()
    ]
    return Grid([show(scores.run), *(measure.name for measure in scores.measures)], rows)


def _whole(measure: Measure) -> bool:
    return measure.definition.aggregate == "sum"


def best_of(measure: Measure, values: Sequence[float | None]) -> float | None:
    """The best of several values that are not all the same; None where there is none."""
    known = [value for value in values if value is not None]
    if not known or measure.definition.better is None or len(set(known)) == 1:
        return None
    return max(known) if measure.definition.better == "higher" else min(known)


def as_dict(scores: Sequence[Scores], *, per_query: bool, notes: Iterable[Note] = ()) -> dict[str, Any]:
    """The JSON schema that every command which prints scores shares."""
    first = scores[0]
    warnings = [{"code": note.code, "message": note.message} for note in notes]
    for run in scores:
        warnings += [{"code": note.code, "message": note.message, "run": run.run} for note in run.notes]
    return {
        "schema": SCHEMA,
        "conventions": first.conventions.to_dict(),
        "qrels": {"name": first.qrels, "sha256": first.qrels_sha256, "queries": len(first)},
        "runs": [run.to_dict(per_query=per_query) for run in scores],
        "warnings": warnings,
    }


def as_json(scores: Sequence[Scores], *, per_query: bool, notes: Iterable[Note] = ()) -> str:
    """The schema as text: full precision, null for what has no value."""
    return dumped(as_dict(scores, per_query=per_query, notes=notes))


def dumped(data: dict[str, Any]) -> str:
    """JSON as it is printed; what is no number cannot get into it."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


FIELDS = ("run", "query", "measure", "value", "n", "conventions")


def records(scores: Sequence[Scores], *, per_query: bool) -> Iterator[Record]:
    """One a value; no query where it is the value over all of them."""
    for run in scores:
        common: Record = {"run": run.run, "conventions": str(run.conventions)}
        for measure, (value, n) in run.over_queries.items():
            yield {**common, "measure": measure, "value": value, "n": n}
        if per_query:
            for row in np.flatnonzero(run.averaged).tolist():
                for asked, found in zip(run.measures, run.values[row].tolist(), strict=True):
                    value = None if found != found else found
                    yield {**common, "query": run.queries[row], "measure": asked.name, "value": value}


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
        if _whole(measure) and value == value
        else f"{measure.name:<22s}\t{query}\t{value:6.4f}\n"
        for measure, query, value in lines
    )
