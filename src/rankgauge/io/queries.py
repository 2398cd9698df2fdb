"""What is known of queries and documents beside judgments: texts, and any column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.ids import Ids
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import arrow, datasets, decimals, delimited, log
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.jsonl import Records, id_of, read, said
from rankgauge.io.formats.jsontext import Pairs
from rankgauge.io.formats.names import plain
from rankgauge.io.sources import DEFAULT, Limits, is_dataset, read_bytes
from rankgauge.io.text import checked, sound

QUERY_IDS = ("_id", "query_id", "qid", "question_id", "topic_id", "id")
DOC_IDS = ("_id", "doc_id", "docno", "document_id", "pid", "passage_id", "corpus_id", "chunk_id", "id")
TEXTS = ("text", "query", "question", "title", "user_input", "prompt", "contents", "body")


@dataclass(frozen=True, eq=False)
class Queries:
    """Queries by id, their texts, and further columns: name → query id → value, as ``Qrels.with_columns`` takes."""

    ids: Ids
    texts: Sequence[str | None]
    columns: Mapping[str, Mapping[str, Any]]

    def __len__(self) -> int:
        return len(self.ids)

    def known_texts(self) -> dict[str, str]:
        """The text of each query that has one, by its id."""
        return {name: text for name, text in zip(self.ids.to_text(), self.texts, strict=True) if text is not None}


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents by id, with titles and texts."""

    ids: Ids
    titles: Sequence[str]
    texts: Sequence[str]

    def __len__(self) -> int:
        return len(self.ids)


def read_queries(path: str | Path, *, limits: Limits = DEFAULT) -> Queries:
    """Read queries from JSON Lines (BEIR's too), a log, CSV, TSV, ``id tab text``, Parquet, Arrow or ``irds:…``."""
    faults = Faults(str(path))
    records = _records(faults, path, limits)
    key, text = _key(faults.source, records, QUERY_IDS), _text(records)
    ids = _ids(faults, records, key, "query id")
    names = ids.to_text()
    columns: dict[str, dict[str, Any]] = {}
    for name, record in zip(names, records.records, strict=True):
        for column, value in _flat(record):
            if column not in (key, text) and isinstance(value, (str, int, float)):
                columns.setdefault("k" if plain(column) == "topk" else column, {})[name] = value
    return Queries(ids, [_as_text(record.get(text or "")) for record in records.records], columns)


def read_corpus(path: str | Path, *, limits: Limits = DEFAULT) -> Corpus:
    """Read documents from JSON Lines (BEIR's ``_id``, ``title``, ``text``), CSV, TSV, Parquet or Arrow."""
    faults = Faults(str(path))
    records = _records(faults, path, limits)
    ids = _ids(faults, records, _key(faults.source, records, DOC_IDS), "document id")
    text = _text(records) or "text"
    return Corpus(
        ids,
        [_as_text(record.get("title")) or "" for record in records.records],
        [_as_text(record.get(text)) or "" for record in records.records],
    )


def _records(faults: Faults, path: str | Path, limits: Limits) -> Records:
    if is_dataset(path):
        rows = datasets.queries(str(path))
        return Records(np.arange(1, len(rows) + 1), rows)
    data, _ = read_bytes(path, limits=limits)
    head = Head(data)
    if head.text.startswith((arrow.PARQUET, arrow.FILE, arrow.STREAM)):
        rows = arrow.table_of(faults.source, data).to_pylist()
        return Records(np.arange(1, len(rows) + 1), rows)
    if head.is_json:
        records = read(faults, data)
        if head.record is not None and log.holds(head.record):
            return _logged(faults, data)
        return records
    return _table(faults, checked(faults, data), head)


def _logged(faults: Faults, data: bytes) -> Records:
    """A log's questions under the ids that its judgments have."""
    found = log.load(faults, data)
    texts, columns = found.texts(), found.columns()
    rows: list[dict[str, Any]] = []
    for query in found.queries.values():
        name = query.decode("utf-8", "surrogateescape")
        more = {column: values[name] for column, values in columns.items() if name in values}
        more.pop(found.keys.get("text", ""), None)
        rows.append({**more, "_id": name, "text": texts.get(query)})
    return Records(found.records.line[list(found.queries)], rows)


