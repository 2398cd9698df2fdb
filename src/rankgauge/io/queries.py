"""The one reader of queries: ids, texts and any column, from every format that contains queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.ids import Ids, encode_id
from rankgauge.core.result_views import HtmlView
from rankgauge.errors import InputError, InputTypeError, Note, found_text, shown
from rankgauge.io import text_checks
from rankgauge.io.byte_streams import (
    DEFAULT_LIMITS,
    AnyFile,
    Limits,
    LoadedFile,
    is_dataset,
    read_bytes,
    split_selector,
)
from rankgauge.io.faults import Faults
from rankgauge.io.formats import arrow, delimited, ir_datasets, question_log
from rankgauge.io.formats.case_tables import is_case_header
from rankgauge.io.formats.detection import Head
from rankgauge.io.formats.json_text import JsonPairs, Record, Records, describe_json, id_from_json, read_records
from rankgauge.io.formats.named_columns import DOC_ID_NAMES, QUERY_ID_NAMES, TEXT_NAMES, has_name, normalize_name
from rankgauge.io.formats.sgml import is_topics, read_topics
from rankgauge.io.text_checks import check_text, replace_lone_surrogates


@dataclass(frozen=True, eq=False)
class Queries(HtmlView):
    """Queries by id, their texts, and further columns: name → query id → value, as ``Qrels.with_columns`` takes."""

    ids: Ids
    texts: Sequence[str | None]
    columns: Mapping[str, Mapping[str, Any]]
    notes: tuple[Note, ...] = ()  # how lines of text were read

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        columns = f", columns {', '.join(self.columns)}" if self.columns else ""
        return f"Queries({len(self)} queries{columns})"

    def numbered(self) -> Queries | None:
        """These queries under short ids, q1, q2, ..., if each is a line of text that is its own id; None if not."""
        if not any(note.code == LINES_ARE_QUESTIONS for note in self.notes):
            return None
        return Queries(Ids.from_text([f"q{number + 1}" for number in range(len(self))]), self.texts, {}, self.notes)

    def known_texts(self) -> dict[str, str]:
        """The text of each query that has one, by its id."""
        return {name: text for name, text in zip(self.ids.to_text(), self.texts, strict=True) if text is not None}


AnyQueries = AnyFile | Queries | Iterable[str | bytes]


def read_queries(path: AnyFile, *, limits: Limits = DEFAULT_LIMITS) -> Queries:
    """Read queries from JSON Lines (BEIR's too), a log, CSV, TSV, Parquet, Arrow, TREC topics or ``irds:…``.

    Lines of ``id tab text``, ``id text`` or only an id are read as well.
    """
    faults = Faults(str(path))
    table = _read_table(faults, path, limits)
    id_key, text_key = _id_key(faults.source, table), _text_key(table)
    ids = _unique_query_ids(faults, table, id_key)
    columns: dict[str, dict[str, Any]] = {}
    for query, row in zip(ids.to_text(), table.records, strict=True):
        for column, value in _with_metadata(row):
            if column not in (id_key, text_key, FIRST_WORD) and isinstance(value, (str, int, float)):
                columns.setdefault("k" if normalize_name(column) == "topk" else column, {})[query] = value
    texts = [_text(row.get(text_key or "")) for row in table.records]
    return Queries(ids, texts, columns, _line_notes(faults.source, table))


def as_queries(source: Queries | AnyFile | Mapping[str, str], *, limits: Limits = DEFAULT_LIMITS) -> Queries:
    """Queries as they are, from their texts by id, or from a file."""
    if isinstance(source, Mapping):
        if wrong := next((text for text in source.values() if not isinstance(text, str)), None):
            raise InputTypeError(f"queries must map ids to texts, found {found_text(wrong)}")
        return Queries(Ids.from_text(list(source), "query id"), list(source.values()), {})
    if isinstance(source, Queries):
        return source
    if not isinstance(source, (str, Path, LoadedFile)):
        raise InputTypeError(f"queries must be a file, or texts by id, found {found_text(source)}")
    return read_queries(source, limits=limits)


def read_query_ids(queries: AnyQueries, *, limits: Limits = DEFAULT_LIMITS) -> Ids:
    """The ids of the queries in a file, or the distinct ones of those that are passed."""
    if isinstance(queries, (str, Path, LoadedFile, Queries)):
        return as_queries(queries, limits=limits).ids
    return Ids.from_bytes(list(dict.fromkeys(encode_id(query, "query id") for query in queries)))


def _read_table(faults: Faults, path: AnyFile, limits: Limits) -> Records:
    if is_dataset(path):
        return _numbered(ir_datasets.queries(str(path)))
    data, _ = read_bytes(path, limits=limits)
    head = Head(data, *split_selector(path))
    if head.is_arrow:
        return _numbered(arrow.table_of(faults.source, data).to_pylist())
    if head.is_json:
        return _from_log(faults, data) if question_log.is_log_head(head, "qrels") else read_records(faults, data)
    if head.is_yaml:
        return _from_log(faults, data)
    if is_topics(head.text):
        return read_topics(faults, data)
    names = question_log.header_names(head)
    if is_case_header(names) and not any(has_name(name, QUERY_ID_NAMES) for name in names):
        return _from_log(faults, data)
    return read_query_table(faults, data, head)


def _numbered(rows: Sequence[Record]) -> Records:
    return Records(np.arange(1, len(rows) + 1), rows)


def _from_log(faults: Faults, data: bytes) -> Records:
    """The queries of a log or of test cases, under the ids that their judgments have."""
    questions = question_log.load(faults, data)
    texts, columns = questions.texts(), questions.columns()
    rows: list[Record] = []
    for query in questions.first_rows:
        name = query.decode("utf-8", "surrogateescape")
        values = {column: by_query[name] for column, by_query in columns.items() if name in by_query}
        values.pop(questions.keys.get("query", ""), None)
        rows.append({**values, "_id": name, "text": texts.get(query)})
    return Records(questions.records.line[list(questions.first_rows.values())], rows)


def _id_key(source: str, table: Records) -> str:
    keys = {normalize_name(name): name for name in reversed(table.names)}
    key = next((keys[name] for name in map(normalize_name, QUERY_ID_NAMES) if name in keys), None)
    if key is None:
        found_keys = ", ".join(shown(name) for name in table.names[:12])
        raise InputError.at(source, None, f"expected a query id ({', '.join(QUERY_ID_NAMES)}), found {found_keys}")
    return key


def _text_key(table: Records) -> str | None:
    keys = {normalize_name(name): name for name in reversed(table.names)}
    return next((keys[name] for name in map(normalize_name, TEXT_NAMES) if name in keys), None)


def _unique_query_ids(faults: Faults, table: Records, key: str) -> Ids:
    """The ids; raises if one of them is wrong or appears twice."""
    ids: list[bytes] = []
    first_lines: dict[bytes, int] = {}
    for line, row in zip(table.line.tolist(), table.records, strict=True):
        value = row.get(key)
        try:
            query = id_from_json(value, "query id")
        except InputError:
            faults.add("id", [line], expected="a string or a whole number as query id", found=describe_json(value))
            continue
        if query in first_lines:
            first_place = f" (first on line {first_lines[query]})" if line else ""
            faults.add(
                "duplicate-id", [line], expected="each query id once", found=f"{shown(query)} again{first_place}"
            )
        first_lines[query] = line
        ids.append(query)
    faults.raise_errors()
    return Ids.from_bytes(ids)


def _with_metadata(row: Record) -> list[tuple[str, Any]]:
    """A row's keys and values, after those of a nested ``metadata`` object."""
    metadata = row.get("metadata")
    nested: list[tuple[str, Any]] = list(metadata) if isinstance(metadata, JsonPairs) else []
    return [*nested, *row.items()]


def _text(value: object) -> str | None:
    return replace_lone_surrogates(value) if isinstance(value, str) else None


# Queries in lines of text: CSV and TSV, ``id tab text``, ``id text``, or one id per line.

MAX_NUMBER_CHARACTERS = 300


def read_query_table(faults: Faults, data: bytes, head: Head) -> Records:
    """The rows of a file, one per query."""
    data = check_text(faults, data)
    delimiter = delimited.delimiter_of(head.line)
    names = [name.strip(b' "').decode("utf-8", "surrogateescape") for name in head.line.split(delimiter)]
    if any(has_name(name, QUERY_ID_NAMES + DOC_ID_NAMES) for name in names):
        cells = delimited.with_header(delimited.split_cells(faults, data, delimiter))
    elif _are_plain_lines(head.line, delimiter, names):
        return _read_plain_lines(faults, data)
    elif len(names) == 2:
        # In MS MARCO's files nothing is quoted, and a text may begin with a quotation mark.
        cells = delimited.split_cells(faults, data, delimiter, quoted=delimiter != b"\t")
        cells = delimited.Cells(("_id", "text"), cells.line, cells.cells)
    else:
        raise InputError.at(
            faults.source,
            1,
            f"expected a header with a query id ({', '.join(QUERY_ID_NAMES)}), found {shown(head.line)}",
        )
    faults.raise_errors()
    if not len(cells.line):
        raise InputError.at(faults.source, None, "no lines below the header")
    values = [_typed(column, name) for name, column in zip(cells.names, cells.cells, strict=True)]
    rows = [dict(zip(cells.names, row, strict=True)) for row in zip(*values, strict=True)]
    return Records(cells.line, [{name: value for name, value in row.items() if value is not None} for row in rows])


def _are_plain_lines(line: bytes, delimiter: bytes, names: list[str]) -> bool:
    """Whether the lines are an id, or an id and a text: commas in the text do not make columns."""
    if delimiter == b"\t" or line.lstrip()[:1] in (b"{", b"["):
        return False
    return len(names) == 1 or len(names[0].split()) > 1 or _is_prose(line, names[0])


def _is_prose(line: bytes, first: str) -> bool:
    """Whether a comma is one of a sentence: a space follows it, and nothing before it has a digit, as an id has."""
    return line.startswith(first.encode("utf-8", "surrogateescape") + b", ") and not any(c.isdigit() for c in first)


LINES_ARE_QUESTIONS = "lines-are-questions"
FIRST_WORD = "first word"  # of a line that is a question: an id only by mistake


def _read_plain_lines(faults: Faults, data: bytes) -> Records:
    """Lines of one id each, of an id and a text, or of a question each, which is its own id.

    The first word is an id only if it has a digit on every line, and is there once: "301 international crime".
    """
    lines = [line.strip() for line in data.decode("utf-8", "surrogateescape").split("\n")]
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line]
    if not numbered:
        raise InputError.at(faults.source, None, "no lines with content")
    words = [line.split(None, 1) for _, line in numbered]
    firsts = [fields[0] for fields in words]
    are_ids = all(len(fields) == 1 for fields in words) or (
        all(any(c.isdigit() for c in first) for first in firsts) and len(set(firsts)) == len(firsts)
    )
    if are_ids:
        rows: list[Record] = [{"_id": one[0], "text": one[1] if len(one) > 1 else None} for one in words]
    else:
        rows = [{"_id": line, "text": line, FIRST_WORD: one[0]} for (_, line), one in zip(numbered, words, strict=True)]
    return Records(np.array([number for number, _ in numbered], dtype=np.int64), rows)


