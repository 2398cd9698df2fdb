"""Read what other libraries' retrievers return, as ids with scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rankgauge.core.ids import encode_id
from rankgauge.core.run import checked_score
from rankgauge.errors import InputTypeError, shown

RESULT_ID_KEYS = ("id", "_id", "doc_id", "document_id", "chunk_id", "node_id", "docno", "source")
RESULT_SHAPES = "ids, (id, score) pairs, {id: score}, objects with an id, or LangChain or LlamaIndex documents"
ScoredId = tuple[bytes, float | None]


def parse_results(query: str, results: Any, id_key: str | None = None) -> list[ScoredId]:
    """Ids and scores of one query's results, best first; a score is None if the result has none."""
    if results is None:
        return []
    if isinstance(results, Mapping) and not {"id", "_id"} & set(results):
        return [(_encode(query, name), checked_score(score, query, name)) for name, score in results.items()]
    if isinstance(results, (str, bytes)) or not isinstance(results, Iterable):
        raise InputTypeError(f"results of query {shown(query)} must be {RESULT_SHAPES}, found {type(results).__name__}")
    return [_parse_result(query, item, id_key) for item in results]


def _parse_result(query: str, item: Any, id_key: str | None) -> ScoredId:
    if isinstance(item, (str, bytes)):
        return _encode(query, item), None
    if isinstance(item, (tuple, list)) and len(item) == 2:
        inner, score = item
        name = _encode(query, inner) if isinstance(inner, (str, bytes)) else _parse_result(query, inner, id_key)[0]
        return name, checked_score(score, query, name)
    score = _field(item, "score")
    inner = _field(item, "node")  # LlamaIndex's NodeWithScore
    result_id = _find_id(item if inner is None else inner, id_key)
    if result_id is None:
        raise InputTypeError(
            f"a result of query {shown(query)} has no id: {shown(repr(item))}",
            hint="LangChain's Document.id is None unless you set it: set it, or name the metadata key with the id",
        )
    name = _encode(query, result_id)
    return name, None if score is None else checked_score(score, query, name)


def _find_id(item: Any, id_key: str | None) -> str | bytes | None:
    """The id of an object: the requested key, or the first usual one, of the object or of its metadata."""
    metadata = _field(item, "metadata") or {}
    for key in (id_key,) if id_key else RESULT_ID_KEYS:
        for holder in (item, metadata):
            value = _field(holder, key)
            if isinstance(value, (str, bytes)) and value:
                return value
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
    return None


def _field(item: Any, key: str) -> Any:
    return item.get(key) if isinstance(item, Mapping) else getattr(item, key, None)


def _encode(query: str, name: object) -> bytes:
    return encode_id(name, f"document id of query {shown(query)}")
