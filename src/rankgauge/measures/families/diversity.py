"""Novelty and diversity: measures over the subtopics of a query, or over its gold passages as such.

Documents are in the usual order, which is that of ``ndeval -traditional``: by score, then by id, descending. What
computes the values is imported only if one of these measures is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from rankgauge.core.arrays import Floats, sum_by
from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.core.ids import Ints
from rankgauge.core.qrels import Qrels
from rankgauge.errors import MeasureError
from rankgauge.measures.aggregates import log2, powers
from rankgauge.measures.registry import measure, needs

Norm = Literal["ideal", "independent"]
Discount = Callable[[Ints], Floats]
DEEPEST = 1_000_000  # the largest cutoff of a measure that is divided by a sum over all ranks
ONCE = 1  # the alpha of gold passages: one that was found adds nothing again


def _passages_count_once(parameters: dict[str, Any], qrels: Qrels) -> dict[str, Any]:
    return {"alpha": ONCE} if qrels.judgments == "passages" else {}


@measure("StRecall", aliases=("strec",), at="cutoff", monotone=True)
@needs("subtopics", "evidence", "passages")
def st_recall(hits: Hits, *, cutoff: int, rel: float = 1) -> PerQuery:
    """Subtopic recall: the share of the subtopics to which a document among the first k is relevant.

    Subtopics without relevant documents do not count. The pieces of evidence of a query are subtopics. So are gold
    passages: one is found at the rank where the chunks so far cover enough of it.

    Formula: |subtopics in the top k| / |subtopics|
    Reference: ndeval: strec@k; Zhai et al., Beyond independent relevance, SIGIR 2003
    """
    from rankgauge.measures.subtopic_ranks import appearances

    found = appearances(hits, rel)
    in_top = (found.earlier == 0) & (found.rank <= _depth(hits, cutoff)[found.query])
    return divide(sum_by(found.query, in_top.astype(np.int64), len(hits)), found.total)


@measure("EvidenceAll", aliases=("evidence_all",), at="cutoff", monotone=True)
@needs("evidence", "subtopics", "passages")
def evidence_all(hits: Hits, *, cutoff: int, rel: float = 1) -> PerQuery:
    """1 if all of the evidence is among the first k: for each piece, one of the documents that have it.

    Evidence is listed per query, alternatives together: [["a", "b"], ["c"]] needs a or b, and c. StRecall is the share
    that was found. A query without such a list needs each of its relevant documents.

    Formula: 1 if StRecall@k = 1, else 0
    """
    is_complete: PerQuery = (st_recall.kernel(hits, cutoff=cutoff, rel=rel) == 1).astype(float)
    return is_complete


@measure(
    "alpha_nDCG",
    aliases={
        "α_nDCG": {},
        "alpha-nDCG": {},
        "alpha_DCG": {"norm": "independent"},
        "α_DCG": {"norm": "independent"},
    },
    at="cutoff",
    freeze=_passages_count_once,
)
@needs("subtopics", "evidence", "passages")
def alpha_ndcg(hits: Hits, *, cutoff: int, rel: float = 1, alpha: float = 0.5, norm: Norm = "ideal") -> PerQuery:
    """Discounted cumulative gain in which a subtopic is worth less each time it appears again.

    The ideal ranking is greedy, as in ndeval: at each rank the document with the largest gain. A ranking can be better
    than that; its value is 1, where ndeval reports more. norm='independent' divides by the gain of a ranking in which
    every document is relevant to every subtopic. A gold passage that was found adds nothing again: alpha is then 1.

    Formula: Σ over i ≤ k of gain_i / log2(i + 1), divided by that of the ideal ranking; gain_i = Σ over the subtopics
    of document i of (1 − alpha)^(earlier appearances)
    Reference: ndeval: alpha-nDCG@k, alpha-DCG@k; Clarke et al., Novelty and diversity in information retrieval
    evaluation, SIGIR 2008
    """
    return _normalized_gain(hits, _depth(hits, cutoff), rel, alpha, norm, lambda rank: 1.0 / log2(rank + 1))


@measure("ERR_IA", aliases={"nERR_IA": {"norm": "ideal"}}, at="cutoff", freeze=_passages_count_once)
@needs("subtopics", "evidence", "passages")
def err_ia(hits: Hits, *, cutoff: int, rel: float = 1, alpha: float = 0.5, norm: Norm = "independent") -> PerQuery:
    """Intent-aware expected reciprocal rank: a user with one of the subtopics stops at a relevant document.

    It is divided by the value of a ranking in which every document is relevant to every subtopic, or with norm='ideal'
    by that of the ideal ranking of alpha_nDCG; a larger value than that is 1. Over gold passages it is the mean of
    1 / (the rank at which each is found).

    Formula: Σ over i ≤ k of gain_i / i, divided by |subtopics| · Σ over i ≤ k of (1 − alpha)^(i − 1) / i; gain_i as in
    alpha_nDCG
    Reference: ndeval: ERR-IA@k, nERR-IA@k; Chapelle et al., Expected reciprocal rank for graded relevance, CIKM 2009
    """
    return _normalized_gain(hits, _depth(hits, cutoff), rel, alpha, norm, lambda rank: 1.0 / rank)


@measure("NRBP", aliases={"nNRBP": {"norm": "ideal"}})
@needs("subtopics", "evidence")
def nrbp(hits: Hits, *, rel: float = 1, alpha: float = 0.5, p: float = 0.5, norm: Norm = "independent") -> PerQuery:
    """Novelty- and rank-biased precision: a user goes on to the next rank with probability p, ndeval's beta.

    norm='ideal' divides by the value of the ideal ranking of alpha_nDCG; a larger value than that is 1.

    Formula: (1 − (1 − alpha) · p) / |subtopics| · Σ gain_i · p^(i − 1); gain_i as in alpha_nDCG
    Reference: ndeval: NRBP, nNRBP; Clarke et al., An effectiveness measure for ambiguous and underspecified queries,
    ICTIR 2009
    """
    from rankgauge.measures.subtopic_ranks import appearances, ideal_appearances

    found = appearances(hits, rel)
    value = sum_by(found.query, powers(1.0 - alpha, found.earlier) * powers(p, found.rank - 1), len(hits))
    if norm == "ideal":
        ideal = ideal_appearances(hits, rel, alpha, np.diff(hits.judged_offsets))
        best = sum_by(ideal.query, powers(1.0 - alpha, ideal.earlier) * powers(p, ideal.rank - 1), len(hits))
        return np.minimum(divide(value, best), 1.0)
    return divide(value * (1.0 - (1.0 - alpha) * p), found.total)


@measure("P_IA", at="cutoff")
@needs("subtopics", "evidence")
def p_ia(hits: Hits, *, cutoff: int, rel: float = 1) -> PerQuery:
    """Intent-aware precision: the mean over subtopics of the precision at k.

    Formula: (1/|subtopics|) · Σ over subtopics of |relevant in the top k| / k
    Reference: ndeval: P-IA@k; Agrawal et al., Diversifying search results, WSDM 2009
    """
    from rankgauge.measures.subtopic_ranks import appearances

    found, depth = appearances(hits, rel), _depth(hits, cutoff)
    in_top = (found.rank <= depth[found.query]).astype(np.int64)
    return divide(sum_by(found.query, in_top, len(hits)), found.total * depth)


@measure("AP_IA", aliases=("MAP_IA",), at="cutoff", monotone=True)
@needs("subtopics", "evidence")
def ap_ia(hits: Hits, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """Intent-aware average precision: the mean over subtopics of average precision.

    Formula: (1/|subtopics|) · Σ over subtopics of AP
    Reference: ndeval: MAP-IA; Agrawal et al., Diversifying search results, WSDM 2009
    """
    from rankgauge.measures.subtopic_ranks import appearances

    found = appearances(hits, rel)
    shares = (found.earlier + 1) / found.rank / found.relevant[found.subtopic]
    if cutoff is not None:
        shares = np.where(found.rank <= _depth(hits, cutoff)[found.query], shares, 0.0)
    return divide(sum_by(found.query, shares, len(hits)), found.total)


def _normalized_gain(hits: Hits, depth: Ints, rel: float, alpha: float, norm: Norm, discount: Discount) -> PerQuery:
    """The discounted gain within a depth, divided by that of the ideal ranking or of one that is ideal anywhere."""
    from rankgauge.measures.subtopic_ranks import Appearances, appearances, ideal_appearances

    alpha = ONCE if hits.judgments == "passages" else alpha

    def gain(found: Appearances) -> PerQuery:
        values = powers(1.0 - alpha, found.earlier) * discount(found.rank)
        return sum_by(found.query, np.where(found.rank <= depth[found.query], values, 0.0), len(hits))

    found = appearances(hits, rel)
    if norm == "ideal":
        best = gain(ideal_appearances(hits, rel, alpha, depth))
    else:
        best = found.total * _full_gain(alpha, depth, discount)
    return np.minimum(divide(gain(found), best), 1.0)


def _full_gain(alpha: float, depth: Ints, discount: Discount) -> Floats:
    """The gain of one subtopic within a depth if every document is relevant to it."""
    deepest = int(depth.max(initial=1))
    if deepest > DEEPEST:
        raise MeasureError(f"the cutoff must be at most {DEEPEST}, found {deepest}")
    ranks = np.arange(1, deepest + 1)
    return np.cumsum(powers(1.0 - alpha, ranks - 1) * discount(ranks))[depth - 1]


def _depth(hits: Hits, cutoff: int | Ints) -> Ints:
    """The cutoff of each query."""
    return np.broadcast_to(np.asarray(cutoff, dtype=np.int64), len(hits))
