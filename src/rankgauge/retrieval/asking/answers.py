"""What a retriever returned for a query, as ids and scores in the order of the ranking; and the notes on all answers.

A list is a ranking: its order counts, whatever its scores are. ``{id: score}`` and sets have no order of their own, and
are ranked by their scores with the order rule of :mod:`rankgauge.core.ranking`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeGuard, get_args

import numpy as np

from rankgauge.config.retriever_settings import Unit
from rankgauge.core import ranking
from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ids
from rankgauge.core.run import ScoreMeaning, checked_score
from rankgauge.errors import InputError, InputTypeError, Note, UsageError, shown
from rankgauge.io.formats.expected_text import text_id
from rankgauge.io.formats.named_columns import IsByText
from rankgauge.io.formats.number_cells import cell_number
from rankgauge.io.text_checks import replace_lone_surrogates
from rankgauge.retrieval.asking.documents import (
    NUMBER_TYPES,
    DocumentColumns,
    IdSource,
    ResultDetail,
    check_unit,
    only_type,
)
from rankgauge.retrieval.asking.failures import NoAnswer

NUMBER_OR_FLAG = (bool, int, float, np.number, np.bool_)
ScoreFault = Literal["ascending", "unsorted", "incomplete"]  # how scores contradict the order of a list


@dataclass(frozen=True)
class Answer:
    """The documents that a retriever returned for one query; ``has_order`` if their order is the ranking.

    ``was_lazy`` if they may have been fetched only when they were read, as those of a generator are. ``numbers`` are
    beside them in a dict, and may be measures.
    """

    documents: list[Any]
    has_order: bool = True
    was_lazy: bool = False
    numbers: Mapping[str, float] = field(default_factory=dict)


class RankedResults(NamedTuple):
    """The ids of one ranking, best first, each once, and their scores, higher is better; None without scores.

    ``repeated`` is the number of repeats that were dropped. ``fault`` is how the given scores contradict the order.
    """

    ids: tuple[str, ...] = ()
    scores: tuple[float, ...] | None = None
    repeated: int = 0
    fault: ScoreFault | None = None

    def first(self, k: int) -> RankedResults:
        """The first ``k`` results."""
        return self._replace(ids=self.ids[:k], scores=None if self.scores is None else self.scores[:k])

    @property
    def run_scores(self) -> list[float]:
        """Scores by which a run has exactly this order."""
        if self.given is None and self.scores is not None:
            return list(self.scores)
        return [float(number) for number in range(len(self.ids), 0, -1)]

    @property
    def given(self) -> dict[str, float] | None:
        """The scores if they do not give the order by themselves, nothing if there are none; None if they do."""
        if self.scores is None:
            return {} if self.ids else None
        offsets, scores = np.array([0, len(self.ids)]), np.array(self.scores, dtype=np.float64)
        is_changed = len(ranking.in_list_order(offsets, Ids.from_text(self.ids), scores)[1]) > 0
        return dict(zip(self.ids, self.scores, strict=True)) if is_changed else None


class ReadAnswer(NamedTuple):
    """The ranking of an answer; the id of each of its documents, in their own order; and where their texts are."""

    ranking: RankedResults
    ids: list[str]
    columns: DocumentColumns


@dataclass(frozen=True)
class AnswerRules:
    """How answers are read: where ids are, whether chunks collapse into documents, and what scores mean.

    Without ``scores`` the order of a list is the ranking. ``similarity`` sorts results by score, highest first,
    ``distance`` lowest first; ``ignore`` uses the order alone. ``is_by_text`` says of which queries the results are
    identified by their texts, too.
    """

    id: IdSource = None
    unit: Unit = "chunk"
    scores: ScoreMeaning | None = None
    is_by_text: IsByText | None = None

    def __post_init__(self) -> None:
        check_unit(self.unit)
        if self.scores is not None and self.scores not in get_args(ScoreMeaning):
            raise UsageError(
                f"scores must be one of {', '.join(get_args(ScoreMeaning))}, found {shown(str(self.scores))}"
            )

    def details(self, answer: ReadAnswer) -> list[ResultDetail]:
        """The texts and metadata that come with the results, if the results are chunks: a document is more than one."""
        if self.unit != "chunk":
            return []
        columns = zip(answer.ids, answer.columns.texts(), answer.columns.metadata(), strict=True)
        return [
            (name, text if text is None or text.isascii() else replace_lone_surrogates(text), metadata)
            for name, text, metadata in columns
            if text is not None or metadata is not None
        ]

    def facts(self, results: RankedResults, error: str | None = None, short_of: int = 0) -> AnswerFacts:
        """What is known of an answer besides its results."""
        repeated, collapsed = (0, results.repeated) if self.unit == "document" else (results.repeated, 0)
        return AnswerFacts(error, repeated, collapsed, results.fault, short_of=short_of, given=results.given)

    def short_of(self, results: RankedResults, k: int, *, passes_k: bool) -> int:
        """k if there are fewer results and more may be had: k was not passed on, or chunks collapsed; otherwise 0."""
        has_collapsed = self.unit == "document" and results.repeated > 0
        return k if len(results.ids) < k and (has_collapsed or not passes_k) else 0

    def rank(self, answer: Answer, query: str) -> RankedResults:
        """The ranking of one query's answer."""
        return self.read(answer, query).ranking

    def read(self, answer: Answer, query: str) -> ReadAnswer:
        """One query's answer, read once."""
        columns = DocumentColumns(answer.documents)
        ids = columns.ids(self.id, self.unit, query)
        if self.is_by_text is not None and self.unit == "chunk" and self.is_by_text(query):
            texts = (None if text is None else replace_lone_surrogates(text) for text in columns.texts())
            ids = [text_id(name, text) for name, text in zip(ids, texts, strict=True)]
        return ReadAnswer(self._in_order(answer, ids, columns, query), ids, columns)

    def _in_order(self, answer: Answer, ids: list[str], columns: DocumentColumns, query: str) -> RankedResults:
        scores, complete = self._scores(columns, ids, query)
        if complete is None and (not answer.has_order or self.scores in ("similarity", "distance")) and len(ids) > 1:
            _check_order_is_known(answer, scores, query)
        elif complete is not None and not answer.has_order:
            order = ranking.order(np.array([0, len(ids)]), Ids.from_text(ids), np.array(complete)).tolist()
            return _ranked([ids[row] for row in order], [complete[row] for row in order])
        elif complete is not None and self.scores is not None:
            order = sorted(range(len(ids)), key=lambda row: -complete[row])  # of equals, the first stays first
            return _ranked([ids[row] for row in order], [complete[row] for row in order])
        return _ranked(ids, complete, _fault(scores, complete))

    def _scores(
        self, columns: DocumentColumns, ids: Sequence[str], query: str
    ) -> tuple[Sequence[float | None] | None, list[float] | None]:
        """The score of each document, higher is better, None for one without; and again if every document has one.

        The first is None if no document has a score.
        """
        if self.scores == "ignore":
            return None, None
        values, are_distances = columns.scores()
        if values is None:
            return None, None
        if self.scores is not None:
            are_distances = self.scores == "distance"
        complete = _floats(values)
        if complete is None or math.isnan(sum(complete)):  # also of infinities with both signs
            scores = _checked(values, ids, query)
            if None in scores:
                return scores, None
            complete = [score for score in scores if score is not None]
        if are_distances:
            complete = [-score for score in complete]
        return complete, complete


