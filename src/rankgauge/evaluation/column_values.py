"""Columns of results as measures: numbers that came with a log or a live result, beside the measures of its ranking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core.formatting import listing
from rankgauge.core.hits import Joined
from rankgauge.core.run import QueryNumbers, Run, RunExtras
from rankgauge.errors import InputError, MeasureError, shown
from rankgauge.measures.column_measures import column_name
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import parse_measure
from rankgauge.stats.rank_correlation import spearman

if TYPE_CHECKING:
    from rankgauge.evaluation.scores import Scores
    from rankgauge.stats.results import Interval

NAMED = 10


def columns_of(measures: Iterable[Measure]) -> list[str]:
    """The columns whose values some measures are."""
    return [name for measure in measures if (name := column_name(measure)) is not None]


def with_numbers(joined: Joined, names: Sequence[str]) -> Joined:
    """The join with the values of these columns; a query that is not in the run has none."""
    extras = joined.extras or (joined.run.extras if joined.run is not None else None) or RunExtras()
    columns, queries = dict(joined.hits.columns), joined.hits.queries.to_text()
    for name in names:
        found = extras.numbers.get(name)
        if found is None:
            raise _missing(joined.name, name, list(extras.numbers))
        if found.fault is not None:
            raise found.fault
        columns[name] = np.array([found.numbers.get(query, np.nan) for query in queries])
    scored = None if joined.scored is None else replace(joined.scored, columns=columns)
    return replace(joined, hits=replace(joined.hits, columns=columns), scored=scored)


def without_numbers(run: Run, names: Sequence[str]) -> Run:
    """A run that has these columns, and no value in them."""
    return replace(run, extras=RunExtras(numbers={name: QueryNumbers() for name in names}))


def correlations(scores: Scores, confidence: float) -> Iterator[tuple[Measure, Measure, Interval]]:
    """Of each column and nDCG, if both were asked for: do queries whose ranking is better have higher values?"""
    ideal = next((measure for measure in scores.measures if measure.definition.name == "nDCG"), None)
    for column, measure in enumerate(scores.measures):
        if ideal is None or column_name(measure) is None:
            continue
        pairs = scores.values[scores.averaged][:, [column, scores.measures.index(ideal)]]
        pairs = pairs[~np.isnan(pairs).any(axis=1)]
        yield measure, ideal, spearman(pairs[:, 0], pairs[:, 1], confidence=confidence)


def _missing(run: str, name: str, known: Sequence[str]) -> InputError | MeasureError:
    """The error for a column that a run does not have."""
    text = f"{shown(run)} has no numbers in a column {shown(name)}"
    if known:
        return InputError(text, hint=f"it has numbers in {listing(map(shown, known), NAMED)}")
    try:
        parse_measure(name)
    except MeasureError as error:
        return error
    return InputError(text, hint="a log has them in its rows, and a retriever returns them beside its documents")
