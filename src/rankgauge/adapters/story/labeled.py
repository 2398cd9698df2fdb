"""Labelled queries: a search text and the scenes that it should find.

{"id": "q1", "text": "scenes with Anna in danger", "relevant": ["s3", "s4", "s7"], "topK": 5}

One a line, in an array, or in a document under ``queries``. A query without relevant scenes is not labelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge.adapters.story.fields import Row, canonical, listed, name_of, objects
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import log
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.jsonl import said
from rankgauge.io.formats.jsontext import Pairs
from rankgauge.io.sources import read_bytes

IDS = ("query_id", "qid", "question_id", "id", "_id")
TEXTS = ("text", "query", "question", "search")
RELEVANT = (
    *("relevant_scene_ids", "relevant_scenes", "expected_scene_ids", "expected_scenes", "scene_ids"),
    *(name for tier in log.KEYS["relevant"] for name in tier),
)
DEPTHS = ("top_k", "k")
QUERIES = "queries"
SOURCE = "queries"


@dataclass(frozen=True)
class LabelledQuery:
    """A search text, the scenes that it should find, and how far recall looks where the query says so itself."""

    id: str
    text: str
    relevant: tuple[str, ...]
    k: int | None = None
    line: int | None = None


@dataclass(frozen=True)
class Labelled:
    """The queries that have labels, in their order, and how many have none."""

    queries: tuple[LabelledQuery, ...]
    unlabelled: int = 0
    source: str = SOURCE


AnyQueries = str | Path | Labelled | Iterable[Mapping[str, Any]] | None


def read_labelled(given: AnyQueries) -> Labelled:
    """Labelled queries from a JSON Lines or JSON file, or from dicts. An empty file holds none."""
    if isinstance(given, Labelled):
        return given
    if isinstance(given, (str, Path)):
        return _labelled(_rows(str(given), read_bytes(given)[0]), str(given))
    if given is None:
        return Labelled(())
    if isinstance(given, (Mapping, bytes, bytearray)) or not isinstance(given, Iterable):
        raise InputTypeError(
            f"{SOURCE}: expected a list of dicts, found {type(given).__name__}",
            hint='queries are a file, or a list of {"text": "…", "relevant": ["…"]}',
        )
    return _labelled(listed(given, SOURCE), SOURCE)


def _rows(source: str, data: bytes) -> list[Row]:
    head = Head(data)
    if not head.text.strip():
        return []
    if not head.is_json:
        raise InputError.at(
            source, 1, f"expected JSON, found {shown(head.line)}", hint='write {"text": "…", "relevant": ["…"]} a line'
        )
    rows, document = objects(Faults(source), data, QUERIES)
    if document is None:
        return rows
    inner = document.first((QUERIES,))
    if isinstance(inner, Pairs) or not isinstance(inner, list):
        raise document.error(f"expected a list under {QUERIES}, found {said(inner)}")
    return listed(inner, source)


def _labelled(rows: list[Row], source: str) -> Labelled:
    queries: list[LabelledQuery] = []
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        query = _query(row, number)
        if query.id in seen:
            raise row.error(f"expected each query id once, found {shown(query.id)} again")
        seen.add(query.id)
        queries.append(query)
    labelled = tuple(query for query in queries if query.relevant)
    return Labelled(labelled, len(queries) - len(labelled), source)


def _query(row: Row, number: int) -> LabelledQuery:
    given = row.first(IDS)
    id = str(number) if given is None else name_of(given, "query id", row)
    text = row.first(TEXTS)
    if not isinstance(text, str) or not text.strip():
        known = ", ".join(TEXTS)
        raise row.error(f"expected a search text ({known}) of query {shown(id)}, found {said(text or None)}")
    return LabelledQuery(id, canonical(text), _relevant(row, id), _depth(row, id), row.line)


def _relevant(row: Row, id: str) -> tuple[str, ...]:
    """The ids that a query names, each once; a lone one needs no list."""
    given = row.only(RELEVANT, "the relevant scenes")
    if given is None:
        return ()
    if isinstance(given, (str, int)):
        given = [given]
    if isinstance(given, (Pairs, Mapping)) or not isinstance(given, (list, tuple, set, frozenset)):
        raise row.error(f"expected a list of scene ids as relevant to query {shown(id)}, found {said(given)}")
    names = [name_of(value, f"scene id of query {shown(id)}", row) for value in given]
    return tuple(dict.fromkeys(sorted(names) if isinstance(given, (set, frozenset)) else names))


def _depth(row: Row, id: str) -> int | None:
    value = row.only(DEPTHS, "topK")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise row.error(f"expected a whole number of at least 1 as topK of query {shown(id)}, found {said(value)}")
    return value
