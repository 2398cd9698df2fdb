"""Scores: values per query of named measures, with nothing behind them.

A table is wide (a column of queries, one column per measure) or long (query, measure, value). What is one is decided
here, from the names of columns alone: a column of documents is never in one. A file that rankgauge wrote also says how
its values were made, and keeps a short hash of the labels of each query.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import listing
from rankgauge.errors import InputError, MeasureError, shown
from rankgauge.io.byte_streams import (
    COMPRESSED,
    ENTRY_FILE,
    PEEK_BYTES,
    AnyFile,
    LoadedFile,
    file_of,
    first_bytes,
    is_dataset,
    open_source,
    source_name,
    split_selector,
)
from rankgauge.io.formats import arrow
from rankgauge.io.formats.case_keys import expected_text_keys, label_kind, names_for
from rankgauge.io.formats.delimited import unguard_formula
from rankgauge.io.formats.detection import HEAD_BYTES, Head
from rankgauge.io.formats.frames import frame_columns, is_frame, is_lazy_table
from rankgauge.io.formats.json_text import JsonPairs, as_json
from rankgauge.io.formats.named_columns import columns_for, normalize_name
from rankgauge.io.formats.number_cells import cell_number, number_error
from rankgauge.io.formats.question_log import header_names, paused_collection
from rankgauge.io.reading_options import Reading
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import parse_measure
from rankgauge.measures.registry import DEFAULT_MEASURES

ScoreKind = Literal["certain", "possible"]
SCORES_SCHEMA = "rankgauge.scores/"
LOG_ROLES = ("retrieved", "grades", "forbidden", "evidence")
OWN_NAMES = (
    "conventions",
    "labels",
    "depth",
    "n",
)  # of our long tables, besides the run, the query, the measure and the value
MEASURE_NAMES = ("measure", "metric", "measurename", "metricname")
VALUE_NAMES = ("value", "score", "metricvalue")
LABELS, CONVENTIONS, DEPTH, NOT_ASKED = "labels", "conventions", "depth", "not_asked"
NAMED_COLUMNS, QUERY = 8, "query"
DAMAGED = (TypeError, AttributeError, KeyError, IndexError, OverflowError, UnicodeError, RecursionError)
FIRST_ENTRY_BYTES = 1 << 22
QUERY_HINT = "say which one it is: --column query=NAME; the order of rows never pairs queries"


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The values of one system: those of each numeric column by query, in the order of the queries' bytes."""

    source: str
    name: str
    queries: tuple[str, ...]
    values: Mapping[str, Floats]  # by the names of the columns; NaN if there is none
    measures: Mapping[str, Measure]  # the columns that are measures of ours
    others: Mapping[str, Any] = field(default_factory=dict)  # every other column, for groups
    conventions: str | None = None  # how the values were made, if the file says so
    labels: Mapping[str, str] | None = None  # a hash of the labels of each query, if the file has it
    collection: str | None = None
    depth: int | None = None  # documents per query at most, if the file says so
    not_asked: frozenset[str] = frozenset()  # queries of which the values are those of no results
    summary: Mapping[str, Any] | None = None  # what else our file says in its first line
    faults: Mapping[str, InputError] = field(default_factory=dict)  # of columns with numbers and something else

    def __repr__(self) -> str:
        return f"ScoreTable({self.name!r}, {len(self.queries)} queries: {', '.join(self.values)})"

    @property
    def foreign(self) -> list[str]:
        """The numeric columns that are no measure of ours."""
        return [name for name in self.values if name not in self.measures]


@dataclass(frozen=True, eq=False)
class _ScoreCells:
    """A table before its columns are understood; ``line`` says where a row is."""

    source: str
    names: list[str]
    columns: Mapping[str, Sequence[Any]]
    line: Callable[[int], int | None]
    facts: Mapping[str, Any] = field(default_factory=dict)  # what our file says of all rows


def own_measure(name: str) -> Measure | None:
    """The measure of ours that a column is named after, in any notation; None if there is none."""
    try:
        return parse_measure(name)
    except MeasureError:
        return None


def is_scores(source: Any, reading: Reading) -> bool:
    """Whether results are scores: certainly, or because they have numbers and nothing that labels or rankings have."""
    return score_kind(source, reading) is not None


