"""The evaluation with preference judgments or judgments by group, as trec_eval does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.command_line import (
    TREC_COMPUTE_ERROR,
    TREC_NO_QUERIES,
    Options,
    Request,
    TrecEvalError,
    check_measures,
)
from rankgauge.adapters.trec_eval.families import ANY_FORMAT_NAMES, FAMILY_BY_NAME, PREFERENCE_FORMATS
from rankgauge.adapters.trec_eval.judge_groups import JudgeRows, mean_over_groups
from rankgauge.adapters.trec_eval.lenient_files import ZScores, read_group_judgments, read_run
from rankgauge.adapters.trec_eval.preferences import VALUES, ascending_rank, preferences_of
from rankgauge.adapters.trec_eval.printed_lines import Column, Totals, number_line, summary_lines
from rankgauge.adapters.trec_eval.query_values import family_values
from rankgauge.core import ranking
from rankgauge.core.arrays import Floats
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.core.ids import Ids, repeated
from rankgauge.core.run import Run
from rankgauge.errors import InputError, shown

GROUP_SUFFIX = "_avgjg"


class QueryValues(Protocol):
    """The values of the requested lines for one query at a time."""

    def values(self, query: int) -> Sequence[float]:
        """The value of each line for a query."""


@dataclass(frozen=True, eq=False)
class PreferenceValues:
    """Values of preferences. A query whose judgments contradict themselves is an error when its turn comes."""

    hits: Hits
    rows: JudgeRows
    requests: Sequence[Request]

    def values(self, query: int) -> Sequence[float]:
        """The value of each line for a query."""
        try:
            preferences = preferences_of(self.hits, self.rows, query)
        except InputError as error:
            raise TrecEvalError(TREC_COMPUTE_ERROR, error.message) from None
        return [float(VALUES[request.name](preferences)) for request in self.requests]


@dataclass(frozen=True, eq=False)
class GroupValues:
    """Means over judgment groups."""

    hits: Hits
    rows: JudgeRows
    requests: Sequence[Request]
    options: Options

    @cached_property
    def columns(self) -> list[Floats]:
        """The values of each line for all queries."""
        return list(mean_over_groups(self.hits, self.rows, self.group_values).T)

    def group_values(self, hits: Hits) -> Floats:
        """The values of each line with the judgments of one group, by the measures that are averaged over groups."""
        if self.options.max_retrieved is not None:
            hits = hits.top(self.options.max_retrieved)
        if self.options.judged_only:
            hits = hits.judged_only()
        columns = []
        for request in self.requests:
            averaged = FAMILY_BY_NAME[request.name.removesuffix(GROUP_SUFFIX)]
            columns += family_values(replace(request, family=averaged), hits, self.options)
        return np.column_stack(columns)

    def values(self, query: int) -> Sequence[float]:
        """The value of each line for a query."""
        return [float(column[query]) for column in self.columns]


def group_report(options: Options) -> Iterator[bytes]:
    """The lines that trec_eval prints for judgments other than plain qrels."""
    rows = read_group_judgments(options.files[0], options.judgments, options.compat)
    judgments = rows.judged
    run, run_id = read_run(options.files[1], options.compat)
    zscores = ZScores.read(options.zscores) if options.zscores is not None else None
    if options.refusal is not None:
        raise options.refusal
    is_present = np.isin(np.arange(len(judgments.queries)), common_queries(judgments.queries, run))
    evaluated = evaluated_queries(options, is_present)
    check_measures(options)
    requests = [request for request in options.requests if request.name not in ANY_FORMAT_NAMES]
    query_values: QueryValues
    hits = join(judgments, run, compat=options.compat)
    if options.judgments in PREFERENCE_FORMATS:
        if options.max_retrieved is not None:
            hits = hits.where(ascending_rank(hits) <= options.max_retrieved)
        query_values = PreferenceValues(hits, rows, requests)
    else:
        query_values = GroupValues(hits, rows, requests, options)
    broken = repeated_queries(options, judgments.queries, run) if requests else frozenset()
    columns = [Column(request, label, np.zeros(0)) for request in requests for label in request.labels]
    table = []
    for query in evaluated.tolist():
        query_id = judgments.queries[query]
        if not is_present[query] and not options.complete:
            raise TrecEvalError(
                TREC_COMPUTE_ERROR, f"query {shown(query_id)} is judged and not in the results", hint="-c accepts that"
            )
        if query in broken:
            raise TrecEvalError(TREC_COMPUTE_ERROR, f"query {shown(query_id)} has a document twice in the results")
        values = query_values.values(query) if requests else []
        if zscores is not None:
            pairs = zip(columns, values, strict=True)
            values = [zscores.scale(query_id, column.label, value) for column, value in pairs]
        table.append(values)
        if options.per_query:
            for column, value in zip(columns, values, strict=True):
                yield number_line(options, column, query_id, value)
    if options.summary:
        count = len(judgments.queries) if options.complete else len(evaluated)
        filled = [replace(column, values=values) for column, values in zip(columns, np.array(table).T, strict=True)]
        others = [
            Column(request, request.labels[0], np.zeros(0)) for request in options.requests if request not in requests
        ]
        yield from summary_lines(options, [*others, *filled], Totals(run_id, count, None))


def common_queries(queries: Ids, run: Run) -> NDArray[np.int64]:
    """The numbers of the judged queries that the run has."""
    numbers = {query: number for number, query in enumerate(queries)}
    return np.array(sorted(numbers[query] for query in run.queries if query in numbers), dtype=np.int64)


def evaluated_queries(options: Options, is_present: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The numbers of the queries that trec_eval looks at: 10 takes every judged one, 9 those that the run has."""
    if options.compat == "trec_eval-10":
        return np.arange(len(is_present))
    if not is_present.any():
        raise TrecEvalError(TREC_NO_QUERIES, "no query is in both files")
    return np.flatnonzero(is_present)


def repeated_queries(options: Options, queries: Ids, run: Run) -> frozenset[int]:
    """The numbers of the queries for which the run has a document twice within the depth of -M."""
    ranked = ranking.rank(run.offsets, run.docs, run.scores, options.compat)
    ranks = ranked.rank if options.judgments == "qrels_jg" else ranked.tie_first + ranked.tie_last - ranked.rank
    depth = options.max_retrieved
    kept = np.flatnonzero(ranks <= depth) if depth is not None else np.arange(len(ranks))
    first, _ = repeated(run.docs.take(kept), run.query[kept])
    names = {run.queries[number] for number in np.unique(run.query[kept][first]).tolist()}
    return frozenset(number for number, query in enumerate(queries) if query in names)
