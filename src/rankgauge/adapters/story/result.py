"""What searching a story came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import shown
from rankgauge.evaluation.notebook import Columns, Table, Tabular

METRIC = "RQ"
NO_QUERIES = "no labelled queries"


@dataclass(frozen=True)
class Found:
    """A scene in a result, and its cosine with the query."""

    scene: str
    cosine: float


@dataclass(frozen=True)
class QueryQuality:
    """What one query found. ``ranking`` holds every scene of the story, best first."""

    id: str
    text: str
    relevant: tuple[str, ...]
    rank: int  # of the first relevant scene
    rr: float
    k: int
    recall: float
    ranking: Sequence[Found]

    def to_dict(self) -> dict[str, Any]:
        """For JSON: of the ranking, the first k."""
        return {
            "id": self.id,
            "text": self.text,
            "relevant": list(self.relevant),
            "rank": self.rank,
            "rr": self.rr,
            "k": self.k,
            "recall_at_k": self.recall,
            "top": [{"scene": found.scene, "cosine": found.cosine} for found in self.ranking[: self.k]],
        }


@dataclass(frozen=True)
class RetrievalQuality(Tabular):
    """The mean reciprocal rank of the labelled queries, and whether it is above the threshold.

    Without labelled queries there is no value, and nothing passes or fails.
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
        """Why there is no value; None where there is one."""
        return None if self.queries else NO_QUERIES

    def to_dict(self) -> dict[str, Any]:
        """For JSON; ``skipped`` is there only where the metric was."""
        out: dict[str, Any] = {
            "metric": METRIC,
            "value": self.value,
            "pass": self.passed,
            "threshold": self.threshold,
            "profile": self.profile,
            "k": self.k,
            "recall_at_k": self.recall_at_k,
            "queries": [query.to_dict() for query in self.queries],
        }
        return out if self.skipped is None else {**out, "skipped": self.skipped}

    def __str__(self) -> str:
        if self.value is None or self.recall_at_k is None:
            return f"{METRIC} skipped: {self.skipped}"
        verdict = "passed" if self.passed else "FAILED"
        above = "above" if self.passed else "not above"
        depths = {query.k for query in self.queries}
        recall = f"recall@{self.k}" if depths == {self.k} else "recall@k"
        count = "1 query" if len(self.queries) == 1 else f"{len(self.queries)} queries"
        return (
            f"{METRIC} {verdict}: MRR {self.value:.4f}, {above} {self.threshold:g}; {recall} {self.recall_at_k:.4f}; "
            f"{count} over {self.scenes} scenes, {self.profile}"
        )

    def summary_table(self) -> Table:
        """A row for each query."""
        rows = [
            [query.id, query.text, query.rank, query.rr, query.recall, query.k, query.ranking[0].scene]
            for query in self.queries
        ]
        return Table(["query", "text", "rank", "RR", "recall", "k", "first scene"], rows, str(self))

    def frame_columns(self) -> Columns:
        """The queries, with what each found first."""
        table = self.summary_table()
        names = ["query", "text", "rank", "rr", "recall", "k", "first"]
        return {name: [row[place] for row in table.rows] for place, name in enumerate(names)}

    def __getitem__(self, query: str) -> QueryQuality:
        """What one query found, by its id."""
        for found in self.queries:
            if found.id == query:
                return found
        raise KeyError(f"no labelled query {shown(query)}")
