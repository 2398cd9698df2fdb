"""The evaluation as trec_eval does it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.errors import TREC_COMPUTE_ERROR, TREC_FILE_ERROR, TREC_NO_QUERIES, TrecEvalError
from rankgauge.adapters.trec_eval.files import read_qrels, read_results
from rankgauge.adapters.trec_eval.lines import query_lines, summary_lines
from rankgauge.adapters.trec_eval.options import Options
from rankgauge.adapters.trec_eval.zscores import ZScores
from rankgauge.core import ranking
from rankgauge.core.hits import Hits, join
from rankgauge.core.ids import repeated
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.core.tables import Floats, count_by
from rankgauge.errors import shown
from rankgauge.measures import trec_names as trec
from rankgauge.measures.families import iprec, ndcg
from rankgauge.measures.spec import Measure

SAMPLE_SIZE = 3


def report(options: Options) -> Iterator[bytes]:
    """The lines that trec_eval prints. A query that cannot be evaluated stops it, after the lines of those before."""
    qrels = read_qrels(options.files[0], options.compat)
    results = read_results(options.files[1], options.compat)
    zscores = ZScores.read(options.zscores) if options.zscores else None
    check_gains(options, qrels)
    hits = join(qrels, results.run, compat=options.compat)
    present = hits.status != Status.MISSING
    if not present.any():
        raise TrecEvalError(
            TREC_NO_QUERIES,
            f"no query is in both files: {_sample(qrels)} against {_sample(results.run)}",
        )
    if options.max_retrieved is not None:
        hits = hits.top(options.max_retrieved)
    if options.judged_only:
        hits = hits.judged_only()
    note_negative_queries(options, hits, present)
    missing = np.flatnonzero(~present)
    broken = first_broken_query(options, qrels, results.run, present)
    if options.compat == "trec_eval-10" and not options.complete and len(missing):
        broken = min(broken, int(missing[0]))
    printed = present
    if options.compat == "trec_eval-10" and options.complete:
        printed = np.ones(len(hits), dtype=bool)
    values = {entry.label: per_query(entry, hits, options) for entry in options.lines}
    if zscores is not None:
        for entry in options.lines:
            if entry.measure is not None and not entry.family.summary_only:
                values[entry.label] = zscores.scale(entry.label, hits.queries, values[entry.label], present)
    if options.per_query:
        queries = np.flatnonzero(printed)
        yield from query_lines(options, hits, values, queries[queries < broken], present)
    if broken < len(hits):
        query = hits.queries[broken]
        if not present[broken]:
            raise TrecEvalError(
                TREC_COMPUTE_ERROR, f"query {shown(query)} is judged and not in the results", hint="-c accepts that"
            )
        raise TrecEvalError(
            TREC_COMPUTE_ERROR, f"query {shown(query)} has a document twice, in the judgments or in the results"
        )
    if options.summary:
        yield from summary_lines(options, qrels, results, hits, values, present)


def _sample(data: Qrels | Run) -> str:
    return ", ".join(shown(query) for query in list(data.queries)[:SAMPLE_SIZE])


def first_broken_query(options: Options, qrels: Qrels, run: Run, present: NDArray[np.bool_]) -> int:
    """The index of the first evaluated query in which a document appears twice; past the last if there is none."""
    _, again = repeated(qrels.docs, qrels.query)
    broken = [qrels.query[again]]
    ranks = ranking.rank(run.offsets, run.docs, run.scores, options.compat).rank
    depth = options.max_retrieved
    kept = np.flatnonzero(ranks <= depth) if depth is not None else np.arange(len(ranks))
    first, _ = repeated(run.docs.take(kept), run.query[kept])
    if len(first):
        run_queries = np.unique(run.query[kept][first])
        broken.append(qrels.query_index.find(run.queries.take(run_queries), np.zeros_like(run_queries))[1])
    queries = np.concatenate(broken)
    queries = queries[present[queries]]
    return int(queries.min()) if len(queries) else len(present)


def note_negative_queries(options: Options, hits: Hits, present: NDArray[np.bool_]) -> None:
    """Note the queries at which trec_eval would stop or crash: here they are queries without relevant documents."""
    judged = count_by(hits.judged_query[hits.judged >= 0], len(hits)) > 0
    for query in np.flatnonzero(present & ~judged).tolist():
        options.notes.append(
            f"all judgments of query {shown(hits.queries[query])} are negative: evaluated as having no relevant "
            "document (trec_eval may fail here)"
        )


def check_gains(options: Options, qrels: Qrels) -> None:
    """Raise if gains are less than 1 apart: trec_eval treats them as equal, in an order that its sort decides."""
    for entry in options.lines:
        gains = entry.measure["gains"] if entry.family.name == "ndcg" and entry.measure is not None else None
        if not gains:
            continue
        grades = {float(grade) for grade in np.unique(qrels.grades) if grade >= 0 and grade not in gains}
        ordered = sorted({float(gain) for gain in gains.values()} | grades)
        for low, high in pairwise(ordered):
            if high - low < 1:
                raise TrecEvalError(
                    TREC_FILE_ERROR,
                    f"gains {low:g} and {high:g} are less than 1 apart, which trec_eval cannot distinguish",
                    hint="rankgauge evaluate -m 'nDCG(gains={…})' accepts any gains",
                )


def per_query(entry: trec.TrecRequest, hits: Hits, options: Options) -> Floats:
    """The values of one line for every query."""
    if entry.measure is None:
        return np.zeros(len(hits))
    measure = with_options(entry.measure, options)
    return with_nan(measure, hits, measure(hits))


def with_options(measure: Measure, options: Options) -> Measure:
    """The measure with the relevance level and the collection size of the options."""
    if "rel" in measure.definition.parameters and measure["rel"] is not None:
        measure = measure.but(rel=options.level)
    return measure.but(collection=options.collection_size) if options.collection_size > 0 else measure


def with_nan(measure: Measure, hits: Hits, values: Floats) -> Floats:
    """The values with NaN where trec_eval divides 0 by 0: precision of an empty ranking, and Rndcg without gain."""
    empty = (hits.retrieved == 0) & (hits.status != Status.MISSING)
    if measure.definition is iprec.iprec:
        points: tuple[float, ...] = (measure["recall"],)
    elif measure.definition is iprec.iprec_average:
        points = measure["recalls"] or iprec.ELEVEN_POINTS
    elif measure.definition is ndcg.rndcg:
        has_gain = count_by(hits.judged_query[hits.judged > 0], len(hits)) > 0
        return np.where(~has_gain & (hits.relevant_judged(measure["rel"]) > 0), np.nan, values)
    else:
        return values
    rounding = 0.9 if measure["round"] == "up" else 0.5
    at_zero = np.floor(min(points) * hits.relevant_judged(measure["rel"]) + rounding) == 0
    return np.where(empty & at_zero, np.nan, values)
