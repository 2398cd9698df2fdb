"""Read labels by text: one JSON object per query with quotes or spans.

{"query": "How do I reset 2FA?", "gold": ["Open Settings.", {"doc": "2fa.md", "start": 120, "end": 310}]}
{"query": "How long does it take?", "doc": "2fa.md", "start": 320, "end": 371}
{"user_input": "…", "reference_contexts": ["…"]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankgauge.core.formatting import plural
from rankgauge.errors import InputError, InputTypeError, Note, nearest, shown
from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits, read_bytes, source_name
from rankgauge.io.checks.faults import Faults
from rankgauge.io.corpus.lines import document_limits
from rankgauge.io.formats.json_records import Record, describe_json, id_from_json, read_records
from rankgauge.io.formats.jsontext import JsonPairs
from rankgauge.io.formats.log import KEYS
from rankgauge.io.formats.names import normalize_name
from rankgauge.io.text import replace_lone_surrogates
from rankgauge.labels.gold.labels import GoldLabels, GoldPassage
from rankgauge.labels.gold.normalization import normalized

AnyGold = str | Path | GoldLabels | Iterable[Mapping[str, Any]]
GOLD_KEYS = ("gold", "reference_contexts")
SPAN_KEYS = ("doc", "start", "end")
QUOTE_KEY = "text"
EXAMPLE = '{"query": "…", "gold": ["a sentence of the document"]}'


def read_gold(source: AnyGold, *, limits: Limits = DEFAULT_LIMITS) -> GoldLabels:
    """Labels from a JSON Lines or JSON file, from dicts of the same form, or as they are."""
    if isinstance(source, GoldLabels):
        return source
    if isinstance(source, (str, Path)):
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
        self._texts: dict[str, str] = {}
        self._columns: dict[str, dict[str, Any]] = {}
        self._queries: dict[str, None] = {}
        self._repeats = 0

    def read(self, data: bytes, name: str) -> GoldLabels:
        table = read_records(self._faults, data)
        for number, (line, record) in enumerate(zip(table.line.tolist(), table.records, strict=True), 1):
            self._add_record(line or number, record)
        self._faults.raise_errors()
        passages = list(self._passages.values())
        with_gold = {passage.query for passage in passages}
        without = [query for query in self._queries if query not in with_gold]
        if not passages:
            raise InputError.at(self._faults.source, None, "no query has a gold passage", hint=EXAMPLE)
        return GoldLabels(name, passages, self._texts, self._columns, without, self._notes(without))

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
        if not golds and not spans:
            self._fault_missing(line, record)
            return
        if query is None:
            return
        if spans:
            self._add(line, query, {key: record[key] for key in spans})
            return
        value = record[golds[0]]
        if value is not None and not isinstance(value, (str, JsonPairs, list)):
            self._fault(line, "a quote, a span, or a list of them as gold", describe_json(value))
            return
        for item in [value] if isinstance(value, (str, JsonPairs)) else value or []:
            self._add(line, query, dict(item) if isinstance(item, JsonPairs) else item)

    def _query(self, line: int, record: Record) -> str | None:
        """The id of the query, or else its text; its text and columns are kept."""
        id_key, text_key = (_first_key(record, role) for role in ("query", "text"))
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

    def _add(self, line: int, query: str, item: Any) -> None:
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
            self._repeats += (query, key) in self._passages
            self._passages.setdefault((query, key), passage)

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
        self._faults.add("gold", [line], expected=expected, found=found, action=hint)


def _first_key(record: Record, role: str) -> str | None:
    """The key of a role: the first in the order of the keys that logs have."""
    keys = {normalize_name(key): key for key in record}
    known = (normalize_name(name) for tier in KEYS[role] for name in tier)
    return next((keys[name] for name in known if name in keys), None)
