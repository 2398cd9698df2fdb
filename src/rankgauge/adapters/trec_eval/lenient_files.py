"""Judgments, results and the file of -Z as trec_eval reads them, misreadings included; what crashes it is an error."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.command_line import (
    TREC_COMPUTE_ERROR,
    TREC_FILE_ERROR,
    TREC_ZSCORE_ERROR,
    TrecEvalError,
)
from rankgauge.adapters.trec_eval.families import JudgmentFormat
from rankgauge.adapters.trec_eval.judge_groups import JudgeRows
from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat, comparable
from rankgauge.core.run import Run
from rankgauge.errors import InputError, shown
from rankgauge.io import text_checks
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.formats.white_space import TokenLines, pad, split_columns
from rankgauge.measures import trec_names as trec

INDENTED_COMMENT = re.compile(rb"(?m)^[ \t\v\f\r]*#[^\n]*\n?")
COMMENT_BEFORE_ROW = re.compile(rb"(?m)^#[^\n]*(?:\n([^\n]*\n?)|\Z)")


def read_qrels(path: str, compat: Compat) -> Qrels:
    """Read judgments. Repeated documents are detected when their query is evaluated, not here."""
    data = read_data(path)
    if compat == "trec_eval-10":
        # The line after a comment is read as a judgment even if it begins with # too.
        data = COMMENT_BEFORE_ROW.sub(rb"\1", data)
    lines = split_columns(pad(data), 4)
    malformed = np.concatenate([lines.short, lines.blank, lines.line[lines.count > 4]])
    if len(malformed):
        line = int(malformed.min())
        raise TrecEvalError(
            TREC_FILE_ERROR, f"{path}:{line}: malformed line, expected 4 columns: {shown(lines.text(line))}"
        )
    grades = parse_grades(path, lines.column(3), lines.line)
    return Qrels.build(lines.column(0), lines.column(2), grades, name=path, unique=False)


def check_run_path(path: str, compat: Compat) -> None:
    """Raise if trec_eval does not read a run from there."""
    if path == "-" and compat == "trec_eval-9":
        raise TrecEvalError(
            TREC_FILE_ERROR, "-: trec_eval 9 does not read standard input", hint="--compat trec_eval-10 does"
        )


def read_run(path: str, compat: Compat, *, source: str | None = None) -> tuple[Run, bytes]:
    """Read a run as it is in the file, and the run id of its last line; ``source`` is its name in messages."""
    source = path if source is None else source
    check_run_path(source, compat)
    data = read_data(path, source=source)
    if compat == "trec_eval-10":
        data = INDENTED_COMMENT.sub(b"", data)
    lines = split_columns(pad(data), 6)
    if len(lines.short):
        line = int(lines.short[0])
        raise TrecEvalError(
            TREC_FILE_ERROR, f"{source}:{line}: malformed line, expected 6 columns: {shown(lines.text(line))}"
        )
    if not len(lines):
        raise TrecEvalError(TREC_FILE_ERROR, f"{source}: no result lines")
    scores = _scores(source, lines)
    return Run.build(lines.column(0), lines.column(2), scores, name=source), lines.column(5)[len(lines) - 1]


def read_data(path: str, *, source: str | None = None) -> bytes:
    """The bytes of a file that is not empty and has no NUL byte."""
    source = path if source is None else source
    try:
        data, _ = read_bytes(path, source=source)
    except InputError as error:
        raise TrecEvalError(TREC_FILE_ERROR, error.message) from None
    if not data:
        raise TrecEvalError(TREC_FILE_ERROR, f"{source}: file is empty")
    if b"\0" in data:
        raise TrecEvalError(TREC_FILE_ERROR, f"{source}: NUL byte at offset {data.index(bytes(1))}: not a text file")
    return data


def parse_grades(path: str, tokens: Ids, line: Ints) -> Floats:
    """Whole numbers as C's atol reads them."""
    if int(tokens.length.max(initial=0)) <= 8:
        distinct, index = np.unique(tokens.words(0), return_inverse=True)
        texts = [int(word).to_bytes(8, "little").rstrip(b"\0") for word in distinct.tolist()]
    else:
        texts, index = list(tokens), np.arange(len(tokens))
    values = [trec.whole(text.decode("latin-1")) for text in texts]
    if values and max(values) >= trec.LARGEST_LONG:
        row = int(np.flatnonzero(np.array(values)[index] >= trec.LARGEST_LONG)[0])
        raise TrecEvalError(TREC_COMPUTE_ERROR, f"{path}:{line[row]}: grade {shown(tokens[row])} is too large")
    return np.array(values, dtype=np.float64)[index.reshape(-1)]


