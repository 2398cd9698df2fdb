"""The results of an experiment: how a report is built from judgments, runs and settings, with snippets of documents.

Tables, JSON, Markdown and the HTML page are made from a report and from nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankgauge.comparison.answer_sentences import comparisons_made, reuse_sentence
from rankgauge.comparison.compare import AnyBaseline, compare_evaluation, evaluate_systems
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.config.settings import Settings
from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Run, returned_texts
from rankgauge.errors import UsageError
from rankgauge.evaluation.caveats import Note, caveat_sentences
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Evaluation
from rankgauge.evaluation.scores import Scores
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.reading_options import Reading

if TYPE_CHECKING:
    from rankgauge.comparison.gate.gate_result import GateResult
    from rankgauge.config.bands import Bands
    from rankgauge.retrieval.latency import Cost
    from rankgauge.validation.findings import Validation

NO_RELEVANT_DOCUMENT = "No query has a relevant document, so nothing can be compared."
SHOWN_DEPTH = 20  # documents of each ranking that the page shows, at most
SNIPPET_RANKS = 10  # of each run, whose documents have a snippet
SNIPPET_CHARACTERS = 240


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


def build_report(
    qrels: AnyQrels,
    runs: Mapping[str, AnyRun] | Sequence[AnyRun],
    settings: Settings | None = None,
    *,
    title: str | None = None,
    queries: Any = None,
    reading: Reading | None = None,
    **details: Any,
) -> Report:
    """Score runs, by the names of their systems if they have any, and compare them.

    ``details`` are further fields of :class:`Report`: snippets, costs, validations, ….
    """
    settings = settings or Settings()
    evaluation = evaluate_for_report(qrels, runs, settings, queries=queries, reading=reading)
    return report_of(evaluation, settings, title=title, **details)


def evaluate_for_report(
    qrels: AnyQrels,
    runs: Mapping[str, AnyRun] | Sequence[AnyRun],
    settings: Settings,
    *,
    queries: Any = None,
    reading: Reading | None = None,
) -> Evaluation:
    """Score runs, and keep what a report shows of them: hashes, and the first documents of each ranking."""
    return evaluate_systems(
        qrels,
        runs,
        settings.measures,
        conventions=settings.conventions,
        reading=replace(reading or Reading(), fingerprint=True, keep_top=SHOWN_DEPTH),
        queries=queries,
    )


def report_of_comparison(comparison: Comparison) -> Report:
    """The report of a comparison that kept its rankings."""
    if comparison.evaluation is None:
        raise UsageError(
            "a report shows rankings, which this comparison did not keep",
            hint="compare(…, reading=Reading(keep_rankings=True))",
        )
    by = tuple(dict.fromkeys(row.by for row in comparison.groups))
    settings = Settings(statistics=comparison.statistics, by=by)
    return report_of(comparison.evaluation, settings, comparison=comparison)


def report_of(
    evaluation: Evaluation,
    settings: Settings,
    *,
    title: str | None = None,
    comparison: Comparison | None = None,
    baseline: AnyBaseline | None = None,
    **details: Any,
) -> Report:
    """The report of runs that are scored already; two or more are compared, unless that was done before.

    ``baseline`` is the one of the settings, by default, or the first run. Without ``snippets`` of a corpus, documents
    are shown with the texts that came with the results.
    """
    if "snippets" not in details:
        shown_runs = [joined.shown for joined in evaluation.joined]
        details["snippets"] = returned_snippets(shown_runs, settings.conventions.compat)
    if "costs" not in details:
        from rankgauge.retrieval.latency import cost_of

        priced = [run for run in evaluation.scores if run.extras is not None and run.extras.figures()]
        details["costs"] = {run.run: cost_of(run.extras) for run in priced if run.extras is not None}
    if comparison is None and len(evaluation.scores) > 1:
        comparison = compare_evaluation(
            evaluation,
            settings.baseline if baseline is None else baseline,
            statistics=settings.statistics,
            by=settings.by or (),
            changes=settings.changes,
        )
    return Report(
        title=title or evaluation.qrels.name,
        evaluation=evaluation,
        comparison=comparison,
        confidence=settings.statistics.confidence,
        bands=settings.bands,
        by=settings.by or (),
        **details,
    )


def snippets_of(documents: Corpus, runs: Iterable[Run | None], compat: Compat = "trec_eval-9") -> dict[str, str]:
    """The first words of documents near the top of a ranking, by id, in the order of the corpus, streamed once."""
    return snippets_and_count(documents, runs, compat)[0]


def snippets_and_count(
    documents: Corpus, runs: Iterable[Run | None], compat: Compat = "trec_eval-9"
) -> tuple[dict[str, str], int]:
    """The snippets, and the number of documents in the corpus, which is streamed once for both."""
    top = _top_documents(runs, compat)
    snippets, count = {}, 0
    for document in documents:
        count += 1
        if document.id in top:
            snippets[document.id.decode("utf-8", "surrogateescape")] = shortened(document.full_text)
    return snippets, count


def returned_snippets(runs: Sequence[Run | None], compat: Compat = "trec_eval-9") -> dict[str, str]:
    """The first words of documents near the top of a ranking whose texts came with the results."""
    texts = returned_texts(runs)
    top = _top_documents(runs, compat) if texts else set()
    return {doc: shortened(text) for doc, text in texts.items() if doc.encode("utf-8", "surrogateescape") in top}


def _top_documents(runs: Iterable[Run | None], compat: Compat) -> set[bytes]:
    return {doc for run in runs if run is not None for doc in run.top(SNIPPET_RANKS, compat).docs}


def shortened(text: str) -> str:
    """The first words of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= SNIPPET_CHARACTERS else line[: SNIPPET_CHARACTERS - 1].rstrip() + "…"
