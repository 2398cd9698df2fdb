"""Preference and group judgments as trec_eval reads them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.errors import TREC_FILE_ERROR, TrecEvalError
from rankgauge.adapters.trec_eval.files import leading_number, parse_grades, read_data
from rankgauge.adapters.trec_eval.judgment_formats import JudgmentFormat
from rankgauge.core.group_judgments import GroupJudgments
from rankgauge.core.ids import Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat, comparable
from rankgauge.errors import InputError, shown
from rankgauge.io.formats.grouped import GROUP_COLUMNS, group_columns
from rankgauge.io.formats.tokens import TokenLines, pad, split_columns

# trec_eval 10 reads the line after a comment as a judgment, whatever it begins with.
COMMENT_AND_NEXT_LINE = re.compile(rb"(?m)^#[^\n]*(?:\n|\Z)([^\n]*(?:\n|\Z))")
HIDING_LEVEL = -3.0  # trec_eval's mark for "no level yet"; see without_hidden_levels


def read_group_judgments(path: str, judgments: JudgmentFormat, compat: Compat) -> Qrels:
    """Read ``query group subgroup document level`` (``prefs``) or ``query group document level``."""
    lines = read_group_lines(path, len(GROUP_COLUMNS[judgments]), compat)
    columns = group_columns(lines, judgments)
    if judgments == "qrels_jg":
        levels = parse_grades(path, columns.level, lines.line)
    else:
        levels = np.array([leading_number(token) for token in columns.level])
        if np.isnan(levels).any():
            row = int(np.flatnonzero(np.isnan(levels))[0])
            raise TrecEvalError(TREC_FILE_ERROR, f"{path}:{lines.line[row]}: level is NaN, which cannot be compared")
    try:
        qrels = Qrels.build_by_group(
            columns.query, columns.group, columns.doc, levels, subgroup=columns.subgroup, name=path
        )
    except InputError as error:
        raise TrecEvalError(TREC_FILE_ERROR, f"{path}: {error.message}") from None
    if not isinstance(qrels.by_group, GroupJudgments) or judgments == "qrels_jg":
        return qrels
    return replace(qrels, by_group=without_hidden_levels(qrels.by_group, compat))


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


def without_hidden_levels(preferences: GroupJudgments, compat: Compat) -> GroupJudgments:
    """The judgments without those that trec_eval overlooks: the lowest level of a group whose highest level is -3."""
    levels = comparable(preferences.level, compat)
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
