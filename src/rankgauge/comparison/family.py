"""The differences of one comparison as a family: p values corrected together, and what is left for each to show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.comparison.pair import Pair
from rankgauge.comparison.result import Difference
from rankgauge.comparison.statistics import SAID, Statistics, many, one_by_one, over
from rankgauge.core.tables import Floats
from rankgauge.evaluation.notes import Note
from rankgauge.stats.correction import correct
from rankgauge.stats.maxt import maxt
from rankgauge.stats.power import detectable_difference, queries_needed
from rankgauge.stats.tukey import tukey

ASSUMED = {
    "bh": ", assumes that tests are independent or positively dependent",
    "maxt": ", joint sign flips: assumes that under the null all signs of a query flip together",
    "tukey": ", joint permutations: assumes that under the null the systems of a query are exchangeable",
}
DRAWN = ("randomization", "bootstrap", "bootstrap-centred")
BY_SIGNS = ("randomization", "wilcoxon", "sign")  # their p is a share of the ways to give signs to the queries
NOT_SHARED = "no query has a value of every system"


@dataclass(frozen=True)
class Family:
    """A p for each of some differences, corrected together."""

    p: Sequence[float | None]
    size: int  # how many were corrected for
    said: str
    notes: tuple[Note, ...] = ()


def listed(rows: Sequence[Difference], how: Statistics, *factors: tuple[int, str]) -> Family:
    """Corrected from their own p values."""
    method = one_by_one(how.correction)
    found = correct([row.p for row in rows], method)
    return Family(found.p, found.family, over(method, found.family, *factors))


def whole(rows: Sequence[Difference], pairs: Sequence[Pair], how: Statistics) -> Family:
    """Every system on every measure, as the correction wants it; ``rows`` stand pair by pair."""
    factors = (len(pairs), "system"), (len(pairs[0].system.measures), "measure")
    if how.correction == "maxt":
        found = _maxt(rows, pairs, how, *factors)
    elif how.correction == "tukey":
        found = _tukey(rows, pairs, how)
    else:
        found = listed(rows, how, *factors)
    resampled = how.test in DRAWN or how.correction in ("maxt", "tukey")
    drawn = f", {how.resamples:,} resamples, seed {how.seed}" if resampled else ""
    return replace(found, said=f"{how.test} test{drawn}; {found.said}{ASSUMED.get(how.correction, '')}")


def corrected(rows: Sequence[Difference], family: Family, how: Statistics) -> list[Difference]:
    """The rows with the p values of their family, and with what queries show at the level it leaves to one of them."""
    same = correct([row.p_equivalent for row in rows], one_by_one(how.correction)).p
    out = []
    for row, p, equivalent in zip(rows, family.p, same, strict=True):
        reason = NOT_SHARED if p is None and row.p is not None else row.reason
        found = replace(row, p_corrected=p, p_equivalent_corrected=equivalent, reason=reason)
        out.append(_powered(found, how, how.alpha / _strictest(how.correction, family.size)))
    return out


def _strictest(correction: str, size: int) -> float:
    """By how much the smallest p is multiplied where no other is small: nothing multiplies one by more."""
    if correction == "none" or size < 2:
        return 1.0
    return size * (sum(1 / place for place in range(1, size + 1)) if correction == "by" else 1.0)


def _powered(row: Difference, how: Statistics, alpha: float) -> Difference:
    """With the smallest difference that so many queries show, and how many show the wanted one; units count."""
    if row.spread is None:
        return row
    (sd, units), side = row.spread, how.alternative if how.alternative == "two-sided" else "greater"
    if how.test in BY_SIGNS and 2.0 ** (int(side == "two-sided") - units) > alpha:
        return replace(row, too_few=True)  # not even where every query points one way
    seen = detectable_difference(sd, units, alpha=alpha, alternative=side).difference
    if how.wanted is None or row.aggregate != "mean":
        return replace(row, detectable=seen)
    needed = queries_needed(how.wanted, sd, alpha=alpha, alternative=side).n
    return replace(row, detectable=seen, needed=None if needed is None else math.ceil(needed * row.n / units))


def _maxt(rows: Sequence[Difference], pairs: Sequence[Pair], how: Statistics, *factors: tuple[int, str]) -> Family:
    """By joint sign flips. A query that a pair lacks is a difference of 0, which no sign changes."""
    places = range(len(pairs[0].system.measures))
    gaps = np.array([pair.gaps(place) for pair in pairs for place in places])
    tested = [number for number, row in enumerate(rows) if row.n]
    queries = np.logical_or.reduce([pair.both for pair in pairs])
    units = None if pairs[0].units is None else pairs[0].units[queries]
    matrix: Floats = gaps[tested][:, queries].T
    found = maxt(matrix, alternative=how.alternative, units=units, resamples=how.resamples, seed=how.seed)
    known = dict(zip(tested, found.p, strict=True))
    p = [known.get(number) for number in range(len(rows))]
    return Family(p, len(tested), over("maxt", len(tested), *factors))


def _tukey(rows: Sequence[Difference], pairs: Sequence[Pair], how: Statistics) -> Family:
    """Each system against the baseline, corrected for all pairs of systems on its measure."""
    everyone = np.logical_and.reduce([pair.both for pair in pairs])
    known: dict[tuple[str, str], float | None] = {}
    shared: dict[str, int] = {}
    for place, measure in enumerate(pairs[0].system.measures):
        matrix = np.column_stack([pairs[0].theirs[:, place], *(pair.ours[:, place] for pair in pairs)])
        kept = everyone & ~np.isnan(matrix).any(axis=1)
        shared[measure.name] = int(kept.sum())
        units = None if pairs[0].units is None else pairs[0].units[kept]
        found = tukey(matrix[kept], units=units, resamples=how.resamples, seed=how.seed)
        for (one, other), p in zip(found.pairs, found.p, strict=True):
            if one == 0:
                known[pairs[other - 1].name, measure.name] = p
    size = (len(pairs) + 1) * len(pairs) // 2
    return Family(
        [known[row.system, row.measure] for row in rows],
        size,
        f"{SAID['tukey']} over all {many(size, 'pair')} of systems on each measure",
        _joint_queries(rows, shared),
    )


def _joint_queries(rows: Sequence[Difference], shared: dict[str, int]) -> tuple[Note, ...]:
    """Tukey's test needs the value of every system: what is said where a difference is of more queries."""
    fewer = dict.fromkeys(row.measure for row in rows if row.n > shared[row.measure])
    if not fewer:
        return ()
    counts = ", ".join(f"{shared[measure]} on {measure}" for measure in fewer)
    return (Note("joint-queries", f"p by Tukey's test is over the queries that all systems have: {counts}"),)