def _table(faults: Faults, data: bytes, head: Head) -> Records:
    mark = b"\t" if b"\t" in head.line else b";" if b";" in head.line and b"," not in head.line else b","
    first = [name.strip(b' "').decode("utf-8", "surrogateescape") for name in head.line.split(mark)]
    if any(plain(name) in {plain(known) for known in QUERY_IDS + DOC_IDS} for name in first):
        cells = delimited.headed(delimited.cut(faults, data, mark))
    elif len(first) == 2:
        # MS MARCO's: nothing is quoted there, a text may well begin with a quotation mark.
        cells = delimited.cut(faults, data, mark, quoted=mark != b"\t")
        cells = delimited.Cells(("_id", "text"), cells.line, cells.cells)
    else:
        raise InputError.at(
            faults.source,
            1,
            f"expected a header with an id ({', '.join(QUERY_IDS)}), found {shown(head.line)}",
        )
    faults.stop()
    if not len(cells.line):
        raise InputError.at(faults.source, None, "no lines below the header")
    names = list(cells.names)
    values = [_typed(column, name) for name, column in zip(names, cells.cells, strict=True)]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
    return Records(cells.line, [{k: v for k, v in row.items() if v is not None} for row in rows])


def _typed(column: Ids, name: str) -> list[Any]:
    """A column's texts, or numbers where all are; empty ones are None. Ids and texts stay texts."""
    texts = [text or None for text in column.to_text()]
    if plain(name) in {plain(known) for known in QUERY_IDS + DOC_IDS + TEXTS}:
        return texts
    given = [text for text in texts if text is not None]
    if all(_canonical(text) for text in given):
        whole = all(text.lstrip("-").isdigit() for text in given)
        return [None if text is None else int(text) if whole else float(text) for text in texts]
    return texts


def _canonical(text: str) -> bool:
    """A number that loses nothing: 007 and +1 are names."""
    plain_number = bool(text.isascii() and len(text) < 300 and decimals.DECIMAL.fullmatch(text.encode()))
    digits = text.lstrip("-")
    return plain_number and not text.startswith("+") and not (len(digits) > 1 and digits[0] == "0" and digits[1] != ".")


def _key(source: str, records: Records, known: Sequence[str]) -> str:
    names = records.names
    for name in known:
        for found in names:
            if plain(found) == plain(name):
                return found
    listed = ", ".join(shown(name) for name in names[:12])
    raise InputError.at(source, None, f"expected an id ({', '.join(known)}), found {listed}")


def _text(records: Records) -> str | None:
    names = {plain(name): name for name in reversed(records.names)}
    return next((names[plain(known)] for known in TEXTS if plain(known) in names), None)


def _ids(faults: Faults, records: Records, key: str, what: str) -> Ids:
    """The ids; raises where one is wrong or stands twice."""
    ids: list[bytes] = []
    seen: dict[bytes, int] = {}
    for line, record in zip(records.line.tolist(), records.records, strict=True):
        value = record.get(key)
        try:
            found = id_of(value, what)
        except InputError:
            faults.add("id", [line], expected=f"a string or a whole number as {what}", found=said(value))
            continue
        if found in seen:
            where = f" (first on line {seen[found]})" if line else ""
            faults.add("duplicate-id", [line], expected=f"each {what} once", found=f"{shown(found)} again{where}")
        seen[found] = line
        ids.append(found)
    faults.stop()
    return Ids.from_bytes(ids)


def _flat(record: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """A record's pairs; those of a nested ``metadata`` stand beside the others."""
    nested = record.get("metadata")
    inner: list[tuple[str, Any]] = list(nested) if isinstance(nested, Pairs) else []
    return [*inner, *record.items()]


def _as_text(value: object) -> str | None:
    return sound(value) if isinstance(value, str) else None


def as_queries(source: Queries | str | Path, *, limits: Limits = DEFAULT) -> Queries:
    """Queries as they are, or from a file."""
    return source if isinstance(source, Queries) else read_queries(source, limits=limits)