def answer_of(result: Any) -> Answer:
    """The documents in what a retriever returned: a list, ``{id: score}``, or an object that holds a list."""
    if type(result) is list:
        return Answer(result.copy())
    if isinstance(result, Mapping) and _floats(result.values()) is not None:
        return Answer(list(result.items()), has_order=False)
    documents = documents_in(result)
    if documents is None and isinstance(result, Mapping) and all(map(_is_number, result.values())):
        return Answer(list(result.items()), has_order=False)
    if documents is None:
        raise NoAnswer(f"returned {'None' if result is None else type(result).__name__}, expected a list of documents")
    has_order = not isinstance(documents, (set, frozenset))
    was_lazy = not isinstance(documents, (list, tuple, set, frozenset))
    return Answer(list(documents), has_order, was_lazy, numbers_beside(result))


def numbers_beside(result: Any) -> dict[str, float]:
    """The numbers, and what is true or false, beside the list of documents in a dict."""
    if not isinstance(result, Mapping):
        return {}
    cells = {key: value for key, value in result.items() if isinstance(key, str) and isinstance(value, NUMBER_OR_FLAG)}
    numbers = {key: cell_number(value) for key, value in cells.items()}
    return {key: number for key, number in numbers.items() if number is not None and math.isfinite(number)}