def score_kind(source: Any, reading: Reading) -> ScoreKind | None:
    """``certain`` by our schema or a measure's name; ``possible`` with a query, numbers, and no documents or labels."""
    if is_frame(source) or is_lazy_table(source):
        return _kind_of_names(_frame_names(source), None, reading)
    if isinstance(source, Mapping):
        return ("certain" if len(source) > 1 else "possible") if _is_score_mapping(source) else None
    if not isinstance(source, (str, Path, LoadedFile)) or is_dataset(source) or reading.run_format is not None:
        return None
    if not isinstance(source, LoadedFile) and not Path(file_of(source)).is_file():
        return None
    if not isinstance(source, LoadedFile):
        try:
            begin = first_bytes(Path(file_of(source)))
        except OSError:
            return None  # whoever reads it says why that fails
        head = Head(begin, *split_selector(source))
        is_long = len(begin) == PEEK_BYTES and head.is_json and head.record is None
        if not begin.startswith(COMPRESSED) and not head.is_arrow and not is_long:
            return _kind_of_head(str(source), head, begin, reading)
    with open_source(source, limits=reading.limits) as stream:
        head = Head(stream.grow_head(HEAD_BYTES) or b"", *split_selector(source))
        if head.is_arrow:
            return _kind_of_names(arrow.column_names(stream), None, reading)
        return _kind_of_head(str(source), head, stream.grow_head(FIRST_ENTRY_BYTES) or head.data, reading)


def _kind_of_head(source: str, head: Head, data: bytes, reading: Reading) -> ScoreKind | None:
    """What a file is by its first bytes; ``data`` has more of them."""
    if head.is_json:
        _check_no_baseline(source, head.text)
        record = head.record
        if record is None or _is_entry_of_mapping(record):
            return "certain" if _has_schema(head.text) else _kind_of_mapping(data, head)
        return _kind_of_record(record, reading)
    names = header_names(head)
    if len(names) < 2 or b"\0" in head.text or _repeats_queries(head, names):
        return None
    return _kind_of_names(names, _first_cells(head), reading)


def read_scores(source: Any, reading: Reading) -> list[ScoreTable]:
    """The scores of each system in a table; a system that is chosen, ``FILE#system``, alone."""
    name = str(source) if isinstance(source, (str, Path, LoadedFile)) else "scores"
    try:
        with paused_collection():
            return _read(source, reading)
    except DAMAGED as error:
        kind = type(error).__name__
        raise InputError.at(name, None, f"cannot be read as scores: {shown(str(error) or kind, 120)}") from None


def _read(source: Any, reading: Reading) -> list[ScoreTable]:
    system = None
    if is_frame(source) or is_lazy_table(source):
        columns = frame_columns(source)
        cells = _ScoreCells("frame", list(columns), dict(columns), lambda row: None)
    elif isinstance(source, Mapping):
        cells = _cells_of_mapping("scores", source)
    else:
        file, system = split_selector(source) if not isinstance(source, LoadedFile) else (source, None)
        cells = _cells_of_file(source if isinstance(source, LoadedFile) else file, reading)
    tables = _tables(cells, reading)
    if system is None:
        return tables
    names = [table.name for table in tables]
    if system not in names:
        raise InputError.at(
            cells.source, None, f"has no system {shown(system)}; there are {listing(map(shown, names), NAMED_COLUMNS)}"
        )
    return [tables[names.index(system)]]


# What is scores, by the names alone.


def _kind_of_names(names: Sequence[str], cells: Sequence[Any] | None, reading: Reading) -> ScoreKind | None:
    """What a table is by the names of its columns, and by its first cells if they are known."""
    named = reading.columns or {}
    queries = [named["query"]] if named.get("query") in names else columns_for(names, "query")
    if columns_for(names, "doc") or "doc" in named or "relevant" in named:
        return None
    if not queries:  # reading it says which column is missing
        is_wide = any(own_measure(name) is not None for name in names)
        return "certain" if is_wide and not any(map(label_kind, names)) else None
    if _long_columns(names) is not None or any(own_measure(name) is not None for name in names if name not in queries):
        return "certain"
    if any(map(label_kind, names)) or expected_text_keys(names) or any(names_for(names, role) for role in LOG_ROLES):
        return None
    if cells is None:
        return "possible" if len(names) > 1 else None
    numbers = [cell_number(cell) for name, cell in zip(names, cells, strict=False) if name not in queries]
    if None in numbers and (columns_for(names, "score") or columns_for(names, "rank")):
        return None  # a run whose column of documents has an unknown name
    return "possible" if any(number is not None for number in numbers) else None