def _scores(path: str, lines: TokenLines) -> Floats:
    """Numbers as C's atof reads them; NaN, which has no order, is an error."""
    tokens = lines.column(4)
    values, is_plain = text_checks.parse_plain(tokens)
    for row in np.flatnonzero(~is_plain).tolist():
        values[row] = leading_number(tokens[row])
        if math.isnan(values[row]):
            raise TrecEvalError(TREC_FILE_ERROR, f"{path}:{lines.line[row]}: score is NaN, which cannot be ranked")
    return values


def leading_number(text: bytes) -> float:
    """The number at the beginning of a text, or 0 if there is none."""
    return trec.real(text.decode("latin-1"))


# Preference and group judgments as trec_eval reads them.

# trec_eval 10 reads the line after a comment as a judgment, whatever it begins with.
COMMENT_AND_NEXT_LINE = re.compile(rb"(?m)^#[^\n]*(?:\n|\Z)([^\n]*(?:\n|\Z))")
GROUP_COLUMNS: dict[JudgmentFormat, tuple[str, ...]] = {
    "prefs": ("query", "group", "subgroup", "document", "level"),
    "qrels_prefs": ("query", "group", "document", "level"),
    "qrels_jg": ("query", "group", "document", "level"),
}
ONLY_GROUP = b"0"  # the subgroup of preferences that name none
HIDING_LEVEL = -3.0  # trec_eval's mark for "no level yet"; see without_hidden_levels


def read_group_judgments(path: str, judgments: JudgmentFormat, compat: Compat) -> JudgeRows:
    """Read ``query group subgroup document level`` (``prefs``) or ``query group document level``."""
    lines = read_group_lines(path, len(GROUP_COLUMNS[judgments]), compat)
    columns = dict(zip(GROUP_COLUMNS[judgments], map(lines.column, range(len(GROUP_COLUMNS[judgments]))), strict=True))
    if judgments == "qrels_prefs":
        columns["subgroup"] = Ids.from_bytes([ONLY_GROUP]).take(np.zeros(len(lines), dtype=np.int64))
    if judgments == "qrels_jg":
        levels = parse_grades(path, columns["level"], lines.line)
    else:
        levels = np.array([leading_number(token) for token in columns["level"]])
        if np.isnan(levels).any():
            row = int(np.flatnonzero(np.isnan(levels))[0])
            raise TrecEvalError(TREC_FILE_ERROR, f"{path}:{lines.line[row]}: level is NaN, which cannot be compared")
    try:
        rows = JudgeRows.of(
            columns["query"], columns["group"], columns["document"], levels, columns.get("subgroup"), name=path
        )
    except InputError as error:
        raise TrecEvalError(TREC_FILE_ERROR, f"{path}: {error.message}") from None
    rows = replace(rows, level=comparable(rows.level, compat).astype(np.float64))
    return rows if judgments == "qrels_jg" else without_hidden_levels(rows)


def read_group_lines(path: str, columns: int, compat: Compat) -> TokenLines:
    """The lines of a file, all of which must have this number of columns."""
    data = read_data(path)
    if compat == "trec_eval-10":
        if any(not match[1] for match in COMMENT_AND_NEXT_LINE.finditer(data)):
            raise TrecEvalError(TREC_FILE_ERROR, f"{path}: the last line is a comment, which trec_eval 10 cannot read")
        data = COMMENT_AND_NEXT_LINE.sub(rb"\1", data)
    lines = split_columns(pad(data), columns)
    malformed = np.concatenate([lines.short, lines.blank, lines.line[lines.count > columns]])
    if len(malformed):
        line = int(malformed.min())
        raise TrecEvalError(
            TREC_FILE_ERROR, f"{path}:{line}: malformed line, expected {columns} columns: {shown(lines.text(line))}"
        )
    return lines


