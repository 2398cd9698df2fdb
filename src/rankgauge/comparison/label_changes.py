"""What changed between two versions of judgments, counted and in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.core.formatting import listing, plural
from rankgauge.core.ids import IdIndex, Ints
from rankgauge.core.qrels import Qrels


@dataclass(frozen=True)
class JudgmentChanges:
    """Queries that only one version has, and the judgments of the others that differ."""

    queries_added: tuple[str, ...]
    queries_removed: tuple[str, ...]
    added: int  # judgments of queries that both versions have
    changed: int
    removed: int
    changed_queries: tuple[str, ...]  # those that both versions have, with other judgments

    @property
    def is_empty(self) -> bool:
        """Whether both versions have the same judgments."""
        return not (self.queries_added or self.queries_removed or self.changed_queries)

    def describe(self) -> str:
        """``2 queries added; 3 judgments added and 1 changed in 2 queries``."""
        parts = [
            f"{plural(len(queries), 'query')} {verb}"
            for queries, verb in ((self.queries_added, "added"), (self.queries_removed, "removed"))
            if queries
        ]
        counts = [(self.added, "added"), (self.changed, "changed"), (self.removed, "removed")]
        verbs = [(count, verb) for count, verb in counts if count]
        if self.changed_queries:
            inner = [plural(verbs[0][0], "judgment") + f" {verbs[0][1]}"] if verbs else ["other judgments"]
            inner += [f"{count:,} {verb}" for count, verb in verbs[1:]]
            listed = inner[0] if len(inner) == 1 else f"{', '.join(inner[:-1])} and {inner[-1]}"
            parts.append(f"{listed} in {plural(len(self.changed_queries), 'query')}")
        return "; ".join(parts) or "the same judgments"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "queries_added": list(self.queries_added),
            "queries_removed": list(self.queries_removed),
            "judgments_added": self.added,
            "judgments_changed": self.changed,
            "judgments_removed": self.removed,
            "changed_queries": list(self.changed_queries),
        }


def judgment_changes(before: Qrels, after: Qrels) -> JudgmentChanges:
    """What changed, document by document; of subtopics and groups of judges the largest grade counts."""
    has_groups = before.by_group is not None or after.by_group is not None
    differs_within_groups = has_groups and before.sha256 != after.sha256
    after_numbers, before_numbers = before.query_index.find(after.queries, np.zeros(len(after.queries), dtype=np.int64))
    number_before = np.full(len(after.queries), -1, dtype=np.int64)  # of each query of the newer version
    number_before[after_numbers] = before_numbers
    rows = np.flatnonzero(number_before[after.query] >= 0)
    query = number_before[after.query[rows]]
    found, matches = IdIndex(before.docs, before.query).find(after.docs.take(rows), query)
    is_new = np.ones(len(rows), dtype=bool)
    is_new[found] = False
    is_shared = np.zeros(len(before.queries), dtype=bool)
    is_shared[before_numbers] = True
    is_gone = is_shared[before.query]
    is_gone[matches] = False
    is_other = before.grades[matches] != after.grades[rows[found]]
    touched = is_shared.copy() if differs_within_groups else np.zeros(len(before.queries), dtype=bool)
    for numbers in (query[is_new], before.query[is_gone], before.query[matches[is_other]]):
        touched[numbers] = True
    return JudgmentChanges(
        _names(after, np.flatnonzero(number_before < 0)),
        _names(before, np.flatnonzero(~is_shared)),
        added=int(is_new.sum()),
        changed=int(is_other.sum()),
        removed=int(is_gone.sum()),
        changed_queries=_names(before, np.flatnonzero(touched)),
    )


def query_changes(before: Sequence[str], after: Sequence[str]) -> JudgmentChanges:
    """What changed if only the queries of both versions are known, and that their judgments are the same."""
    older, newer = set(before), set(after)
    added = tuple(query for query in after if query not in older)
    return JudgmentChanges(added, tuple(query for query in before if query not in newer), 0, 0, 0, ())


def _names(qrels: Qrels, numbers: Ints) -> tuple[str, ...]:
    return tuple(qrels.queries.take(numbers).to_text())


QUERIES_NAMED = 3


def changes_sentence(changes: JudgmentChanges | None, show: Callable[[str], str]) -> str:
    """What changed in the labels; ``show`` escapes the names of queries."""
    if changes is None:
        return "labels: they differ, and those of one side are unknown"
    if changes.is_empty:
        return "labels: unchanged"
    named = [f"{verb}: {listing(map(show, queries), QUERIES_NAMED)}" for verb, queries in _named_queries(changes)]
    return f"labels: {changes.describe()}" + (f" ({'; '.join(named)})" if named else "")


def _named_queries(changes: JudgmentChanges) -> Sequence[tuple[str, tuple[str, ...]]]:
    groups = (("added", changes.queries_added), ("removed", changes.queries_removed))
    return [(verb, queries) for verb, queries in groups if queries]