def _repeats_queries(head: Head, names: Sequence[str]) -> bool:
    """Whether the next rows below each other are of one query, as in a run whose documents have an unknown name."""
    queries = columns_for(names, "query")
    if not queries or columns_for(names, "tag") or _long_columns(names) is not None:
        return False
    place = names.index(queries[0])
    rows = [line.split(_delimiter(head.line.decode("utf-8", "replace")).encode()) for line in head.lines[1:3]]
    return len(rows) == 2 and all(len(row) > place for row in rows) and rows[0][place] == rows[1][place] != b""


def _first_cells(head: Head) -> list[str]:
    """The cells of the first row below a header."""
    lines = [line.decode("utf-8", "surrogateescape") for line in head.lines[:2]]
    try:
        return next(csv.reader(lines[1:], delimiter=_delimiter(lines[0])), [])
    except csv.Error:
        return []


def _kind_of_record(record: Mapping[str, Any], reading: Reading) -> ScoreKind | None:
    """What a file of objects is by the first of them."""
    if str(record.get("schema", "")).startswith(SCORES_SCHEMA):
        return "certain"
    names = [str(name) for name in record]
    if any(isinstance(value, (list, tuple, Mapping)) for value in record.values()):
        return None
    if not columns_for(names, "query") and (reading.columns or {}).get("query") not in names:
        return None  # values of a whole run
    return _kind_of_names(names, list(record.values()), reading)


def _is_entry_of_mapping(record: Mapping[str, Any]) -> bool:
    return bool(record) and all(isinstance(value, (Mapping, JsonPairs)) for value in record.values())


def _is_score_mapping(data: Mapping[Any, Any]) -> bool:
    """Whether a dict of dicts has the names of our measures inside, in each of its first queries."""
    first = [*islice(data.values(), 10)]
    if isinstance(data.get("schema"), str):
        return str(data["schema"]).startswith(SCORES_SCHEMA)
    inner = [row for row in first if isinstance(row, Mapping) and row]
    return bool(inner) and len(inner) == len(first) and all(_are_measures(row) for row in inner)


def _are_measures(names: Iterable[Any]) -> bool:
    return all(isinstance(name, str) and own_measure(name) is not None for name in names)


