"""Gain weighted by how a user reads a ranking: RBP and its residual, ERR, cost and utility."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from rankgauge.core.arrays import Floats, count_by, group_of, running, steps, sum_by
from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.core.qrels import Qrels
from rankgauge.errors import MeasureError
from rankgauge.measures.aggregates import each, exponential_gain, linear_gain, log2, powers
from rankgauge.measures.families.ndcg import gain_of
from rankgauge.measures.measure import MeasureScale
from rankgauge.measures.registry import measure


def _graded(parameters: dict[str, Any], qrels: Qrels) -> dict[str, Any]:
    return {} if parameters["rel"] is not None else largest_grade(parameters, qrels)


def _scaled(hits: Hits, top: Hits, max_rel: float | Literal["query"] | None) -> Floats:
    if max_rel == "query":
        largest = np.ones(len(hits))
        np.maximum.at(largest, hits.judged_query, hits.judged)
        return linear_gain(top.grade) / largest[top.query]
    return linear_gain(top.grade) / checked_max_rel("RBP", hits.judged, max_rel)


@measure("RBP", at="cutoff", monotone=True, freeze=_graded)
def rbp(
    hits: Hits,
    *,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: float | None = None,
    max_rel: float | Literal["query"] | None = None,
) -> PerQuery:
    """The expected gain of a user who continues to the next document with probability p.

    The gain is grade / max_rel, where max_rel is by default the largest grade of the whole collection; rel= makes the
    gain binary; max_rel='query' uses the largest grade of each query, at least 1.

    Formula: (1 − p) · Σ gain at i · p^(i − 1)
    Reference: Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 2008; trec_eval
        10: rbp is RBP(p=0.9,max_rel='query')
    """
    top = hits.top(cutoff)
    gain = _scaled(hits, top, max_rel) if rel is None else (top.grade >= max(rel, 0)).astype(float)
    return (1.0 - p) * top.sum(gain * powers(p, top.rank - 1))


@measure("RBPResidual", judged_only=False, scale=MeasureScale(better="lower"))
def rbp_residual(hits: Hits, *, p: float = 0.9) -> PerQuery:
    """How much RBP could rise if all unjudged documents, and all beyond the last one, were relevant.

    Formula: p^n + (1 − p) · Σ over unjudged ranks i of p^(i − 1); 0 if every retrieved document is judged
    Reference: Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 2008; trec_eval
        10: rbp_resid
    """
    offsets = np.concatenate([[0], np.cumsum(hits.retrieved)])
    query = group_of(offsets)
    unjudged = np.ones(len(query), dtype=bool)
    judged = hits.where(hits.grade >= 0)
    unjudged[offsets[judged.query] + judged.rank - 1] = False
    rows = np.flatnonzero(unjudged)
    weight = powers(p, rows - offsets[query[rows]])
    total = sum_by(query[rows], weight, len(hits))
    return np.where(count_by(query[rows], len(hits)) > 0, powers(p, hits.retrieved) + (1.0 - p) * total, 0.0)


# Expected reciprocal rank.


def largest_grade(parameters: dict[str, Any], qrels: Qrels) -> dict[str, Any]:
    """The largest grade of the whole collection, if the caller did not give one."""
    return {} if parameters["max_rel"] is not None else {"max_rel": qrels.max_grade or 1}


def checked_max_rel(name: str, judged: Floats, max_rel: float | None) -> float:
    """The largest grade; raises if it was not set or if a judgment exceeds it."""
    if max_rel is None:
        raise MeasureError(f"{name} needs max_rel, the largest grade", hint="evaluate() takes it from the judgments")
    if judged.max(initial=0.0) > max_rel:
        raise MeasureError(f"max_rel of {name} is {max_rel:g}, but there is a judgment of {judged.max():g}")
    return float(max_rel)


@measure("ERR", at="cutoff", monotone=True, freeze=largest_grade)
def err(hits: Hits, *, cutoff: int | None = None, max_rel: float | None = None) -> PerQuery:
    """The expected reciprocal rank at which a user who scans down the list is satisfied.

    max_rel is the largest grade; by default that of the whole collection.

    Formula: Σ (1/i) · P_i · Π over j < i of (1 − P_j), P = (2^grade − 1) / 2^max_rel
    Reference: Chapelle et al., Expected reciprocal rank for graded relevance, CIKM 2009
    """
    top_grade = checked_max_rel("ERR", hits.judged, max_rel)
    gaining = hits.top(cutoff).where(hits.top(cutoff).grade > 0)
    satisfied = exponential_gain(gaining.grade) / 2.0**top_grade
    total, continuing = np.zeros(len(hits)), np.ones(len(hits))
    for rows in steps(gaining.offsets):
        query = gaining.query[rows]
        total[query] += continuing[query] * satisfied[rows] / gaining.rank[rows]
        continuing[query] *= 1.0 - satisfied[rows]
    return total


# G and binG: gain discounted by reading effort.


@measure("G")
def g(hits: Hits, *, gains: dict[float, float] | None = None) -> PerQuery:
    """Gain discounted by the effort beyond that of the ideal ranking.

    The cost of each rank is the ideal gain there, at least 1. The gain is the grade; gains={1: 3, 2: 9} sets the gain
    of some grades.

    Formula: Σ gain / log2(2 + cost − gained) divided by Σ of all gains
    Reference: trec_eval: G
    """
    to_gain = gain_of("linear", gains)
    gaining = hits.where(to_gain(hits.grade) != 0)
    gain = to_gain(gaining.grade)
    ideal = hits.ideal(to_gain(hits.judged))
    steps = running(np.maximum(ideal.gain, 1.0), ideal.offsets)
    beyond = np.maximum(gaining.rank - ideal.count[gaining.query], 0)
    cost = ideal.at(steps, gaining.query, gaining.rank) + beyond
    discount = each(2.0 + cost - gaining.running(gain), math.log2)
    total = sum_by(ideal.query, ideal.gain, len(hits))
    return divide(gaining.sum(gain / discount), total)


@measure("BinG", aliases=("binG",))
def bin_g(hits: Hits, *, rel: float = 1) -> PerQuery:
    """Relevant documents, each discounted by the number of nonrelevant documents above it.

    Formula: (1/R) · Σ over relevant ranks i of 1 / log2(2 + i − H_i)
    Reference: trec_eval: binG
    """
    relevant = hits.relevant(rel)
    return divide(relevant.sum(1.0 / log2(2 + relevant.rank - relevant.position)), hits.relevant_judged(rel))


# Linear utility, and yaap.


@measure("Utility", aliases=("utility",), scale=MeasureScale(-math.inf, math.inf), missing=None)
def utility(
    hits: Hits,
    *,
    rel: float = 1,
    relevant: float = 1,
    nonrelevant: float = -1,
    missed: float = 0,
    rest: float = 0,
    collection: int = 0,
) -> PerQuery:
    """Gains and costs of the retrieved set: one for each relevant, nonrelevant and missed document, and for the rest.

    Formula: a·rr + b·(n − rr) + c·(R − rr) + d·(N + rr − n − R)
    Reference: trec_eval: utility.a,b,c,d
    """
    hit_count = hits.relevant(rel).count.astype(float)
    total = hits.relevant_judged(rel)
    nonrelevant_count, missed_count = hits.retrieved - hit_count, total - hit_count
    value: PerQuery = (
        relevant * hit_count
        + nonrelevant * nonrelevant_count
        + missed * missed_count
        + rest * (collection + hit_count - hits.retrieved - total)
    )
    return value


@measure("YAAP", aliases=("yaap",), scale=MeasureScale(-math.inf, math.inf), missing=None)
def yaap(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The log odds of the summed precisions: average precision on an unbounded scale.

    Formula: ln((1 + S) / (1 + R − S)), S = Σ over relevant ranks i of P@i
    Reference: trec_eval: yaap; Robertson, Yet another average precision
    """
    retrieved = hits.relevant(rel)
    summed = retrieved.sum(retrieved.position / retrieved.rank)
    return each((1.0 + summed) / (1.0 + hits.relevant_judged(rel) - summed), math.log)
