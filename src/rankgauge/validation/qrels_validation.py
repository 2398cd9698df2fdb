"""Validation of judgments: grades, documents judged twice, ids against runs and queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import count_by
from rankgauge.core.id_overlap import IdSide
from rankgauge.core.ids import Interner, Ints, concatenate, repeated
from rankgauge.core.qrels import ANSWERABLE
from rankgauge.errors import shown
from rankgauge.io.byte_streams import AnyFile
from rankgauge.io.formats.subtopics import SUBTOPIC_JUDGMENTS, describe_subtopics, is_by_subtopic
from rankgauge.io.queries import AnyQueries, read_query_ids
from rankgauge.io.read import SourceRows
from rankgauge.io.row_checks import EXPECTED_JUDGMENTS, ONE_JUDGMENT
from rankgauge.validation import id_checks
from rankgauge.validation.findings import Validation
from rankgauge.validation.validated_file import (
    DEFAULT_OPTIONS,
    CheckedRows,
    ValidatedFile,
    ValidationOptions,
    read_for_validation,
)


def validate_qrels(
    qrels: AnyFile | SourceRows | ValidatedFile,
    runs: Sequence[AnyFile | SourceRows] | IdSide = (),
    queries: AnyQueries | None = None,
    options: ValidationOptions = DEFAULT_OPTIONS,
) -> Validation:
    """Find everything that is wrong with judgments, by themselves and against runs and queries if these are given.

    Raises :class:`InputError` if the file cannot be read at all.
    """
    query_ids = None if queries is None else read_query_ids(queries)
    retrieved = runs if isinstance(runs, IdSide) else read_retrieved(runs, options) if runs else None
    file = read_for_validation(qrels, "qrels", options)
    table = file.table
    if table is not None and len(table):
        report_duplicate_judgments(table, by_subtopic=options.by_subtopic)
        report_low_grades(table)
        report_queries_without_relevant(table)
        report_shallow_pools(table, options.min_judged)
        id_checks.report_invisible_characters(table)
        id_checks.report_split_queries(table)
        if query_ids is not None:
            id_checks.report_unknown_queries(table, query_ids)
        if retrieved is not None:
            id_checks.report_unretrieved(table, retrieved)
    return file.result(strict=options.strict)


def read_retrieved(runs: Sequence[AnyFile | SourceRows], options: ValidationOptions = DEFAULT_OPTIONS) -> IdSide:
    """The results of all runs together; the faults of their lines are reported when they are validated."""
    options = replace(options, format=None, max_places=1)
    return retrieved_ids([table for run in runs if (table := read_for_validation(run, "run", options).table)])


def retrieved_ids(tables: Sequence[CheckedRows]) -> IdSide:
    """The results of runs that were read."""
    queries = concatenate([table.rows.query for table in tables])
    docs = concatenate([table.rows.doc for table in tables])
    intern = Interner()
    query_number = intern(queries)
    return IdSide(intern.ids, query_number, docs)


# Judgments: grades, documents judged twice, queries that cannot be scored.

RELEVANT_DOCUMENT = "at least one relevant document per query"


def report_duplicate_judgments(table: CheckedRows, *, by_subtopic: bool = False) -> None:
    """Report documents judged twice for a query (and subtopic), with the same grade or with different ones.

    If there is one judgment for each subtopic, that is one fault.
    """
    is_grouped = table.judgments != "grades"
    by_iter = by_subtopic or is_grouped
    group = table.rows.group(by_iter=True) if by_iter else table.query
    first_rows, repeated_rows = repeated(table.rows.doc, group)
    iters = table.rows.iters
    if iters is not None and not by_iter and is_by_subtopic(group, iters, table.rows.doc, repeated_rows):
        found = describe_subtopics(table.rows.query, iters, table.rows.doc, int(first_rows[0]), repeated_rows)
        table.add(SUBTOPIC_JUDGMENTS, repeated_rows[:1], expected=ONE_JUDGMENT, found=found)
        return
    agree = table.rows.value[first_rows] == table.rows.value[repeated_rows]
    _add_repeated(table, "duplicate-judgment", first_rows[agree], repeated_rows[agree])
    _add_repeated(table, "conflicting-judgment", first_rows[~agree], repeated_rows[~agree])


def _add_repeated(table: CheckedRows, code: str, first_rows: Ints, repeated_rows: Ints) -> None:
    grade = table.rows.value
    table.add(
        code,
        repeated_rows,
        expected=EXPECTED_JUDGMENTS[table.judgments],
        found=lambda at: (
            f"document {shown(table.rows.doc[int(repeated_rows[at])])} of "
            f"{table.describe_query(int(repeated_rows[at]))} again, with grade "
            f"{grade[repeated_rows[at]]:g} after {grade[first_rows[at]]:g}{table.first_place(int(first_rows[at]))}"
        ),
    )


def report_low_grades(table: CheckedRows) -> None:
    """Report zero and negative grades: valid, and worth knowing."""
    grade = table.rows.value
    _add_grades(table, "zero-grade", grade == 0, "grades above 0, if only relevant documents are expected")
    _add_grades(table, "negative-grade", grade < 0, "grades of at least 0")


def _add_grades(table: CheckedRows, code: str, is_reported: NDArray[np.bool_], expected: str) -> None:
    rows = np.flatnonzero(is_reported)
    table.add(
        code,
        rows,
        expected=expected,
        found=lambda at: (
            f"grade {table.rows.value[rows[at]]:g} of document {shown(table.rows.doc[int(rows[at])])} for "
            f"{table.describe_query(int(rows[at]))}"
        ),
    )


def report_queries_without_relevant(table: CheckedRows) -> None:
    """Report queries without a document of a grade above 0."""
    relevant = count_by(table.query[table.rows.value > 0], len(table.queries))
    rows = table.first_rows[relevant == 0]
    table.add(
        "no-relevant",
        rows,
        expected=RELEVANT_DOCUMENT,
        found=lambda at: (
            f"none among {table.sizes[table.query[rows[at]]]} judged for {table.describe_query(int(rows[at]))}"
        ),
    )
    answerable = table.rows.columns.get(ANSWERABLE, {})  # a test case may expect nothing
    empty_queries = [
        query for query in table.rows.empty if answerable.get(query.decode("utf-8", "surrogateescape"), True)
    ]
    table.add_lines(
        "no-relevant",
        np.zeros(len(empty_queries), dtype=np.int64),
        expected=RELEVANT_DOCUMENT,
        found=lambda at: f"nothing judged for query {shown(empty_queries[at])}",
    )


def report_shallow_pools(table: CheckedRows, limit: int | None) -> None:
    """Report queries with fewer judged documents than required."""
    if limit is None:
        return
    rows = table.first_rows[table.sizes < limit]
    table.add(
        "shallow-pool",
        rows,
        expected=f"at least {limit} judged documents per query",
        found=lambda at: f"{table.sizes[table.query[rows[at]]]} for {table.describe_query(int(rows[at]))}",
    )
