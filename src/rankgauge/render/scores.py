"""Scores of one or more runs on the same judgments, in each output format."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.errors import InputError
from rankgauge.evaluation import Scores
from rankgauge.measures.spec import Measure
from rankgauge.notes import Note
from rankgauge.render.terminal import Cell, name, number, table

if TYPE_CHECKING:
    from rankgauge.kpi.bands import Bands

SCHEMA = "rankgauge.scores/1"


def as_table(scores: Sequence[Scores], *, per_query: bool, colour: bool, width: int, bands: Bands | None = None) -> str:
    """Runs as rows and measures as columns, or the other way round where that is too wide; bands below their runs."""
    measures = scores[0].measures
    values = [[run.over_queries[measure.name][0] for measure in measures] for run in scores]
    best = [_best(measure, [row[place] for row in values]) for place, measure in enumerate(measures)]
    cells = [
        [
            Cell(
                number(value, whole=_whole(measure)),
                best=len(scores) > 1 and value is not None and value == best[place],
            )
            for place, (measure, value) in enumerate(zip(measures, row, strict=True))
        ]
        for row in values
    ]
    labels = [Cell(name(run.run)) for run in scores]
    if bands is not None:
        from rankgauge.render.kpi import band_row

        labels += [Cell(f"{name(run.run)}: {bands.name}") for run in scores]
        cells += [band_row(run, bands) for run in scores]
    wide = table(
        ["", *(m.name for m in measures)], [[a, *b] for a, b in zip(labels, cells, strict=True)], colour=colour
    )
    if max(len(line) for line in wide.split("\n")) > width:
        turned = [[Cell(m.name), *(row[place] for row in cells)] for place, m in enumerate(measures)]
        wide = table(["", *(label.text for label in labels)], turned, colour=colour)
    parts = [wide]
    if per_query:
        parts += [_per_query(run, colour=colour) for run in scores]
    return "\n\n".join(parts)


def _per_query(scores: Scores, *, colour: bool) -> str:
    rows = [
        [Cell(name(scores.queries[row]))]
        + [
            Cell(number(float(value), whole=_whole(measure)))
            for measure, value in zip(scores.measures, scores.values[row], strict=True)
        ]
        for row in np.flatnonzero(scores.averaged).tolist()
    ]
    return table([name(scores.run), *(measure.name for measure in scores.measures)], rows, colour=colour)


def _whole(measure: Measure) -> bool:
    return measure.definition.aggregate == "sum"


def _best(measure: Measure, values: Sequence[float | None]) -> float | None:
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


def as_csv(scores: Sequence[Scores], *, per_query: bool) -> str:
    """One row a value: full precision; an empty query is the value over all of them."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["run", "query", "measure", "value", "n", "conventions"])
    for run in scores:
        said = str(run.conventions)
        for measure, (value, n) in run.over_queries.items():
            writer.writerow([run.run, "", measure, _exact(value), n, said])
        if per_query:
            for row in np.flatnonzero(run.averaged).tolist():
                for measure_, value_ in zip(run.measures, run.values[row].tolist(), strict=True):
                    text = _exact(None if value_ != value_ else value_)
                    writer.writerow([run.run, run.queries[row], measure_.name, text, "", said])
    return out.getvalue()


def _exact(value: float | None) -> str:
    return "" if value is None else repr(value)


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
