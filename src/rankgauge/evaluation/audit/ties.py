"""Tied documents in their best and their worst order.

A join contains only judged documents. The number of unjudged documents of a tie is its size minus its hits; they take
the remaining ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import plural
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.core.result_views import HtmlView
from rankgauge.evaluation.audit.audited_values import Values, result_of
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, evaluate_runs
from rankgauge.evaluation.scores import Scores
from rankgauge.io.reading_options import Reading
from rankgauge.measures.families.ndcg import gain_of
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames

# Measures that never get worse if, of two neighbors, the document with the higher grade moves up (an unjudged document
# counts as lower than any judged one). Any order can be sorted by such exchanges, so descending grades are a best order
# of a tie and ascending grades a worst one. Let the exchanged ranks be i and i + 1, g the gain of the higher grade and
# h ≤ g that of the lower one; everything above and below stays the same.
#   P R F NumRet Success Rprec, Judged, Unjudged: the number among the first k never decreases.
#   RR, FirstRel: the first relevant document moves up or stays.
#   AP, GMAP, YAAP, BinG, IPrec, IPrecAvg, Bpref, GMBpref: the document that moves up has the same number of relevant
#     documents above it and fewer others; it may move into the cutoff, which adds.
#   nDCG, nDCGRel, RnDCG, RBP: (g − h) · (weight of i − weight of i + 1) ≥ 0 is added to the sum at every depth from i
#     on; nDCGRel also takes the ratio of the document that moves at i, where the ideal sum is smaller. RBPResidual:
#     with g for an unjudged document the opposite holds, and lower is better.
#   ERR: (P_g − P_h) · (1/i − 1/(i + 1)) is added, and the probability of continuing is the same below both.
#   Q: the blended ratio at i grows; at i + 1 its numerator is the same, or it moves to i with its smaller divisor.
#   SetP … Utility: the order does not matter.
# There is no such argument for G and infAP; Accuracy divides by the documents in the top; FirstRel@k has no value in
# some orders.
FAVORS_GRADES = frozenset(
    """
    P R F NumRet Success Rprec Judged Unjudged RR FirstRel AP GMAP YAAP BinG IPrec IPrecAvg Bpref GMBpref
    nDCG nDCGRel RnDCG RBP RBPResidual ERR Q SetP SetR SetAP SetF NumQ NumRel NumNonrelJudgedRet Utility
    """.split()
)
UNJUDGED_KEY = float(np.nextafter(0.0, -1.0))  # of unjudged documents among grades: below 0, above any negative


def has_extreme_orders(measure: Measure) -> bool:
    """Whether the best and the worst order of ties are known for a measure."""
    name = measure.definition.name
    if name in ("nDCGRel", "RnDCG") and dict(measure.parameters)["gains"]:
        return False  # gains of its own need not grow with the grades that decide which ranks count
    return name in FAVORS_GRADES and not (name == "FirstRel" and measure.cutoff is not None)


@dataclass(frozen=True, eq=False)
class Ties:
    """The groups of documents with equal scores that contain a hit; an untied hit is a group of one."""

    number: Ints  # the tie of each hit
    begins: Ints  # the first row of each tie among the hits
    query: Ints
    first: Ints  # the first rank
    size: Ints  # the number of documents, hits or not
    hits: Ints  # the number of hits

    def __len__(self) -> int:
        return len(self.begins)

    def ranks(self) -> tuple[Ints, Ints]:
        """Every rank of every tie: the number of the tie, and the position in it from 0."""
        number = np.repeat(np.arange(len(self)), self.size)
        return number, np.arange(len(number)) - (np.cumsum(self.size) - self.size)[number]


def ties_in(hits: Hits) -> Ties:
    """The ties of a join, by query and rank."""
    fresh = np.ones(len(hits.rank), dtype=bool)
    fresh[1:] = (hits.query[1:] != hits.query[:-1]) | (hits.tie_first[1:] != hits.tie_first[:-1])
    begins = np.flatnonzero(fresh)
    return Ties(
        number=np.cumsum(fresh) - 1,
        begins=begins,
        query=hits.query[begins],
        first=hits.tie_first[begins],
        size=(hits.tie_last - hits.tie_first)[begins] + 1,
        hits=np.diff(np.append(begins, len(fresh))),
    )


def tied_queries(hits: Hits) -> Ints:
    """The queries in which a judged document is tied with another document."""
    return np.unique(hits.query[hits.tie_first != hits.tie_last])


def extreme_orders(hits: Hits, measure: Measure) -> tuple[Hits, Hits]:
    """The join with every tie in its best and in its worst order, for a measure with known extreme orders."""
    gains = dict(measure.parameters).get("gains")
    if gains:  # a lower grade may have a higher gain, and gains may be negative
        worth, unjudged = gain_of(measure["gain"], gains)(hits.grade), 0.0
    else:
        worth, unjudged = hits.grade, UNJUDGED_KEY
    return ordered(hits, -worth, -unjudged), ordered(hits, worth, unjudged)


def ordered(hits: Hits, key: Floats, unjudged: float) -> Hits:
    """The join with every tie sorted by an ascending key; ``unjudged`` is the key of unjudged documents."""
    ties = ties_in(hits)
    by = np.lexsort((key, ties.number))
    position = np.arange(len(by)) - ties.begins[ties.number]
    from_end = hits.tie_last - ties.hits[ties.number] + 1 + position
    rank = np.where(key[by] < unjudged, hits.tie_first + position, from_end)
    return replace(hits, rank=rank, grade=hits.grade[by], ordinal=hits.ordinal[by])


def straddled(hits: Hits, measure: Measure) -> NDArray[np.bool_]:
    """For each query, whether a tie with a judged document straddles the cutoff of a measure."""
    hits, parameters = measure.applied(hits)
    depth = depths(hits, parameters.get("cutoff"))[hits.query]
    straddling = np.zeros(len(hits), dtype=bool)
    straddling[hits.query[(hits.tie_first <= depth) & (hits.tie_last > depth)]] = True
    return straddling


def depths(hits: Hits, cutoff: int | Ints | None) -> Ints:
    """The cutoff of each query; the deepest rank of all if there is none."""
    deepest = max(int(hits.retrieved.max(initial=0)), int(hits.tie_last.max(initial=0)))
    return np.broadcast_to(np.asarray(deepest if cutoff is None else cutoff, dtype=np.int64), len(hits))


# The range of each measure over all orders of tied documents.


@dataclass(frozen=True, eq=False)
class TieRange:
    """One measure over all orders of tied documents. The best value is the lowest if lower is better.

    The best and the worst order of some measures are not known: their values are then missing if documents are tied.
    """

    measure: Measure
    reported: Values
    worst: Values
    best: Values
    is_known: bool
    straddling: tuple[str, ...]  # queries where a tie with a judged document straddles the cutoff

    @property
    def changed_queries(self) -> int | None:
        """The number of averaged queries whose value depends on the order of ties; None if it is not known."""
        if not self.is_known:
            return None
        return int((_differ(self.best.values, self.worst.values) & self.best.averaged).sum())

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "reported": self.reported.over_queries,
            "worst": self.worst.over_queries,
            "best": self.best.over_queries,
            "changed_queries": self.changed_queries,
            "straddling": list(self.straddling),
        }


@dataclass(frozen=True, eq=False)
class TieAudit(HtmlView):
    """Worst and best value of each measure over all orders of tied documents."""

    scores: Scores
    measures: tuple[TieRange, ...]
    tied: int  # the number of queries in which a judged document is tied with another

    def __repr__(self) -> str:
        return f"TieAudit({self.scores.run!r}: judged documents are tied in {plural(self.tied, 'query')})"

    def __iter__(self) -> Iterator[TieRange]:
        return iter(self.measures)

    def __getitem__(self, measure: str | Measure) -> TieRange:
        return result_of(self.scores, self.measures, measure)

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """The value of ``ties`` of a run in the JSON schema ``rankgauge.scores/1``."""
        out: dict[str, Any] = {
            "tied_queries": self.tied,
            "measures": {row.measure.name: row.to_dict() for row in self},
        }
        if per_query:
            out["per_query"] = {
                self.scores.queries[number]: {
                    row.measure.name: {"worst": row.worst.at(number), "best": row.best.at(number)} for row in self
                }
                for number in np.flatnonzero(self.scores.averaged).tolist()
            }
        return out


def audit_ties(
    qrels: AnyQrels,
    run: AnyRun,
    measures: MeasureNames | None = None,
    *,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
) -> TieAudit:
    """Compute the worst and the best value of each measure over all orders of documents with tied scores."""
    evaluation = evaluate_runs(qrels, [run], measures, conventions=conventions, reading=reading)
    return ties_of(evaluation.scores[0], evaluation.joined[0].hits)


def ties_of(scores: Scores, hits: Hits) -> TieAudit:
    """The audit of ties from scores and the join behind them."""
    tied = len(tied_queries(hits))
    columns = zip(scores.measures, scores.values.T, strict=True)
    return TieAudit(scores, tuple(_range(scores, hits, measure, values) for measure, values in columns), tied)


def _range(scores: Scores, hits: Hits, measure: Measure, plain: Floats) -> TieRange:
    how, averaged = measure.definition.aggregate, scores.averaged_for(measure)
    straddling = straddled(hits, measure) & averaged
    is_known, best, worst = True, plain, plain
    if len(tied_queries(hits)):
        is_known = has_extreme_orders(measure) and hits.judgments != "labels"
        best, worst = (
            [measure(order) for order in extreme_orders(hits, measure)]
            if is_known
            else [np.full(len(plain), np.nan)] * 2
        )
    return TieRange(
        measure=measure,
        reported=Values(plain, averaged, how),
        worst=Values(worst, averaged, how),
        best=Values(best, averaged, how),
        is_known=is_known,
        straddling=tuple(scores.queries[row] for row in np.flatnonzero(straddling).tolist()),
    )


def _differ(left: Floats, right: Floats) -> NDArray[np.bool_]:
    """Whether values differ; two missing values are equal."""
    differing: NDArray[np.bool_] = (left != right) & ~(np.isnan(left) & np.isnan(right))
    return differing
