"""What an entry is: a file of scores whose first line has a summary; filters, and times.

Times are UTC; users write a date, a time, or how long ago.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Status
from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.errors import UsageError, shown
from rankgauge.evaluation.scores import Scores
from rankgauge.history.location import GitState

if TYPE_CHECKING:
    from rankgauge.retrieval.latency import Cost

CONFIDENCE = 0.95  # of the intervals in a summary
SAVED_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
ENTRY_NAME = re.compile(r"(?P<day>\d{4}-\d{2}-\d{2})T(?P<time>\d{2}-\d{2})-\d{2}Z-")
AGO = re.compile(r"(\d{1,6})([hdw])")
ENDING, LOG_ENDING = ".jsonl", ".log.jsonl.gz"
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def entry_label(name: str) -> str:
    """The day in an entry's name, with hours and minutes unless it has none; another name as it is."""
    match = ENTRY_NAME.match(name)
    if match is None:
        return name
    return match["day"] if match["time"] == "00-00" else f"{match['day']} {match['time'].replace('-', ':')}"


@dataclass(frozen=True)
class EntryFacts:
    """What is known besides the scores when they are saved."""

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
    """An entry without the values of its queries: the first line of its file."""

    path: Path = field(repr=False)
    facts: Mapping[str, Any] = field(repr=False)

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        return self.path.name.removesuffix(ENDING)

    @property
    def label(self) -> str:
        """What it is called where there is little room: its day, and the time if that is known."""
        return entry_label(self.name)

    @property
    def saved(self) -> str:
        """When it was saved, UTC, as in 2026-11-02T10:11:12Z."""
        return str(self.facts["saved"])

    @property
    def order(self) -> tuple[str, int, str]:
        """What entries are sorted by: the time, then the clock of the machine, then the name."""
        return self.saved, int(self.facts["written"]), self.name

    @property
    def system(self) -> str:
        """What was evaluated."""
        return str(self.facts["system"])

    @property
    def collection(self) -> str:
        """What it was evaluated on."""
        return str(self.facts["collection"])

    @property
    def labels(self) -> str:
        """The hash of all labels: their version."""
        return str(self.facts["labels"])

    @property
    def log(self) -> Path | None:
        """The log with the ranking, if it was saved and is still there."""
        return self.log_path if self.log_path.is_file() else None

    @property
    def log_path(self) -> Path:
        """Where its log is, if it was saved."""
        return self.path.with_name(f"{self.name}{LOG_ENDING}")

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
    def conventions(self) -> str:
        """How the values were made."""
        return str(self.facts["conventions"]["text"])

    @property
    def cost(self) -> Cost | None:
        """Time and size, if they were measured."""
        from rankgauge.retrieval.latency import Cost

        cost = self.facts["cost"]
        return None if cost is None else Cost(**cost)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"name": self.name, **self.facts, "has_log": self.log is not None}


@dataclass(frozen=True, eq=False)
class SavedEntry(HtmlView):
    """An entry with the values of its queries."""

    summary: EntrySummary
    scores: Scores

    def __repr__(self) -> str:
        return f"SavedEntry({self.name!r}, {self.scores!r})"

    @property
    def name(self) -> str:
        """The name of the entry."""
        return self.summary.name


@dataclass(frozen=True)
class EntryFilter:
    """Which entries are meant: those of a branch, a system, a collection, or from a time on."""

    branch: str | None = setting(
        None, "Only entries of this git branch.", Section.ENTRIES, flag="--branch NAME", common=True
    )
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

    def matches(self, entry: EntrySummary) -> bool:
        """Whether an entry is meant."""
        found = {"branch": entry.git.branch, "system": entry.system, "collection": entry.collection}
        wanted = {name: getattr(self, name) for name in found}
        is_one = all(value is None or found[name] == value for name, value in wanted.items())
        return is_one and (self.since is None or entry.saved >= self.since)


ALL_ENTRIES = EntryFilter()


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


def time_text(time: datetime) -> str:
    """A time as entries have it."""
    return time.astimezone(UTC).strftime(SAVED_FORMAT)
