"""What a comparison found, also as plain data for JSON and frames, and with its systems in another order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from rankgauge.comparison.answer_sentences import answer, headline
from rankgauge.comparison.differences import Difference, GroupDifference, shared_queries
from rankgauge.comparison.document_changes import QueryChange
from rankgauge.comparison.statistics_options import Scope, Statistics
from rankgauge.comparison.system_ranking import SystemRanking
from rankgauge.core.result_views import Columns, ResultTuple, Tabular
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.scores import Scores, sorted_runs
from rankgauge.stats.intervals import exponential


class PairedValues(NamedTuple):
    """The queries behind a difference, with the system's and the baseline's value for each."""

    queries: list[str]
    system: list[float]
    baseline: list[float]


@dataclass(frozen=True, eq=False)
class Comparison(Tabular):
    """Systems against a baseline, over the same queries."""

    scores: tuple[Scores, ...]
    names: tuple[str, ...]
    baseline: str
    differences: tuple[Difference, ...]
    statistics: Statistics
    family: str  # over what p was corrected, and under which assumption
    family_sizes: tuple[int, ...]  # p values corrected for: of the primary measure, the others, those with lower better
    scope: Scope = "baseline"  # of the differences on the primary measure that are corrected together
    ranking: SystemRanking | None = None  # on the primary measure, if all pairs of systems are compared
    groups: tuple[GroupDifference, ...] = ()
    group_families: dict[str, str] = field(default_factory=dict)  # by column: over what p is corrected in its groups
    changes: dict[str, tuple[QueryChange, ...]] = field(default_factory=dict)  # by system, on the first measure
    texts: dict[str, str] = field(default_factory=dict)  # of queries, if they are known
    notes: tuple[Note, ...] = ()
    evaluation: Evaluation | None = None  # behind it, if rankings were kept: a page shows them

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", ResultTuple(self.scores))

    @property
    def alpha(self) -> float:
        """The largest p that is significant."""
        return self.statistics.alpha

    @property
    def confidence(self) -> float:
        """The confidence of the intervals."""
        return self.statistics.confidence

    @property
    def systems(self) -> list[str]:
        """The systems that are compared with the baseline."""
        return [name for name in self.names if name != self.baseline]

    def __getitem__(self, key: tuple[str, str]) -> Difference:
        """The difference of a system on a measure."""
        for row in self.differences:
            if (row.system, row.measure) == key:
                return row
        raise KeyError(f"no {key[1]} of {key[0]}")

    def of_system(self, system: str) -> list[Difference]:
        """The differences of one system."""
        return [row for row in self.differences if row.system == system]

    @property
    def correction_label(self) -> str | None:
        """The correction of p; None if there was nothing to correct."""
        return None if max(self.family_sizes) < 2 else self.statistics.correction

    @property
    def primary(self) -> str:
        """The measure that the answer is about: the first."""
        return self.scores[0].measures[0].name

    @property
    def shown_primary(self) -> str:
        """Its name as it is shown."""
        return self.scores[0].measures[0].shown

    @property
    def interval_kind(self) -> str:
        """What the intervals are: simultaneous, for example; empty if each is for itself."""
        return self.statistics.intervals_of(max(self.family_sizes))

    def group_interval_kind(self, by: str) -> str:
        """What the intervals of the groups of a column are, which are a family of their own."""
        tested = sum(row.difference.p is not None for row in self.groups if row.by == by)
        return self.statistics.intervals_of(tested)

    def has_unpaired_queries(self, measure: str) -> bool:
        """Whether a difference on a measure is over fewer queries than the values it compares."""
        counts = {run.run: run.over_queries[measure][1] for run in self.scores}
        rows = (row for row in self.differences if row.measure == measure and row.not_comparable is None)
        return any(row.n < max(counts[row.system], counts[self.baseline]) for row in rows)

    def paired(self, system: str, measure: str) -> PairedValues:
        """The queries behind a difference, with the system's and the baseline's value for each."""
        run, base = (next(run for run in self.scores if run.run == name) for name in (system, self.baseline))
        column = [measured.name for measured in run.measures].index(measure)
        kept = np.flatnonzero(shared_queries(run, base, [column]))
        queries = [run.queries[row] for row in kept.tolist()]
        return PairedValues(queries, run.values[kept, column].tolist(), base.values[kept, column].tolist())

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.names)}; baseline {self.baseline}: {headline(self)[0]})"

    def frame_columns(self) -> Columns:
        """One row per difference, as ``to_pandas`` and ``to_polars`` give it."""
        rows = self.to_dict()["differences"]
        flat = [{**row, "low": row["ci"]["low"], "high": row["ci"]["high"]} for row in rows]
        names = [name for name in (flat[0] if flat else {}) if name != "ci"]
        return {name: [row[name] for row in flat] for name in names}

    def answer(self) -> str:
        """Which system is better, by how much and with what confidence: the answer on the primary measure first."""
        return answer(self)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return comparison_data(self)


# A comparison as plain data, for JSON and frames.


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """The whole comparison; the scores are in the schema of ``evaluate``."""
    statistics = comparison.statistics
    return {
        "baseline": comparison.baseline,
        "answer": comparison.answer(),
        "test": statistics.test,
        "correction": statistics.correction,
        "scope": comparison.scope,
        "family": comparison.family,
        "primary": comparison.primary,
        "family_sizes": list(comparison.family_sizes),
        "intervals": comparison.interval_kind or "individual",
        "confidence": statistics.confidence,
        "differences": [_difference(row, comparison.alpha) for row in comparison.differences],
        "target_difference": statistics.target_difference,
        "ranking": None if comparison.ranking is None else _ranking(comparison, comparison.ranking),
        "groups": [_group(row, comparison.alpha) for row in comparison.groups],
        "group_families": comparison.group_families,
        "changes": {
            system: [_change(change, comparison.texts) for change in changes]
            for system, changes in comparison.changes.items()
        },
    }


def _ranking(comparison: Comparison, ranking: SystemRanking) -> dict[str, Any]:
    """Three or more systems in order, with letters, and their pairs, except those that are differences already."""
    pairs = [
        {"first": pair.first, "second": pair.second, **_pairwise(pair.difference, comparison.alpha)}
        for pair in ranking.pairs
        if comparison.baseline not in (pair.first, pair.second)
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
        "smallest_margin": row.smallest_margin,
    }


def _group(row: GroupDifference, alpha: float) -> dict[str, Any]:
    return {"by": row.by, "label": row.label, "opposite": row.opposite, **_difference(row.difference, alpha)}


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


def sort_systems(comparison: Comparison, sort: str | None = None) -> Comparison:
    """The systems as ``sorted_runs`` sorts them, the baseline in its place."""
    scores = tuple(sorted_runs(comparison.scores, sort))
    place = {run.run: number for number, run in enumerate(scores)}
    groups = list(dict.fromkeys((row.by, row.label, row.difference.measure) for row in comparison.groups))
    return replace(
        comparison,
        scores=scores,
        names=tuple(place),
        differences=tuple(sorted(comparison.differences, key=lambda row: place[row.system])),
        groups=tuple(
            sorted(
                comparison.groups,
                key=lambda row: (
                    groups.index((row.by, row.label, row.difference.measure)),
                    place[row.difference.system],
                ),
            )
        ),
        changes={system: comparison.changes[system] for system in place if system in comparison.changes},
    )
