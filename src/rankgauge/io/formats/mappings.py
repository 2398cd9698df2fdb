"""``{query: {document: number}}`` as one JSON document: what pytrec_eval and ranx dump."""

from __future__ import annotations

from rankgauge.core.ids import encode_id
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.entries import SHAPES, Collected, Wrong, entries
from rankgauge.io.formats.jsonl import said
from rankgauge.io.formats.jsontext import Pairs, parse
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.rows import Rows
from rankgauge.io.text import checked


def rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """The rows of the document. There are no lines to speak of, so a fault names its query and document."""
    top = parse(faults.source, None, checked(faults, data))
    if not isinstance(top, Pairs):
        raise InputError.at(faults.source, None, f"expected an object of queries, found {said(top)}")
    collected = Collected(faults, kind)
    seen: set[bytes] = set()
    for key, value in top:
        try:
            query = encode_id(key, "query id")
        except InputError as error:
            faults.add("id", [0], expected="a query id", found=error.message)
            continue
        if query in seen:
            faults.add("duplicate-query", [0], expected="each query once", found=f"query {shown(query)} again")
            continue
        seen.add(query)
        try:
            collected.add(0, query, entries(value, kind))
        except Wrong as wrong:
            faults.add("shape", [0], expected=SHAPES, found=f"{wrong} for query {shown(query)}")
    return collected.rows()
