"""Score runs on labels by text: match, judge, evaluate; the texts come from chunks, or from the runs themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankgauge.core.formatting import listing, plural
from rankgauge.core.ids import encode_id
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError, Note, UsageError, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyRun, Evaluation, evaluate_runs
from rankgauge.evaluation.scores import Scores
from rankgauge.io.byte_streams import is_folder, read_bytes
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument, InMemoryCorpus
from rankgauge.io.corpus.corpus_files import read_corpus, read_documents
from rankgauge.io.faults import Faults
from rankgauge.io.formats.detection import Head
from rankgauge.io.formats.frames import frame_columns, is_frame
from rankgauge.io.formats.json_text import Record, id_from_json, read_records
from rankgauge.io.formats.log_results import text_key
from rankgauge.io.formats.named_columns import columns_for
from rankgauge.io.formats.question_log import is_log_head
from rankgauge.io.queries import as_queries
from rankgauge.io.read import as_run
from rankgauge.io.reading_options import Reading
from rankgauge.io.sources import check_runs
from rankgauge.labels.gold.gold_judgments import GoldOptions, gold_judgments
from rankgauge.labels.gold.gold_labels import AnyGold, GoldLabels, read_gold, with_span_texts
from rankgauge.labels.gold.matching import MatchProgress, match_labels
from rankgauge.labels.gold.quote_matches import QuoteMatches
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames
from rankgauge.measures.registry import ANSWER_MEASURES, GOLD_MEASURES, LEAK_MEASURES

LISTED = 3
DEFAULT_OPTIONS = GoldOptions()


@dataclass(frozen=True)
class GoldInputs:
    """Where labels by text, the chunks and the source documents come from, and how passages are matched.

    ``chunks`` is one corpus for all runs, or a list with one per run; without it, the runs must carry their texts.
    ``documents`` are those that spans count in. ``options`` is a :class:`GoldOptions`. ``progress`` is called with the
    number of chunks that were compared, and with their total if it is known.
    """

    gold: AnyGold
    chunks: Any = None
    documents: Any = None
    options: GoldOptions = DEFAULT_OPTIONS
    progress: MatchProgress | None = None

    def measures(self, names: MeasureNames | None, conventions: Conventions) -> tuple[Measure, ...]:
        """The measures to compute: the default ones, or those named; raises if one needs chunks that are not known.

        The ideal ranking is made of all chunks: that of the retrieved ones alone would be too easy to reach.
        """
        chosen = conventions.measures(names or self._default_measures(conventions))
        if self.chunks is not None:
            return chosen
        ideal = [measure for measure in chosen if dict(measure.parameters).get("norm") == "ideal"]
        if ideal and names:
            raise UsageError(
                f"{ideal[0]} has an ideal ranking, which is made of all chunks, and only those retrieved are known",
                hint="name the chunks: --set reading.chunks=CHUNKS, or leave out that measure",
            )
        return tuple(measure for measure in chosen if measure not in ideal)

    def _default_measures(self, conventions: Conventions) -> tuple[str, ...]:
        """Those of gold, and besides them those of refusals and leaks, if the labels are read and say something."""
        labels = self.gold if isinstance(self.gold, GoldLabels) else None
        if labels is None:
            return GOLD_MEASURES
        has_forbidden = bool(conventions.forbid or labels.forbidden or labels.forbidden_ids)
        answers = ANSWER_MEASURES if labels.unanswerable else ()
        return (*GOLD_MEASURES, *answers, *(LEAK_MEASURES if has_forbidden else ()))

    def loaded(self, reading: Reading) -> GoldInputs:
        """These inputs with the labels read, as they are in the file."""
        return replace(self, gold=read_gold(self.gold, limits=reading.limits))

    def query_texts(self, queries: Any, reading: Reading) -> dict[str, str]:
        """The text of each query that has labels, which a live retriever is asked; raises if one has none."""
        labels = with_query_ids(self.labels(reading), queries, reading)
        return {case["id"]: case["query"] for case in labels.cases()}

    def labels(self, reading: Reading) -> GoldLabels:
        """The labels, each with its text."""
        documents = None if self.documents is None else read_documents(self.documents, limits=reading.limits)
        return with_span_texts(read_gold(self.gold, limits=reading.limits), documents)


def as_gold_inputs(labels: GoldInputs | AnyGold, **further: Any) -> GoldInputs:
    """Labels by text with what belongs to them, from a file, dicts, or as they are."""
    return labels if isinstance(labels, GoldInputs) else GoldInputs(labels, **further)


def evaluate_gold(
    inputs: GoldInputs | AnyGold,
    run: AnyRun,
    measures: MeasureNames | None = None,
    *,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
    queries: Any = None,
) -> Scores:
    """Score one run on labels by text: quotes or spans, found where the retrieved chunks cover enough of them."""
    return evaluate_gold_runs(
        inputs, [run], measures, conventions=conventions, reading=reading, queries=queries
    ).scores[0]


def evaluate_gold_runs(
    inputs: GoldInputs | AnyGold,
    runs: Sequence[AnyRun],
    measures: MeasureNames | None = None,
    *,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
    queries: Any = None,
) -> Evaluation:
    """Score several runs on the same labels; each chunking has judgments of its own.

    ``queries`` holds the queries' ids and texts: labels that name a query by its text get its id.
    """
    reading = reading or Reading()
    inputs = as_gold_inputs(inputs).loaded(reading)
    requested = inputs.measures(measures, conventions or Conventions())
    parts = []
    for part in judge_runs(inputs, runs, reading=reading, queries=queries):
        evaluation = evaluate_runs(part.judgments, part.runs, requested, conventions=conventions, reading=reading)
        scores = tuple(replace(run, notes=(*run.notes, *part.notes)) for run in evaluation.scores)
        parts.append((part, replace(evaluation, scores=scores, texts=part.query_texts)))
    return _merged(parts, inputs.chunks, len(runs))


@dataclass(frozen=True, eq=False)
class JudgedRuns:
    """Runs on the same chunks, and the judgments of these chunks by labels by text.

    ``rows`` are the positions of the runs among all runs; ``notes`` say how the passages were matched.
    """

    judgments: Qrels
    runs: list[Run]
    rows: list[int]
    notes: tuple[Note, ...]
    query_texts: dict[str, str]


def judge_runs(
    inputs: GoldInputs | AnyGold, runs: Sequence[AnyRun], *, reading: Reading | None = None, queries: Any = None
) -> list[JudgedRuns]:
    """Judgments by text of what runs retrieved: one part for each corpus of chunks."""
    check_runs(runs)
    inputs = as_gold_inputs(inputs)
    reading = reading or Reading()
    labels = with_query_ids(inputs.labels(reading), queries, reading)
    loaded = [as_run(run, reading) for run in runs]
    parts = []
    for corpus, rows in _by_chunks(inputs, runs, loaded, reading):
        matches = match_labels(labels, corpus, inputs.options.tolerance, inputs.progress)
        members = [loaded[row] for row in rows]
        judgments = gold_judgments(labels, matches, corpus, members, inputs.options)
        notes = (*labels.notes, *match_notes(labels, matches, is_complete=inputs.chunks is not None))
        parts.append(JudgedRuns(judgments, members, rows, notes, labels.query_texts))
    return parts


def with_query_ids(labels: GoldLabels, queries: Any, reading: Reading) -> GoldLabels:
    """The labels with the queries' columns; a query that is named by its text gets its id."""
    if queries is None:
        return labels
    queries = as_queries(queries, limits=reading.limits)
    ids = set(queries.ids.to_text())
    texts = queries.known_texts()
    by_text = {text: query for query, text in texts.items()}
    renamed = labels.renamed({name: by_text[name] for name in labels.queries if name not in ids and name in by_text})
    columns = {name: dict(values) for name, values in queries.columns.items()}
    return replace(renamed, columns={**renamed.columns, **columns}, query_texts={**renamed.query_texts, **texts})


