"""Why few ids match: they may differ only in case, quotation marks, leading zeros or Unicode normalization.

Imported only if few ids match.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ids
from rankgauge.core.near import REWRITINGS
from rankgauge.core.overlap import IdOverlap, IdSide, Near, queries_only
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import Note, shown
from rankgauge.io.checks.invisible import escape_id


def near_queries(qrels: Qrels, queries: Ids) -> tuple[Note, ...]:
    """A note for each difference in spelling without which queries of a run would be judged ones."""
    overlap = IdOverlap(queries_only(qrels.queries), queries_only(queries))
    return tuple(_notes(overlap.near_queries, "query", qrels.queries, queries))


def near_documents(qrels: Qrels, run: Run) -> tuple[Note, ...]:
    """A note for each difference in spelling without which documents of a run would be judged for their query."""
    overlap = IdOverlap(IdSide(qrels.queries, qrels.query, qrels.docs), IdSide(run.queries, run.query, run.docs))
    return tuple(_notes(overlap.near_documents, "document", qrels.docs, run.docs))


def _notes(near: Near, what: str, qrels_ids: Ids, run_ids: Ids) -> Iterator[Note]:
    for code, qrels_rows, run_rows in near:
        show = escape_id if code == "ids-unicode" else shown  # ids that look the same are escaped
        yield Note(
            code,
            f"{plural(len(qrels_rows), f'{what} id')} of the run would match the judgments {REWRITINGS[code][0]}: "
            f"{show(run_ids[int(run_rows[0])])} is {show(qrels_ids[int(qrels_rows[0])])} there",
        )
