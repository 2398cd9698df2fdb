"""Labels by text: the passages that answer each query, read from one JSON object per query with quotes or spans.

{"query": "How do I reset 2FA?", "gold": ["Open Settings.", {"doc": "2fa.md", "start": 120, "end": 310}]}
{"query": "How long does it take?", "doc": "2fa.md", "start": 320, "end": 371}
{"query": "Who won the office chess tournament?", "gold": [], "forbidden": ["salaries.md", "a quote"]}
{"user_input": "…", "reference_contexts": ["…"]}
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rankgauge.core.formatting import listing, plural
from rankgauge.core.result_views import HtmlView
from rankgauge.errors import InputError, InputTypeError, Note, location, nearest, shown
from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits, LoadedFile, document_limits, read_bytes, source_name
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.faults import Faults
from rankgauge.io.formats.case_keys import answerable_flag, names_for
from rankgauge.io.formats.case_refusals import document_keys
from rankgauge.io.formats.json_text import JsonPairs, Record, describe_json, id_from_json
from rankgauge.io.formats.named_columns import normalize_name
from rankgauge.io.formats.test_sets import read_test_set
from rankgauge.io.text_checks import replace_lone_surrogates
from rankgauge.labels.gold.normalized_text import normalized


@dataclass(frozen=True)
class GoldPassage:
    """A passage that answers a query: its text, or the characters ``start`` to ``end`` of a document, or both.

    ``source`` and ``line`` say where the label is.
    """

    query: str
    text: str | None
    document: str | None = None
    start: int = 0
    end: int = 0
    source: str = "gold"
    line: int = 0

    @property
    def is_span(self) -> bool:
        """Whether it is known where in a document the text is."""
        return self.document is not None and self.text is not None and len(self.text) == self.end - self.start

    @property
    def place(self) -> str:
        """The file and line of the label."""
        return location(self.source, self.line or None).removesuffix(": ")


@dataclass(frozen=True)
class GoldLabels(HtmlView):
    """The gold passages of all queries, in the order of the input, with texts and columns of the queries.

    ``unanswerable`` are queries that have no answer, ``without_gold`` those that have one without a passage.
    ``forbidden`` are passages that must not be returned, ``forbidden_ids`` chunks by their ids.
    """

    name: str
    passages: Sequence[GoldPassage]
    query_texts: dict[str, str] = field(default_factory=dict)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    without_gold: Sequence[str] = ()
    unanswerable: Sequence[str] = ()
    forbidden: Sequence[GoldPassage] = ()
    forbidden_ids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: Sequence[Note] = ()

    def __repr__(self) -> str:
        queries, passages = plural(len(self.queries), "query"), plural(len(self.passages), "passage")
        return f"GoldLabels({self.name!r}, {queries}, {passages})"

    @property
    def queries(self) -> list[str]:
        """The queries that have passages, in the order of the input, then those that have no answer."""
        return list(dict.fromkeys([*(passage.query for passage in self.passages), *self.unanswerable]))

    def passage_names(self) -> list[str]:
        """The passages of each query, numbered from 1, as the subtopics of ndeval are."""
        counts: dict[str, int] = {}
        names = []
        for passage in self.passages:
            counts[passage.query] = counts.get(passage.query, 0) + 1
            names.append(str(counts[passage.query]))
        return names

    def cases(self) -> list[dict[str, Any]]:
        """Test cases for :func:`rankgauge.evaluate_retriever`, whose result :func:`evaluate_gold` scores."""
        places = {passage.query: f"{passage.place}: " for passage in reversed(self.passages)}
        for query in self.queries:
            if query not in self.query_texts:
                raise InputError(
                    f"{places.get(query, '')}query {shown(query)} has no text to ask a retriever",
                    hint='write {"query_id": "…", "query": "…", "gold": ["…"]}',
                )
        return [{"id": query, "query": self.query_texts[query], "relevant_ids": []} for query in self.queries]

    def renamed(self, ids: dict[str, str]) -> GoldLabels:
        """The labels with other query ids; those that are not in the dict stay."""

        def moved(values: dict[str, Any]) -> dict[str, Any]:
            return {ids.get(query, query): value for query, value in values.items()}

        passages, forbidden = (
            [replace(passage, query=ids.get(passage.query, passage.query)) for passage in some]
            for some in (self.passages, self.forbidden)
        )
        return replace(
            self,
            passages=passages,
            forbidden=forbidden,
            forbidden_ids=moved(self.forbidden_ids),
            unanswerable=[ids.get(query, query) for query in self.unanswerable],
            query_texts=moved(self.query_texts),
            columns={name: moved(values) for name, values in self.columns.items()},
            without_gold=[ids.get(query, query) for query in self.without_gold],
        )

    def of_queries(self, known: Collection[str]) -> GoldLabels:
        """The labels of some queries."""
        return replace(
            self,
            passages=[passage for passage in self.passages if passage.query in known],
            forbidden=[passage for passage in self.forbidden if passage.query in known],
            forbidden_ids={query: ids for query, ids in self.forbidden_ids.items() if query in known},
            unanswerable=[query for query in self.unanswerable if query in known],
        )


AnyGold = str | Path | LoadedFile | GoldLabels | Iterable[Mapping[str, Any]]
GOLD_KEYS = ("gold", "reference_contexts")
SPAN_KEYS = ("doc", "start", "end")
QUOTE_KEY = "text"
EXAMPLE = '{"query": "…", "gold": ["a sentence of the document"]}'


def read_gold(source: AnyGold, *, limits: Limits = DEFAULT_LIMITS) -> GoldLabels:
    """Labels from a JSON Lines or JSON file, from dicts of the same form, or as they are."""
    if isinstance(source, GoldLabels):
        return source
    if isinstance(source, (str, Path, LoadedFile)):
        data, _ = read_bytes(source, limits=document_limits(limits))
        return _GoldReader(str(source)).read(data, source_name(source))
    if isinstance(source, (bytes, Mapping)) or not isinstance(source, Iterable):
        raise InputTypeError(f"gold: expected a file or a list of dicts, found {type(source).__name__}", hint=EXAMPLE)
    records = list(source)
    if not records:
        raise InputError("gold: expected at least one query, found an empty list", hint=EXAMPLE)
    try:
        lines = [json.dumps(record) for record in records]
    except TypeError as error:
        raise InputTypeError(f"gold: {error}", hint=EXAMPLE) from None
    return _GoldReader("gold").read("\n".join(lines).encode("ascii"), "gold")


def is_gold_record(record: Record) -> bool:
    """Whether an object has quotes or spans; ids may be under the same key, but have no white space."""
    if all(key in record for key in SPAN_KEYS):
        return True
    for key, value in record.items():
        if normalize_name(key) in map(normalize_name, GOLD_KEYS):
            items = value if isinstance(value, list) else [value]
            return any(_is_span_or_quote(item) for item in items)
    return False


def _is_span_or_quote(item: object) -> bool:
    if isinstance(item, JsonPairs):
        return {QUOTE_KEY, *SPAN_KEYS} & set(dict(item)) != set()
    return isinstance(item, str) and len(item.split()) > 1


class _GoldReader:
    """The labels of one source; what is wrong is collected and raised at the end."""

    def __init__(self, source: str) -> None:
        self._faults = Faults(source)
        self._passages: dict[tuple[str, object], GoldPassage] = {}
        self._forbidden: dict[tuple[str, object], GoldPassage] = {}
        self._forbidden_ids: dict[str, dict[str, None]] = {}
        self._unanswerable: dict[str, None] = {}
        self._texts: dict[str, str] = {}
        self._columns: dict[str, dict[str, Any]] = {}
        self._queries: dict[str, None] = {}
        self._repeats = 0
        self._documents: str | None = None  # the key that may have documents, if the labels are not quotes

    def read(self, data: bytes, name: str) -> GoldLabels:
        table = read_test_set(self._faults, data).records
        self._documents = next(iter(document_keys(table)), None)
        for number, (line, record) in enumerate(zip(table.line.tolist(), table.records, strict=True), 1):
            self._add_record(line or number, record)
        self._faults.raise_errors()
        passages = list(self._passages.values())
        with_gold = {passage.query for passage in passages}
        nothing = [query for query in self._unanswerable if query not in with_gold]
        without = [query for query in self._queries if query not in with_gold and query not in self._unanswerable]
        if not passages:
            raise InputError.at(self._faults.source, None, "no query has a gold passage", hint=EXAMPLE)
        return GoldLabels(
            name,
            passages,
            self._texts,
            self._columns,
            without_gold=without,
            unanswerable=nothing,
            forbidden=list(self._forbidden.values()),
            forbidden_ids={query: tuple(ids) for query, ids in self._forbidden_ids.items()},
            notes=self._notes(without),
        )

    def _notes(self, without: list[str]) -> list[Note]:
        notes = []
        if without:
            counted = plural(len(without), "query", "queries")
            notes.append(Note("no-gold", f"{counted} without gold, not scored: {', '.join(map(shown, without[:3]))}"))
        if self._repeats:
            notes.append(
                Note("gold-repeated", f"{plural(self._repeats, 'quote')} listed twice for a query, counted once")
            )
        return notes

    def _add_record(self, line: int, record: Record) -> None:
        query = self._query(line, record)
        golds = [key for key in record if normalize_name(key) in map(normalize_name, GOLD_KEYS)]
        spans = [key for key in record if key in SPAN_KEYS]
        if len(golds) > 1 or (golds and spans):
            both = ", ".join(shown(key) for key in [*golds, *spans])
            self._fault(line, "either gold or a span in one object", both)
            return
        has_answer = answerable_flag(record)
        if not golds and not spans and has_answer is not False:
            self._fault_missing(line, record)
            return
        if query is None:
            return
        self._forbid(line, query, record)
        value = record[golds[0]] if golds else None
        if not spans and value in (None, []):
            if has_answer is not True:
                self._unanswerable[query] = None
            return
        if has_answer is False:
            self._fault(line, "no gold for a query that has no answer", "gold")
            return
        if spans:
            self._add(line, query, {key: record[key] for key in spans})
            return
        if not isinstance(value, (str, JsonPairs, list)):
            self._fault(line, "a quote, a span, or a list of them as gold", describe_json(value))
            return
        for item in [value] if isinstance(value, (str, JsonPairs)) else value:
            self._add(line, query, dict(item) if isinstance(item, JsonPairs) else item)

    def _forbid(self, line: int, query: str, record: Record) -> None:
        """What a query must not return: ids of chunks, and quotes or spans as gold has them."""
        value = record.get(_first_key(record, "forbidden") or "")
        items = [value] if isinstance(value, (str, JsonPairs)) else value or []
        if not isinstance(items, list):
            self._fault(line, "a list of ids, quotes or spans as forbidden", describe_json(items))
            return
        for item in items:
            if _is_span_or_quote(item):
                self._add(line, query, dict(item) if isinstance(item, JsonPairs) else item, self._forbidden)
                continue
            try:
                name = id_from_json(item, "chunk id").decode("utf-8", "surrogateescape")
            except InputError:
                self._fault(line, "an id, a quote or a span as forbidden", describe_json(item))
                continue
            self._forbidden_ids.setdefault(query, {})[name] = None

    def _query(self, line: int, record: Record) -> str | None:
        """The id of the query, or else its text; its text and columns are kept."""
        id_key, text_key = (_first_key(record, role) for role in ("id", "query"))
        text = record.get(text_key or "")
        try:
            query = id_from_json(record.get(id_key or text_key or ""), "query id").decode("utf-8", "surrogateescape")
        except InputError:
            expected = "a query (query, question, user_input) or its id (query_id)"
            self._fault(line, expected, ", ".join(shown(key) for key in record) or "an empty object")
            return None
        self._queries[query] = None
        if isinstance(text, str):
            self._texts[query] = replace_lone_surrogates(text)
        for key, value in record.items():
            if key not in (id_key, text_key, *SPAN_KEYS) and isinstance(value, (str, int, float)):
                self._columns.setdefault(key, {})[query] = value
        return query

    def _add(self, line: int, query: str, item: Any, into: dict[tuple[str, object], GoldPassage] | None = None) -> None:
        passages = self._passages if into is None else into
        if isinstance(item, str):
            item = {QUOTE_KEY: item}
        if not isinstance(item, dict):
            self._fault(line, "a quote, or an object with doc, start and end", describe_json(item))
            return
        unknown = [key for key in item if key not in (*SPAN_KEYS, QUOTE_KEY)]
        has_span = all(key in item for key in SPAN_KEYS)
        if unknown or not (has_span or set(item) == {QUOTE_KEY}):
            close = nearest(unknown[0], [*SPAN_KEYS, QUOTE_KEY]) if unknown else None
            keys = ", ".join(shown(key) for key in item) or "an empty object"
            hint = f"did you mean {close}?" if close else None
            self._fault(line, "a quote (text), or a span with doc, start and end", keys, hint)
            return
        passage = self._passage(line, query, item)
        if passage is not None:
            key = normalized(passage.text) if passage.text else (passage.document, passage.start, passage.end)
            self._repeats += (query, key) in passages
            passages.setdefault((query, key), passage)

    def _passage(self, line: int, query: str, item: dict[str, Any]) -> GoldPassage | None:
        text, document = item.get(QUOTE_KEY), item.get("doc")
        start, end = item.get("start", 0), item.get("end", 0)
        if QUOTE_KEY in item and (not isinstance(text, str) or not normalized(text)):
            self._fault(line, "the text of a quote", "an empty one" if text == "" else describe_json(text))
            return None
        if "doc" in item:
            if not isinstance(document, str) or not document:
                self._fault(line, "the id of a document as doc", describe_json(document))
                return None
            if not all(isinstance(value, int) and not isinstance(value, bool) for value in (start, end)):
                self._fault(line, "whole numbers as start and end", f"{describe_json(start)} and {describe_json(end)}")
                return None
            if not 0 <= start < end:
                self._fault(line, "a span with 0 <= start < end, in characters", f"start {start} and end {end}")
                return None
        return GoldPassage(query, text, document, start, end, self._faults.source, line)

    def _fault_missing(self, line: int, record: Record) -> None:
        keys = list(record)
        close = next((known for key in keys for known in GOLD_KEYS if nearest(key, GOLD_KEYS) == known), None)
        hint = f"did you mean {close}?" if close else f"write {EXAMPLE}"
        expected = "gold (gold, reference_contexts) or a span (doc, start, end)"
        self._fault(line, expected, ", ".join(shown(key) for key in keys) or "an empty object", hint)

    def _fault(self, line: int, expected: str, found: str, hint: str | None = None) -> None:
        if self._documents is not None:
            hint = f"if {shown(self._documents)} has the documents: --column relevant={self._documents}"
        self._faults.add("gold", [line], expected=expected, found=found, action=hint)


def _first_key(record: Record, role: str) -> str | None:
    """The key of a role: the first in the order of the keys that logs have."""
    return next(iter(names_for(list(record), role)), None)


# Spans become quotes: the text that a document has between two characters.

DOCUMENTS_HINT = "name the documents that the spans count in: --corpus PATH"


def with_span_texts(labels: GoldLabels, documents: Corpus | None) -> GoldLabels:
    """The labels, each with its text; raises if a span is not within its document."""
    spans = [passage for passage in (*labels.passages, *labels.forbidden) if passage.text is None]
    if not spans:
        return labels
    if documents is None:
        raise InputError(
            f"{spans[0].place}: a span of {shown(str(spans[0].document))} has no text of its own", hint=DOCUMENTS_HINT
        )
    needed = {str(passage.document) for passage in spans}
    texts: dict[str, str] = {}
    names: list[str] = []
    for document in documents.originals():
        name = document.id.decode("utf-8", "surrogateescape")
        names.append(name)
        if name in needed:
            texts[name] = document.text
    faults = Faults(spans[0].source)
    passages, forbidden = (
        [passage if passage.text is not None else _quoted(passage, texts, faults) for passage in some]
        for some in (labels.passages, labels.forbidden)
    )
    if needed - set(texts):
        missing = sorted(needed - set(texts))
        close = nearest(missing[0], names)
        found = f"{listing(map(shown, missing), 5)}, not in {documents.source}"
        line = next(passage.line for passage in spans if passage.document == missing[0])
        action = f"did you mean {close}?" if close else None
        faults.add("document", [line], expected="a document of the corpus", found=found, action=action)
    faults.raise_errors()
    return replace(labels, passages=passages, forbidden=forbidden)


def _quoted(passage: GoldPassage, texts: dict[str, str], faults: Faults) -> GoldPassage:
    text = texts.get(str(passage.document))
    if text is None:
        return passage
    if passage.end > len(text):
        faults.add(
            "span",
            [passage.line],
            expected=f"a span within the {len(text):,} characters of {shown(str(passage.document))}",
            found=f"{passage.start} to {passage.end}",
        )
    quote = text[passage.start : passage.end]
    if passage.end <= len(text) and not normalized(quote):
        faults.add(
            "span",
            [passage.line],
            expected=f"text in the span of {shown(str(passage.document))}",
            found=f"only white space from {passage.start} to {passage.end}",
        )
    return replace(passage, text=quote)


def labels_with_texts(labels: GoldLabels) -> bytes:
    """Labels as they are stored: the text of a span beside it, so that nobody needs the documents."""
    return b"".join(_lines(labels))


def _lines(labels: GoldLabels) -> Iterator[bytes]:
    passages: dict[str, list[dict[str, Any]]] = {query: [] for query in labels.queries}
    forbidden: dict[str, list[Any]] = {query: list(ids) for query, ids in labels.forbidden_ids.items()}
    for into, some in ((passages, labels.passages), (forbidden, labels.forbidden)):
        for passage in some:
            into.setdefault(passage.query, []).append(_row(passage))
    for query, rows in passages.items():
        text = {"query": labels.query_texts[query]} if query in labels.query_texts else {}
        guarded = {"forbidden": forbidden[query]} if query in forbidden else {}
        row = json.dumps({"query_id": query, **text, "gold": rows, **guarded}, ensure_ascii=False)
        yield row.encode("utf-8", "surrogateescape") + b"\n"


def _row(passage: GoldPassage) -> dict[str, Any]:
    span = {"doc": passage.document, "start": passage.start, "end": passage.end}
    return {"text": passage.text, **({} if passage.document is None else span)}