def match_notes(labels: GoldLabels, matches: QuoteMatches, *, is_complete: bool) -> list[Note]:
    """What to know of the matches; quotes that are nowhere only if all chunks are known."""
    notes = []

    def add(code: str, numbers: Sequence[int], what: str) -> None:
        places = "; ".join(
            f"{labels.passages[number].place} {shown(str(labels.passages[number].text))}" for number in numbers[:LISTED]
        )
        more = "; …" if len(numbers) > LISTED else ""
        notes.append(Note(code, f"{plural(len(numbers), 'quote')} {what}: {places}{more}"))

    if matches.missing and is_complete:
        add("gold-missing", matches.missing, "found in no chunk, counted as not retrieved")
    if matches.forbidden is not None and matches.forbidden.missing and is_complete:
        unknown = [shown(str(labels.forbidden[number].text)) for number in matches.forbidden.missing]
        text = f"{plural(len(unknown), 'forbidden quote')} found in no chunk, so that none can leak it"
        notes.append(Note("forbidden-missing", f"{text}: {listing(unknown, LISTED)}"))
    if matches.words:
        parts = [
            f"{shown(str(labels.passages[number].text))} in {shown(word)}" for number, word in matches.words.items()
        ]
        notes.append(
            Note(
                "gold-part-of-word",
                f"{plural(len(parts), 'quote')} in no chunk as whole words, but as part of a word: "
                f"{listing(parts, LISTED)}; --match text finds parts of words",
            )
        )
    if matches.approximate:
        add("gold-approximate", sorted(matches.approximate), "matched with edits (reading.tolerance)")
    if matches.repeated:
        add("gold-ambiguous", sorted(matches.repeated), "at several places, found at any of them")
    return notes


