"""What an entry says: a summary that a listing needs, and the values of its queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.core.views import HtmlView
from rankgauge.evaluation.conventions import VALUE_CONVENTIONS, Conventions
from rankgauge.evaluation.scores import Scores
from rankgauge.history.repository import GitState

if TYPE_CHECKING:
    from rankgauge.comparison.versions.crossing import ScoredVersion
    from rankgauge.report.report import Cost

CONFIDENCE = 0.95  # of the intervals in a summary


@dataclass(frozen=True)
class EntryFacts:
    """What is known besides the scores when they are saved."""

    tags: tuple[str, ...] = ()
    command: str | None = None  # that made them
    verdict: str | None = None  # of a gate
    cost: Cost | None = None  # time and size, if they were measured
    coverage: float | None = None  # the share of the top 10 that is judged


@dataclass(frozen=True)
class SavedMean:
    """The value of a measure over all queries, with its interval."""

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class EntrySummary(HtmlView):
    """An entry without the values of its queries."""

    name: str
    uid: str  # stays the same in every copy of the entry
    saved: str  # UTC, as in 2026-11-02T10:11:12Z
    system: str
    collection: str  # the name of the judgments
    labels: str  # the hash of the judgments: their version
    has_run: bool
    facts: Mapping[str, Any] = field(repr=False)
    tags: tuple[str, ...] = ()

    @property
    def git(self) -> GitState:
        """The commit, branch and state of the working folder when it was saved."""
        return GitState(**self.facts["git"])

    @property
    def means(self) -> dict[str, SavedMean]:
        """The value of each measure over all queries, by its name as it was asked for."""
        return {name: SavedMean(**mean) for name, mean in self.facts["means"].items()}

    @property
    def queries(self) -> dict[str, int]:
        """How many queries were averaged, missing, failed or without a relevant document."""
        return dict(self.facts["queries"])

    @property
    def conventions(self) -> Conventions:
        """The conventions behind the values."""
        return Conventions(**self.facts["conventions"])

    @property
    def cost(self) -> Cost | None:
        """Time and size, if they were measured."""
        from rankgauge.report.report import Cost

        cost = self.facts["cost"]
        return None if cost is None else Cost(**cost)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "uid": self.uid,
            "saved": self.saved,
            "tags": list(self.tags),
            "system": self.system,
            "collection": self.collection,
            "labels": self.labels,
            "has_run": self.has_run,
            **self.facts,
        }


@dataclass(frozen=True, eq=False)
class SavedEntry(HtmlView):
    """An entry with the values of its queries, its judgments and its run, as far as these were kept."""

    summary: EntrySummary
    scores: Scores
    qrels: Qrels | None
    run: Run | None

    def __repr__(self) -> str:
        return f"SavedEntry({self.name!r}, {self.scores!r})"

    @property
    def name(self) -> str:
        """The name of the entry."""
        return self.summary.name

    @property
    def version(self) -> ScoredVersion:
        """The entry as a side of a comparison, under its own name."""
        from rankgauge.comparison.versions.crossing import ScoredVersion

        return ScoredVersion(replace(self.scores, run=self.name), self.summary.labels, self.qrels, self.run)


def facts_of(scores: Scores, facts: EntryFacts, git: GitState, version: str) -> dict[str, Any]:
    """Everything in a summary that has no column of its own."""
    means = {}
    for requested, measure in zip(scores.requested or scores.measures, scores.measures, strict=True):
        value, n = scores.over_queries[measure.name]
        interval = scores.interval(measure, confidence=CONFIDENCE)
        means[requested.name] = asdict(SavedMean(value, n, interval.low, interval.high))
    status = scores.status
    return {
        "git": asdict(git),
        "run_sha256": scores.run_sha256,
        "command": facts.command,
        "verdict": facts.verdict,
        "queries": {
            "averaged": int(scores.averaged.sum()),
            "missing": int((status == Status.MISSING).sum()),
            "failed": int((status == Status.FAILED).sum()),
            "without_relevant": int(scores.without_relevant.sum()),
        },
        "conventions": {name: getattr(scores.conventions, name) for name in VALUE_CONVENTIONS},
        "means": means,
        "coverage": facts.coverage,
        "cost": None if facts.cost is None else asdict(facts.cost),
        "rankgauge": version,
    }