def _check_no_baseline(source: str, text: bytes) -> None:
    """Raise if a file is a baseline that an earlier version stored."""
    if b'"rankgauge.baseline/' in text[: HEAD_BYTES // 16]:
        raise InputError.at(
            source,
            None,
            "a stored baseline of an earlier version",
            hint="name the run or the log that it was made of; or write its scores: "
            "`rankgauge evaluate LABELS RESULTS -q --format json > scores.json`",
        )


def _has_schema(text: bytes) -> bool:
    return f'"{SCORES_SCHEMA}'.encode() in text[: HEAD_BYTES // 16]


def _kind_of_mapping(data: bytes, head: Head) -> ScoreKind | None:
    """What a JSON object is by its first entry, all of whose names are those of our measures if it is scores."""
    decoder, text = json.JSONDecoder(), data[head.begin :].decode("utf-8", "surrogateescape").lstrip()
    try:
        _, end = decoder.raw_decode(text[1:].lstrip())
        rest = text[1:].lstrip()[end:].lstrip().removeprefix(":").lstrip()
        inner, end = decoder.raw_decode(rest)
    except (ValueError, RecursionError):
        return None
    if not isinstance(inner, dict) or not inner or not _are_measures(inner):
        return None
    return "possible" if rest[end:].lstrip().startswith("}") else "certain"  # of one entry, it may be no query


def _frame_names(frame: Any) -> list[str]:
    """The names of the columns of a frame, of which nothing is computed."""
    if hasattr(frame, "collect_schema"):
        return list(frame.collect_schema().names())
    names = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    return [str(name) for name in ([] if names is None else names)]


def _long_columns(names: Sequence[str]) -> tuple[str, str] | None:
    """The columns of measures and of values of a long table."""
    measures = [name for name in names if normalize_name(name) in MEASURE_NAMES]
    values = [name for name in names if normalize_name(name) in VALUE_NAMES]
    return (measures[0], values[0]) if measures and values else None


# The cells of each kind of file.


def _cells_of_file(file: AnyFile, reading: Reading) -> _ScoreCells:
    source = str(file)
    with open_source(file, limits=reading.limits) as stream:
        data = stream.read()
    head = Head(data[: HEAD_BYTES * 2] if len(data) > HEAD_BYTES * 2 else data, source)
    if head.is_arrow:
        table = arrow.table_of(source, data)
        columns = {name: table.column(name).to_pylist() for name in table.column_names}
        return _ScoreCells(source, list(columns), columns, lambda row: None)
    text = data[head.begin :].decode("utf-8", "surrogateescape")
    if not head.is_json:
        return _cells_of_csv(source, text)
    try:
        whole = json.loads(text)
    except ValueError:
        return _cells_of_lines(source, text)
    if isinstance(whole, list):
        return _cells_of_rows(source, whole, lambda row: None)
    if str(whole.get("schema", "")).startswith(SCORES_SCHEMA) and "runs" in whole:
        return _cells_of_our_json(source, whole)
    if _is_entry_of_mapping(whole):
        return _cells_of_mapping(source, whole)
    return _cells_of_lines(source, text)


def _delimiter(line: str) -> str:
    """What separates the names of a header."""
    return max("\t,;", key=line.count)


def _cells_of_csv(source: str, text: str) -> _ScoreCells:
    first = text.split("\n", 1)[0]
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(first), strict=True))
    except csv.Error as error:
        raise InputError.at(source, None, f"cannot be read as a table: {error}") from None
    names, rows = [name.strip() for name in rows[0]], rows[1:]
    lines: list[int] | None = None
    if any(len(row) != len(names) for row in rows):
        lines = [number for number, row in enumerate(rows, start=2) if row]
        rows = [row for row in rows if row]
        wrong = next((at for at, row in enumerate(rows) if len(row) != len(names)), None)
        if wrong is not None:
            raise InputError.at(source, lines[wrong], f"expected {len(names)} columns, found {len(rows[wrong])}")
    _check_names(source, names)
    columns: dict[str, Sequence[Any]] = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
    kept = lines
    return _ScoreCells(source, names, columns or dict.fromkeys(names, ()), lambda row: kept[row] if kept else row + 2)


def _cells_of_lines(source: str, text: str) -> _ScoreCells:
    rows: list[Any] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except ValueError:
            raise InputError.at(source, number, f"expected a JSON object, found {shown(line.strip())}") from None
        lines.append(number)
    facts: Mapping[str, Any] = {}
    if rows and isinstance(rows[0], dict) and str(rows[0].get("schema", "")).startswith(SCORES_SCHEMA):
        facts, rows, lines = rows[0], rows[1:], lines[1:]
    return _cells_of_rows(source, rows, lines.__getitem__, facts)


def _cells_of_rows(
    source: str, rows: Sequence[Any], line: Callable[[int], int | None], facts: Mapping[str, Any] | None = None
) -> _ScoreCells:
    wrong = next((at for at, row in enumerate(rows) if not isinstance(row, Mapping)), None)
    if wrong is not None:
        raise InputError.at(source, line(wrong), f"expected a JSON object, found {shown(json.dumps(rows[wrong]))}")
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    columns = {name: [as_json(row.get(name)) for row in rows] for name in names}
    return _ScoreCells(source, names, columns, line, facts or {})


def _cells_of_mapping(source: str, data: Mapping[Any, Any]) -> _ScoreCells:
    rows = [{"query": str(query), **values} for query, values in data.items()]
    return _cells_of_rows(source, rows, lambda row: None)


def _cells_of_our_json(source: str, data: Mapping[str, Any]) -> _ScoreCells:
    """The output of ``--format json``, which has values of queries with ``-q``."""
    rows, labels = [], data.get(LABELS) or {}
    for run in data["runs"]:
        if "per_query" not in run:
            raise InputError.at(source, None, "has means, and no values of queries", hint="write it with -q")
        rows += [
            {
                "run": run["name"],
                "query": query,
                DEPTH: run.get(DEPTH),
                LABELS: labels.get(query),
                NOT_ASKED: query in run.get(NOT_ASKED, ()),
                **values,
            }
            for query, values in run["per_query"].items()
        ]
    facts = {CONVENTIONS: data.get(CONVENTIONS), "collection": (data.get("qrels") or {}).get("name"), "schema": "json"}
    return _cells_of_rows(source, rows, lambda row: None, facts)


