"""Measures of preferences: the share of the judges' preferences that a ranking fulfills.

A preference for document A over document B is fulfilled if A is retrieved and B is ranked after A or not retrieved.
Each measure has up to three scopes: all preferences, those of which at least one document is retrieved (``implied``),
and those of which both are (``retrieved``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from rankgauge.core.preference_pairs import (
    OrderedGroup,
    PairCounts,
    PartialGroup,
    QueryPreferences,
    Scope,
    has_repeats,
)
from rankgauge.measures.aggregates import total


@dataclass(frozen=True)
class PreferenceMeasure:
    """A measure of the preferences of one query, with its name in trec_eval; counts are summed over queries."""

    name: str
    value: Callable[[QueryPreferences], float]
    aggregate: Literal["mean", "sum"] = "mean"

    @property
    def explanation(self) -> str:
        """What the measure is, in one line."""
        function = self.value.func if isinstance(self.value, partial) else self.value
        return (function.__doc__ or "").partition("\n")[0]


def possible_count(query: QueryPreferences) -> float:
    """The number of preferences.

    Formula: Σ over groups of |preferences|
    Reference: trec_eval: prefs_num_prefs_poss
    """
    return sum(group.count("all").possible for group in query.groups)


def fulfilled_count(query: QueryPreferences, *, scope: Scope = "all") -> float:
    """The number of preferences that the ranking fulfills.

    Formula: Σ over groups of |fulfilled preferences|
    Reference: trec_eval: prefs_num_prefs_ful, prefs_num_prefs_ful_ret
    """
    return sum(group.count(scope).fulfilled for group in query.groups)


def fulfilled_share(query: QueryPreferences, *, scope: Scope = "all") -> float:
    """The share of preferences that the ranking fulfills; every preference has the same weight.

    Formula: Σ over groups of |fulfilled| / Σ over groups of |possible|
    Reference: trec_eval: prefs_simp, prefs_simp_ret, prefs_simp_imp; Carterette et al., Here or there: preference
    judgments for relevance, ECIR 2008
    """
    counts = [group.count(scope) for group in query.groups]
    possible = sum(count.possible for count in counts)
    return sum(count.fulfilled for count in counts) / possible if possible else 0.0


def group_mean(query: QueryPreferences, *, scope: Scope = "all") -> float:
    """The mean over groups of the share of fulfilled preferences; every group has the same weight.

    Formula: (1/|groups|) · Σ over groups of |fulfilled| / |possible|
    Reference: trec_eval: prefs_avgjg, prefs_avgjg_ret, prefs_avgjg_imp
    """
    counts = (group.count(scope) for group in query.groups)
    return _sum_of_shares(count for count in counts if count.possible) / len(query.groups)


def document_pair_mean(query: QueryPreferences, *, scope: Scope = "all") -> float:
    """The mean over pairs of documents of the share of groups that agree with the ranking.

    Formula: (1/|pairs|) · Σ over pairs (A before B) of votes(A over B) / (votes(A over B) + votes(B over A))
    Reference: trec_eval: prefs_pair, prefs_pair_ret, prefs_pair_imp
    """
    if len(query.groups) == 1 and not has_repeats(query.groups[0].position):
        return fulfilled_share(query, scope=scope)  # each pair has one vote
    first, second = np.nonzero(np.triu(query.votes + query.votes.T, k=1))
    agreeing = query.votes[first, second]
    shares = agreeing / (agreeing + query.votes[second, first])
    both = second < query.retrieved
    one = (first < query.retrieved) & ~both
    agreement = shares[both] if scope == "retrieved" else np.concatenate([shares[both], shares[one]])
    pairs = len(shares) if scope == "all" else len(agreement)
    return total(agreement) / pairs if pairs else 0.0


def balanced_group_mean(query: QueryPreferences, *, scope: Literal["all", "retrieved"] = "all") -> float:
    """The mean over groups of the share of fulfilled preferences, with as many nonrelevant documents as relevant ones.

    A document with level 0 is nonrelevant. If a group has fewer nonrelevant documents (N) than relevant ones (R), the
    missing ones are added after every ranked document; if it has more, only the first R count. A group without any
    preference makes the value 0. In a group with one subgroup and N > R, trec_eval also pairs nonrelevant documents
    with each other.

    Formula: (1/|groups|) · Σ over groups of |fulfilled| / |possible|, N = R
    Reference: trec_eval: prefs_avgjg_Rnonrel, prefs_avgjg_Rnonrel_ret
    """
    counts = [_balanced(group, scope) for group in query.groups]
    if not all(count.possible for count in counts):
        return 0.0
    return _sum_of_shares(counts) / len(query.groups)


def _balanced(group: OrderedGroup | PartialGroup, scope: Literal["all", "retrieved"]) -> PairCounts:
    relevant = int(np.count_nonzero(group.is_relevant))
    found = int(np.count_nonzero(group.is_relevant & group.is_retrieved))
    if scope == "all":
        target, nonrelevant = relevant, int(np.count_nonzero(group.is_nonrelevant))
    else:
        target, nonrelevant = found, int(np.count_nonzero(group.is_nonrelevant & group.is_retrieved))
    if target >= nonrelevant:
        added = target - nonrelevant
        return group.count(scope) + PairCounts(found * added, relevant * added)
    return group.count_limited(target if isinstance(group, OrderedGroup) else relevant, scope)


def _sum_of_shares(counts: Iterable[PairCounts]) -> float:
    """The sum of the shares, added one by one."""
    return total(np.array([count.fulfilled / count.possible for count in counts]))


PREFERENCE_MEASURES = (
    PreferenceMeasure("prefs_num_prefs_poss", possible_count, "sum"),
    PreferenceMeasure("prefs_num_prefs_ful", fulfilled_count, "sum"),
    PreferenceMeasure("prefs_num_prefs_ful_ret", partial(fulfilled_count, scope="retrieved"), "sum"),
    PreferenceMeasure("prefs_simp", fulfilled_share),
    PreferenceMeasure("prefs_pair", document_pair_mean),
    PreferenceMeasure("prefs_avgjg", group_mean),
    PreferenceMeasure("prefs_avgjg_Rnonrel", balanced_group_mean),
    PreferenceMeasure("prefs_simp_ret", partial(fulfilled_share, scope="retrieved")),
    PreferenceMeasure("prefs_pair_ret", partial(document_pair_mean, scope="retrieved")),
    PreferenceMeasure("prefs_avgjg_ret", partial(group_mean, scope="retrieved")),
    PreferenceMeasure("prefs_avgjg_Rnonrel_ret", partial(balanced_group_mean, scope="retrieved")),
    PreferenceMeasure("prefs_simp_imp", partial(fulfilled_share, scope="implied")),
    PreferenceMeasure("prefs_pair_imp", partial(document_pair_mean, scope="implied")),
    PreferenceMeasure("prefs_avgjg_imp", partial(group_mean, scope="implied")),
)
