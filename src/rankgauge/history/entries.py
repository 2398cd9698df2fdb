"""What an entry is: a summary that a listing needs, and the values of its queries; filters, names, tags and times.

An entry is named by its date and commit. Times are UTC; users write a date, a time, or how long ago.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Run, Status
from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.scores import Scores
from rankgauge.history.location import GitState

if TYPE_CHECKING:
    from rankgauge.comparison.change_parts import ScoredVersion
    from rankgauge.retrieval.latency import Cost

CONFIDENCE = 0.95  # of the intervals in a summary
COMMIT_CHARACTERS = 7  # of a commit's hash in a name
LATEST = "latest"
ENTRY_NAME = re.compile(r"\d{4}-\d{2}-\d{2}(-[0-9a-f]{7})?(-\d{1,9})?")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}.*", re.DOTALL)
TAG = re.compile(r"[^\W_][\w.+/=@-]{0,99}")
CLOCK_TOLERANCE = timedelta(days=1)  # by which the clock of another machine may be ahead
SAVED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
SAVED_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
AGO = re.compile(r"(\d{1,6})([hdw])")
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@dataclass(frozen=True)
class EntryFacts:
    """What is known besides the scores when they are saved."""

    tags: tuple[str, ...] = ()
    command: str | None = None  # that made them
    verdict: str | None = None  # of a gate
    cost: Cost | None = None  # time and size, if they were measured
    coverage: float | None = None  # the share of the top 10 that is judged
    depth: int | None = None  # documents per query at most, if that is known


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
        from rankgauge.retrieval.latency import Cost

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
        from rankgauge.comparison.change_parts import ScoredVersion

        return ScoredVersion(replace(self.scores, run=self.name), self.summary.labels, self.qrels, self.run)


@dataclass(frozen=True)
class EntryFilter:
    """Which entries are meant: those of a branch, a tag, a system, a collection, or from a time on."""

    branch: str | None = setting(
        None, "Only entries of this git branch.", Section.ENTRIES, flag="--branch NAME", common=True
    )
    tag: str | None = setting(None, "Only entries with this tag.", Section.ENTRIES, flag="--tag TAG", common=True)
    system: str | None = setting(
        None, "Only entries of this system.", Section.ENTRIES, flag="--system NAME", common=True
    )
    collection: str | None = setting(
        None, "Only entries with judgments of this name.", Section.ENTRIES, flag="--collection NAME", common=True
    )
    since: str | None = setting(
        None,
        "Only entries from TIME on: 2026-11-02, or 7d for the last week.",
        Section.ENTRIES,
        flag="--since TIME",
        common=True,
    )

    def __post_init__(self) -> None:
        check_settings(self)
        if self.since is not None:
            object.__setattr__(self, "since", time_text(parse_time(self.since)))

    def where(self) -> tuple[str, list[str]]:
        """The condition of a query and its values."""
        conditions = {
            "branch": "branch = ?",
            "tag": "id IN (SELECT entry FROM tags WHERE tag = ?)",
            "system": "system = ?",
            "collection": "collection = ?",
            "since": "saved >= ?",
        }
        given = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        used = {name: value for name, value in given.items() if value is not None}
        text = " AND ".join(conditions[name] for name in used)
        return (f"WHERE {text}" if text else ""), list(used.values())


ALL_ENTRIES = EntryFilter()


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
    if summary.queries != count_queries(scores):
        raise ValueError(f"its counts of queries are {summary.queries}, those of its values {count_queries(scores)}")
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


def count_queries(scores: Scores) -> dict[str, int]:
    """How many queries were averaged, missing, failed or without a relevant document."""
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


def means_with_intervals(scores: Scores) -> dict[str, SavedMean]:
    """The value of each measure over all queries with its interval, by its name as it was asked for."""
    means = {}
    for name, (value, n) in _means(scores).items():
        interval = scores.interval(name, confidence=CONFIDENCE)
        means[name] = SavedMean(value, n, interval.low, interval.high)
    return means


def base_name(saved: str, commit: str | None) -> str:
    """``2026-11-02-abc1234`` for what was saved on that day at that commit; only the date without a commit."""
    day = saved[:10]
    return day if commit is None else f"{day}-{commit[:COMMIT_CHARACTERS]}"


def is_name_of(name: str, saved: str, commit: str | None) -> bool:
    """Whether a name is that of an entry saved at this time and commit, with or without a number."""
    return ENTRY_NAME.fullmatch(name) is not None and f"{name}-".startswith(f"{base_name(saved, commit)}-")


def free_name(base: str, taken: Iterable[str]) -> str:
    """The name itself, or with the first number from 2 on that is free."""
    names = set(taken)
    name, number = base, 1
    while name in names:
        number += 1
        name = f"{base}-{number}"
    return name


def checked_tag(tag: str) -> str:
    """A tag; raises if it could be taken for the name of an entry, or is not one word."""
    if tag == LATEST or DATE.fullmatch(tag) or not TAG.fullmatch(tag):
        raise UsageError(
            f"{shown(tag)} cannot be a tag",
            hint=f"a tag is one word of letters, digits and . + / = @ _ -; it is not {LATEST!r} and not a date",
        )
    return tag


def parse_time(text: str) -> datetime:
    """``2026-11-02``, ``2026-11-02T10:11:12Z`` or ``7d`` (days ago; also ``h`` and ``w``); UTC unless it says more."""
    ago = AGO.fullmatch(text)
    try:
        if ago is not None:
            return datetime.now(UTC) - int(ago[1]) * UNITS[ago[2]]
        time = datetime.fromisoformat(text)
        return (time.replace(tzinfo=UTC) if time.tzinfo is None else time).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            f"expected a time, found {shown(text)}", hint="write 2026-11-02, 2026-11-02T10:11:12Z, or 7d for a week ago"
        ) from None


def is_saved_time(text: str) -> bool:
    """Whether a text is a time as entries have it, and there is such a time."""
    try:
        return SAVED.fullmatch(text) is not None and datetime.fromisoformat(text) is not None
    except ValueError:
        return False


def latest_time() -> str:
    """The latest time that an entry can have: now, and a day more for clocks that are ahead."""
    return time_text(datetime.now(UTC) + CLOCK_TOLERANCE)


def time_text(time: datetime) -> str:
    """A time as entries have it."""
    return time.astimezone(UTC).strftime(SAVED_FORMAT)
