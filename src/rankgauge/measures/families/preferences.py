"""Preferences: the share of the judges' preferences that a ranking fulfills.

A preference for document A over document B is fulfilled if A is retrieved and B is ranked after A or not retrieved.
Documents with tied scores are in ascending order of their ids, as in trec_eval, which has the descending order for all
other measures.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Literal

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.measure import MeasureScale
from rankgauge.measures.registry import measure, needs

Scope = Literal["all", "implied", "retrieved"]
COUNTS = MeasureScale(0.0, math.inf, better=None)

# What computes the values is imported only if preferences are evaluated.


@measure("NumPref", aggregate="sum", scale=COUNTS, missing=None, judged_only=False)
@needs("preferences")
def num_pref(hits: Hits) -> PerQuery:
    """The number of preferences in the judgments.

    Formula: Σ over groups of |preferences|
    Reference: trec_eval: prefs_num_prefs_poss
    """
    from rankgauge.measures import preference_values as values

    return values.each_query(hits, values.possible_count)


@measure("NumPrefFulfilled", aggregate="sum", scale=COUNTS, judged_only=False)
@needs("preferences")
def num_pref_fulfilled(hits: Hits, *, scope: Literal["all", "retrieved"] = "all") -> PerQuery:
    """The number of preferences that the ranking fulfills: A is retrieved, and B is ranked after A or not retrieved.

    scope='retrieved' counts only preferences of which both documents are retrieved.

    Formula: Σ over groups of |fulfilled preferences|
    Reference: trec_eval: prefs_num_prefs_ful, prefs_num_prefs_ful_ret
    """
    from rankgauge.measures import preference_values as values

    return values.each_query(hits, partial(values.fulfilled_count, scope=scope))


@measure("PrefShare", judged_only=False)
@needs("preferences")
def pref_share(hits: Hits, *, scope: Scope = "all") -> PerQuery:
    """The share of preferences that the ranking fulfills; every preference has the same weight.

    A preference for A over B is fulfilled if A is retrieved and B is ranked after A or not retrieved. Documents with
    tied scores are in ascending order of their ids, as in trec_eval.

    scope='implied' counts only preferences of which at least one document is retrieved, scope='retrieved' those of
    which both are.

    Formula: Σ over groups of |fulfilled| / Σ over groups of |possible|
    Reference: trec_eval: prefs_simp, prefs_simp_ret, prefs_simp_imp; Carterette et al., Here or there: preference
    judgments for relevance, ECIR 2008
    """
    from rankgauge.measures import preference_values as values

    return values.each_query(hits, partial(values.fulfilled_share, scope=scope))


@measure("PrefGroupMean", judged_only=False)
@needs("preferences")
def pref_group_mean(hits: Hits, *, scope: Scope = "all") -> PerQuery:
    """The mean over judgment groups of the share of fulfilled preferences; every group has the same weight.

    scope='implied' counts only preferences of which at least one document is retrieved, scope='retrieved' those of
    which both are. A group without any preference counts as 0.

    Formula: (1/|groups|) · Σ over groups of |fulfilled| / |possible|
    Reference: trec_eval: prefs_avgjg, prefs_avgjg_ret, prefs_avgjg_imp
    """
    from rankgauge.measures import preference_values as values

    return values.each_query(hits, partial(values.group_mean, scope=scope))


@measure("PrefPairMean", judged_only=False)
@needs("preferences")
def pref_pair_mean(hits: Hits, *, scope: Scope = "all") -> PerQuery:
    """The mean over pairs of documents of the share of groups that agree with the ranking; each pair has equal weight.

    scope='implied' counts only pairs of which at least one document is retrieved, scope='retrieved' those of which
    both are.

    Formula: (1/|pairs|) · Σ over pairs (A before B) of votes(A over B) / (votes(A over B) + votes(B over A))
    Reference: trec_eval: prefs_pair, prefs_pair_ret, prefs_pair_imp
    """
    from rankgauge.measures import preference_values as values

    return values.each_query(hits, partial(values.document_pair_mean, scope=scope))


@measure("PrefBalancedMean", judged_only=False)
@needs("preferences")
def pref_balanced_mean(hits: Hits, *, scope: Literal["all", "retrieved"] = "all") -> PerQuery:
    """PrefGroupMean with as many nonrelevant documents in each group as it has relevant ones.

    A document with level 0 is nonrelevant. If a group has fewer nonrelevant documents (N) than relevant ones (R), the
    missing ones are added after every ranked document; if it has more, only the first R count. A group without any
    preference makes the value 0. In a group with one subgroup and N > R, trec_eval also pairs nonrelevant documents
    with each other.

    Formula: (1/|groups|) · Σ over groups of |fulfilled| / |possible|, N = R
    Reference: trec_eval: prefs_avgjg_Rnonrel, prefs_avgjg_Rnonrel_ret
    """
    from rankgauge.measures import preference_values as values

    return values.each_query(hits, partial(values.balanced_group_mean, scope=scope))
