"""What one experiment says. Tables, JSON, Markdown and the page are made of this and of nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankgauge.comparison.result import Comparison
from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.evaluation.evaluate import AnyRun, Scores
from rankgauge.evaluation.notes import told_once

if TYPE_CHECKING:
    from rankgauge.config.bands.bands import Bands
    from rankgauge.validation.findings import Validation


NOTHING = "No query has a relevant document: nothing can be said."


@dataclass(frozen=True)
class Cost:
    """What a system takes. None where it was not measured."""

    calls: int = 0  # the queries that the latency was measured with, one at a time
    p50: float | None = None  # milliseconds
    p95: float | None = None
    p99: float | None = None
    index_bytes: int | None = None
    index_seconds: float | None = None


@dataclass(frozen=True, eq=False)
class Report:
    """Systems on the same queries and judgments. ``scores``, ``joined`` and ``runs`` stand in one order."""

    title: str
    qrels: Qrels
    runs: tuple[AnyRun, ...]  # where the whole rankings are: files or runs
    joined: tuple[Joined, ...]
    scores: tuple[Scores, ...]  # their ``run`` is the system's name
    comparison: Comparison | None = None  # None where there is one system
    confidence: float = 0.95  # of all intervals
    verdict: tuple[str, ...] = ()  # what a gate decided, and on what
    bands: Bands | None = None
    by: tuple[str, ...] = ()  # the columns of the queries to look into
    texts: Mapping[str, str] = field(default_factory=dict)  # of queries
    snippets: Mapping[str, str] = field(default_factory=dict)  # of documents
    costs: Mapping[str, Cost] = field(default_factory=dict)  # by system
    validations: tuple[Validation, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)  # system → why it has no run
    manifest: Mapping[str, Any] | None = None
    reproduce: str | None = None  # the command that makes it again
    run_format: str | None = None  # of the runs that are files, where it was said

    @property
    def remarks(self) -> list[str]:
        """What is to be known before trusting it; what holds for every system is said once."""
        between = [] if self.comparison is None else [note.message for note in self.comparison.notes]
        told = told_once([(one.run, one.notes) for one in self.scores])
        return between + [f"{', '.join(runs)}: {note.message}" if runs else note.message for note, runs in told]

    @property
    def names(self) -> tuple[str, ...]:
        """The systems."""
        return tuple(one.run for one in self.scores)
