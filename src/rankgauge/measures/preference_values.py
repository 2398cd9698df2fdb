"""The values of preference measures, one query at a time; ``families/preferences.py`` declares the measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.core.preferences import OrderedGroup, PairCounts, PartialGroup, QueryPreferences, Scope, has_repeats
from rankgauge.measures.aggregates import total


def each_query(hits: Hits, value: Callable[[QueryPreferences], float]) -> PerQuery:
    """The value of each query."""
    return np.array([value(preferences) for preferences in hits.preferences], dtype=np.float64)


def possible_count(query: QueryPreferences) -> float:
    """The number of preferences."""
    return sum(group.count("all").possible for group in query.groups)


def fulfilled_count(query: QueryPreferences, *, scope: Scope) -> float:
    """The number of preferences that the ranking fulfills."""
    return sum(group.count(scope).fulfilled for group in query.groups)


def fulfilled_share(query: QueryPreferences, *, scope: Scope) -> float:
    """The share of preferences that the ranking fulfills."""
    counts = [group.count(scope) for group in query.groups]
    possible = sum(count.possible for count in counts)
    return sum(count.fulfilled for count in counts) / possible if possible else 0.0


def group_mean(query: QueryPreferences, *, scope: Scope) -> float:
    """The mean of the share over groups; a group without any preference counts as 0."""
    counts = (group.count(scope) for group in query.groups)
    return _mean_share((count for count in counts if count.possible), len(query.groups))


def document_pair_mean(query: QueryPreferences, *, scope: Scope) -> float:
    """The mean over pairs of documents of the share of groups that agree with the ranking."""
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


def balanced_group_mean(query: QueryPreferences, *, scope: Literal["all", "retrieved"]) -> float:
    """The mean of the share over groups, each with as many nonrelevant documents as relevant ones."""
    counts = [_balanced(group, scope) for group in query.groups]
    if not all(count.possible for count in counts):
        return 0.0
    return _mean_share(counts, len(query.groups))


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


def _mean_share(counts: Iterable[PairCounts], groups: int) -> float:
    """The mean of the shares over a number of groups, added one by one."""
    shares = np.array([count.fulfilled / count.possible for count in counts])
    return total(shares) / groups if groups else 0.0
