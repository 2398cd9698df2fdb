"""Chunkings of the same documents: which system searches which, their files, and their scores on labels by text.

The judgments know the chunks of every chunking, so that one report can show all rankings; the ideal ranking of a system
is made of the chunks of its own chunking.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rankgauge.config.settings import Settings
from rankgauge.core.formatting import listing, plural
from rankgauge.core.hits import Joined
from rankgauge.core.passage_judgments import PassageJudgments
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError, Note, UsageError, nearest, shown
from rankgauge.evaluation.evaluate import Evaluation, evaluate_runs
from rankgauge.evaluation.scores import Scores
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.byte_streams import AnyFile
from rankgauge.io.corpus.chunking import ChunkedCorpus, Chunking, write_chunks
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.io.formats.trec import write_trec_rows
from rankgauge.io.queries import Queries
from rankgauge.io.reading_options import Reading
from rankgauge.labels.gold.gold_evaluation import match_notes, with_query_ids
from rankgauge.labels.gold.gold_judgments import GoldOptions, gold_judgments
from rankgauge.labels.gold.gold_labels import GoldLabels, read_gold, with_span_texts
from rankgauge.labels.gold.matching import match_labels
from rankgauge.labels.gold.resolved_labels import resolve_labels
from rankgauge.report.manifest import SYSTEM_NAME

if TYPE_CHECKING:
    from rankgauge.benchmark.plan import PlannedSystem

INPUTS_FOLDER = "inputs"  # of a benchmark: copies of its files, and what is made from them
RETURNED_CHUNKS = "returned"  # of chunks that systems returned with their texts, and that are not documents
WHOLE_DOCUMENTS = "documents"  # the name of the chunking of a system that searches the documents as they are


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
            *self._size_notes(),
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

    def _size_notes(self) -> list[Note]:
        """A note if several chunkings are compared, since a cutoff is a different amount of text in each."""
        if len(set(self.chunking_of.values())) < 2:
            return []
        text = "the first k chunks are a different amount of text in each chunking"
        return [Note("unequal-chunks", f"{text}: compare cutoffs that are about as much text")]


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


def systems_with_own_chunks(runs: Mapping[str, Run], corpus: Corpus) -> list[str]:
    """The systems whose results are not documents of a corpus, but came with texts; raises if one has neither."""
    known, names = set(corpus.ids), []
    for name, run in runs.items():
        documents = dict.fromkeys(run.docs)
        unknown = [doc for doc in documents if doc not in known]
        if not unknown:
            continue
        texts = {} if run.extras is None else run.extras.texts
        without = [doc for doc in unknown if texts.get(doc.decode("utf-8", "surrogateescape")) is None]
        if without:
            raise InputError(
                f"{shown(name)}: {len(without):,} of {len(documents):,} retrieved documents have no text, neither "
                f"returned nor in {corpus.source}: {listing(map(shown, without))}",
                hint="name the chunks that it searches as the corpus, or return the text of each result",
            )
        names.append(name)
    return names


def text_notes(runs: Mapping[str, Run], corpus: Corpus) -> list[Note]:
    """Which systems returned other texts than the corpus has under the same ids: chunks with the ids of documents."""
    returned = {
        name: {doc: " ".join(text.split()) for doc, text in run.extras.texts.items() if text}
        for name, run in runs.items()
        if run.extras is not None and run.extras.texts
    }
    counts = dict.fromkeys(returned, 0)
    for document in corpus if returned else ():
        name = document.id.decode("utf-8", "surrogateescape")
        own = {" ".join(document.text.split()), " ".join(document.full_text.split())}
        for system, texts in returned.items():
            counts[system] += name in texts and texts[name] not in own
    return [
        Note(
            "corpus-texts",
            f"{system}: {plural(count, 'document')} came with other texts than {corpus.source} has; labels are matched "
            "with those of the corpus: give chunks ids of their own, or leave out the corpus",
        )
        for system, count in counts.items()
        if count
    ]


class WithoutIdeal(NamedTuple):
    """Settings without measures that need all chunks, and a note on these measures."""

    settings: Settings
    note: Note


def without_ideal(settings: Settings, systems: Sequence[str]) -> WithoutIdeal | None:
    """What is scored if only returned chunks of some systems are known; None if that changes nothing."""
    measures = settings.conventions.measures(settings.measures)
    ideal = [measure for measure in measures if dict(measure.parameters).get("norm") == "ideal"]
    if not ideal:
        return None
    kept = tuple(str(measure) for measure in measures if measure not in ideal)
    why = f"of {listing(map(shown, systems))} only the chunks that were returned are known"
    if not kept:
        raise InputError(f"{ideal[0]} has an ideal ranking, which is made of all chunks, and {why}")
    text = f"left out: {listing(map(str, ideal))}, whose ideal ranking is made of all chunks; {why}"
    return WithoutIdeal(replace(settings, measures=kept), Note("no-ideal", text))


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


def over_chunkings(systems: Mapping[str, PlannedSystem], chunkings: Mapping[str, Chunking]) -> dict[str, PlannedSystem]:
    """The systems; one that names no chunking becomes one for each, if there are several ways to split."""
    out: dict[str, PlannedSystem] = {}
    for name, system in systems.items():
        if system.chunking is not None or not chunkings:
            out[name] = system
            continue
        if system.is_own:
            raise UsageError(
                f"{name} is a retriever of your own, and it is not known which chunks it returns",
                hint=f"name the chunking that it searches: chunking: {next(iter(chunkings))}",
            )
        for chunking in chunkings:
            out[f"{name},chunking={chunking}"] = replace(system, chunking=chunking)
    return out


def check_chunkings(
    systems: Mapping[str, PlannedSystem], chunkings: Mapping[str, Chunking], gold: AnyFile | None
) -> None:
    """Raise if a chunking cannot be compared, or if a system names one that is not there."""
    if chunkings and gold is None:
        raise UsageError(
            "chunkings are compared by labels that do not depend on them, and there are none",
            hint="name quotes or spans of the documents in the configuration: collection: gold",
        )
    for name in chunkings:
        if name in (WHOLE_DOCUMENTS, RETURNED_CHUNKS):
            what = "documents that are not split" if name == WHOLE_DOCUMENTS else "chunks that retrievers return"
            raise UsageError(f"{shown(name)} is the name of {what}", hint="choose another one")
        if not SYSTEM_NAME.fullmatch(name):
            raise UsageError(
                f"a chunking's name must be usable as a file name, found {shown(name)}",
                hint="use only letters, digits and . _ + - = ,",
            )
    for system, planned in systems.items():
        if planned.chunking is not None and planned.chunking not in chunkings:
            close = nearest(planned.chunking, list(chunkings))
            known = f"; there are {', '.join(chunkings)}" if chunkings else ", which the configuration has none of"
            raise UsageError(
                f"{system} searches the chunking {shown(planned.chunking)}{known}",
                hint=f"did you mean {close}?" if close else "describe it in the configuration: chunking",
            )


def chunking_of(system: PlannedSystem) -> str:
    """The chunking that a system searches."""
    return WHOLE_DOCUMENTS if system.chunking is None else system.chunking


def chunks_path(chunking: str) -> str:
    """The path of a file of chunks in the folder of a benchmark."""
    return f"{INPUTS_FOLDER}/chunks-{chunking}.jsonl"


def write_chunkings(
    documents: Corpus, names: Iterable[str], chunkings: Mapping[str, Chunking], folder: Path
) -> dict[str, Corpus]:
    """Split the documents in some ways; the chunks of each as a corpus in the folder, by its name."""
    corpora: dict[str, Corpus] = {}
    for name in dict.fromkeys(names):
        path = folder / chunks_path(name)
        if name in chunkings:
            write_chunks(ChunkedCorpus(documents, chunkings[name]), path)
        else:
            _write_documents(documents, path)
        corpora[name] = read_corpus(path)
    return corpora


def _write_documents(documents: Corpus, path: Path) -> None:
    """Write documents that are not split."""
    with write_atomically(path, inputs=documents.files) as file:
        for document in documents:
            name = document.id.decode("utf-8", "surrogateescape")
            row = {"_id": name, "title": document.title, "text": document.text}
            file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n")


class CombinedCorpus(Corpus):
    """Several corpora as one; a document that two of them have, which is the same span, comes once."""

    def __init__(self, corpora: Mapping[str, Corpus]) -> None:
        self.corpora = corpora
        self.source = ", ".join(dict.fromkeys(corpus.source for corpus in corpora.values()))

    def __iter__(self) -> Iterator[CorpusDocument]:
        seen: set[bytes] = set()
        for corpus in self.corpora.values():
            for document in corpus:
                if document.id not in seen:
                    seen.add(document.id)
                    yield document

    @property
    def sha256(self) -> str:
        """The hashes of the corpora."""
        return " ".join(corpus.sha256 for corpus in self.corpora.values())
