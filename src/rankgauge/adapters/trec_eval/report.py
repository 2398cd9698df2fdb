"""The evaluation as trec_eval does it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.errors import TREC_COMPUTE_ERROR, TREC_NO_QUERIES, TrecEvalError
from rankgauge.adapters.trec_eval.files import read_qrels
from rankgauge.adapters.trec_eval.gains import check_gains, counted_queries, grade_gains
from rankgauge.adapters.trec_eval.group_report import check_measures, group_report
from rankgauge.adapters.trec_eval.lines import Column, Totals, query_lines, summary_lines
from rankgauge.adapters.trec_eval.options import Options
from rankgauge.adapters.trec_eval.results import Results, join_results
from rankgauge.adapters.trec_eval.values import UTILITY_WEIGHTS, family_values
from rankgauge.adapters.trec_eval.zscores import ZScores
from rankgauge.core import ranking
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ids, Ints, repeated
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Status
from rankgauge.core.tables import count_by
from rankgauge.errors import shown

SAMPLE_SIZE = 3
UNRANKED = ("runid", "num_q")  # families that do not look at documents, and so not at repeated ones either
CLEARED_LABELS = (b"num_ret", b"utility", b"rbp_resid")  # of a made-up ranking; and the labels that begin with unj


def report(options: Options) -> Iterator[bytes]:
    """The lines that trec_eval prints. A query that cannot be evaluated stops it, after the lines of those before."""
    if options.judgments != "qrels":
        yield from group_report(options)
        return
    qrels = read_qrels(options.files[0], options.compat)
    judged_twice = qrels.query[repeated(qrels.docs, qrels.query)[1]]
    results = join_results(options.files[1], qrels, options.compat, is_unique=not len(judged_twice))
    zscores = ZScores.read(options.zscores) if options.zscores is not None else None
    if options.refusal is not None:
        raise options.refusal
    for request in options.requests:
        check_gains(request, int(qrels.grades.max(initial=0)))
    hits = results.hits
    is_missing = hits.status == Status.MISSING
    if options.compat == "trec_eval-9" and is_missing.all():
        raise TrecEvalError(
            TREC_NO_QUERIES,
            f"no query is in both files: {_sample(qrels.queries)} against {_sample(results.queries)}",
        )
    check_measures(options)
    is_evaluated = ~is_missing
    if options.compat == "trec_eval-10":
        # A judged query that the run lacks is evaluated with -c, as a ranking of one document without a judgment.
        is_evaluated = np.ones(len(hits), dtype=bool)
        hits = replace(hits, retrieved=np.where(is_missing, 1, hits.retrieved))
    repeating = repeating_queries(options, qrels, results, judged_twice)
    failure = first_failure(options, qrels, repeating, is_missing)
    numbers = np.flatnonzero(is_evaluated & (np.arange(len(hits)) < (len(hits) if failure is None else failure[0])))
    hits = hits.select(numbers)
    made_up = set(np.flatnonzero(is_missing[numbers]).tolist())
    if options.max_retrieved is not None:
        hits = hits.top(options.max_retrieved)
    if options.judged_only:
        hits = hits.judged_only()
    note_negative_queries(options, hits)
    columns = computed_columns(options, hits, made_up) if len(hits) else []
    if zscores is not None:
        columns = [scaled(column, hits, zscores) for column in columns]
    if options.per_query:
        yield from query_lines(options, hits, columns, made_up)
    if failure is not None:
        raise failure[1]
    if options.summary:
        relevant = int((qrels.grades > 0).sum()) if options.complete else None
        totals = Totals(results.run_id, len(is_missing) if options.complete else len(hits), relevant)
        yield from summary_lines(options, columns, totals)


def computed_columns(options: Options, hits: Hits, made_up: set[int]) -> list[Column]:
    """The values of every line, for all evaluated queries."""
    columns = []
    for request in options.requests:
        for label, values in zip(request.labels, family_values(request, hits, options), strict=True):
            if made_up and (label in CLEARED_LABELS or label.startswith(b"unj")):
                values[list(made_up)] = 0.0
            columns.append(Column(request, label, values))
    return columns


def scaled(column: Column, hits: Hits, zscores: ZScores) -> Column:
    """The column with z-scores instead of values."""
    if column.request.name == "runid":
        return column
    pairs = zip(hits.queries, column.values.tolist(), strict=True)
    values = [zscores.scale(query, column.label, value) for query, value in pairs]
    return replace(column, values=np.array(values, dtype=np.float64))


def _sample(queries: Ids) -> str:
    return ", ".join(shown(query) for query in queries.head(SAMPLE_SIZE))


def first_failure(
    options: Options, qrels: Qrels, repeating: Ints, is_missing: NDArray[np.bool_]
) -> tuple[int, TrecEvalError] | None:
    """The first query that cannot be evaluated, and why; None if there is none."""
    failures: list[tuple[int, str, str | None]] = []
    is_evaluated = ~is_missing if options.compat == "trec_eval-9" else np.ones_like(is_missing)
    looks_at_rankings = any(request.name not in UNRANKED for request in options.requests)
    repeating = repeating[is_evaluated[repeating]]
    if looks_at_rankings and len(repeating):
        failures.append((int(repeating.min()), "has a document twice, in the judgments or in the results", None))
    if options.compat == "trec_eval-10" and not options.complete and is_missing.any():
        failures.append((int(np.flatnonzero(is_missing)[0]), "is judged and not in the results", "-c accepts that"))
    utility = next((request for request in options.requests if request.name == "utility"), None)
    if utility is not None and len(utility.numbers or UTILITY_WEIGHTS) != len(UTILITY_WEIGHTS):
        reason = f"cannot be evaluated: utility takes four numbers, found {len(utility.numbers)}"
        failures.append((int(np.flatnonzero(is_evaluated)[0]), reason, None))
    if not failures:
        return None
    query, reason, hint = min(failures, key=lambda failure: failure[0])
    return query, TrecEvalError(TREC_COMPUTE_ERROR, f"query {shown(qrels.queries[query])} {reason}", hint=hint)


def repeating_queries(options: Options, qrels: Qrels, results: Results, judged_twice: Ints) -> Ints:
    """The judged queries in which a document appears twice, in the judgments or in the results."""
    run = results.run
    if run is None:
        return judged_twice
    ranks = ranking.rank(run.offsets, run.docs, run.scores, options.compat).rank
    depth = options.max_retrieved
    kept = np.flatnonzero(ranks <= depth) if depth is not None else np.arange(len(ranks))
    first, _ = repeated(run.docs.take(kept), run.query[kept])
    run_queries = np.unique(run.query[kept][first])
    _, numbers = qrels.query_index.find(run.queries.take(run_queries), np.zeros_like(run_queries))
    return np.concatenate([judged_twice, numbers])


def note_negative_queries(options: Options, hits: Hits) -> None:
    """Note the queries at which trec_eval would stop or crash: here they are queries without relevant documents."""
    judged = count_by(hits.judged_query[hits.judged >= 0], len(hits)) > 0
    counted = counted_queries(hits)
    for query in np.flatnonzero(~judged).tolist():
        consequence = "evaluated as having no relevant document"
        if counted[query] == query:
            consequence += " (trec_eval may fail here)"
        elif any(grade_gains(request) or request.name == "ideal_dcg" for request in options.requests):
            consequence += f", with the ideal gains of query {shown(hits.queries[counted[query]])}, as in trec_eval"
        options.notes.append(f"all judgments of query {shown(hits.queries[query])} are negative: {consequence}")