def _floats(values: Collection[Any]) -> list[float] | None:
    """The values as floats; None if one is not of a type of plain numbers, or too large."""
    if not values or only_type(values) is float:
        return list(values)
    try:
        return list(map(float, values)) if set(map(type, values)) <= NUMBER_TYPES else None
    except OverflowError:
        return None


def _checked(scores: Sequence[Any], ids: Sequence[str], query: str) -> list[float | None]:
    """Scores as numbers, None for one that is absent or not a number."""
    checked: list[float | None] = []
    for name, score in zip(ids, scores, strict=True):
        if score is None or _is_nan(score):
            checked.append(None)
            continue
        try:
            checked.append(checked_score(score, query, name))
        except InputTypeError as error:
            hint = "if it is not a score, use the order alone: scores='ignore', --set reading.scores=ignore"
            raise InputTypeError(error.message, hint=hint) from None
    return checked


def _check_order_is_known(answer: Answer, scores: object, query: str) -> None:
    """Raise unless an answer without complete scores has an order."""
    found = "no result has a score" if scores is None else "some results have no score"
    if not answer.has_order and scores is None:
        raise InputTypeError(
            f"results of query {shown(query)} are a set, which has no order, and have no scores",
            hint="return a list, best first",
        )
    raise InputError(f"results of query {shown(query)} cannot be ordered by score: {found}")


def _fault(scores: Sequence[float | None] | None, complete: Sequence[float] | None) -> ScoreFault | None:
    """How the scores of a list contradict its order; ties contradict no order."""
    if scores is None:
        return None
    if complete is None:
        return "incomplete"
    if complete == sorted(complete, reverse=True):
        return None
    return "ascending" if complete == sorted(complete) else "unsorted"


def _ranked(ids: Sequence[str], scores: Sequence[float] | None, fault: ScoreFault | None = None) -> RankedResults:
    """Each id once, at its first rank."""
    if len(set(ids)) == len(ids):
        return RankedResults(tuple(ids), None if scores is None else tuple(scores), 0, fault)
    first_rows: dict[str, int] = {}
    for row, name in enumerate(ids):
        first_rows.setdefault(name, row)
    kept = None if scores is None else tuple(scores[row] for row in first_rows.values())
    return RankedResults(tuple(first_rows), kept, len(ids) - len(first_rows), fault)


def _is_nan(score: Any) -> bool:
    try:
        return hasattr(type(score), "__float__") and math.isnan(float(score))
    except (TypeError, ValueError, OverflowError):
        return False


def _is_number(value: Any) -> bool:
    if isinstance(value, (str, bytes, bool)):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


# Where the documents are in what a retriever returned.
#
# A list, or an object or dict that holds one under a usual name; a dict of dicts, one of which holds a list; a dict
# of columns, ``{"ids": […], "distances": […]}``, each of which may be a list of one list.

