"""Estimates from a sampled pool, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.core.formatting import number, percent, plural, span
from rankgauge.labels.sampled_means import SampledEstimate
from rankgauge.render.text.grid import Cell, Grid, full
from rankgauge.render.text.records import Record
from rankgauge.render.text.scores import dumped

SAMPLED_SCHEMA = "rankgauge.sampled-estimate/1"
SAMPLED_FIELDS = ("run", "measure", "estimate", "low", "high", "confidence", "method", "reason", "queries")


def parts(rows: Sequence[SampledEstimate]) -> list[str | Grid]:
    """One row per run and value."""
    first = rows[0].interval
    cells = [
        [
            Cell(full(row.run)),
            Cell(row.measure),
            Cell(number(row.interval.estimate, 3)),
            Cell(row.interval.reason or span(row.interval.low, row.interval.high)),
        ]
        for row in rows
    ]
    return [
        f"Estimated from a random sample of the documents of {plural(first.n, 'query')}.",
        Grid(["run", "measure", "estimate", f"{percent(first.confidence)} CI"], cells, words=2),
    ]


def as_json(rows: Sequence[SampledEstimate]) -> str:
    """With full precision."""
    return dumped({"schema": SAMPLED_SCHEMA, "estimates": [row.to_dict() for row in rows]})


def records(rows: Sequence[SampledEstimate]) -> Iterator[Record]:
    """One per run and value."""
    for row in rows:
        yield row.to_dict()