def _check_names(source: str, names: Sequence[str]) -> None:
    repeated = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if repeated is not None:
        raise InputError.at(source, 1, f"two columns are called {shown(repeated)}")


# From cells to tables: the query, the system, and what is a value.


def _tables(cells: _ScoreCells, reading: Reading) -> list[ScoreTable]:
    named = reading.columns or {}
    query = named["query"] if named.get("query") in cells.names else _query_column(cells)
    systems = [name for name in columns_for(cells.names, "tag") if name != query]
    system = named["tag"] if named.get("tag") in cells.names else systems[0] if systems else None
    long = _long_columns([name for name in cells.names if name not in (query, system)])
    is_ours = long is not None and all(name in cells.names for name in (CONVENTIONS, "n"))
    rows = np.arange(len(cells.columns[query]))
    if is_ours:  # rows of means are not queries
        rows = np.array(
            [at for at, value in enumerate(cells.columns[query]) if value not in ("", None)], dtype=np.int64
        )
    names_of = _texts(cells, query, rows)
    if not len(rows):
        raise InputError.at(
            cells.source, None, "has no values of queries", hint="write it with -q" if is_ours else None
        )
    own_system = cells.facts.get("system")
    is_named = isinstance(own_system, str) and ENTRY_FILE.fullmatch(Path(cells.source).name) is None
    default = str(own_system) if is_named else source_name(cells.source)
    systems_of = [default] * len(rows) if system is None else _texts(cells, system, rows)
    if long is not None:
        return _long_tables(cells, rows, names_of, systems_of, (query, system, *long))
    return _wide_tables(cells, rows, names_of, systems_of, (query, system))


def _query_column(cells: _ScoreCells) -> str:
    is_ours = cells.facts or CONVENTIONS in cells.names  # other columns of ours may have the texts of queries
    found = [QUERY] if is_ours and QUERY in cells.names else columns_for(cells.names, "query")
    if len(found) == 1:
        return found[0]
    names = listing(map(shown, found or cells.names), NAMED_COLUMNS)
    what = "several columns may identify queries" if found else "no column identifies queries"
    raise InputError.at(cells.source, 1, f"{what}: {names}", hint=QUERY_HINT)


def _texts(cells: _ScoreCells, name: str, rows: Any) -> list[str]:
    """The ids or names in a column, as text; none may be empty."""
    column = cells.columns[name]
    out = []
    is_guarded = CONVENTIONS in cells.names  # by our CSV, against spreadsheets
    for row in rows.tolist():
        value = column[row]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = "" if value is None else str(value)
        if not text.strip() or (isinstance(value, float) and math.isnan(value)):
            raise InputError.at(cells.source, cells.line(row), f"{name}: expected a text, found nothing")
        out.append(unguard_formula(text) if is_guarded else text)
    return out


def _grouped(rows: Any, systems_of: Sequence[str]) -> dict[str, list[int]]:
    """The places of the rows of each system."""
    places: dict[str, list[int]] = {}
    for at, system in enumerate(systems_of):
        places.setdefault(system, []).append(at)
    return places


def _byte_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: name.encode("utf-8", "surrogateescape"))


def _wide_tables(
    cells: _ScoreCells, rows: Any, queries: Sequence[str], systems: Sequence[str], taken: Sequence[str | None]
) -> list[ScoreTable]:
    declared = cells.facts.get("measures")
    skipped = {*taken, *((LABELS, DEPTH, NOT_ASKED) if cells.facts else ())}
    names = [name for name in cells.names if name not in skipped]
    tables = []
    for system, places in _grouped(rows, systems).items():
        order = _places_by_query(cells, rows, queries, places, system)
        chosen = rows[list(order.values())]
        places_of = chosen.tolist()
        values, measures, others = {}, {}, {}
        faults: dict[str, InputError] = {}
        for name in names:
            column = list(map(cells.columns[name].__getitem__, places_of))
            measure = own_measure(name)
            is_declared = isinstance(declared, list) and name in declared
            numbers = _numbers(cells, chosen, column, name, measure, must_be=measure is not None or is_declared)
            if numbers is None and any(map(_is_number, column)):
                faults[name] = _fault_of(cells, chosen, column, name)
            if numbers is not None:
                values[name] = numbers
            if measure is not None:
                measures[name] = measure
            else:
                others[name] = column if numbers is None else numbers
        labels = (
            {query: cells.columns[LABELS][row] for query, row in zip(order, chosen.tolist(), strict=True)}
            if cells.facts and LABELS in cells.columns
            else None
        )
        depth = cells.columns[DEPTH][places_of[0]] if cells.facts and DEPTH in cells.columns else cells.facts.get(DEPTH)
        flags = cells.columns.get(NOT_ASKED) if cells.facts else None
        not_asked = frozenset(
            query for query, row in zip(order, places_of, strict=True) if flags and flags[row] is True
        )
        origin = _Origin(labels, None, depth, not_asked)
        tables.append(replace(_table(cells, system, order, _Columns(values, measures, others), origin), faults=faults))
    return tables