LIST_KEYS = (
    "documents",
    "results",
    "matches",
    "hits",
    "points",
    "nodes",
    "source_nodes",
    "source_documents",
    "context",
)
TEXT_KEY = "context"  # the only one that may hold texts, which do not identify a document
ID_COLUMN = "ids"
# column → field of a document
COLUMNS = {"ids": "id", "distances": "distance", "scores": "score", "metadatas": "metadata", "documents": "document"}


def documents_in(result: Any) -> Any:
    """The documents that a retriever returned, or None if there are none to be found."""
    if isinstance(result, Mapping):
        if is_list(result.get(ID_COLUMN)):
            return _rows(result)
        found = _listed(result)
        return _nested(result) if found is None else found
    if isinstance(result, (str, bytes)) or result is None:
        return None
    if not isinstance(result, (list, set, frozenset)):
        # Before the iterables: an object of pydantic is one, of its fields.
        found = _listed({key: getattr(result, key, None) for key in LIST_KEYS})
        if found is not None:
            return found
    return result if is_list(result) else None


def is_list(value: Any) -> TypeGuard[Iterable[Any]]:
    """Whether a value holds several others; text and mappings do not."""
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


def _listed(holder: Mapping[Any, Any]) -> Any:
    """The first list under a usual name."""
    for key in LIST_KEYS:
        documents = holder.get(key)
        if not is_list(documents):
            continue
        if key != TEXT_KEY:
            return documents
        listed = list(documents)
        if any(isinstance(document, str) for document in listed):
            raise InputTypeError(
                f"{key} of the result holds texts, expected documents with ids",
                hint="return the documents instead of their texts",
            )
        return listed
    return None


def _nested(result: Mapping[Any, Any]) -> Any:
    """The documents of the only value that holds some, as in the outputs of a pipeline's components."""
    holders = {key: value for key, value in result.items() if isinstance(value, Mapping)}
    lists = {key: documents for key, value in holders.items() if (documents := _listed(value)) is not None}
    if len(lists) > 1:
        raise InputError(
            f"{', '.join(map(str, lists))} of the result hold documents, expected one list",
            hint="return the documents of one of them",
        )
    return next(iter(lists.values()), None)