def without_hidden_levels(preferences: JudgeRows) -> JudgeRows:
    """The judgments without those that trec_eval overlooks: the lowest level of a group whose highest level is -3."""
    levels = preferences.level
    if not (levels == HIDING_LEVEL).any():
        return preferences
    kept = np.ones(len(preferences), dtype=bool)
    subgroup = np.zeros(len(preferences)) if preferences.subgroup is None else preferences.subgroup
    for rows in rows_of_sets(preferences.query, preferences.group):
        lowest = levels[rows].min()
        is_ordered = len(np.unique(subgroup[rows])) == 1
        if is_ordered and levels[rows].max() == HIDING_LEVEL and lowest < HIDING_LEVEL:
            kept[rows[levels[rows] == lowest]] = False
    return preferences.filter(kept)


def rows_of_sets(query: Ints, group: Ints) -> list[NDArray[np.int64]]:
    """The rows of each group of each query."""
    order = np.lexsort((group, query))
    changes = (np.diff(query[order]) != 0) | (np.diff(group[order]) != 0)
    return np.split(order, np.flatnonzero(changes) + 1)


# The file of -Z: the mean and the deviation of each measure for each query over reference systems.

UNKNOWN_ZSCORE = -1000000.0


@dataclass(frozen=True)
class ZScores:
    """The lines of the file, sorted by query and measure, and where each query begins and ends."""

    measures: list[bytes]
    deviations: list[tuple[float, float]]  # mean and deviation
    queries: dict[bytes, tuple[int, int]]
    last_query: bytes

    @classmethod
    def read(cls, path: str) -> ZScores:
        """Read ``query measure mean deviation`` lines."""
        try:
            data, _ = read_bytes(path)
        except InputError as error:
            raise TrecEvalError(TREC_ZSCORE_ERROR, error.message) from None
        if not data:
            raise TrecEvalError(TREC_ZSCORE_ERROR, f"{path}: file is empty")
        rows = []
        for line, text in enumerate(data.removesuffix(b"\n").split(b"\n"), start=1):
            fields = text.split()
            if len(fields) != 4:
                raise TrecEvalError(
                    TREC_ZSCORE_ERROR, f"{path}:{line}: malformed line, expected 4 columns: {shown(text)}"
                )
            rows.append(fields)
        rows.sort(key=lambda fields: (fields[0], fields[1]))
        queries: dict[bytes, tuple[int, int]] = {}
        for index, (query, *_) in enumerate(rows):
            queries[query] = (queries.get(query, (index, index))[0], index + 1)
        return cls(
            [measure for _, measure, *_ in rows],
            [(leading_number(mean), leading_number(deviation)) for *_, mean, deviation in rows],
            queries,
            rows[-1][0],
        )

    def scale(self, query: bytes, label: bytes, value: float) -> float:
        """The distance of a value from its mean, in deviations."""
        if query > self.last_query:
            raise TrecEvalError(TREC_COMPUTE_ERROR, f"query {shown(query)} sorts after the last query of the -Z file")
        index = self._find(query, label)
        if index is None:
            return UNKNOWN_ZSCORE
        mean, deviation = self.deviations[index]
        if deviation:
            with np.errstate(all="ignore"):
                return float((np.float64(value) - np.float64(mean)) / np.float64(deviation))
        return 0.0 if value == mean else UNKNOWN_ZSCORE

    def _find(self, query: bytes, label: bytes) -> int | None:
        """The line of a measure, by trec_eval's binary search, which also looks at the line after the query's last."""
        if query not in self.queries:
            return None
        first, end = self.queries[query]
        low, high = first, end
        while low <= high:
            index = first + (low - first + high - first) // 2
            if index == len(self.measures):
                raise TrecEvalError(TREC_COMPUTE_ERROR, f"{shown(label)} sorts after the last measure of the -Z file")
            if label == self.measures[index]:
                return index
            low, high = (low, index - 1) if label < self.measures[index] else (index + 1, high)
        return None
