"""Labeled queries: a search text and the scenes that it should find.

{"id": "q1", "text": "scenes with Anna in danger", "relevant": ["s3", "s4", "s7"], "topK": 5}

One per line, in an array, or in a document under ``queries``. A query without relevant scenes is not labeled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge.adapters.story.records import SourceRecord, canonical_text, check_id, read_records, records_of
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import log
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.json_records import describe_json
from rankgauge.io.formats.jsontext import JsonPairs

QUERY_ID_KEYS = ("query_id", "qid", "question_id", "id", "_id")
QUERY_TEXT_KEYS = ("text", "query", "question", "search")
RELEVANT_KEYS = (
    *("relevant_scene_ids", "relevant_scenes", "expected_scene_ids", "expected_scenes", "scene_ids"),
    *(name for tier in log.KEYS["relevant"] for name in tier),
)
TOP_K_KEYS = ("top_k", "k")
QUERIES_KEY = "queries"
QUERIES_SOURCE = "queries"


@dataclass(frozen=True)
class LabeledQuery:
    """A search text, the scenes that it should find, and its own cutoff for recall if it has one."""

    id: str
    text: str
    relevant: tuple[str, ...]
    k: int | None = None
    line: int | None = None


@dataclass(frozen=True)
class LabeledQueries:
    """The queries that have labels, in their order, and the number of those that have none."""

    queries: tuple[LabeledQuery, ...]
    unlabeled: int = 0
    source: str = QUERIES_SOURCE


AnyQueries = str | Path | LabeledQueries | Iterable[Mapping[str, Any]] | None


def read_labeled_queries(queries: AnyQueries) -> LabeledQueries:
    """Read labeled queries from a JSON Lines or JSON file, or from dicts. An empty file has none."""
    if isinstance(queries, LabeledQueries):
        return queries
    if isinstance(queries, (str, Path)):
        return _labeled_queries(_records(str(queries), read_bytes(queries)[0]), str(queries))
    if queries is None:
        return LabeledQueries(())
    if isinstance(queries, (Mapping, bytes, bytearray)) or not isinstance(queries, Iterable):
        raise InputTypeError(
            f"{QUERIES_SOURCE}: expected a list of dicts, found {type(queries).__name__}",
            hint='queries are a file, or a list of {"text": "…", "relevant": ["…"]}',
        )
    return _labeled_queries(records_of(queries, QUERIES_SOURCE), QUERIES_SOURCE)


def _records(source: str, data: bytes) -> list[SourceRecord]:
    head = Head(data)
    if not head.text.strip():
        return []
    if not head.is_json:
        raise InputError.at(
            source,
            1,
            f"expected JSON, found {shown(head.line)}",
            hint='write one {"text": "…", "relevant": ["…"]} per line',
        )
    records, document = read_records(Faults(source), data, QUERIES_KEY)
    if document is None:
        return records
    inner = document.first((QUERIES_KEY,))
    if isinstance(inner, JsonPairs) or not isinstance(inner, list):
        raise document.error(f"expected a list under {QUERIES_KEY}, found {describe_json(inner)}")
    return records_of(inner, source)


def _labeled_queries(records: list[SourceRecord], source: str) -> LabeledQueries:
    queries: list[LabeledQuery] = []
    ids: set[str] = set()
    for number, record in enumerate(records, 1):
        query = _query(record, number)
        if query.id in ids:
            raise record.error(f"expected each query id once, found {shown(query.id)} again")
        ids.add(query.id)
        queries.append(query)
    labeled = tuple(query for query in queries if query.relevant)
    return LabeledQueries(labeled, len(queries) - len(labeled), source)


def _query(record: SourceRecord, number: int) -> LabeledQuery:
    value = record.first(QUERY_ID_KEYS)
    id = str(number) if value is None else check_id(value, "query id", record)
    text = record.first(QUERY_TEXT_KEYS)
    if not isinstance(text, str) or not text.strip():
        keys = ", ".join(QUERY_TEXT_KEYS)
        raise record.error(f"expected a search text ({keys}) of query {shown(id)}, found {describe_json(text or None)}")
    return LabeledQuery(id, canonical_text(text), _relevant(record, id), _top_k(record, id), record.line)


def _relevant(record: SourceRecord, id: str) -> tuple[str, ...]:
    """The relevant ids of a query, each once; a single id needs no list."""
    value = record.only(RELEVANT_KEYS, "the relevant scenes")
    if value is None:
        return ()
    if isinstance(value, (str, int)):
        value = [value]
    if isinstance(value, (JsonPairs, Mapping)) or not isinstance(value, (list, tuple, set, frozenset)):
        raise record.error(
            f"expected a list of scene ids as relevant to query {shown(id)}, found {describe_json(value)}"
        )
    ids = [check_id(scene, f"scene id of query {shown(id)}", record) for scene in value]
    return tuple(dict.fromkeys(sorted(ids) if isinstance(value, (set, frozenset)) else ids))


def _top_k(record: SourceRecord, id: str) -> int | None:
    value = record.only(TOP_K_KEYS, "topK")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise record.error(
            f"expected a whole number of at least 1 as topK of query {shown(id)}, found {describe_json(value)}"
        )
    return value
