"""Preference and group judgments as trec_eval reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.errors import TREC_FILE_ERROR, TrecEvalError
from rankgauge.adapters.trec_eval.files import leading_number, parse_grades, read_data
from rankgauge.core.grouped_qrels import GroupedQrels
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.preferences import Preferences
from rankgauge.core.ranking import Compat, comparable
from rankgauge.errors import InputError, shown
from rankgauge.io.formats.tokens import TokenLines, pad, split_columns

# trec_eval 10 reads the line after a comment as a judgment, whatever it begins with.
COMMENT_AND_NEXT_LINE = re.compile(rb"(?m)^#[^\n]*(?:\n|\Z)([^\n]*(?:\n|\Z))")
HIDING_LEVEL = -3.0  # trec_eval's mark for "no level yet"; see without_hidden_levels


def read_preferences(path: str, compat: Compat) -> Preferences:
    """Read lines of ``query group subgroup document level``."""
    lines = read_group_lines(path, 5, compat)
    return build_preferences(path, lines, PreferenceColumns(lines.column(2), lines.column(3), lines.column(4)), compat)


def read_qrels_as_preferences(path: str, compat: Compat) -> Preferences:
    """Read lines of ``query group document level``; each group has one subgroup."""
    lines = read_group_lines(path, 4, compat)
    subgroup = Ids.from_bytes([b"0"] * len(lines))
    return build_preferences(path, lines, PreferenceColumns(subgroup, lines.column(2), lines.column(3)), compat)


def read_grouped_qrels(path: str, compat: Compat) -> GroupedQrels:
    """Read lines of ``query group document grade``."""
    lines = read_group_lines(path, 4, compat)
    grades = parse_grades(path, lines.column(3), lines.line)
    try:
        return GroupedQrels.build(lines.column(0), lines.column(1), lines.column(2), grades, name=path)
    except InputError as error:
        raise TrecEvalError(TREC_FILE_ERROR, f"{path}: {error.message}") from None


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


@dataclass(frozen=True)
class PreferenceColumns:
    """The columns whose place depends on the format."""

    subgroup: Ids
    doc: Ids
    level: Ids


def build_preferences(path: str, lines: TokenLines, columns: PreferenceColumns, compat: Compat) -> Preferences:
    """The preferences of a file."""
    levels = np.array([leading_number(token) for token in columns.level])
    if np.isnan(levels).any():
        row = int(np.flatnonzero(np.isnan(levels))[0])
        raise TrecEvalError(TREC_FILE_ERROR, f"{path}:{lines.line[row]}: level is NaN, which cannot be compared")
    preferences = Preferences.build(lines.column(0), lines.column(1), columns.subgroup, columns.doc, levels, name=path)
    return without_hidden_levels(preferences, compat)


def without_hidden_levels(preferences: Preferences, compat: Compat) -> Preferences:
    """The judgments without those that trec_eval overlooks: the lowest level of a group whose highest level is -3."""
    levels = comparable(preferences.level, compat)
    if not (levels == HIDING_LEVEL).any():
        return preferences
    kept = np.ones(len(preferences), dtype=bool)
    query = np.repeat(np.arange(len(preferences.queries)), np.diff(preferences.offsets))
    for rows in rows_of_sets(query, preferences.group):
        lowest = levels[rows].min()
        is_ordered = len(np.unique(preferences.subgroup[rows])) == 1
        if is_ordered and levels[rows].max() == HIDING_LEVEL and lowest < HIDING_LEVEL:
            kept[rows[levels[rows] == lowest]] = False
    return preferences.filter(kept)


def rows_of_sets(query: Ints, group: Ints) -> list[NDArray[np.int64]]:
    """The rows of each group of each query."""
    order = np.lexsort((group, query))
    changes = (np.diff(query[order]) != 0) | (np.diff(group[order]) != 0)
    return np.split(order, np.flatnonzero(changes) + 1)