def _by_chunks(
    inputs: GoldInputs, runs: Sequence[AnyRun], loaded: Sequence[Run], reading: Reading
) -> list[tuple[Corpus, list[int]]]:
    """Each corpus of chunks with the rows of the runs that were made from it."""
    everything = list(range(len(loaded)))
    if inputs.chunks is None:
        return [(texts_of_runs(runs, loaded, reading), everything)]
    if not isinstance(inputs.chunks, (list, tuple)):
        return [(read_corpus(inputs.chunks, limits=reading.limits), everything)]
    if len(inputs.chunks) not in (1, len(loaded)):
        raise UsageError(
            f"{plural(len(inputs.chunks), 'file')} of chunks for {plural(len(loaded), 'run')}",
            hint="name one file for all runs: --set reading.chunks=CHUNKS, or one for each, in the order of the runs",
        )
    if len(inputs.chunks) == 1:
        return [(read_corpus(inputs.chunks[0], limits=reading.limits), everything)]
    corpora = [read_corpus(chunks, limits=reading.limits) for chunks in inputs.chunks]
    by_source: dict[str, tuple[Corpus, list[int]]] = {}
    for row, corpus in enumerate(corpora):
        key = corpus.source if isinstance(inputs.chunks[row], str) else str(id(inputs.chunks[row]))
        by_source.setdefault(key, (corpus, []))[1].append(row)
    return list(by_source.values())


def _merged(parts: Sequence[tuple[JudgedRuns, Evaluation]], chunks: Any, size: int) -> Evaluation:
    """All runs in their order. Runs on different chunks have no documents in common, so no join is kept.

    Runs of the same name have the name of the file of their chunks after it.
    """
    if len(parts) == 1:
        return parts[0][1]
    scores: dict[int, Scores] = {}
    for part, evaluation in parts:
        scores.update(zip(part.rows, evaluation.scores, strict=True))
    merged = replace(parts[0][1], scores=tuple(scores[row] for row in range(size)), joined=())
    merged_names = [run.run for run in merged.scores]
    names = list(merged_names)
    for row, name in enumerate(merged_names):
        if merged_names.count(name) > 1 and isinstance(chunks[row], (str, Path)):
            names[row] = f"{name} ({Path(chunks[row]).stem})"
    return merged.renamed(names).uniquely_named()


# The texts that runs carry themselves: logs and live answers, rows with a text, frames.

NO_CHUNKS_HINT = "name the chunks that it was made from: --set reading.chunks=CHUNKS, chunks=…"
Texts = Iterator[tuple[bytes, str]]


def texts_of_runs(runs: Sequence[Any], loaded: Sequence[Run], reading: Reading) -> Corpus:
    """The chunks that some runs retrieved; raises if one of them has no text, or two texts."""
    texts: dict[bytes, str] = {}
    for source, run in zip(runs, loaded, strict=True):
        count = len(texts)
        is_known = False
        for doc, text in _texts_of(source, run, reading):
            is_known = True
            if texts.setdefault(doc, text) != text:
                raise _two_texts(run, doc)
        if not is_known and len(texts) == count and len(run.docs):
            raise InputError(f"run {shown(run.name)} has no texts, which gold passages need", hint=NO_CHUNKS_HINT)
    documents = [CorpusDocument(doc, "", text) for doc, text in texts.items()]
    return InMemoryCorpus(documents or [CorpusDocument(b"-", "", "")], source="the runs")


def _two_texts(run: Run, doc: bytes) -> InputError:
    return InputError(
        f"run {shown(run.name)}: chunk {shown(doc)} has two different texts",
        hint="the ids of chunks must be unique; runs on different chunks need --set reading.chunks=[A,B]",
    )


def _texts_of(source: Any, run: Run, reading: Reading) -> Texts:
    if run.extras is not None and run.extras.texts:
        for name, text in run.extras.texts.items():
            doc = encode_id(name, "document id")
            if text is None:
                raise _two_texts(run, doc)
            yield doc, text
    elif isinstance(source, (str, Path)):
        yield from _texts_in_file(source, reading)
    elif is_frame(source):
        yield from _texts_in_frame(source)


def _texts_in_file(path: str | Path, reading: Reading) -> Texts:
    """The texts in JSON Lines with one result per row."""
    if str(path) == "-" or is_folder(path):
        return
    data, _ = read_bytes(path, limits=reading.limits)
    head = Head(data)
    if head.is_json and head.record is not None and not is_log_head(head, "run"):
        yield from _texts_in_rows(read_records(Faults(str(path)), data).records)


def _texts_in_rows(records: Sequence[Record]) -> Texts:
    names = list(records[0])
    doc_key, text_name = next(iter(columns_for(names, "doc")), None), text_key(names)
    for record in records if doc_key and text_name else ():
        if isinstance(text := record.get(text_name or ""), str):
            yield id_from_json(record.get(doc_key or ""), "document id"), text


def _texts_in_frame(frame: Any) -> Texts:
    columns = frame_columns(frame)
    doc_key, text_name = next(iter(columns_for(list(columns), "doc")), None), text_key(list(columns))
    if doc_key and text_name:
        for doc, text in zip(columns[doc_key], columns[text_name], strict=True):
            if isinstance(text, str):
                yield id_from_json(doc, "document id"), text
