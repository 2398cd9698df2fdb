"""The evaluation as trec_eval does it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.command_line import (
    TREC_COMPUTE_ERROR,
    TREC_FILE_ERROR,
    TREC_NO_QUERIES,
    Options,
    TrecEvalError,
    check_measures,
)
from rankgauge.adapters.trec_eval.families import ANY_FORMAT_NAMES
from rankgauge.adapters.trec_eval.lenient_files import ZScores, check_run_path, read_qrels, read_run
from rankgauge.adapters.trec_eval.printed_lines import Column, Totals, query_lines, summary_lines
from rankgauge.adapters.trec_eval.query_values import (
    UTILITY_WEIGHTS,
    check_gains,
    counted_queries,
    family_values,
    grade_gains,
)
from rankgauge.core import ranking
from rankgauge.core.arrays import count_by
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.core.ids import Ids, Ints, repeated
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import open_source, rereadable
from rankgauge.io.pipeline.run_pipeline import RunReader, RunRows
from rankgauge.io.rank_checks import RANK_ORDER
from rankgauge.io.reading_options import DEFAULT_READING
from rankgauge.io.row_checks import INVISIBLE_CHARACTER, SPLIT_QUERY
from rankgauge.io.sources import FileSource

SAMPLE_SIZE = 3
CLEARED_LABELS = (b"num_ret", b"utility", b"rbp_resid")  # of a made-up ranking; and the labels that begin with unj


def report(options: Options) -> Iterator[bytes]:
    """The lines that trec_eval prints for plain qrels; a query that cannot be evaluated stops it after those before."""
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
    looks_at_rankings = any(request.name not in ANY_FORMAT_NAMES for request in options.requests)
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


# The join of a run with judgments. A run without oddities is read as for ``evaluate``, not into memory: trec_eval and
# ``evaluate`` read every line of it the same way. Whatever is reported, except for warnings about rows that are read
# all the same, leads to the reader that knows how trec_eval reads odd lines.

HARMLESS = {RANK_ORDER, INVISIBLE_CHARACTER, SPLIT_QUERY}  # the row is read as any other


@dataclass(frozen=True)
class Results:
    """A run joined with judgments, with the run id of its last line."""

    hits: Hits
    run_id: bytes
    queries: Ids  # all of them, judged or not, by their bytes
    run: Run | None = None  # all rows, if they had to be read; otherwise no document appears twice


def join_results(path: str, qrels: Qrels, compat: Compat, *, is_unique: bool) -> Results:
    """Join a run with judgments, in which ``is_unique`` tells that no document appears twice in a query."""
    check_run_path(path, compat)
    try:
        with rereadable(path) as file:
            scanned = _scan(str(file), qrels, compat) if is_unique else None
            if scanned is not None:
                assert scanned.hits is not None
                return Results(scanned.hits, scanned.tag, scanned.queries.take(scanned.queries.order()))
            run, run_id = read_run(str(file), compat, source=path)
    except InputError as error:
        raise TrecEvalError(TREC_FILE_ERROR, error.message) from None
    return Results(join(qrels, run, compat=compat), run_id, run.queries, run)


def _scan(path: str, qrels: Qrels, compat: Compat) -> RunRows | None:
    """The run as ``evaluate`` reads it; None if trec_eval may read a line of it in another way."""
    try:
        with open_source(path) as stream:
            reader = RunReader(FileSource(path, stream, "run", "trec"), DEFAULT_READING, qrels=qrels, compat=compat)
            (run,) = reader.builders()
    except InputError:
        return None
    if run.is_empty or {code for code, _ in reader.faults.counts} - HARMLESS:
        return None
    scanned = run.result()
    first_bytes = scanned.queries.buffer[scanned.queries.start]
    has_comments = compat == "trec_eval-10" and bool(np.any(first_bytes == ord("#")))
    return None if has_comments else scanned
