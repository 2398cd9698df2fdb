"""What an entry says: a summary that a listing needs, and the values of its queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.core.views import HtmlView
from rankgauge.errors import InputError, shown
from rankgauge.evaluation.conventions import VALUE_CONVENTIONS, Conventions
from rankgauge.evaluation.scores import Scores
from rankgauge.history.names import is_name_of
from rankgauge.history.repository import GitState
from rankgauge.history.times import latest_time

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


def check_times(summaries: Sequence[EntrySummary]) -> None:
    """Raise if an entry is from the future: it would be the newest, and others would be pruned in its stead."""
    latest = latest_time()
    summary = max(summaries, key=lambda entry: entry.saved, default=None)
    if summary is not None and summary.saved > latest:
        raise InputError(
            f"the entry {summary.name} was saved in the future, at {summary.saved}",
            hint=f"set the clock of this machine, or delete the entry: rankgauge history prune {summary.name}",
        )


def check_consistency(entry: SavedEntry) -> None:
    """Raise ``ValueError`` if the summary of an entry says otherwise than its values, its judgments or its run."""
    summary, scores, run = entry.summary, entry.scores, entry.run
    if not is_name_of(summary.name, summary.saved, summary.git.commit):
        raise ValueError(f"its name {shown(summary.name)} is not that of its time and commit")
    if scores.status.max(initial=0) > max(Status):
        raise ValueError("the status of a query is unknown")
    if np.isinf(scores.values).any():
        raise ValueError("a value is infinite")
    if summary.queries != _query_counts(scores):
        raise ValueError(f"its counts of queries are {summary.queries}, those of its values {_query_counts(scores)}")
    means = {name: (mean.value, mean.n) for name, mean in summary.means.items()}
    for name, computed in _means(scores).items():
        if means.pop(name, None) != computed:
            raise ValueError(f"its mean of {name} is not that of its values, {computed[0]} over {computed[1]}")
    if means:
        raise ValueError(f"it has a mean of {next(iter(means))}, but no values")
    if entry.qrels is not None and entry.qrels.sha256 != summary.labels:
        raise ValueError("its judgments have another hash")
    if entry.qrels is not None and tuple(entry.qrels.queries.to_text()) != scores.queries:
        raise ValueError("its judgments have other queries than its values")
    if run is not None and run.sha256 != summary.facts["run_sha256"]:
        raise ValueError("its run has another hash")
    if run is not None and (np.isnan(run.scores).any() or len(run.queries.distinct[1]) != len(run.queries)):
        raise ValueError("its run has a query twice, or a score that is not a number")
    if (run is not None) != summary.has_run:
        raise ValueError("has_run says otherwise than its content")


def _query_counts(scores: Scores) -> dict[str, int]:
    status = scores.status
    return {
        "averaged": int(scores.averaged.sum()),
        "missing": int((status == Status.MISSING).sum()),
        "failed": int((status == Status.FAILED).sum()),
        "without_relevant": int(scores.without_relevant.sum()),
    }


def _means(scores: Scores) -> dict[str, tuple[float | None, int]]:
    """The value of each measure over all queries, by its name as it was asked for, and the queries behind it."""
    names = zip(scores.requested or scores.measures, scores.measures, strict=True)
    return {requested.name: scores.over_queries[measure.name] for requested, measure in names}


def facts_of(scores: Scores, facts: EntryFacts, git: GitState, version: str) -> dict[str, Any]:
    """Everything in a summary that has no column of its own."""
    means = {}
    for name, (value, n) in _means(scores).items():
        interval = scores.interval(name, confidence=CONFIDENCE)
        means[name] = asdict(SavedMean(value, n, interval.low, interval.high))
    return {
        "git": asdict(git),
        "run_sha256": scores.run_sha256,
        "command": facts.command,
        "verdict": facts.verdict,
        "queries": _query_counts(scores),
        "conventions": {name: getattr(scores.conventions, name) for name in VALUE_CONVENTIONS},
        "means": means,
        "coverage": facts.coverage,
        "cost": None if facts.cost is None else asdict(facts.cost),
        "rankgauge": version,
    }
