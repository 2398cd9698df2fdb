"""Evaluate and print as trec_eval does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.errors import COMPUTE, FILE, NO_QUERIES, Stop
from rankgauge.adapters.trec_eval.files import Results, read_qrels, read_results
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
from rankgauge.measures.aggregates import SMALLEST, geometric_mean, total
from rankgauge.measures.families import iprec, ndcg
from rankgauge.measures.spec import Measure

Numbers = NDArray[np.int64]


def report(options: Options) -> Iterator[bytes]:
    """The lines that trec_eval prints. A query that cannot be evaluated stops it, after those before."""
    qrels = read_qrels(options.files[0], options.compat)
    results = read_results(options.files[1], options.compat)
    zscores = ZScores.read(options.zscores) if options.zscores else None
    check_gains(options, qrels)
    hits = join(qrels, results.run, compat=options.compat)
    present = hits.status != Status.MISSING
    if not present.any():
        raise Stop(
            NO_QUERIES,
            f"no query is in both files: {_sample(qrels)} against {_sample(results.run)}",
        )
    if options.depth is not None:
        hits = hits.top(options.depth)
    if options.judged_only:
        hits = hits.judged_only()
    note_all_negative(options, hits, present)
    absent = np.flatnonzero(~present)
    broken = first_broken(options, qrels, results.run, present)
    if options.compat == "trec_eval-10" and not options.complete and len(absent):
        broken = min(broken, int(absent[0]))
    shown_queries = present
    if options.compat == "trec_eval-10" and options.complete:
        shown_queries = np.ones(len(hits), dtype=bool)
    values = {asked.label: per_query(asked, hits, options) for asked in options.lines}
    if zscores is not None:
        for asked in options.lines:
            if asked.measure is not None and not asked.family.summary_only:
                values[asked.label] = zscores.scale(asked.label, hits.queries, values[asked.label], present)
    if options.per_query:
        numbers = np.flatnonzero(shown_queries)
        yield from query_lines(options, hits, values, numbers[numbers < broken], present)
    if broken < len(hits):
        query = hits.queries[broken]
        if not present[broken]:
            raise Stop(COMPUTE, f"query {shown(query)} is judged and not in the results", hint="-c accepts that")
        raise Stop(COMPUTE, f"query {shown(query)} has a document twice, in the judgments or in the results")
    if options.summary:
        yield from summary_lines(options, qrels, results, hits, values, present)


def _sample(data: Qrels | Run) -> str:
    return ", ".join(shown(query) for query in list(data.queries)[:3])


def first_broken(options: Options, qrels: Qrels, run: Run, present: NDArray[np.bool_]) -> int:
    """The number of the first evaluated query in which a document stands twice; beyond the last if none."""
    _, again = repeated(qrels.docs, qrels.query)
    found = [qrels.query[again]]
    places = ranking.rank(run.offsets, run.docs, run.scores, options.compat).rank
    kept = np.flatnonzero(places <= options.depth) if options.depth is not None else np.arange(len(places))
    first, _ = repeated(run.docs.take(kept), run.query[kept])
    if len(first):
        queries = np.unique(run.query[kept][first])
        found.append(qrels.query_index.find(run.queries.take(queries), np.zeros_like(queries))[1])
    numbers = np.concatenate(found)
    numbers = numbers[present[numbers]]
    return int(numbers.min()) if len(numbers) else len(present)


def note_all_negative(options: Options, hits: Hits, present: NDArray[np.bool_]) -> None:
    """Say which queries trec_eval would stop or crash at: here they count as queries without relevant documents."""
    judged = count_by(hits.judged_query[hits.judged >= 0], len(hits)) > 0
    for number in np.flatnonzero(present & ~judged).tolist():
        options.notes.append(
            f"all judgments of query {shown(hits.queries[number])} are negative: evaluated as having no relevant "
            "document (trec_eval may fail here)"
        )


def check_gains(options: Options, qrels: Qrels) -> None:
    """Refuse gains less than 1 apart: trec_eval takes them for equal, in an order that its sort decides."""
    for asked in options.lines:
        gains = asked.measure["gains"] if asked.family.name == "ndcg" and asked.measure is not None else None
        if not gains:
            continue
        others = {float(grade) for grade in np.unique(qrels.grades) if grade >= 0 and grade not in gains}
        ordered = sorted({float(gain) for gain in gains.values()} | others)
        for low, high in pairwise(ordered):
            if high - low < 1:
                raise Stop(
                    FILE,
                    f"gains {low:g} and {high:g} are less than 1 apart, which trec_eval cannot tell apart",
                    hint="rankgauge evaluate -m 'nDCG(gains={…})' takes any gains",
                )


def per_query(asked: trec.Asked, hits: Hits, options: Options) -> Floats:
    """The values of one line for every query."""
    if asked.measure is None:
        return np.zeros(len(hits))
    measure = at_level(asked.measure, options)
    return with_nan(measure, hits, measure(hits))


def at_level(measure: Measure, options: Options) -> Measure:
    """The measure at the level of relevance and for the collection size that were asked for."""
    if "rel" in measure.definition.parameters and measure["rel"] is not None:
        measure = measure.but(rel=options.level)
    return measure.but(collection=options.documents) if options.documents > 0 else measure


def with_nan(measure: Measure, hits: Hits, values: Floats) -> Floats:
    """The places where trec_eval divides 0 by 0: precision of an empty ranking, and Rndcg without any gain."""
    empty = (hits.retrieved == 0) & (hits.status != Status.MISSING)
    if measure.definition is iprec.iprec:
        points: tuple[float, ...] = (measure["recall"],)
    elif measure.definition is iprec.iprec_average:
        points = measure["recalls"] or iprec.ELEVEN
    elif measure.definition is ndcg.rndcg:
        gained = count_by(hits.judged_query[hits.judged > 0], len(hits)) > 0
        return np.where(~gained & (hits.relevant_judged(measure["rel"]) > 0), np.nan, values)
    else:
        return values
    up = 0.9 if measure["round"] == "up" else 0.5
    first = np.floor(min(points) * hits.relevant_judged(measure["rel"]) + up) == 0
    return np.where(empty & first, np.nan, values)


def query_lines(
    options: Options, hits: Hits, values: dict[str, Floats], numbers: Numbers, present: NDArray[np.bool_]
) -> Iterator[bytes]:
    """The lines of each query."""
    for number in numbers.tolist():
        query = hits.queries[number]
        for asked in options.lines:
            if asked.family.name == "relstring":
                yield line(asked.label, query, b"'" + relstring(hits, number, trec.whole(asked.text)) + b"'")
            elif asked.measure is not None and not asked.family.summary_only:
                value = float(values[asked.label][number])
                if not present[number] and asked.family.name != "num_rel":
                    value = 0.0
                yield number_line(options, asked, query, value)


def relstring(hits: Hits, number: int, length: int) -> bytes:
    """A character for the judgment of each of the first documents."""
    out = bytearray(b"-" * int(min(max(length, 0), hits.retrieved[number])))
    for row in range(int(hits.offsets[number]), int(hits.offsets[number + 1])):
        place, grade = int(hits.rank[row]) - 1, int(hits.grade[row])
        if place < len(out):
            out[place : place + 1] = b"." if grade < 0 else b">" if grade > 9 else str(grade).encode()
    return bytes(out)


def summary_lines(
    options: Options,
    qrels: Qrels,
    results: Results,
    hits: Hits,
    values: dict[str, Floats],
    present: NDArray[np.bool_],
) -> Iterator[bytes]:
    """The lines for all queries together."""
    evaluated = np.flatnonzero(present)
    queries = len(hits) if options.complete else len(evaluated)
    for asked in options.lines:
        name = asked.family.name
        if name == "runid":
            yield line(asked.label, b"all", results.runid)
        if asked.measure is None:
            continue
        found = values[asked.label][evaluated]
        if name == "num_q":
            value = float(queries)
        elif name == "num_rel" and options.complete and options.zscores is None:
            value = float((qrels.grades > 0).sum())
        elif asked.measure.definition.aggregate == "gmean" and options.zscores is not None:
            value = 0.0  # trec_eval has no values of single queries to scale here
        elif asked.measure.definition.aggregate == "gmean":
            value = geometric_mean(np.concatenate([found, np.full(queries - len(found), SMALLEST)]))
        elif asked.measure.definition.aggregate == "sum":
            value = total(found)
        else:
            value = total(found) / queries
        yield number_line(options, asked, b"all", value)


def number_line(options: Options, asked: trec.Asked, query: bytes, value: float) -> bytes:
    """One line with a number."""
    if options.zscores is not None:
        return b"Z" + line(asked.label, query, b"%6.4f" % value)
    if asked.family.whole:
        return line(asked.label, query, b"%d" % value)
    return line(asked.label, query, b"  -nan" if math.isnan(value) else b"%6.4f" % value)


def line(label: str, query: bytes, value: bytes) -> bytes:
    """Three columns, as trec_eval sets them."""
    return f"{label:<22s}".encode() + b"\t" + query + b"\t" + value + b"\n"