def _rows(result: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """The documents of an answer in columns."""
    columns = {field: _column(key, result[key]) for key, field in COLUMNS.items() if is_list(result.get(key))}
    sizes = {key: len(columns[field]) for key, field in COLUMNS.items() if field in columns}
    if len(set(sizes.values())) != 1:
        found = ", ".join(f"{size} {key}" for key, size in sizes.items())
        raise InputError(f"the columns of the result have different lengths: {found}")
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _column(key: str, values: Iterable[Any]) -> Sequence[Any]:
    """A column, or the only one in a list of columns, which has one per query."""
    column = list(values)
    if not column or not isinstance(column[0], (list, tuple)):
        return column
    if len(column) != 1:
        raise InputError(f"{key} of the result has {len(column)} rankings, expected that of one query")
    return list(column[0])


# What a reader must know of the answers of a retriever besides the numbers, each said once with its count.

SCORE_FAULTS = {
    "ascending": (
        "scores ascend in {queries}, as distances do: the order of the results counts "
        "(scores='distance', --set reading.scores=distance, if they are distances)"
    ),
    "unsorted": (
        "scores contradict the order of the results in {queries}: the order counts (scores='similarity', "
        "--set reading.scores=similarity, sorts by score; scores='ignore', --set reading.scores=ignore, uses the order "
        "alone)"
    ),
    "incomplete": (
        "some results have no score in {queries}: the order of the results counts "
        "(scores='ignore', --set reading.scores=ignore, uses the order alone)"
    ),
}


OWN_NUMBER = (
    "it does not take k, so set its own number of results (LangChain: search_kwargs={{'k': {k}}}, "
    "LlamaIndex: similarity_top_k={k}, a function: a parameter k)"
)
MORE_CHUNKS = (
    "chunks collapsed into documents, so fetch more of them: RetrieverCalls(fetch={fetch}), "
    "--set retriever.fetch={fetch}"
)
CHUNKS_PER_DOCUMENT = 5  # for an example


def answer_notes(all_facts: Sequence[AnswerFacts], sizes: Sequence[int]) -> tuple[Note, ...]:
    """The notes on all answers; ``sizes`` are the numbers of results without those that were dropped."""
    kept = sum(sizes)
    notes = _short(all_facts, sizes)
    for fault, message in SCORE_FAULTS.items():
        count = sum(answer.fault == fault for answer in all_facts)
        if count:
            queries = f"{count:,} of {plural(len(all_facts), 'query')}"
            notes.append(Note("score-order", message.format(queries=queries)))
    collapsed = sum(answer.collapsed for answer in all_facts)
    if collapsed:
        chunks = f"{collapsed + kept} chunks collapsed into {kept} documents"
        notes.append(Note("chunks-collapsed", f"{chunks}: {collapsed} dropped"))
    repeated = sum(answer.repeated for answer in all_facts)
    if repeated:
        verb = "repeats" if repeated == 1 else "repeat"
        results = plural(repeated, "result")
        notes.append(
            Note("results-repeated", f"{results} {verb} an id of the same query: counted once, at the first rank")
        )
    return tuple(notes)


def _short(all_facts: Sequence[AnswerFacts], sizes: Sequence[int]) -> list[Note]:
    """A note if no query has as many results as were requested, and some have results."""
    deepest = max(sizes, default=0)
    if not deepest or not all(size < facts.short_of for facts, size in zip(all_facts, sizes, strict=True)):
        return []
    k = max(facts.short_of for facts in all_facts)
    has_collapsed = any(facts.collapsed for facts in all_facts)
    advice = MORE_CHUNKS.format(fetch=CHUNKS_PER_DOCUMENT * k) if has_collapsed else OWN_NUMBER.format(k=k)
    results = plural(deepest, "document" if has_collapsed else "result")
    return [Note("results-short", f"the retriever returned at most {results} of the {k} requested: {advice}")]


@dataclass(frozen=True)
class AnswerFacts:
    """What is known of one query's answer besides its results: the error if it failed, and what was dropped.

    ``repeated`` results had the id of an earlier one; ``collapsed`` chunks had its document. ``fault`` is how the given
    scores contradict the order of the results. ``latency`` is the seconds of the attempt that was answered, and
    ``overhead`` those of everything else: failed attempts, pauses, and reading the answer. ``short_of`` is k if
    there are fewer results and more may be had, otherwise 0. ``details`` are the texts and metadata of results.
    ``given`` are their scores if these do not give their order, and ``numbers`` what the answer has beside them.
    """

    error: str | None = None
    repeated: int = 0
    collapsed: int = 0
    fault: str | None = None
    overhead: float = 0.0
    short_of: int = 0
    latency: float | None = None
    details: Sequence[ResultDetail] = ()
    given: Mapping[str, float] | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)

    def __or__(self, other: AnswerFacts) -> AnswerFacts:
        """Of the same query, asked of two retrievers."""
        return AnswerFacts(
            self.error or other.error,
            self.repeated + other.repeated,
            self.collapsed + other.collapsed,
            self.fault or other.fault,
            self.overhead + other.overhead,
            max(self.short_of, other.short_of),
            details=(*self.details, *other.details),
        )


AnswerRecord = dict[str, AnswerFacts]  # by query
_RECORD: ContextVar[AnswerRecord | None] = ContextVar("rankgauge_answer_record", default=None)


@contextmanager
def recorded_answers() -> Iterator[AnswerRecord]:
    """Collect the facts of all answers that retrievers give within the block, however deep they are wrapped."""
    record: AnswerRecord = {}
    token = _RECORD.set(record)
    try:
        yield record
    finally:
        _RECORD.reset(token)


def record_answer(query: str, facts: AnswerFacts) -> None:
    """Add the facts of an answer to the record of whoever asked, if there is one."""
    record = _RECORD.get()
    if record is not None:
        record[query] = record[query] | facts if query in record else facts
