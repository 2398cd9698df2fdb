"""Why few ids are the same on both sides: they may be, but for case, quotation marks, leading zeros or Unicode's forms.

Imported only where that is to be found out.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.core.ids import Ids
from rankgauge.core.near import REWRITINGS
from rankgauge.core.overlap import IdOverlap, IdSide, Near, queries_only
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import Note, shown
from rankgauge.io.checks.invisible import spelt


def near_queries(qrels: Qrels, queries: Ids) -> tuple[Note, ...]:
    """A note for each way of writing in which queries of a run would be judged ones."""
    return tuple(
        _notes(
            IdOverlap(queries_only(qrels.queries), queries_only(queries)).near_queries, "query", qrels.queries, queries
        )
    )


def near_documents(qrels: Qrels, run: Run) -> tuple[Note, ...]:
    """The same for documents, each in its query."""
    meeting = IdOverlap(IdSide(qrels.queries, qrels.query, qrels.docs), IdSide(run.queries, run.query, run.docs))
    return tuple(_notes(meeting.near_documents, "document", qrels.docs, run.docs))


def _notes(near: Near, what: str, judged: Ids, found: Ids) -> Iterator[Note]:
    for code, ours, theirs in near:
        show = spelt if code == "ids-unicode" else shown  # ids that look the same are written out
        count = f"1 {what} id" if len(ours) == 1 else f"{len(ours)} {what} ids"
        yield Note(
            code,
            f"{count} of the run would match the judgments {REWRITINGS[code][0]}: "
            f"{show(found[int(theirs[0])])} is {show(judged[int(ours[0])])} there",
        )
