"""``{query: {document: number}}`` as one JSON document: what pytrec_eval and ranx dump."""

from __future__ import annotations

from rankgauge.core.ids import encode_id
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.entries import STRUCTURES, EntryRows, StructureError, read_entries
from rankgauge.io.formats.jsonl import describe_json
from rankgauge.io.formats.jsontext import JsonPairs, parse_json
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.rows import Rows
from rankgauge.io.text import check_text


def rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """The rows of the document. Its lines mean nothing, so a fault names its query and document."""
    document = parse_json(faults.source, None, check_text(faults, data))
    if not isinstance(document, JsonPairs):
        raise InputError.at(faults.source, None, f"expected an object of queries, found {describe_json(document)}")
    entry_rows = EntryRows(faults, kind)
    seen_queries: set[bytes] = set()
    for key, value in document:
        try:
            query = encode_id(key, "query id")
        except InputError as error:
            faults.add("id", [0], expected="a query id", found=error.message)
            continue
        if query in seen_queries:
            faults.add("duplicate-query", [0], expected="each query once", found=f"query {shown(query)} again")
            continue
        seen_queries.add(query)
        try:
            entry_rows.add(0, query, read_entries(value, kind))
        except StructureError as error:
            faults.add("shape", [0], expected=STRUCTURES, found=f"{error} for query {shown(query)}")
    return entry_rows.rows()