def _is_number(value: Any) -> bool:
    number = cell_number(value)
    return number is not None and not math.isnan(number)


def _fault_of(cells: _ScoreCells, rows: Any, column: Sequence[Any], name: str) -> InputError:
    """The error for the first cell that is no finite number."""
    numbers = [cell_number(value) for value in column]
    at = next(at for at, number in enumerate(numbers) if number is None or math.isinf(number))
    return number_error(cells.source, cells.line(int(rows[at])), name, column[at])


def _places_by_query(
    cells: _ScoreCells, rows: Any, queries: Sequence[str], places: Sequence[int], system: str
) -> dict[str, int]:
    """The place of each query of a system, in the order of bytes; raises if one is there twice."""
    first: dict[str, int] = {}
    for at in places:
        if queries[at] in first:
            raise _repeated(cells, int(rows[first[queries[at]]]), int(rows[at]), queries[at], system)
        first[queries[at]] = at
    return {query: first[query] for query in _byte_order(first)}


def _repeated(cells: _ScoreCells, first: int, second: int, query: str, system: str, measure: str = "") -> InputError:
    line = cells.line(first)
    of = f"{shown(measure)} of " if measure else ""
    where = "" if line is None else f", first at line {line}"
    return InputError.at(
        cells.source,
        cells.line(second),
        f"{of}query {shown(query)} of {shown(system)} is there twice{where}",
        hint="one row per query; runs of one system go into several files, or get names of their own",
    )


def _long_tables(
    cells: _ScoreCells, rows: Any, queries: Sequence[str], systems: Sequence[str], taken: Sequence[str | None]
) -> list[ScoreTable]:
    _, _, measure_column, value_column = taken
    measure_names = _texts(cells, str(measure_column), rows)
    names = [name for name in cells.names if name not in (*taken, *OWN_NAMES)]
    tables = []
    for system, places in _grouped(rows, systems).items():
        order = _byte_order({queries[at] for at in places})
        row_of = {query: row for row, query in enumerate(order)}
        by_measure: dict[str, list[int]] = {}
        for at in places:
            by_measure.setdefault(measure_names[at], []).append(at)
        values, measures = {}, {}
        for name, own in sorted(by_measure.items(), key=lambda item: _place_of_measure(item[0])):
            _places_by_measure(cells, rows, queries, own, system, name)
            measure = own_measure(name)
            chosen = rows[own]
            column = [cells.columns[str(value_column)][row] for row in chosen.tolist()]
            numbers = _numbers(cells, chosen, column, name, measure, must_be=True)
            full = np.full(len(order), np.nan)
            full[[row_of[queries[at]] for at in own]] = numbers
            values[name] = full
            if measure is not None:
                measures[name] = measure
        first_row: dict[str, int] = {}
        for at in places:
            first_row.setdefault(queries[at], int(rows[at]))
        others = {name: [cells.columns[name][first_row[query]] for query in order] for name in names}
        is_ours = CONVENTIONS in cells.names
        labels = (
            {query: cells.columns[LABELS][first_row[query]] for query in order}
            if is_ours and LABELS in cells.names
            else None
        )
        made = str(cells.columns[CONVENTIONS][int(rows[places[0]])]) if is_ours else None
        depth = cells.columns[DEPTH][int(rows[places[0]])] if is_ours and DEPTH in cells.names else None
        counts = cells.columns["n"] if is_ours else None
        not_asked = frozenset(query for query, row in first_row.items() if counts and str(counts[row]) == "0")
        tables.append(
            _table(cells, system, order, _Columns(values, measures, others), _Origin(labels, made, depth, not_asked))
        )
    return tables


