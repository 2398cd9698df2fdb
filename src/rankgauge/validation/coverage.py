"""A run against judgments or topics, and judgments against runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.near import REWRITINGS
from rankgauge.core.overlap import IdOverlap, IdSide, Near, queries_only
from rankgauge.core.qrels import Qrels
from rankgauge.errors import shown
from rankgauge.io.checks.invisible import spelt
from rankgauge.validation.table import Table

LISTED = 3
Show = Callable[[bytes], str]
EXACT = "ids that are the same byte for byte"


def run_covers(table: Table, wanted: Ids, *, what: str, unknown: str) -> None:
    """Whether a run answers every query that is wanted, and no other; ``unknown`` is the code of another."""
    meeting = IdOverlap(queries_only(wanted), _side(table))
    if _nothing_common(table, meeting, wanted, what):
        return
    _near_queries(table, [(code, other, one) for code, one, other in meeting.near_queries], wanted)
    missing = meeting.missing
    table.add_lines(
        "queries-missing",
        np.zeros_like(missing),
        expected=f"results for each of {len(wanted)} queries",
        found=lambda at: f"none for query {shown(wanted[int(missing[at])])}",
    )
    _unknown(table, unknown, meeting.extra, what)


def run_is_judged(table: Table, qrels: Qrels) -> None:
    """Whether every query of a run is judged."""
    _unknown(table, "queries-unjudged", IdOverlap(queries_only(qrels.queries), _side(table)).extra, "the judgments")


def run_documents(table: Table, qrels: Qrels) -> None:
    """Whether the document ids of a run are those of the judgments."""
    meeting = IdOverlap(IdSide(qrels.queries, qrels.query, qrels.docs), _side(table))
    if not len(meeting.common[0]):
        return
    near = [(code, there, here) for code, here, there in meeting.near_documents]
    _near_documents(table, near, qrels.docs, "in the judgments")
    _no_document(table, meeting, near, qrels.docs)


def judged_are_known(table: Table, topics: Ids) -> None:
    """Whether every judged query is among the topics."""
    meeting = IdOverlap(queries_only(topics), _side(table))
    if _nothing_common(table, meeting, topics, "the topics"):
        return
    _near_queries(table, [(code, other, one) for code, one, other in meeting.near_queries], topics)
    _unknown(table, "queries-unknown", meeting.extra, "the topics")


def judged_in_runs(table: Table, runs: IdSide) -> None:
    """Whether the runs have the queries and documents that are judged."""
    meeting = IdOverlap(_side(table), runs)
    if _nothing_common(table, meeting, runs.queries, "the runs"):
        return
    _near_queries(table, meeting.near_queries, runs.queries)
    missing = table.first[meeting.missing]
    table.add(
        "query-unretrieved",
        missing,
        expected="each judged query in a run",
        found=lambda at: f"{table.of(int(missing[at]))} in none",
    )
    if not len(meeting.common[0]):
        return
    near = meeting.near_documents
    _near_documents(table, near, runs.docs, "in a run")
    if _no_document(table, meeting, near, runs.docs):
        return
    alone = np.setdiff1d(meeting.unretrieved, np.concatenate([meeting.unretrieved[:0], *(one for _, one, _ in near)]))
    table.add(
        "judged-unretrieved",
        alone,
        expected="each judged document in a run",
        found=lambda at: f"document {shown(table.rows.doc[int(alone[at])])} of {table.of(int(alone[at]))} in none",
    )


def _side(table: Table) -> IdSide:
    return IdSide(table.queries, table.query, table.rows.doc)


def _nothing_common(table: Table, meeting: IdOverlap, other: Ids, what: str) -> bool:
    """Say so where no query is common, not even nearly."""
    if len(meeting.common[0]) or meeting.near_queries:
        return False
    table.add_lines(
        "no-common-query",
        np.zeros(1, dtype=np.int64),
        expected=f"queries of {what}: {_some(other)}",
        found=f"none of them, but {_some(table.queries)}",
    )
    return True


def _near_queries(table: Table, near: Near, others: Ids) -> None:
    """Queries of the table that are nearly queries of the other side: (code, ours, theirs)."""

    def said(ours: Ints, theirs: Ints, show: Show) -> Callable[[int], str]:
        return lambda at: f"query {show(table.queries[int(ours[at])])}, {show(others[int(theirs[at])])} there"

    for code, ours, theirs in near:
        _add_near(table, code, table.first[ours], said(ours, theirs, _show(code)))


def _near_documents(table: Table, near: Near, others: Ids, where: str) -> None:
    """Documents of the table that are nearly those of the other side: (code, ours, theirs)."""

    def said(ours: Ints, theirs: Ints, show: Show) -> Callable[[int], str]:
        return lambda at: (
            f"document {show(table.rows.doc[int(ours[at])])} of {table.of(int(ours[at]))}, "
            f"{show(others[int(theirs[at])])} {where}"
        )

    for code, ours, theirs in near:
        _add_near(table, code, ours, said(ours, theirs, _show(code)))


def _add_near(table: Table, code: str, rows: Ints, found: Callable[[int], str]) -> None:
    table.add(code, rows, expected=EXACT, found=lambda at: f"{found(at)}: the same {REWRITINGS[code][0]}")


def _show(code: str) -> Show:
    """Ids that look the same are written out."""
    return spelt if code == "ids-unicode" else shown


def _unknown(table: Table, code: str, queries: Ints, what: str) -> None:
    rows = table.first[queries]
    table.add(code, rows, expected=f"queries of {what}", found=lambda at: table.of(int(rows[at])))


def _no_document(table: Table, meeting: IdOverlap, near: Near, others: Ids) -> bool:
    """Say so where not one judged document was retrieved, and nothing explains it."""
    if meeting.any_document or near:
        return False
    table.add_lines(
        "no-common-document",
        np.zeros(1, dtype=np.int64),
        expected=f"documents of the other side: {_some(others)}",
        found=f"none of them, but {_some(table.rows.doc)}",
    )
    return True


def _some(ids: Ids) -> str:
    few = [shown(ids[row]) for row in range(min(LISTED, len(ids)))]
    return ", ".join(few) + (", …" if len(ids) > LISTED else "")
