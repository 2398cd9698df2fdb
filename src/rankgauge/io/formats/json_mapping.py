"""``{query: {document: number}}`` as one JSON document (pytrec_eval, ranx), and the documents of a query in JSON.

The extension reads queries with an object of plain ids and numbers, block by block. Any other query, and all of them
without the extension, is decoded by Python. A log lists its documents in the same structures.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import IO, Any

import numpy as np

from rankgauge.core import compiled, ranking
from rankgauge.core.arrays import Floats
from rankgauge.core.batch import WHOLE, Batch, Part, concatenate_batches
from rankgauge.core.formatting import listing
from rankgauge.core.ids import PADDING, Ids, Ints, encode_id
from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.core.run import RunExtras, given_scores
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats.json_text import (
    JsonItems,
    JsonPairs,
    NotJsonError,
    check_finite,
    describe_json,
    id_from_json,
    json_bytes,
    number_from_json,
    parse_json,
    parse_whole,
)
from rankgauge.io.formats.named_columns import (
    Kind,
    Wanted,
    are_measures,
    columns_for,
    grades_within_limits,
    normalize_name,
    report_infinite_scores,
)
from rankgauge.io.formats.text_blocks import BLOCK_ROWS, TextBlocks, open_text
from rankgauge.io.text_checks import int_if_exact

QUERY_PARTS = 5  # in the extension: start and length of the id, entries; begin and end if the query is odd
BLANKS = b" \t\r\n"
FEW_QUERIES = 8  # as the outer object of a file of another kind has


def read_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """The rows of the document. Its lines mean nothing, so a fault names its query and document."""
    blocks = open_text(stream, faults, has_lines=False, is_kept=wanted.is_kept)
    try:
        reader = MappingReader(faults, blocks, wanted.kind)
        for batch in reader.batches():
            check_is_mapping(faults.source, wanted.kind, reader.few_queries, batch)
            yield batch
    except (NotJsonError, InputError):
        # What is not JSON, anywhere, is said before anything else.
        document = parse_whole(blocks, faults.source)
        if not isinstance(document, JsonPairs):
            raise InputError.at(
                faults.source, None, f"expected an object of queries, found {describe_json(document)}"
            ) from None
        raise


CASE_LISTS = frozenset(
    "questions queries cases tests items results metadata examples judgments schema version requests data".split()
)


def check_is_mapping(source: str, kind: Kind, queries: list[str], batch: Batch) -> None:
    """Raise if a file that has few queries is one of test cases or metrics: no query has such a name."""
    if kind == "qrels" and queries and all(name.casefold() in CASE_LISTS for name in queries):
        raise InputError.at(
            source,
            None,
            f"this looks like a file of test cases, not of judgments: its queries are called "
            f"{listing(map(shown, queries), 3)}",
            hint=CASES_HINT,
        )
    documents = batch.doc.to_text() if queries else []
    for names in (queries, documents):
        if are_measures(names):
            found = f"this looks like a file of metrics: {listing(map(shown, names), 3)}"
            raise InputError.at(source, None, found, hint="expected labels or results here")


CASES_HINT = 'test cases are a list of {"query": "…", "relevant_ids": ["…"]}, or an object around one'


class MappingPart:
    """Some queries, as the extension read them."""

    def __init__(self, queries: Ints, entries: Ints, values: Any, buffer: Any, odd: list[bytes]) -> None:
        self.values = values
        self.docs = Ids(buffer, entries[0], entries[1])
        start, length, self.sizes, _, end = queries.T
        self.query = Ids(buffer, start, length)
        self.is_odd = end > 0
        self.odd = odd  # the texts of the queries that were not read

    def batch(self, faults: Faults, kind: Kind, begin: int, end: int, numbers_before: int) -> Batch:
        """The rows of the queries from one to before another, none of which is odd."""
        offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        sizes = self.sizes[begin:end]
        rows = np.repeat(np.arange(begin, end), sizes)
        entries = slice(int(offsets[begin]), int(offsets[end]))
        return entries_to_batch(
            faults,
            kind,
            numbers_before + rows + 1,
            self.query.take(rows),
            Ids(self.docs.buffer, self.docs.start[entries], self.docs.length[entries]),
            self.values[entries],
            tuple(self.query.take(begin + np.flatnonzero(sizes == 0))),
        )


class MappingReader:
    """Reads the queries of a document. In place of lines, rows have the number of their query."""

    def __init__(self, faults: Faults, blocks: TextBlocks, kind: Kind) -> None:
        self.faults, self.blocks, self.kind = faults, blocks, kind
        self._seen_queries: set[bytes] = set()
        self._queries = 0  # so far
        byte = self._skip_blanks()
        if byte != b"{":
            raise NotJsonError  # or not an object
        blocks.used += 1

    @property
    def few_queries(self) -> list[str]:
        """The names of the queries so far, if there are few."""
        names = self._seen_queries if len(self._seen_queries) <= FEW_QUERIES else ()
        return [name.decode("utf-8", "surrogateescape") for name in names]

    def _skip_blanks(self) -> bytes:
        """The next byte that is not white space."""
        blocks = self.blocks
        while blocks.used < blocks.size or blocks.advance():
            byte = blocks.part(blocks.used, blocks.used + 1)
            if byte not in BLANKS:
                return byte
            blocks.used += 1
        return b""

    def batches(self) -> Iterator[Batch]:
        """The rows, block by block."""
        for part in self._compiled_parts():
            yield self._batch_of_part(part)
        if self.blocks.is_ended_by(b"}"):
            return
        for items in JsonItems(self.blocks, is_object=True, has_begun=self._queries > 0):
            entry_rows = EntryRows(self.faults, self.kind)
            for key, value in items:
                self._add_query(entry_rows, key, value)
            yield entry_rows.batch()

    def _compiled_parts(self) -> Iterator[MappingPart]:
        """The queries that the extension reads; it stops behind a comma, or at the end."""
        blocks, room = self.blocks, BLOCK_ROWS
        while compiled.scanner is not None and not blocks.is_ended_by(b"}"):
            queries = np.empty((room // 4, QUERY_PARTS), dtype=np.int64)
            entries, values = np.empty(2 * room, dtype=np.int64), np.empty(room)
            texts = np.empty(blocks.size + PADDING, dtype=np.uint8)
            found = compiled.scanner.mapping(
                blocks.buffer, blocks.place, queries, entries, values, texts[: blocks.size]
            )
            if found is None:
                return
            blocks.used, count, rows, size = found
            texts[size : size + PADDING] = 0
            queries = queries[:count].copy()
            if count:
                odd = [blocks.part(begin, end) for begin, end in queries[queries[:, 4] > 0, 3:].tolist()]
                table = entries.reshape(2, room)[:, :rows].copy()
                yield MappingPart(queries, table, values[:rows].copy(), texts[: size + PADDING].copy(), odd)
            else:
                room *= 2  # a query of more entries; or of more bytes, then the block grows
            if not blocks.is_last:
                blocks.advance()

    def _batch_of_part(self, part: MappingPart) -> Batch:
        """The rows of queries that the extension read; those that it left are read by Python."""
        odd_texts = iter(part.odd)
        parts: list[Batch] = []
        entry_rows: EntryRows | None = None  # of the odd queries that come last
        begin, before = 0, self._queries  # begin: of the other queries that come last
        for number, is_odd in enumerate(part.is_odd.tolist()):
            if not is_odd and not self._is_seen(part.query[number], before + number + 1):
                if entry_rows is not None:
                    parts.append(entry_rows.batch())
                    entry_rows = None
                continue
            if begin < number:
                parts.append(part.batch(self.faults, self.kind, begin, number, before))
            begin = number + 1
            if is_odd:
                entry_rows = EntryRows(self.faults, self.kind) if entry_rows is None else entry_rows
                self._queries = before + number
                ((key, value),) = parse_json(self.faults.source, None, b"{" + next(odd_texts) + b"}")
                self._add_query(entry_rows, key, value)
        if entry_rows is not None:
            parts.append(entry_rows.batch())
        if begin < len(part.sizes) or not parts:
            parts.append(part.batch(self.faults, self.kind, begin, len(part.sizes), before))
        self._queries = before + len(part.sizes)
        return concatenate_batches(parts)

    def _add_query(self, entry_rows: EntryRows, key: str, value: Any) -> None:
        """Add one query and its entries, whatever their structure."""
        self._queries += 1
        number = self._queries
        try:
            query = encode_id(key, "query id")
        except InputError as error:
            self.faults.add("id", [number], expected="a query id", found=error.message)
            return
        if self._is_seen(query, number):
            return
        try:
            given = [] if value is None and self.kind == "qrels" else value  # null expects nothing, as an empty list
            entry_rows.add(number, query, read_entries(given, self.kind), is_list=not isinstance(value, JsonPairs))
        except StructureError as error:
            found = f"{error} for query {shown(query)}"
            self.faults.add("shape", [number], expected=error.expected or STRUCTURES, found=found, action=error.hint)

    def _is_seen(self, query: bytes, number: int) -> bool:
        """Whether a query was there before, which is a fault."""
        if query in self._seen_queries:
            found = f"query {shown(query)} again"
            self.faults.add("duplicate-query", [number], expected="each query once", found=found)
            return True
        self._seen_queries.add(query)
        return False


# The documents of a query in JSON: ids with numbers, in any of the usual structures.
#
# {"d1": 2.5, "d2": 1}                    an object
# ["d1", "d2"]                            ids, best first
# [["d1", 2.5], ["d2", 1]]                pairs
# [{"id": "d1", "score": 2.5}, …]         objects

Entry = tuple[object, object]  # an id and its number, or NO_NUMBER if only the order matters
NO_NUMBER = object()  # not None: a null in place of a number is an error
ID_KEYS = ("id", "_id")
STRUCTURES = "a list of ids, of [id, number] pairs or of objects with an id, or an object of ids and numbers"


class StructureError(Exception):
    """A structure that is none of these; the text says what was found."""

    def __init__(self, found: str, *, expected: str | None = None, hint: str | None = None) -> None:
        super().__init__(found)
        self.expected, self.hint = expected, hint


def read_entries(value: Any, kind: Kind) -> list[Entry]:
    """The entries of one query; raises :class:`StructureError`."""
    if isinstance(value, JsonPairs):
        return list(value)
    if not isinstance(value, list):
        raise StructureError(describe_json(value))
    entries = [_read_entry(item, kind) for item in value]
    numbered = sum(number is not NO_NUMBER for _, number in entries)
    if numbered not in (0, len(entries)):
        raise StructureError(f"a list in which {numbered} of {len(entries)} have a number")
    return entries


def _read_entry(item: Any, kind: Kind) -> Entry:
    if isinstance(item, JsonPairs):
        id_key, number_key = _entry_keys(tuple(item.names()), kind)
        values = dict(item)
        return values[id_key], (NO_NUMBER if number_key is None else values[number_key])
    if isinstance(item, list):
        if kind == "qrels" and item and all(isinstance(one, str) for one in item):
            raise StructureError(
                f"a group of {len(item)}: {', '.join(shown(one) for one in item[:3])}",
                expected="ids of relevant documents, not groups of them",
                hint='groups, of each of which one document is enough, are evidence: "evidence": [["a", "b"], ["c"]]',
            )
        if len(item) != 2:
            raise StructureError(f"a list of {len(item)} in the list")
        return item[0], item[1]
    return item, NO_NUMBER


@lru_cache(256)
def _entry_keys(keys: tuple[str, ...], kind: Kind) -> tuple[str, str | None]:
    """Which key of an entry has its id, and which its number, if one has. Few entries of a file differ in this."""
    id_keys = _id_keys(keys)
    number_keys = columns_for(keys, "score" if kind == "run" else "grade")
    if len(id_keys) != 1 or len(number_keys) > 1 or len(set(keys)) != len(keys):
        raise StructureError(f"an object with the keys {', '.join(shown(key) for key in keys[:12])}")
    if kind == "qrels":
        _check_one_field(keys, (id_keys[0], *number_keys))
    return id_keys[0], (number_keys[0] if number_keys else None)


# Keys of a label that describe it; any other key, beside that of its id, says which part of a document is meant.
DESCRIPTIONS = {"title", "name", "text", "quote", "snippet", "content", "note", "notes", "comment", "reason", "why",
                "rationale", "metadata", "meta", "type", "kind", "rank", "weight", "url", "source", "description",
                "sha256", "hash", "assessor", "iter"}  # fmt: skip
ELASTICSEARCH_INDEX = "_index"  # beside the _id of a document, in ratings


def _check_one_field(keys: Sequence[str], used: Sequence[str]) -> None:
    """Raise if a label has further fields: a label without its clause would match any clause of its document."""
    if others := further_fields(keys, used):
        raise StructureError(
            f"an object with {', '.join(shown(key) for key in (used[0], *others[:4]))}",
            expected="labels with one field, an id, or the place in a result of each field that must match",
            hint=f"say where results have them: --match-field {','.join((used[0], *others[:2]))}",
        )


def further_fields(keys: Sequence[str], used: Sequence[str]) -> list[str]:
    """The keys of a label that say which part of a document is meant."""
    known = (*used, ELASTICSEARCH_INDEX)
    return [key for key in keys if key not in known and normalize_name(key) not in DESCRIPTIONS]


def _id_keys(keys: Sequence[str]) -> list[str]:
    return [key for key in ID_KEYS if key in keys] or columns_for(keys, "doc")


def id_key_of(names: Iterable[str]) -> str | None:
    """Which key of a result has its id."""
    return next(iter(_id_keys(list(names))), None)


class EntryRows:
    """Rows collected query by query, each with its entries."""

    def __init__(self, faults: Faults, kind: Kind, *, knows_scores: bool = False) -> None:
        self.faults, self.kind, self.knows_scores = faults, kind, knows_scores
        self.queries: list[tuple[int, bytes, int, bool]] = []  # line, id, number of rows, whether they are a list
        self.docs: list[object] = []
        self.values = array("d")
        self.empty: list[bytes] = []

    def add(self, line: int, query: bytes, entries: Sequence[Entry], *, is_list: bool) -> None:
        """Add the entries of one query. A list of results is in order; labels without numbers are relevant."""
        before = len(self.docs)
        if not entries:
            self.empty.append(query)
        elif not self._add_plain(entries):
            self._add_any(line, query, entries)
        self.queries.append((line, query, len(self.docs) - before, is_list))

    def _add_plain(self, entries: Sequence[Entry]) -> bool:
        """Add entries if all of them are ASCII texts with numbers; otherwise nothing."""
        docs, numbers = zip(*entries, strict=True)
        try:
            text = "".join(docs)
            values = array("d", numbers)
        except (TypeError, OverflowError):
            return False
        if not text.isascii() or "\0" in text or not all(docs):
            return False
        if self.kind == "qrels" and any(abs(value) > LARGEST_GRADE for value in values):
            return False  # reported one by one, in order
        self.docs += docs
        self.values += values
        return True

    def _add_any(self, line: int, query: bytes, entries: Sequence[Entry]) -> None:
        what = "score" if self.kind == "run" else "grade"
        for position, (doc, number) in enumerate(entries):
            try:
                doc_id = id_from_json(doc, "document id")
            except InputError:
                expected = "a string or a whole number as document id"
                self.faults.add("id", [line], expected=expected, found=f"{describe_json(doc)} for query {shown(query)}")
                continue
            if number is NO_NUMBER:
                value: float | None = len(entries) - position if self.kind == "run" else 1
            else:
                value = number_from_json(number)
            if value is None:
                found = f"{describe_json(number)} for document {shown(doc_id)} of query {shown(query)}"
                self.faults.add(what, [line], expected=f"a number as {what}", found=found)
                continue
            if self.kind == "qrels" and not grades_within_limits(
                self.faults, np.array([value]), np.array([line]), Ids.from_bytes([query]), Ids.from_bytes([doc_id])
            ):
                continue
            self.docs.append(doc_id)
            self.values.append(value)

    def batch(self) -> Batch:
        """The rows, without those that cannot be read."""
        sizes = np.array([rows for _, _, rows, _ in self.queries], dtype=np.int64)
        numbers = np.repeat(np.arange(len(self.queries)), sizes)
        lines = np.array([line for line, *_ in self.queries], dtype=np.int64)
        queries, docs = (
            Ids.from_bytes([query for _, query, *_ in self.queries]),
            Ids.from_text(self.docs, "document id"),
        )
        values = np.array(self.values, dtype=np.float64)
        if self.kind != "run":
            return entries_to_batch(
                self.faults, self.kind, lines[numbers], queries.take(numbers), docs, values, tuple(self.empty)
            )
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        is_list = np.array([is_list for *_, is_list in self.queries], dtype=bool)
        ordered, changed = ranking.in_list_order(offsets, docs, values, is_list)
        if not self.knows_scores:
            self._report_rising(lines, offsets, values, changed)
        batch = entries_to_batch(
            self.faults, self.kind, lines[numbers], queries.take(numbers), docs, ordered, tuple(self.empty)
        )
        given = given_scores(queries, offsets, docs, values, changed)
        return replace(batch, extras=RunExtras(given=given)) if given else batch

    def _report_rising(self, lines: Ints, offsets: Ints, values: Floats, changed: Ints) -> None:
        """Warn of lists whose scores increase: they may be distances."""
        rising = [
            number for number in changed.tolist() if (np.diff(values[offsets[number] : offsets[number + 1]]) > 0).any()
        ]
        if rising:
            self.faults.add(
                "order-against-scores",
                lines[rising].tolist(),
                expected="scores that decrease down the list",
                found="an increasing one: the order of the list is the ranking (are they distances?)",
                severity="warning",
            )


def entries_to_batch(
    faults: Faults, kind: Kind, line: Ints, query: Ids, doc: Ids, value: Floats, empty: tuple[bytes, ...]
) -> Batch:
    """The rows of entries, with a fault or a warning for numbers out of range."""
    rows = Batch(line, query, doc, value, empty=empty)
    if kind == "run":
        report_infinite_scores(faults, value, line, query, doc)
        return rows
    return rows.select(grades_within_limits(faults, value, line, query, doc))


def write_json_mapping(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``{query: {document: number}}``, one query per line."""
    check_finite(rows)
    by_query: dict[str, dict[str, float | int]] = {}
    for query, doc, value in zip(rows.query.to_text(), rows.doc.to_text(), rows.value.tolist(), strict=True):
        by_query.setdefault(query, {})[doc] = int_if_exact(value)
    for query in Ids.from_bytes(rows.empty).to_text():
        by_query.setdefault(query, {})
    lines = [json_bytes(query) + b": " + json_bytes(row) for query, row in by_query.items()]
    begin = b"{\n" if part.is_first else b",\n" if lines else b""
    out.write(begin + b",\n".join(lines) + (b"\n}\n" if part.is_last else b""))