def _place_of_measure(name: str) -> tuple[int, bytes]:
    """Where a measure comes, whatever the order of the rows is: the default ones first, then by their names."""
    measure = own_measure(name)
    defaults = [str(one) for one in DEFAULT_MEASURES]
    place = defaults.index(str(measure)) if str(measure) in defaults else len(defaults)
    return place, name.encode("utf-8", "surrogateescape")


def _places_by_measure(
    cells: _ScoreCells, rows: Any, queries: Sequence[str], places: Sequence[int], system: str, measure: str
) -> None:
    """Raise if a measure has two values of one query."""
    first: dict[str, int] = {}
    for at in places:
        if first.setdefault(queries[at], at) != at:
            raise _repeated(cells, int(rows[first[queries[at]]]), int(rows[at]), queries[at], system, measure)


class _Columns(NamedTuple):
    """The columns of a system: its values, which of them are measures of ours, and every other."""

    values: Mapping[str, Floats]
    measures: Mapping[str, Measure]
    others: Mapping[str, Any]


class _Origin(NamedTuple):
    """What our files say of the values of a system: the hashes of labels, how they were made, and from how deep."""

    labels: Mapping[str, Any] | None
    conventions: str | None
    depth: Any
    not_asked: frozenset[str]


def _table(cells: _ScoreCells, system: str, order: Iterable[str], columns: _Columns, origin: _Origin) -> ScoreTable:
    values, measures, others = columns
    labels, conventions, depth, not_asked = origin
    twice: dict[Measure, str] = {}
    for name, measure in measures.items():
        if twice.setdefault(measure, name) != name:
            raise InputError.at(cells.source, 1, f"{shown(twice[measure])} and {shown(name)} are both {measure}")
    known = None if labels is None else {query: str(label) for query, label in labels.items() if label}
    collection = cells.facts.get("collection")
    return ScoreTable(
        source=cells.source,
        name=system,
        queries=tuple(order),
        values=values,
        measures=measures,
        others=others,
        conventions=conventions or conventions_text(cells.facts.get(CONVENTIONS)),
        labels=known,
        collection=collection if isinstance(collection, str) else None,
        not_asked=not_asked,
        depth=int(depth) if isinstance(depth, int) or (isinstance(depth, str) and depth.isdigit()) else None,
        summary=cells.facts or None,
    )


def conventions_text(stored: Any) -> str | None:
    """How values were made, as one comparable text, from the object that our files have."""
    found = stored.get("text") if isinstance(stored, Mapping) else stored
    return found if isinstance(found, str) else None


def _numbers(
    cells: _ScoreCells, rows: Any, column: Sequence[Any], name: str, measure: Measure | None, *, must_be: bool
) -> Floats | None:
    """The numbers in a column, NaN if there is none; None if they are not numbers and need not be."""
    low, high = (-math.inf, math.inf) if measure is None else measure.definition.range
    plain = _plain_numbers(column)
    if plain is not None and bool(((plain >= low) & (plain <= high)).all()):
        return plain
    out = np.full(len(column), np.nan)
    for at, value in enumerate(column):
        number = cell_number(value)
        if number is not None and math.isnan(number):
            continue
        if number is None or math.isinf(number):
            if not must_be:
                return None
            raise number_error(cells.source, cells.line(int(rows[at])), name, value)
        if not low <= number <= high:
            hint = "write a share as a fraction, 0.85 for 85%" if high == 1 and 1 < number <= 100 else None
            raise InputError.at(
                cells.source,
                cells.line(int(rows[at])),
                f"{name}: expected a number from {low:g} to {high:g}, found {shown(str(value))}",
                hint=hint,
            )
        out[at] = number
    return out if must_be or not np.isnan(out).all() else None


def _plain_numbers(column: Sequence[Any]) -> Floats | None:
    """A column in which every cell is a finite number; None for any other."""
    kinds = set(map(type, column))
    if not kinds or not (kinds <= {int, float} or kinds == {str}):
        return None
    if kinds == {str} and any("_" in cell for cell in column):
        return None  # which Python reads as part of a number
    try:
        numbers = np.fromiter(map(float, column), np.float64, len(column))
    except (ValueError, OverflowError):
        return None
    return numbers if bool(np.isfinite(numbers).all()) else None
