"""Requirements that must hold for every query: a golden set, in which each query that misses is named.

With a baseline, a query that missed its requirement there too is a known miss: it is named, and does not fail. Without
one, a file lists the misses that are allowed, each with a reason. Either is named once more when it hits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.requirements import AnyAllowed, Requirement, parse_requirement
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.scores import Scores, none_if_nan
from rankgauge.io.byte_streams import Limits, read_bytes

OWN_COLUMN = "require"  # of test cases: the requirement of one query, in place of the general ones
ALLOWED_FORM = "one query per line, with a reason: q07 # the synonym is not indexed yet"

MissState = Literal["missed", "known", "allowed"]


@dataclass(frozen=True, slots=True)
class QueryMiss:
    """A query whose value misses a requirement; ``before`` is the baseline's value, if there is one."""

    query: str
    requirement: Requirement
    value: float | None
    state: MissState = "missed"
    before: float | None = None
    reason: str | None = None  # why it is allowed

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "query": self.query,
            "requirement": str(self.requirement),
            "value": self.value,
            "before": self.before,
            "state": self.state,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class HeldQueries:
    """Queries that were held to a requirement each, those that missed it, and what to know of the others."""

    requirements: tuple[Requirement, ...]  # each that some query was held to
    queries: int
    misses: tuple[QueryMiss, ...] = ()
    recovered: tuple[str, ...] = ()  # misses of the baseline that hit now
    needless: tuple[str, ...] = ()  # allowed misses that hit
    unknown: tuple[str, ...] = ()  # allowed misses that are not among the queries

    def in_state(self, state: MissState) -> list[QueryMiss]:
        """The misses that fail, or those that do not."""
        return [miss for miss in self.misses if miss.state == state]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "requirements": [str(requirement) for requirement in self.requirements],
            "queries": self.queries,
            "misses": [miss.to_dict() for miss in self.misses],
            "recovered": [*self.recovered, *self.needless],
        }


def own_requirements(qrels: Qrels, conventions: Conventions) -> dict[str, tuple[Requirement, ...]]:
    """The requirements that test cases carry, by query."""
    if OWN_COLUMN not in qrels.columns:
        return {}
    parsed: dict[str, Requirement] = {}
    found: dict[str, tuple[Requirement, ...]] = {}
    for query, text in zip(qrels.queries.to_text(), qrels.columns[OWN_COLUMN].tolist(), strict=True):
        if not isinstance(text, str) or not text.strip():
            continue
        if text not in parsed:
            try:
                requirement = parse_requirement(text, conventions)
                parsed[text] = replace(requirement, measure=requirement.of_queries)
            except UsageError as error:
                raise InputError.at(
                    qrels.name, None, f"{OWN_COLUMN} of query {shown(query)}: {error.message}", hint=error.hint
                ) from None
        found[query] = (parsed[text],)
    return found


def allowed_misses(source: AnyAllowed | None, limits: Limits) -> dict[str, str]:
    """The queries that may miss, each with its reason; raises if one has none."""
    if source is None:
        return {}
    if isinstance(source, Mapping):
        for query, reason in source.items():
            if not isinstance(reason, str) or not reason.strip():
                raise UsageError(
                    f"the allowed miss {shown(str(query))} has no reason", hint='{"q07": "not indexed yet"}'
                )
        return dict(source)
    data, _ = read_bytes(source, limits=limits)
    allowed: dict[str, str] = {}
    for number, line in enumerate(data.decode("utf-8-sig", "surrogateescape").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        query, sign, reason = (part.strip() for part in line.rpartition(" #"))
        if not sign or not query or not reason:
            raise InputError.at(
                str(source), number, f"an allowed miss needs a reason: found {shown(line.strip())}", hint=ALLOWED_FORM
            )
        allowed[query] = reason
    return allowed


def held_queries(
    scores: Scores,
    general: Sequence[Requirement],
    own: Mapping[str, Sequence[Requirement]],
    baseline: Baseline | None,
    allowed: Mapping[str, str],
    texts: Mapping[str, str],
) -> HeldQueries | None:
    """Hold every query to its own requirements, else to the general ones; None without any.

    Rankings are required of queries with a relevant document, and what else a measure is about of those that it has a
    value for: refusals of queries without an answer, leaks of queries with forbidden documents. An allowed miss is
    named by the id of its query or by its text.
    """
    if not general and not own:
        return None
    known = set(scores.queries)
    ids = {text: query for query, text in texts.items()}
    reasons = {query if query in known else ids.get(query, query): reason for query, reason in allowed.items()}
    every = dict.fromkeys([*general, *(requirement for demanded in own.values() for requirement in demanded)])
    columns = {requirement: _RequiredColumn(scores, requirement, baseline) for requirement in every}
    held: list[str] = []
    misses: list[QueryMiss] = []
    recovered: list[str] = []
    needless: list[str] = []
    for row in np.flatnonzero(scores.averaged).tolist():
        query = scores.queries[row]
        demanded = [one for one in own.get(query) or general if columns[one].is_about(row)]
        if not demanded:
            continue
        held.append(query)
        found = [miss for one in demanded if (miss := columns[one].miss(row, query, reasons.get(query))) is not None]
        misses += found
        if found:
            continue
        if any(columns[one].was_missed(query) for one in demanded):
            recovered.append(query)
        elif query in reasons:
            needless.append(query)
    unknown = tuple(query for query in reasons if query not in known)
    return HeldQueries(tuple(every), len(held), tuple(misses), tuple(recovered), tuple(needless), unknown)


class _RequiredColumn:
    """The values of a requirement's measure, now and in the baseline."""

    def __init__(self, scores: Scores, requirement: Requirement, baseline: Baseline | None) -> None:
        self.requirement, self.baseline = requirement, baseline
        chosen = scores.only([requirement.of_queries])
        self.is_ranking = requirement.of_queries.definition.over == "answerable"
        self.has_relevant = ~scores.without_relevant
        self.now = chosen.values[:, 0]
        self.earlier = None if baseline is None else baseline.scores.only([requirement.of_queries]).values[:, 0]

    def is_about(self, row: int) -> bool:
        """Whether a query is one that the measure is about."""
        return bool(self.has_relevant[row] if self.is_ranking else not np.isnan(self.now[row]))

    def before(self, query: str) -> float | None:
        """The value of a query in the baseline."""
        row = None if self.baseline is None else self.baseline.row_of.get(query)
        return None if row is None or self.earlier is None else none_if_nan(self.earlier[row])

    def was_missed(self, query: str) -> bool:
        """Whether the baseline has the query and missed the requirement."""
        has_query = self.baseline is not None and query in self.baseline.row_of
        return has_query and not self.requirement.is_met(self.before(query))

    def miss(self, row: int, query: str, reason: str | None) -> QueryMiss | None:
        """The miss of a query; None if it meets the requirement."""
        value = none_if_nan(self.now[row])
        if self.requirement.is_met(value):
            return None
        state: MissState = "known" if self.was_missed(query) else "missed" if reason is None else "allowed"
        return QueryMiss(query, self.requirement, value, state, self.before(query), reason)
