"""The ids of a file: invisible characters, queries in several places, and which ids match those of other files."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.core.formatting import listing
from rankgauge.core.id_overlap import REWRITINGS, IdOverlap, IdSide, Near, queries_only
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.errors import escape_id, shown
from rankgauge.io.row_checks import (
    CONTIGUOUS_LINES,
    INVISIBLE_CHARACTER,
    VISIBLE_IDS,
    resumed_rows,
    rows_with_invisible,
)
from rankgauge.validation.validated_file import CheckedRows


def report_invisible_characters(table: CheckedRows) -> None:
    """Report query and document ids with control characters, no-break or zero-width spaces."""
    query_rows = np.intersect1d(rows_with_invisible(table.rows.query), table.first_rows)  # once per query is enough
    _add_invisible(table, "query", table.rows.query, query_rows)
    _add_invisible(table, "document", table.rows.doc, rows_with_invisible(table.rows.doc))


def _add_invisible(table: CheckedRows, what: str, ids: Ids, rows: Ints) -> None:
    table.add(
        INVISIBLE_CHARACTER,
        rows,
        expected=VISIBLE_IDS,
        found=lambda at: f"{what} {escape_id(ids[int(rows[at])])}",
    )


def report_split_queries(table: CheckedRows) -> None:
    """Report queries whose lines are not contiguous, at the line where each of them resumes."""
    rows = resumed_rows(table.query)
    table.add(
        "split-query",
        rows,
        expected=CONTIGUOUS_LINES,
        found=lambda at: f"{table.describe_query(int(rows[at]))} again after other queries",
    )


# A run against judgments or queries, and judgments against runs.

EXAMPLE_IDS = 3
SAME_BYTES = "ids that are the same byte for byte"
ShowId = Callable[[bytes], str]


def report_coverage(table: CheckedRows, query_ids: Ids, *, what: str, unknown_code: str) -> None:
    """Report queries that a run does not answer, and queries of the run that are not among these ids."""
    overlap = IdOverlap(queries_only(query_ids), _side_of(table))
    if _report_nothing_common(table, overlap, query_ids, what):
        return
    _add_near_queries(table, [(code, here, there) for code, there, here in overlap.near_queries], query_ids)
    missing_queries = overlap.missing
    table.add_lines(
        "queries-missing",
        np.zeros_like(missing_queries),
        expected=f"results for each of {len(query_ids)} queries",
        found=lambda at: f"none for query {shown(query_ids[int(missing_queries[at])])}",
    )
    _add_unknown_queries(table, unknown_code, overlap.extra, what)


def report_unjudged_queries(table: CheckedRows, qrels: Qrels) -> None:
    """Report queries of a run that are not judged."""
    overlap = IdOverlap(queries_only(qrels.queries), _side_of(table))
    _add_unknown_queries(table, "queries-unjudged", overlap.extra, "the judgments")


def report_run_documents(table: CheckedRows, qrels: Qrels) -> None:
    """Report document ids of a run that are nearly those of the judgments, or have nothing in common with them."""
    overlap = IdOverlap(IdSide(qrels.queries, qrels.query, qrels.docs), _side_of(table))
    if not len(overlap.common[0]):
        return
    near = [(code, there, here) for code, here, there in overlap.near_documents]
    _add_near_documents(table, near, qrels.docs, "in the judgments")
    _report_no_common_document(table, overlap, near, qrels.docs)


def report_unknown_queries(table: CheckedRows, query_ids: Ids) -> None:
    """Report judged queries that are not among the given queries."""
    overlap = IdOverlap(queries_only(query_ids), _side_of(table))
    if _report_nothing_common(table, overlap, query_ids, "the queries"):
        return
    _add_near_queries(table, [(code, here, there) for code, there, here in overlap.near_queries], query_ids)
    _add_unknown_queries(table, "queries-unknown", overlap.extra, "the queries")


def report_unretrieved(table: CheckedRows, runs: IdSide) -> None:
    """Report judged queries and documents that none of the runs has."""
    overlap = IdOverlap(_side_of(table), runs)
    if _report_nothing_common(table, overlap, runs.queries, "the runs"):
        return
    _add_near_queries(table, overlap.near_queries, runs.queries)
    missing_rows = table.first_rows[overlap.missing]
    table.add(
        "query-unretrieved",
        missing_rows,
        expected="each judged query in a run",
        found=lambda at: f"{table.describe_query(int(missing_rows[at]))} in none",
    )
    if not len(overlap.common[0]):
        return
    near = overlap.near_documents
    _add_near_documents(table, near, runs.docs, "in a run")
    if _report_no_common_document(table, overlap, near, runs.docs):
        return
    near_rows = np.concatenate([overlap.unretrieved[:0], *(rows for _, rows, _ in near)])
    unretrieved_rows = np.setdiff1d(overlap.unretrieved, near_rows)
    table.add(
        "judged-unretrieved",
        unretrieved_rows,
        expected="each judged document in a run",
        found=lambda at: (
            f"document {shown(table.rows.doc[int(unretrieved_rows[at])])} of "
            f"{table.describe_query(int(unretrieved_rows[at]))} in none"
        ),
    )


def _side_of(table: CheckedRows) -> IdSide:
    return IdSide(table.queries, table.query, table.rows.doc)


def _report_nothing_common(table: CheckedRows, overlap: IdOverlap, other_ids: Ids, what: str) -> bool:
    """Report, and return, whether no query is common, not even nearly."""
    if len(overlap.common[0]) or overlap.near_queries:
        return False
    table.add_lines(
        "no-common-query",
        np.zeros(1, dtype=np.int64),
        expected=f"queries of {what}: {_example_ids(other_ids)}",
        found=f"none of them, but {_example_ids(table.queries)}",
    )
    return True


def _add_near_queries(table: CheckedRows, near: Near, other_ids: Ids) -> None:
    """Add queries of the table that nearly match the other side: (code, queries here, queries there)."""

    def describe(here: Ints, there: Ints, show: ShowId) -> Callable[[int], str]:
        return lambda at: f"query {show(table.queries[int(here[at])])}, {show(other_ids[int(there[at])])} there"

    for code, here, there in near:
        _add_near(table, code, table.first_rows[here], describe(here, there, _show_id(code)))


def _add_near_documents(table: CheckedRows, near: Near, other_ids: Ids, where: str) -> None:
    """Add documents of the table that nearly match the other side: (code, rows here, rows there)."""

    def describe(here: Ints, there: Ints, show: ShowId) -> Callable[[int], str]:
        return lambda at: (
            f"document {show(table.rows.doc[int(here[at])])} of {table.describe_query(int(here[at]))}, "
            f"{show(other_ids[int(there[at])])} {where}"
        )

    for code, here, there in near:
        _add_near(table, code, here, describe(here, there, _show_id(code)))


def _add_near(table: CheckedRows, code: str, rows: Ints, describe: Callable[[int], str]) -> None:
    table.add(code, rows, expected=SAME_BYTES, found=lambda at: f"{describe(at)}: the same {REWRITINGS[code][0]}")


def _show_id(code: str) -> ShowId:
    """How to show an id: those that look the same are escaped."""
    return escape_id if code == "ids-unicode" else shown


def _add_unknown_queries(table: CheckedRows, code: str, queries: Ints, what: str) -> None:
    rows = table.first_rows[queries]
    table.add(code, rows, expected=f"queries of {what}", found=lambda at: table.describe_query(int(rows[at])))


def _report_no_common_document(table: CheckedRows, overlap: IdOverlap, near: Near, other_ids: Ids) -> bool:
    """Report, and return, whether no judged document was retrieved and nothing explains it."""
    if overlap.any_document or near:
        return False
    table.add_lines(
        "no-common-document",
        np.zeros(1, dtype=np.int64),
        expected=f"documents of the other file: {_example_ids(other_ids)}",
        found=f"none of them, but {_example_ids(table.rows.doc)}",
    )
    return True


def _example_ids(ids: Ids) -> str:
    return listing((shown(ids[row]) for row in range(min(EXAMPLE_IDS + 1, len(ids)))), EXAMPLE_IDS)
