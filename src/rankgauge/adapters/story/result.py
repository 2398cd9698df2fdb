"""The result of searching a story."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.core.formatting import given, number, plural
from rankgauge.core.views import Columns, SummaryTable, Tabular
from rankgauge.errors import shown

METRIC = "RQ"
NO_QUERIES = "no labeled queries"


@dataclass(frozen=True)
class RankedScene:
    """A scene in a ranking, and its cosine with the query."""

    scene: str
    cosine: float


@dataclass(frozen=True)
class QueryQuality:
    """The result of one query. ``ranking`` has every scene of the story, best first."""

    id: str
    text: str
    relevant: tuple[str, ...]
    rank: int  # of the first relevant scene
    rr: float
    k: int
    recall: float
    ranking: Sequence[RankedScene]

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with the first k of the ranking."""
        return {
            "id": self.id,
            "text": self.text,
            "relevant": list(self.relevant),
            "rank": self.rank,
            "rr": self.rr,
            "k": self.k,
            "recall_at_k": self.recall,
            "top": [{"scene": scene.scene, "cosine": scene.cosine} for scene in self.ranking[: self.k]],
        }


@dataclass(frozen=True)
class RetrievalQuality(Tabular):
    """The mean reciprocal rank of the labeled queries, and whether it is above the threshold.

    Without labeled queries there is no value, and nothing passes or fails.
    """

    value: float | None
    passed: bool | None
    threshold: float
    profile: str
    k: int
    recall_at_k: float | None
    queries: tuple[QueryQuality, ...]
    scenes: int

    @property
    def skipped(self) -> str | None:
        """Why there is no value; None if there is one."""
        return None if self.queries else NO_QUERIES

    def to_dict(self) -> dict[str, Any]:
        """For JSON; ``skipped`` is there only if the metric was skipped."""
        result: dict[str, Any] = {
            "metric": METRIC,
            "value": self.value,
            "pass": self.passed,
            "threshold": self.threshold,
            "profile": self.profile,
            "k": self.k,
            "recall_at_k": self.recall_at_k,
            "queries": [query.to_dict() for query in self.queries],
        }
        return result if self.skipped is None else {**result, "skipped": self.skipped}

    def __repr__(self) -> str:
        return f"RetrievalQuality({self})"

    def __str__(self) -> str:
        if self.value is None or self.recall_at_k is None:
            return f"{METRIC} skipped: {self.skipped}"
        verdict = "passed" if self.passed else "FAILED"
        above = "above" if self.passed else "not above"
        cutoffs = {query.k for query in self.queries}
        recall = f"recall@{self.k}" if cutoffs == {self.k} else "recall@k"
        return (
            f"{METRIC} {verdict}: MRR {number(self.value)}, {above} {given(self.threshold)}; "
            f"{recall} {number(self.recall_at_k)}; "
            f"{plural(len(self.queries), 'query')} over {plural(self.scenes, 'scene')}, {self.profile}"
        )

    def summary_table(self) -> SummaryTable:
        """One row per query."""
        rows = [
            [query.id, query.text, query.rank, query.rr, query.recall, query.k, query.ranking[0].scene]
            for query in self.queries
        ]
        return SummaryTable(["query", "text", "rank", "RR", "recall", "k", "first scene"], rows, str(self))

    def frame_columns(self) -> Columns:
        """The queries, with the first scene of each ranking."""
        table = self.summary_table()
        names = ["query", "text", "rank", "rr", "recall", "k", "first"]
        return {name: [row[column] for row in table.rows] for column, name in enumerate(names)}

    def __getitem__(self, query: str) -> QueryQuality:
        """The result of one query, by its id."""
        for result in self.queries:
            if result.id == query:
                return result
        raise KeyError(f"no labeled query {shown(query)}")