def _line_notes(source: str, table: Records) -> tuple[Note, ...]:
    """A note on lines of text: whether each is a question, or begins with an id."""
    first = table.records[0]
    if FIRST_WORD in first:
        example = f"{shown(str(first['text']))}, not the query {shown(str(first[FIRST_WORD]))}"
        return (Note(LINES_ARE_QUESTIONS, f"{source}: each line is a question: {example}"),)
    return ()


def _typed(column: Ids, name: str) -> list[Any]:
    """The values of a column: numbers if all of them are, else texts; None if empty. Ids and texts stay texts."""
    texts = [text or None for text in column.to_text()]
    if has_name(name, QUERY_ID_NAMES + DOC_ID_NAMES + TEXT_NAMES):
        return texts
    values = [text for text in texts if text is not None]
    if not all(_is_exact_number(text) for text in values):
        return texts
    are_whole = all(text.lstrip("-").isdigit() for text in values)
    return [None if text is None else int(text) if are_whole else float(text) for text in texts]


def _is_exact_number(text: str) -> bool:
    """Whether a text is a number that loses nothing as one: 007 and +1 are names."""
    if not text.isascii() or len(text) >= MAX_NUMBER_CHARACTERS or text.startswith("+"):
        return False
    digits = text.lstrip("-")
    has_leading_zero = len(digits) > 1 and digits[0] == "0" and digits[1] != "."
    return not has_leading_zero and text_checks.DECIMAL.fullmatch(text.encode()) is not None
