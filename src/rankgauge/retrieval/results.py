"""What other people's retrievers return, as ids with scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rankgauge.core.ids import encode_id
from rankgauge.core.run import checked_score
from rankgauge.errors import InputTypeError, shown

ID_KEYS = ("id", "_id", "doc_id", "document_id", "chunk_id", "node_id", "docno", "source")
SHAPES = "ids, (id, score) pairs, {id: score}, objects with an id, or LangChain's or LlamaIndex's documents"
Pair = tuple[bytes, float | None]


def pairs(query: str, found: Any, id_key: str | None = None) -> list[Pair]:
    """Ids and scores of one query's results, best first; a score is None where there is none."""
    if found is None:
        return []
    if isinstance(found, Mapping) and not {"id", "_id"} & set(found):
        return [(_id(query, name), checked_score(score, query, name)) for name, score in found.items()]
    if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
        raise InputTypeError(f"results of query {shown(query)} must be {SHAPES}, found {type(found).__name__}")
    return [_pair(query, item, id_key) for item in found]


def _pair(query: str, item: Any, id_key: str | None) -> Pair:
    if isinstance(item, (str, bytes)):
        return _id(query, item), None
    if isinstance(item, (tuple, list)) and len(item) == 2:
        inner, score = item
        name = _id(query, inner) if isinstance(inner, (str, bytes)) else _pair(query, inner, id_key)[0]
        return name, checked_score(score, query, name)
    score = _get(item, "score")
    inner = _get(item, "node")  # LlamaIndex's NodeWithScore
    found = _named(item if inner is None else inner, id_key)
    if found is None:
        raise InputTypeError(
            f"a result of query {shown(query)} has no id: {shown(repr(item))}",
            hint="LangChain's Document.id is None unless you set it: set it, or say which key of metadata holds the id",
        )
    name = _id(query, found)
    return name, None if score is None else checked_score(score, query, name)


def _named(item: Any, id_key: str | None) -> Any:
    """The id of an object: the key asked for, or the first known one, of itself or of its metadata."""
    metadata = _get(item, "metadata") or {}
    for key in (id_key,) if id_key else ID_KEYS:
        for holder in (item, metadata):
            value = _get(holder, key)
            if isinstance(value, (str, bytes)) and value:
                return value
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
    return None


def _get(item: Any, key: str) -> Any:
    return item.get(key) if isinstance(item, Mapping) else getattr(item, key, None)


def _id(query: str, value: object) -> bytes:
    return encode_id(value, f"document id of query {shown(query)}")
