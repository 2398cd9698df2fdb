"""``{query: {document: number}}`` as one JSON document: what pytrec_eval and ranx dump.

The extension reads queries with an object of plain ids and numbers, block by block. Any other query, and all of them
without the extension, is decoded by Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankgauge.core import compiled
from rankgauge.core.ids import PADDING, Ids, Ints, encode_id
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.entries import STRUCTURES, EntryRows, StructureError, entries_to_rows, read_entries
from rankgauge.io.formats.jsonl import describe_json
from rankgauge.io.formats.jsontext import JsonPairs, parse_json
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.formats.text_blocks import (
    BLOCK_ROWS,
    NotInBlocksError,
    TextBlocks,
    blocks_of_bytes,
    blocks_of_stream,
)
from rankgauge.io.rows import Rows, concatenate_rows
from rankgauge.io.text import check_text

QUERY_PARTS = 5  # in the extension: start and length of the id, entries; begin and end if the query is odd
BLANKS = b" \t\r\n"


def rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """The rows of the document. Its lines mean nothing, so a fault names its query and document."""
    data = check_text(faults, data, has_lines=False)
    try:
        # Nothing is reported before all of it is read: it may have to be read in another way.
        parts = [*MappingReader(kind, blocks_of_bytes(data)).parts()]
    except NotInBlocksError:
        return _decoded_rows(faults, data, kind)
    seen_queries: set[bytes] = set()
    return concatenate_rows([part.rows(faults, seen_queries) for part in parts])


def run_batches(faults: Faults, stream: ByteStream, columns: Columns | None = None) -> Iterator[Rows]:
    """The rows of a run that is open, block by block."""
    seen_queries: set[bytes] = set()
    for part in MappingReader("run", blocks_of_stream(faults, stream)).parts():
        yield part.rows(faults, seen_queries)


def _decoded_rows(faults: Faults, data: bytes, kind: Kind) -> Rows:
    """The same by Python's decoder, which also says what is wrong."""
    document = parse_json(faults.source, None, data)
    if not isinstance(document, JsonPairs):
        raise InputError.at(faults.source, None, f"expected an object of queries, found {describe_json(document)}")
    entry_rows = EntryRows(faults, kind)
    seen_queries: set[bytes] = set()
    document.reverse()
    while document:  # what is added is not needed any more
        add_query(entry_rows, seen_queries, *document.pop())
    return entry_rows.rows()


def add_query(entry_rows: EntryRows, seen_queries: set[bytes], key: str, value: Any) -> None:
    """Add one query and its entries, whatever their structure."""
    faults = entry_rows.faults
    try:
        query = encode_id(key, "query id")
    except InputError as error:
        faults.add("id", [0], expected="a query id", found=error.message)
        return
    if is_seen(faults, seen_queries, query):
        return
    try:
        entry_rows.add(0, query, read_entries(value, entry_rows.kind))
    except StructureError as error:
        faults.add("shape", [0], expected=STRUCTURES, found=f"{error} for query {shown(query)}")


def is_seen(faults: Faults, seen_queries: set[bytes], query: bytes) -> bool:
    """Whether a query was there before, which is a fault."""
    if query in seen_queries:
        faults.add("duplicate-query", [0], expected="each query once", found=f"query {shown(query)} again")
        return True
    seen_queries.add(query)
    return False


class MappingPart:
    """Some queries, as the extension read them."""

    def __init__(self, kind: Kind, queries: Ints, entries: Ints, values: Any, buffer: Any, odd: list[bytes]) -> None:
        self.kind, self.values = kind, values
        self.docs = Ids(buffer, entries[0], entries[1])
        start, length, self.sizes, _, end = queries.T
        self.query = Ids(buffer, start, length)
        self.is_odd = end > 0
        self.odd = odd  # the texts of the queries that were not read

    def rows(self, faults: Faults, seen_queries: set[bytes]) -> Rows:
        """The rows, with a fault for what is wrong."""
        offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        odd_texts = iter(self.odd)
        parts: list[Rows] = []
        entry_rows: EntryRows | None = None  # of the odd queries that come last
        begin = 0  # of the other queries that come last
        for number, is_odd in enumerate(self.is_odd.tolist()):
            if not is_odd and not is_seen(faults, seen_queries, self.query[number]):
                if entry_rows is not None:
                    parts.append(entry_rows.rows())
                    entry_rows = None
                continue
            if begin < number:
                parts.append(self._rows(faults, begin, number, offsets))
            begin = number + 1
            if is_odd:
                entry_rows = EntryRows(faults, self.kind) if entry_rows is None else entry_rows
                ((key, value),) = parse_json(faults.source, None, b"{" + next(odd_texts) + b"}")
                add_query(entry_rows, seen_queries, key, value)
        if entry_rows is not None:
            parts.append(entry_rows.rows())
        if begin < len(self.sizes) or not parts:
            parts.append(self._rows(faults, begin, len(self.sizes), offsets))
        return concatenate_rows(parts)

    def _rows(self, faults: Faults, begin: int, end: int, offsets: Ints) -> Rows:
        """The rows of the queries from one to before another."""
        sizes = self.sizes[begin:end]
        rows = np.repeat(np.arange(begin, end), sizes)
        entries = slice(int(offsets[begin]), int(offsets[end]))
        return entries_to_rows(
            faults,
            self.kind,
            np.zeros(len(rows), dtype=np.int64),
            self.query.take(rows),
            Ids(self.docs.buffer, self.docs.start[entries], self.docs.length[entries]),
            self.values[entries],
            tuple(self.query.take(begin + np.flatnonzero(sizes == 0))),
        )


class MappingReader:
    """Reads the queries of a document with the extension; raises :class:`NotInBlocksError` if that is not possible."""

    def __init__(self, kind: Kind, blocks: TextBlocks) -> None:
        self.kind, self.blocks = kind, blocks
        if compiled.scanner is None:
            raise NotInBlocksError
        if not blocks.size:
            blocks.advance()
        while (byte := blocks.bytes(blocks.used, blocks.used + 1)) and byte in BLANKS:
            blocks.used += 1
        if byte != b"{":
            raise NotInBlocksError
        blocks.used += 1

    def parts(self) -> Iterator[MappingPart]:
        """The queries, in parts of whole ones."""
        assert compiled.scanner is not None
        blocks, room, is_left, is_ended = self.blocks, BLOCK_ROWS, True, False
        while is_left:
            is_ended = blocks.is_last  # the document ends in the last block, where the extension checks that
            queries = np.empty((room // 4, QUERY_PARTS), dtype=np.int64)
            entries, values = np.empty(2 * room, dtype=np.int64), np.empty(room)
            texts = np.empty(blocks.size + PADDING, dtype=np.uint8)
            found = compiled.scanner.mapping(
                blocks.buffer, blocks.place, queries, entries, values, texts[: blocks.size]
            )
            if found is None:
                raise NotInBlocksError
            blocks.used, count, rows, size = found
            texts[size : size + PADDING] = 0
            queries = queries[:count].copy()
            if count:
                odd = [blocks.bytes(begin, end) for begin, end in queries[queries[:, 4] > 0, 3:].tolist()]
                table = entries.reshape(2, room)[:, :rows].copy()
                yield MappingPart(self.kind, queries, table, values[:rows].copy(), texts[: size + PADDING].copy(), odd)
            else:
                room *= 2  # a query of more entries; or of more bytes, then the block grows
            is_left = blocks.advance()
        if not is_ended:
            raise NotInBlocksError
