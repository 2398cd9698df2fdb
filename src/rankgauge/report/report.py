"""The results of an experiment. Tables, JSON, Markdown and the HTML page are made from this and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankgauge.comparison.result import Comparison
from rankgauge.comparison.reuse import comparisons_made, reuse_sentence
from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.core.views import HtmlView
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.notes import Note, caveat_sentences
from rankgauge.evaluation.scores import Scores

if TYPE_CHECKING:
    from rankgauge.comparison.gate.result import GateResult
    from rankgauge.config.bands.bands import Bands
    from rankgauge.validation.findings import Validation


NO_RELEVANT_DOCUMENT = "No query has a relevant document, so nothing can be compared."
SHOWN_DEPTH = 20  # documents of each ranking that the page shows, at most


@dataclass(frozen=True)
class Cost:
    """What a system costs. None if it was not measured."""

    calls: int = 0  # the number of single-query calls behind the latency
    p50: float | None = None  # milliseconds
    p95: float | None = None
    p99: float | None = None
    index_bytes: int | None = None
    index_seconds: float | None = None
    max: float | None = None  # milliseconds


@dataclass(frozen=True)
class SearchedChunks:
    """What a system searches: a chunking by its name, how it splits documents, and the number of its chunks."""

    system: str
    chunking: str
    description: str
    chunks: int


@dataclass(frozen=True, eq=False)
class Report(HtmlView):
    """Systems on the same queries and judgments; the ``run`` of their scores is the system's name."""

    title: str
    evaluation: Evaluation
    comparison: Comparison | None = None  # None if there is one system
    confidence: float = 0.95  # of all intervals
    date: str | None = None  # of the data, as the page shows it
    gate: GateResult | None = None  # what a gate decided, and on what grounds
    bands: Bands | None = None
    by: tuple[str, ...] = ()  # columns of the queries to group by
    snippets: Mapping[str, str] = field(default_factory=dict)  # of documents
    costs: Mapping[str, Cost] = field(default_factory=dict)  # by system
    validations: tuple[Validation, ...] = ()
    input_notes: Sequence[Note] = ()  # what the readers of the files warned of
    failed: Mapping[str, str] = field(default_factory=dict)  # system → why it has no run
    manifest: Mapping[str, Any] | None = None
    reproduce: str | None = None  # the command that reproduces it

    def __repr__(self) -> str:
        return f"Report({self.title!r}: {', '.join(self.names)})"

    @property
    def qrels(self) -> Qrels:
        """The judgments."""
        return self.evaluation.qrels

    @property
    def joined(self) -> tuple[Joined, ...]:
        """The join of each system."""
        return self.evaluation.joined

    @property
    def runs(self) -> tuple[Run | None, ...]:
        """The run of each system, or the first documents of its rankings; None if neither was kept."""
        return tuple(joined.shown for joined in self.evaluation.joined)

    @property
    def scores(self) -> tuple[Scores, ...]:
        """The scores of each system."""
        return self.evaluation.scores

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts of queries."""
        return self.evaluation.texts

    @property
    def names(self) -> tuple[str, ...]:
        """The systems."""
        return tuple(run.run for run in self.scores)

    @property
    def chunkings(self) -> list[SearchedChunks]:
        """What each system of a benchmark searches, if that is chunks of the documents."""
        manifest = self.manifest or {}
        known = (manifest.get("data") or {}).get("test collection", {}).get("chunkings") or {}
        systems = (manifest.get("method") or {}).get("retrieval", []) if known else []
        return [
            SearchedChunks(system["name"], system["chunking"], chunking["description"], chunking["chunks"])
            for system in systems
            for chunking in [known[system["chunking"]]]
        ]

    @property
    def reuse(self) -> str | None:
        """How many comparisons a benchmark makes on its queries; None for other reports, and if there is only one."""
        if self.comparison is None or self.manifest is None:
            return None
        queries = int(self.scores[0].averaged.sum())
        return reuse_sentence(comparisons_made(self.comparison), "comparison", "made", queries)

    @property
    def caveats(self) -> list[str]:
        """What to know before trusting the numbers; a caveat about every system appears once."""
        between = () if self.comparison is None else self.comparison.notes
        general = [note.message for note in (*self.input_notes, *between)]
        general += [] if self.reuse is None else [self.reuse]
        return general + caveat_sentences([(run.run, run.notes) for run in self.scores])
