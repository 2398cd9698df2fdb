"""What an entry stores: one list of columns, for both encodings (``entry_codec``) and for rows (``sql_tables``).

Each column has a part (the row and the facts of an entry, its scores, its run, its judgments), a level (one value for
the part, for each query, or for each document of a query) and a kind, which converts it and checks it when it is read.
To store something else, add a row.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict
from enum import Enum
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from rankgauge.core.arrays import Column as QueryColumn
from rankgauge.core.arrays import frozen, query_columns
from rankgauge.core.dataclass import dataclass
from rankgauge.core.ids import PADDING, Ids
from rankgauge.core.run import Status
from rankgauge.errors import Note
from rankgauge.evaluation.conventions import VALUE_CONVENTIONS
from rankgauge.evaluation.scores import Scores
from rankgauge.history.entries import (
    ENTRY_NAME,
    EntryFacts,
    EntrySummary,
    checked_tag,
    count_queries,
    is_saved_time,
    means_with_intervals,
)
from rankgauge.history.location import GitState
from rankgauge.io.stored_json import (
    AtMost,
    Between,
    MapOf,
    Matching,
    Maybe,
    Shape,
    first_misfit,
    number_to_json,
    stored_number,
)
from rankgauge.measures.names import parse_measure
from rankgauge.report.manifest import CONVENTIONS_SHAPE
from rankgauge.retrieval.latency import COST_SHAPE

MAX_COUNT = 2**53
MAX_CHARACTERS = 1 << 20  # of a name, a command or a note
FLOAT, INTEGER = "<f8", "<i8"
HEXADECIMAL = re.compile("[0-9a-f]+")


def _is_hexadecimal(text: str, *lengths: int) -> bool:
    return len(text) in lengths and HEXADECIMAL.fullmatch(text) is not None


NAME = Matching("the name of an entry", lambda text: ENTRY_NAME.fullmatch(text) is not None)
TEXT = Matching(f"a text of at most {MAX_CHARACTERS} characters", lambda text: len(text) <= MAX_CHARACTERS)
SHA256 = Matching("a SHA-256", lambda text: _is_hexadecimal(text, 64))
COMMIT = Matching("the hash of a commit", lambda text: _is_hexadecimal(text, 40, 64))
UID = Matching("32 hexadecimal digits", lambda text: _is_hexadecimal(text, 32))
TIME = Matching("a time as in 2026-11-02T10:11:12Z", is_saved_time)
FINITE = Between(-sys.float_info.max, sys.float_info.max)
COUNT = AtMost(MAX_COUNT)
Known = Mapping[str, Any]  # the columns of a part that were decoded before, and what is given


class Plain:
    """A value that is JSON already. ``shape`` is that of one value in a line."""

    is_table: ClassVar[bool] = False  # whether it is several columns, by their names

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def to_json(self, value: Any) -> Any:
        """For the header of packed bytes, and for a line; of a column, a list."""
        return value

    def from_json(self, value: Any, known: Known) -> Any:
        """The value again; raises ``ValueError`` if it cannot be one."""
        return value


class _Texts(Plain):
    """Texts."""

    def to_json(self, value: Any) -> Any:
        return list(value)

    def from_json(self, value: Any, known: Known) -> Any:
        return tuple(value)


class _MeasureList(Plain):
    """Measures by their names."""

    def to_json(self, value: Any) -> Any:
        return [measure.name for measure in value]

    def from_json(self, value: Any, known: Known) -> Any:
        return tuple(parse_measure(name, compat=known["conventions"].compat) for name in value)


class _Notes(Plain):
    """Notes, each a code and a message."""

    def to_json(self, value: Any) -> Any:
        return [[note.code, note.message] for note in value]

    def from_json(self, value: Any, known: Known) -> Any:
        if any(len(note) != 2 for note in value):
            raise ValueError("a note is not a code and a message")
        return tuple(Note(code, message) for code, message in value)


class _ColumnsOfQueries(Plain):
    """What else is known of the queries, by the name of a column."""

    is_table = True

    def to_json(self, value: Any) -> Any:
        return {name: _plain_column(column) for name, column in value.items()}

    def from_json(self, value: Any, known: Known) -> Any:
        return query_columns(value, Ids.from_text(known["queries"], "query id"))


class Packed(Plain, ABC):
    """A column of many values, which is an array in packed bytes."""

    is_counted: ClassVar[bool] = False  # whether the header has their number

    @abstractmethod
    def to_bytes(self, value: Any) -> bytes:
        """The array."""

    @abstractmethod
    def from_bytes(self, data: bytes, count: int, known: Known) -> Any:
        """The values again; raises ``ValueError`` if their number is another."""


class _Flags(Packed):
    """Small whole numbers, or true and false."""

    def __init__(self, shape: Shape, limit: int = 1, dtype: type = bool) -> None:
        super().__init__(shape)
        self.limit, self.dtype = limit, dtype

    def to_json(self, value: Any) -> Any:
        return value.astype(self.dtype).tolist()

    def from_json(self, value: Any, known: Known) -> Any:
        return frozen(np.array(value, dtype=self.dtype))

    def to_bytes(self, value: Any) -> bytes:
        data: bytes = value.astype(np.uint8).tobytes()
        return data

    def from_bytes(self, data: bytes, count: int, known: Known) -> Any:
        flags = np.frombuffer(data, np.uint8)
        if len(flags) != count or flags.max(initial=0) > self.limit:
            raise ValueError("the status of a query is missing or unknown")
        return frozen(flags.astype(self.dtype))


class _Numbers(Packed):
    """Numbers; ``width`` names the column that has an item for each number of a query, if it has several."""

    def __init__(self, shape: Shape, width: str | None = None) -> None:
        super().__init__(shape)
        self.width = width

    def to_json(self, value: Any) -> Any:
        if self.width is None:
            return [number_to_json(number) for number in value.tolist()]
        return [[number_to_json(number) for number in row] for row in value.tolist()]

    def from_json(self, value: Any, known: Known) -> Any:
        rows = value if self.width is None else [number for row in value for number in row]
        numbers = np.array([stored_number(number) for number in rows], dtype=np.float64)
        return frozen(numbers if self.width is None else numbers.reshape(len(value), len(known[self.width])))

    def to_bytes(self, value: Any) -> bytes:
        data: bytes = value.astype(FLOAT).tobytes(order="F")
        return data

    def from_bytes(self, data: bytes, count: int, known: Known) -> Any:
        shape = (count,) if self.width is None else (count, len(known[self.width]))
        return frozen(np.frombuffer(data, FLOAT).reshape(shape, order="F").astype(np.float64))


class _IdColumn(Packed):
    """Ids of queries or documents, which may have bytes that are not UTF-8."""

    is_counted = True

    def __init__(self, shape: Shape, description: str) -> None:
        super().__init__(shape)
        self.description = description

    def to_json(self, value: Any) -> Any:
        return value.to_text()

    def from_json(self, value: Any, known: Known) -> Any:
        return Ids.from_text(value, self.description)

    def to_bytes(self, value: Any) -> bytes:
        data: bytes = value.content()
        return data

    def from_bytes(self, data: bytes, count: int, known: Known) -> Any:
        lengths = np.frombuffer(data[: 8 * count], INTEGER).astype(np.int64)
        text = data[8 * count :]
        if len(lengths) != count or lengths.min(initial=0) < 0 or int(lengths.sum()) != len(text):
            raise ValueError("the lengths of ids are wrong")
        buffer = np.frombuffer(text + bytes(PADDING), dtype=np.uint8)
        return Ids(buffer, np.cumsum(lengths) - lengths, lengths)


class EntryPart(Enum):
    """A part of an entry: where a column is stored, and what it is an attribute of."""

    ENTRY = "a column of the table of entries"  # an EntrySummary
    FACTS = "JSON in the table of entries"  # FactSources
    SCORES = "packed bytes, and a line for each query"  # Scores
    RUN = "packed bytes, and a line for each ranking"  # a Run
    LABELS = "packed bytes, and a file with a line for each query"  # Qrels


class Level(Enum):
    """What has a value of a column."""

    PART = 1
    QUERY = 2
    DOCUMENT = 3  # of a query


@dataclass(frozen=True)
class FactSources:
    """What the facts of an entry are taken from."""

    scores: Scores
    given: EntryFacts
    git: GitState
    version: str


@dataclass(frozen=True)
class EntryColumn:
    """Something that an entry stores: an attribute of its part, and how it is written."""

    part: EntryPart
    name: str
    kind: Plain
    level: Level = Level.PART
    in_lines: str | None = None  # its key there, if that is not its name
    of: Callable[[Any], Any] | None = None  # its value, if that is not the attribute

    @property
    def key(self) -> str:
        """Its key in a line, which has one value of each column."""
        return self.in_lines or self.name

    @property
    def header_key(self) -> str:
        """Its key in the header of packed bytes, which have all values of a column."""
        return self.key if self.level is Level.PART else self.name

    def value(self, source: Any) -> Any:
        """Its value in what it is an attribute of."""
        return (self.of or attrgetter(self.name))(source)


STATUS = _Flags(AtMost(max(Status)), limit=max(Status), dtype=np.uint8)
COLUMNS = (
    EntryColumn(EntryPart.ENTRY, "name", Plain(NAME)),
    EntryColumn(EntryPart.ENTRY, "uid", Plain(UID)),
    EntryColumn(EntryPart.ENTRY, "saved", Plain(TIME)),
    EntryColumn(EntryPart.ENTRY, "tags", _Texts([str])),
    EntryColumn(EntryPart.ENTRY, "system", Plain(TEXT)),
    EntryColumn(EntryPart.ENTRY, "collection", Plain(TEXT)),
    EntryColumn(EntryPart.ENTRY, "labels", Plain(SHA256)),
    EntryColumn(EntryPart.ENTRY, "has_run", Plain(bool)),
    EntryColumn(
        EntryPart.FACTS,
        "git",
        Plain({"commit": Maybe(COMMIT), "branch": Maybe(TEXT), "dirty": Maybe(bool)}),
        of=lambda source: asdict(source.git),
    ),
    EntryColumn(EntryPart.FACTS, "run_sha256", Plain(Maybe(SHA256)), of=attrgetter("scores.run_sha256")),
    EntryColumn(EntryPart.FACTS, "command", Plain(Maybe(TEXT)), of=attrgetter("given.command")),
    EntryColumn(EntryPart.FACTS, "verdict", Plain(Maybe(TEXT)), of=attrgetter("given.verdict")),
    EntryColumn(
        EntryPart.FACTS,
        "queries",
        Plain(dict.fromkeys(("averaged", "missing", "failed", "without_relevant"), COUNT)),
        of=lambda source: count_queries(source.scores),
    ),
    EntryColumn(
        EntryPart.FACTS,
        "conventions",
        Plain({**CONVENTIONS_SHAPE, "rel": FINITE}),
        of=lambda source: {
            name: list(value) if isinstance(value := getattr(source.scores.conventions, name), tuple) else value
            for name in VALUE_CONVENTIONS
        },
    ),
    EntryColumn(
        EntryPart.FACTS,
        "means",
        Plain(MapOf({"value": Maybe(FINITE), "n": COUNT, "low": Maybe(FINITE), "high": Maybe(FINITE)})),
        of=lambda source: {name: asdict(mean) for name, mean in means_with_intervals(source.scores).items()},
    ),
    EntryColumn(EntryPart.FACTS, "coverage", Plain(Maybe(Between(0, 1))), of=attrgetter("given.coverage")),
    EntryColumn(EntryPart.FACTS, "depth", Plain(Maybe(COUNT)), of=attrgetter("given.depth")),
    EntryColumn(
        EntryPart.FACTS,
        "cost",
        Plain(Maybe(COST_SHAPE)),
        of=lambda source: None if source.given.cost is None else asdict(source.given.cost),
    ),
    EntryColumn(EntryPart.FACTS, "rankgauge", Plain(TEXT), of=attrgetter("version")),
    EntryColumn(EntryPart.SCORES, "queries", _Texts(str), Level.QUERY, in_lines="query"),
    EntryColumn(EntryPart.SCORES, "measures", _MeasureList([str])),
    EntryColumn(
        EntryPart.SCORES, "requested", _MeasureList([str]), of=lambda scores: scores.requested or scores.measures
    ),
    EntryColumn(EntryPart.SCORES, "notes", _Notes([[TEXT]])),
    EntryColumn(EntryPart.SCORES, "status", STATUS, Level.QUERY),
    EntryColumn(EntryPart.SCORES, "averaged", _Flags(bool), Level.QUERY),
    EntryColumn(EntryPart.SCORES, "without_relevant", _Flags(bool), Level.QUERY),
    EntryColumn(EntryPart.SCORES, "values", _Numbers([Maybe(FINITE)], width="measures"), Level.QUERY),
    EntryColumn(EntryPart.SCORES, "columns", _ColumnsOfQueries(MapOf(Maybe((str, float, bool)))), Level.QUERY),
    EntryColumn(EntryPart.RUN, "name", Plain(TEXT)),
    EntryColumn(EntryPart.RUN, "source_sha256", Plain(Maybe(SHA256)), in_lines="sha256"),
    EntryColumn(EntryPart.RUN, "queries", _IdColumn(str, "query id"), Level.QUERY, in_lines="ranking"),
    EntryColumn(EntryPart.RUN, "status", STATUS, Level.QUERY),
    EntryColumn(EntryPart.RUN, "docs", _IdColumn(str, "document id"), Level.DOCUMENT),
    EntryColumn(EntryPart.RUN, "scores", _Numbers((str, float)), Level.DOCUMENT),
    EntryColumn(EntryPart.LABELS, "name", Plain(TEXT)),
    EntryColumn(EntryPart.LABELS, "unanswerable", _Texts([str])),
    EntryColumn(
        EntryPart.LABELS,
        "forbidden",
        Plain(MapOf([str])),
        of=lambda qrels: {query: list(docs) for query, docs in qrels.forbidden.items()},
    ),
    EntryColumn(EntryPart.LABELS, "queries", _IdColumn(str, "query id"), Level.QUERY, in_lines="query"),
    EntryColumn(EntryPart.LABELS, "docs", _IdColumn(str, "document id"), Level.DOCUMENT),
    EntryColumn(EntryPart.LABELS, "grades", _Numbers(FINITE), Level.DOCUMENT),
)


def columns_of(part: EntryPart, *levels: Level) -> list[EntryColumn]:
    """The columns of a part, or those of some levels of it."""
    return [column for column in COLUMNS if column.part is part and (not levels or column.level in levels)]


def head_shape(part: EntryPart) -> dict[str, Shape]:
    """The shape of what a part has once, in the first line of a file."""
    return {column.key: column.kind.shape for column in columns_of(part, Level.PART)}


def line_shape(part: EntryPart) -> dict[str, Shape]:
    """The shape of a line of a query."""
    return {
        column.key: [column.kind.shape] if column.level is Level.DOCUMENT else column.kind.shape
        for column in columns_of(part, Level.QUERY, Level.DOCUMENT)
    }


FACTS_SHAPE = head_shape(EntryPart.FACTS)
SUMMARY_SHAPE = {**head_shape(EntryPart.ENTRY), **FACTS_SHAPE}


def facts_of(source: FactSources) -> dict[str, Any]:
    """Everything in a summary that has no column of its own in the table of entries."""
    return {column.name: column.value(source) for column in columns_of(EntryPart.FACTS)}


def check_facts(facts: Any) -> None:
    """Raise ``ValueError`` if the facts of an entry have another shape than those that are written."""
    _check_shape(facts, FACTS_SHAPE, "its facts")


def check_summary(summary: EntrySummary) -> None:
    """Raise ``ValueError`` if anything in a summary is not as it is written."""
    _check_shape(summary.to_dict(), SUMMARY_SHAPE, "it")
    for tag in summary.tags:
        checked_tag(tag)


def _check_shape(value: Any, shape: Shape, name: str) -> None:
    misfit = first_misfit(value, shape)
    if misfit is not None:
        raise ValueError(f"expected {misfit.expected} at {misfit.path or name}, found {misfit.found}")


def _plain_column(column: QueryColumn) -> list[Any]:
    """A column of queries for JSON; what JSON does not have becomes text, and NaN nothing."""
    return [
        None
        if isinstance(value, float) and value != value
        else value
        if isinstance(value, (str, int, float, bool, type(None)))
        else str(value)
        for value in column.tolist()
    ]
