"""Validation of runs: duplicates, ties, depth, tags, the rank column, and ids against judgments and queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import count_by
from rankgauge.core.batch import NO_LINES
from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ints, repeated, seeds
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import AnyFile
from rankgauge.io.faults import Cause
from rankgauge.io.queries import AnyQueries, read_query_ids
from rankgauge.io.rank_checks import (
    RANK_ORDER,
    SCORES_BY_RANK,
    contradictions,
    describe_cause,
    describe_size,
    find_cause,
)
from rankgauge.io.read import SourceRows, as_qrels
from rankgauge.io.row_checks import ONE_DOCUMENT_ONCE
from rankgauge.validation import id_checks
from rankgauge.validation.clean_scan import scan_for_validation
from rankgauge.validation.findings import Validation
from rankgauge.validation.validated_file import (
    DEFAULT_OPTIONS,
    CheckedRows,
    ValidatedFile,
    ValidationOptions,
    read_for_validation,
)


def validate_run(
    run: AnyFile | SourceRows | ValidatedFile,
    qrels: Qrels | Mapping[str, Any] | AnyFile | None = None,
    queries: AnyQueries | None = None,
    options: ValidationOptions = DEFAULT_OPTIONS,
) -> Validation:
    """Find everything that is wrong with a run, by itself and against judgments and queries if these are given.

    Raises :class:`InputError` if the file cannot be read at all.
    """
    judged = None if qrels is None else read_qrels_to_check_against(qrels)
    query_ids = None if queries is None else read_query_ids(queries)
    file = scan_for_validation(run, options) if judged is None and query_ids is None else None
    file = file or read_for_validation(run, "run", options)
    table = file.table
    if table is not None and len(table):
        report_duplicate_documents(table)
        report_rank_faults(table)
        for cutoff in options.cutoffs:
            report_tie_at_cutoff(table, cutoff)
        report_deep_queries(table, options.max_depth)
        report_shallow_queries(table, options.min_depth)
        report_mixed_tags(table)
        id_checks.report_invisible_characters(table)
        id_checks.report_split_queries(table)
        if query_ids is not None:
            id_checks.report_coverage(table, query_ids, what="the queries", unknown_code="queries-unknown")
        if judged is not None and query_ids is not None:
            id_checks.report_unjudged_queries(table, judged)
        elif judged is not None:
            id_checks.report_coverage(table, judged.queries, what="the judgments", unknown_code="queries-unjudged")
        if judged is not None:
            id_checks.report_run_documents(table, judged)
    return file.result(strict=options.strict)


def read_qrels_to_check_against(qrels: Qrels | Mapping[str, Any] | AnyFile) -> Qrels:
    """Judgments to validate a run against."""
    try:
        return as_qrels(qrels)
    except InputError as error:
        hints = [
            *([error.hint] if error.hint else []),
            "validate the judgments first: rankgauge runs validate --labels FILE",
        ]
        raise type(error)(error.message, hint="\nhint: ".join(hints)) from None


# The results of each query: duplicates, ties, depth, and run tags.


def report_duplicate_documents(table: CheckedRows) -> None:
    """Report documents that appear twice in the ranking of a query."""
    first_rows, repeated_rows = repeated(table.rows.doc, table.query)
    table.add(
        "duplicate-document",
        repeated_rows,
        expected=ONE_DOCUMENT_ONCE,
        found=lambda at: (
            f"document {shown(table.rows.doc[int(repeated_rows[at])])} again for "
            f"{table.describe_query(int(repeated_rows[at]))}{table.first_place(int(first_rows[at]))}"
        ),
    )


def report_tie_at_cutoff(table: CheckedRows, cutoff: int) -> None:
    """Report scores that are equal (as float32) above and below a cutoff."""
    ranked = table.ranking
    rows = np.flatnonzero((ranked.rank == cutoff) & (ranked.tie_last > cutoff))
    table.add(
        "tie-at-cutoff",
        rows,
        expected="a score above the cutoff that is higher than the next",
        found=lambda at: (
            f"the same score, {table.rows.value[rows[at]]:g}, at ranks {ranked.tie_first[rows[at]]} to "
            f"{ranked.tie_last[rows[at]]} of {table.describe_query(int(rows[at]))} (cutoff {cutoff})"
        ),
    )


def report_deep_queries(table: CheckedRows, limit: int | None) -> None:
    """Report queries with more results than allowed."""
    if limit is None:
        return
    rows = np.flatnonzero(table.ranking.rank == limit + 1)
    table.add(
        "too-deep",
        rows,
        expected=f"at most {limit} results per query",
        found=lambda at: f"{table.sizes[table.query[rows[at]]]} for {table.describe_query(int(rows[at]))}",
    )


def report_shallow_queries(table: CheckedRows, limit: int | None) -> None:
    """Report queries with fewer results than required."""
    if limit is None:
        return
    rows = table.first_rows[table.sizes < limit]
    table.add(
        "shallow-query",
        rows,
        expected=f"at least {limit} results per query",
        found=lambda at: f"{table.sizes[table.query[rows[at]]]} for {table.describe_query(int(rows[at]))}",
    )


def report_mixed_tags(table: CheckedRows) -> None:
    """Report run tags that differ from the first one: the first line of each."""
    tag = table.rows.tag
    if tag is None or not len(table):
        return
    rows = np.arange(len(tag))
    different_rows = np.flatnonzero(~tag.same(rows, tag, np.zeros_like(rows)))
    if len(different_rows):
        hashes = tag.take(different_rows).hash(seeds(np.zeros_like(different_rows)))
        different_rows = np.sort(different_rows[np.unique(hashes, return_index=True)[1]])
    table.add(
        "mixed-tags",
        different_rows if len(different_rows) else NO_LINES,
        expected=lambda at: f"one tag, {shown(tag[0])}",
        found=lambda at: shown(tag[int(different_rows[at])]),
    )


# The rank column: whole numbers from 1, each once per query, in the order of the scores.
#
# Evaluation never uses it; people who read the file and tools that cut it by rank do. Each function finds rows; a
# problem that one fault explains is not reported a second time as another.

MIN_SYSTEMATIC_ROWS = 10  # fewer are reported one by one


def report_rank_faults(table: CheckedRows) -> None:
    """Report everything that is wrong with the ranks."""
    ranks = table.ranks
    rank = table.rows.rank
    if ranks is None or rank is None:
        return
    # A reader that derives scores from ranks has checked these itself.
    bad_rows = NO_LINES if table.has_fault("rank") else rows_without_rank(table)
    table.add("rank", bad_rows, expected="a whole number as rank", found=lambda at: shown(rank[int(bad_rows[at])]))
    first_rows, repeated_rows = (NO_LINES, NO_LINES) if table.has_fault("duplicate-rank") else repeated_ranks(table)
    _report_rows(
        table,
        "duplicate-rank",
        repeated_rows,
        expected="each rank once per query",
        found=lambda at: (
            f"rank {ranks[repeated_rows[at]]:.0f} of {table.describe_query(int(repeated_rows[at]))} again"
            f"{table.first_place(int(first_rows[at]))}"
        ),
    )
    before, after = rank_gaps(table)
    _report_rows(
        table,
        "rank-gap",
        after,
        expected="ranks without gaps",
        found=lambda at: (
            f"rank {ranks[after[at]]:.0f} after {ranks[before[at]]:.0f} in {table.describe_query(int(after[at]))}"
        ),
    )
    _report_late_starts(table, ranks, late_starts(table))
    _report_contradictions(table)


def _report_rows(table: CheckedRows, code: str, rows: Ints, *, expected: str, found: Callable[[int], str]) -> None:
    """Report each row; if nearly all rows are wrong in this way, that is one fault."""
    queries = len(np.unique(table.query[rows]))
    cause = Cause(len(rows), queries, table.row_count - table.query_count)
    if not cause.is_systematic or len(rows) < MIN_SYSTEMATIC_ROWS:
        table.add(code, rows, expected=expected, found=found)
        return
    first = int(np.argmin(table.rows.line[rows]))
    cause = replace(cause, line=int(table.rows.line[rows[first]]), example=found(first))
    table.add_cause(code, cause, expected=expected, found=lambda cause: f"{cause.example} ({describe_size(cause)})")


def _report_late_starts(table: CheckedRows, ranks: NDArray[np.float64], top_rows: Ints) -> None:
    """Report ranks that do not start at 1 as one fault: a file usually has them for all queries or for none."""
    if not len(top_rows):
        return
    row = int(top_rows[np.argmin(table.rows.line[top_rows])])
    example = f"ranks from {ranks[row]:.0f} in {table.describe_query(row)}"
    cause = Cause(len(top_rows), len(top_rows), table.query_count, int(table.rows.line[row]), example)
    table.add_cause("rank-start", cause, expected="ranks from 1", found=_describe_late_starts)


def _describe_late_starts(cause: Cause) -> str:
    return cause.example if cause.queries == 1 else f"{cause.example} ({plural(cause.queries, 'query')} in all)"


def _report_contradictions(table: CheckedRows) -> None:
    assert table.ranks is not None
    cause = find_cause(table.rows.line, table.query, table.ranks, table.rows.value, table.describe_query)
    cause = replace(cause, checked=table.row_count - table.query_count)
    table.add_cause(RANK_ORDER, cause, expected=SCORES_BY_RANK, found=describe_cause)


def queries_with_wrong_ranks(table: CheckedRows) -> Ints:
    """The queries whose ranks have any fault."""
    if table.ranks is None:
        return NO_LINES
    rows = [
        rows_without_rank(table),
        repeated_ranks(table)[1],
        rank_gaps(table)[1],
        late_starts(table),
        rank_contradictions(table)[1],
    ]
    return np.unique(table.query[np.concatenate(rows)])


def rows_without_rank(table: CheckedRows) -> Ints:
    """The rows whose rank is not a whole number."""
    return np.flatnonzero(np.isnan(table.ranks)) if table.ranks is not None else NO_LINES


def repeated_ranks(table: CheckedRows) -> tuple[Ints, Ints]:
    """Pairs of rows with the same rank in the same query: (the earlier row, the later row)."""
    rows, next_rows, ranks = _neighbors(table)
    is_same = ranks[rows] == ranks[next_rows]
    return rows[is_same], next_rows[is_same]


def rank_gaps(table: CheckedRows) -> tuple[Ints, Ints]:
    """Pairs of rows between whose ranks one is missing, unless a line between them could not be read."""
    rows, next_rows, ranks = _neighbors(table)
    is_gap = (ranks[next_rows] > ranks[rows] + 1) & ~_ambiguous_queries(table)[table.query[rows]]
    rows, next_rows = rows[is_gap], next_rows[is_gap]
    is_unexplained = ~_skipped_between(table, table.rows.line[rows], table.rows.line[next_rows])
    return rows[is_unexplained], next_rows[is_unexplained]


def late_starts(table: CheckedRows) -> Ints:
    """The best-ranked row of each query that does not start at 1, unless the line above could not be read."""
    order, ranks = _by_rank(table)
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = table.query[order[1:]] != table.query[order[:-1]]
    top_rows = order[is_first]
    top_rows = top_rows[(ranks[top_rows] != 1) & ~_ambiguous_queries(table)[table.query[top_rows]]]
    line = table.rows.line
    line_above = np.where(top_rows > 0, line[top_rows - 1], 0)
    unexplained_rows: Ints = top_rows[~_skipped_between(table, line_above, line[top_rows])]
    return unexplained_rows


def rank_contradictions(table: CheckedRows) -> tuple[Ints, Ints]:
    """Pairs of rows with neighboring ranks of which the lower-ranked one has the higher score."""
    if table.ranks is None:
        return NO_LINES, NO_LINES
    return contradictions(table.query, table.ranks, table.rows.value)


def _by_rank(table: CheckedRows) -> tuple[Ints, NDArray[np.float64]]:
    """The rows that have a rank, by query and rank; and all ranks."""
    ranks = table.ranks if table.ranks is not None else np.full(len(table), np.nan)
    order = np.arange(len(ranks)) if _is_sorted(table, ranks) else np.lexsort((ranks, table.query))
    return order[~np.isnan(ranks[order])], ranks


def _is_sorted(table: CheckedRows, ranks: NDArray[np.float64]) -> bool:
    """Whether the rows are sorted by query and rank already."""
    step = table.query[1:] - table.query[:-1]
    return bool(np.all((step > 0) | ((step == 0) & (ranks[1:] >= ranks[:-1]))))


class _RankPairs(NamedTuple):
    """Pairs of rows that follow each other by rank in a query; and all ranks."""

    rows: Ints
    next_rows: Ints
    ranks: NDArray[np.float64]


def _neighbors(table: CheckedRows) -> _RankPairs:
    order, ranks = _by_rank(table)
    is_same_query = table.query[order[1:]] == table.query[order[:-1]]
    return _RankPairs(order[:-1][is_same_query], order[1:][is_same_query], ranks)


def _ambiguous_queries(table: CheckedRows) -> NDArray[np.bool_]:
    """The queries with a rank that is repeated or not a number: which one is missing there is unknown."""
    rows = np.concatenate([rows_without_rank(table), repeated_ranks(table)[1]])
    return count_by(table.query[rows], len(table.queries)) > 0


def _skipped_between(table: CheckedRows, lines: Ints, other_lines: Ints) -> NDArray[np.bool_]:
    """Whether a line that could not be read is between two lines."""
    low, high = np.minimum(lines, other_lines), np.maximum(lines, other_lines)
    is_between: NDArray[np.bool_] = np.searchsorted(table.skipped, high) > np.searchsorted(table.skipped, low)
    return is_between
