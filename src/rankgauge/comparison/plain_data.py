"""A comparison as plain data, for JSON and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankgauge.comparison.attribution import QueryChange
from rankgauge.stats.group_interaction import EXCHANGEABLE
from rankgauge.stats.intervals import exponential

if TYPE_CHECKING:
    from rankgauge.comparison.result import Comparison, Difference, GroupDifference, Interaction


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """The whole comparison; the scores are in the schema of ``evaluate``."""
    statistics = comparison.statistics
    return {
        "baseline": comparison.baseline,
        "answer": comparison.answer(),
        "test": statistics.test,
        "correction": statistics.correction,
        "family": comparison.family,
        "primary": comparison.primary,
        "family_sizes": list(comparison.family_sizes),
        "intervals": comparison.interval_kind or "individual",
        "confidence": statistics.confidence,
        "differences": [_difference(row, comparison.alpha) for row in comparison.differences],
        "weighted": _weighted(comparison),
        "target_difference": statistics.target_difference,
        "ranking": _ranking(comparison),
        "agreement": [
            {"measures": list(row.measures), "tau": row.tau, "systems": row.systems, "reason": row.reason}
            for row in comparison.agreement
        ],
        "groups": [_group(row, comparison.alpha) for row in comparison.groups],
        "group_families": comparison.group_families,
        "interactions": [_interaction(test) for test in comparison.interactions],
        "interaction_family": comparison.interaction_family,
        "changes": {
            system: [_change(change, comparison.texts) for change in changes]
            for system, changes in comparison.changes.items()
        },
    }


def _weighted(comparison: Comparison) -> dict[str, Any] | None:
    """The differences of weighted means; None if the queries have no weights."""
    family = comparison.weighted
    if family is None:
        return None
    rows = [
        {
            "system": row.difference.system,
            "measure": row.difference.measure,
            "value": row.difference.value,
            "baseline": row.difference.baseline,
            **_pairwise(row.difference, comparison.alpha),
            "minimum_detectable_difference": row.difference.detectable,
            "reason": row.difference.reason,
            "effective_queries": row.effective_queries,
        }
        for row in family.rows
    ]
    return {"family": family.description, "differences": rows}


def _ranking(comparison: Comparison) -> dict[str, Any] | None:
    """Three or more systems in order, with letters, and all of their pairs."""
    ranking = comparison.ranking
    if ranking is None:
        return None
    pairs = [
        {"first": pair.first, "second": pair.second, **_pairwise(pair.difference, comparison.alpha)}
        for pair in ranking.pairs
    ]
    return {
        "measure": ranking.measure,
        "best": ranking.best.name,
        "indistinguishable": ranking.indistinguishable,
        "systems": [
            {"system": system.name, "value": system.value, "letters": system.letters} for system in ranking.systems
        ],
        "pairs": pairs,
    }


def _pairwise(row: Difference, alpha: float) -> dict[str, Any]:
    return {
        "n": row.n,
        "difference": row.difference,
        "ci": row.interval.to_dict(),
        "p": row.p,
        "p_corrected": row.p_corrected,
        "outcome": row.outcome(alpha),
    }


def _difference(row: Difference, alpha: float) -> dict[str, Any]:
    return {
        "system": row.system,
        "measure": row.measure,
        "outcome": row.outcome(alpha),
        "n": row.n,
        "value": row.value,
        "baseline": row.baseline,
        "difference": row.difference,
        "ratio": exponential(row.difference) if row.is_ratio and row.difference is not None else None,
        "ci": row.interval.to_dict(),
        "p": row.p,
        "p_corrected": row.p_corrected,
        "reason": row.reason,
        "d_z": row.effect.d_z,
        "hedges_g": row.effect.hedges_g,
        "wins": row.effect.wins,
        "ties": row.effect.ties,
        "losses": row.effect.losses,
        "too_few_queries": row.too_few_queries,
        "minimum_detectable_difference": row.detectable,
        "queries_needed": row.queries_needed,
        "changes_needed": row.changes_needed,
        "rope": row.rope,
    }


def _group(row: GroupDifference, alpha: float) -> dict[str, Any]:
    return {"by": row.by, "label": row.label, "opposite": row.opposite, **_difference(row.difference, alpha)}


def _interaction(test: Interaction) -> dict[str, Any]:
    return {
        "by": test.by,
        "system": test.system,
        "measure": test.measure,
        "p": test.p,
        "p_corrected": test.p_corrected,
        "reason": test.reason,
        "assumes": EXCHANGEABLE,
    }


def _change(change: QueryChange, texts: dict[str, str]) -> dict[str, Any]:
    return {
        "query": change.query,
        "text": texts.get(change.query),
        "difference": change.difference,
        "unexplained": change.unexplained,
        "documents": [
            {"doc": doc.doc, "grade": doc.grade, "before": doc.before, "after": doc.after, "share": doc.share}
            for doc in change.documents
        ],
    }
