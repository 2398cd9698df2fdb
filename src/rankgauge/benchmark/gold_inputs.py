"""Systems over different chunks of the same documents, scored on the same labels by text.

The judgments know the chunks of every chunking, so that one report can show all rankings; the ideal ranking of a system
is made of the chunks of its own chunking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

from rankgauge.benchmark.plan import INPUTS_FOLDER, CombinedCorpus
from rankgauge.config.settings import Settings
from rankgauge.core.formatting import listing
from rankgauge.core.hits import Joined
from rankgauge.core.passage_judgments import PassageJudgments
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError, Note, shown
from rankgauge.evaluation.evaluate import Evaluation, evaluate_runs
from rankgauge.evaluation.scores import Scores
from rankgauge.io.byte_streams import AnyFile
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.queries import Queries
from rankgauge.io.reading_options import Reading
from rankgauge.io.writers import write_trec_rows
from rankgauge.labels.gold.gold_evaluation import match_notes, with_query_ids
from rankgauge.labels.gold.gold_judgments import GoldOptions, gold_judgments
from rankgauge.labels.gold.gold_labels import GoldLabels, read_gold, with_span_texts
from rankgauge.labels.gold.matching import match_labels
from rankgauge.labels.gold.resolved_labels import resolve_labels


@dataclass(frozen=True, eq=False)
class BenchmarkGold:
    """Labels by text, the chunks of each chunking, and which system searches which."""

    labels: GoldLabels
    chunks: Mapping[str, Corpus]  # by chunking
    chunking_of: Mapping[str, str]  # by system
    options: GoldOptions
    is_complete: bool = True  # False if the only chunks that are known are those that were retrieved

    def evaluate(self, runs: Mapping[str, Run], settings: Settings, queries: Queries) -> Evaluation:
        """Score every run, in its order, with judgments of its own chunking."""
        combined, options = CombinedCorpus(self.chunks), self.options
        matches = match_labels(self.labels, combined, options.tolerance)
        judgments = gold_judgments(self.labels, matches, combined, list(runs.values()), options)
        notes = (
            *self.labels.notes,
            *match_notes(self.labels, matches, is_complete=self.is_complete),
            *self._budget_notes(settings),
        )
        scored: dict[str, tuple[Joined, Scores]] = {}
        texts: Mapping[str, str] = {}
        for chunking, corpus in self.chunks.items():
            names = [name for name in runs if self.chunking_of[name] == chunking]
            if not names:
                continue
            evaluation = evaluate_runs(
                _with_ideal(judgments, corpus),
                [runs[name] for name in names],
                settings.measures,
                conventions=settings.conventions,
                reading=Reading(fingerprint=True, keep_rankings=True),
                queries=queries,
            )
            scores = [replace(run, notes=(*run.notes, *notes)) for run in evaluation.scores]
            scored.update(zip(names, zip(evaluation.joined, scores, strict=True), strict=True))
            texts = {**self.labels.query_texts, **evaluation.texts}
        qrels = settings.conventions.judgments(judgments.with_columns(queries.columns))
        joined = tuple(scored[name][0] for name in runs)
        return Evaluation(qrels, joined, tuple(scored[name][1] for name in runs), texts).renamed(list(runs))

    def _budget_notes(self, settings: Settings) -> list[Note]:
        """A note about measures that compare different amounts of text."""
        measures = settings.conventions.measures(settings.measures)
        unequal = [measure.name for measure in measures if dict(measure.parameters).get("budget") is None]
        if not unequal or len(set(self.chunking_of.values())) < 2:
            return []
        text = "the same number of chunks is a different amount of text in each chunking"
        return [Note("unequal-budgets", f"{listing(unequal)}: {text}; compare TokenRecall(budget=2000)")]


def _with_ideal(judgments: Qrels, corpus: Corpus) -> Qrels:
    """The judgments with an ideal ranking that has the chunks of one chunking only."""
    assert isinstance(judgments.by_group, PassageJudgments)
    ids = {document.id for document in corpus}
    return replace(judgments, by_group=judgments.by_group.with_ideal_of(ids))


def read_labels(path: AnyFile, queries: Queries, documents: Corpus | None = None) -> GoldLabels:
    """Labels of the queries that are run, each with its text; ``documents`` are those that spans count in."""
    labels = with_query_ids(with_span_texts(read_gold(path), documents), queries, Reading())
    known = set(queries.ids.to_text())
    passages = [passage for passage in labels.passages if passage.query in known]
    if not passages:
        raise InputError.at(
            str(path),
            None,
            f"no query has a gold passage: {listing(map(shown, labels.queries))} in the labels, "
            f"{listing(map(shown, queries.ids.to_text()))} in the queries",
            hint="labels name a query by its id (query_id), or by its text (query)",
        )
    return labels.of_queries(known)


def stored_labels(folder: Path, path: str, queries: Queries) -> GoldLabels:
    """Labels in the folder of a benchmark; messages name the file by its path there."""
    labels = read_labels(folder / path, queries)
    return replace(labels, passages=[replace(passage, source=path) for passage in labels.passages])


def resolved_path(chunking: str) -> str:
    """The path of the labels for one chunking in the folder of a benchmark."""
    return f"{INPUTS_FOLDER}/labels-{chunking}.qrels"


def resolved_labels(
    labels: GoldLabels, chunks: Mapping[str, Corpus], options: GoldOptions
) -> Iterator[tuple[str, bytes]]:
    """What `rankgauge labels resolve` would write for each chunking, by its path; raises if one has no gold at all."""
    for name, corpus in chunks.items():
        file = BytesIO()
        write_trec_rows(resolve_labels(labels, corpus, options).subtopic_rows(), "qrels", file)
        yield resolved_path(name), file.getvalue()
