"""Which queries and documents judgments and results share, exactly or nearly; and why it may be that they share none.

Ids are nearly the same if they differ only in spelling: case, quotation marks, leading zeros or Unicode normalization.
Each rewriting is a function from a column of ids to a column of ids; only ids without an exact match take part.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import IdIndex, Ids, Ints, concatenate, repeated
from rankgauge.errors import Note, shown

QUOTES = b"\"'`"
ZERO = 0x30
_LOWER = np.frombuffer(bytes(range(256)).lower(), dtype=np.uint8)


def folded(ids: Ids) -> Ids:
    """Ids in lower case; those that are not ASCII are case-folded by Unicode's rules."""
    lowered = Ids(_LOWER[ids.buffer], ids.start, ids.length)
    return _each(lowered, _beyond_ascii(lowered), str.casefold)


def unquoted(ids: Ids) -> Ids:
    """Ids without surrounding quotation marks."""
    first, last = ids.buffer[ids.start], ids.buffer[ids.start + ids.length - 1]
    quoted = (ids.length > 2) & (first == last) & np.isin(first, np.frombuffer(QUOTES, dtype=np.uint8))
    return Ids(ids.buffer, ids.start + quoted, ids.length - 2 * quoted)


def without_zeros(ids: Ids) -> Ids:
    """Ids without leading zeros."""
    start, length = ids.start.copy(), ids.length.copy()
    rows = np.arange(len(ids))
    while len(rows := rows[(ids.buffer[start[rows]] == ZERO) & (length[rows] > 1)]):
        start[rows] += 1
        length[rows] -= 1
    return Ids(ids.buffer, start, length)


def normalized(ids: Ids) -> Ids:
    """Ids in Unicode normal form NFKC, which leaves ASCII unchanged."""
    return _each(ids, _beyond_ascii(ids), lambda text: unicodedata.normalize("NFKC", text))


# The code of each rewriting, its description, and its function.
REWRITINGS: dict[str, tuple[str, Callable[[Ids], Ids]]] = {
    "ids-case": ("ignoring case", folded),
    "ids-quotes": ("without quotation marks", unquoted),
    "ids-zeros": ("without leading zeros", without_zeros),
    "ids-unicode": ("after Unicode normalization", normalized),
}


def near_matches(
    first_ids: Ids, first_group: Ints, second_ids: Ids, second_group: Ints
) -> Iterator[tuple[str, Ints, Ints]]:
    """For each rewriting: its code, and the rows of both columns that match by it."""
    first, second = np.arange(len(first_ids)), np.arange(len(second_ids))
    for code, (_, rewrite) in REWRITINGS.items():
        if not len(first) or not len(second):
            return
        index = IdIndex(rewrite(first_ids.take(first)), first_group[first])
        matching, index_rows = index.find(rewrite(second_ids.take(second)), second_group[second])
        # Each id once: a second match adds nothing.
        index_rows, unique = np.unique(index_rows, return_index=True)
        matching = matching[unique]
        if len(matching):
            yield code, first[index_rows], second[matching]
            first, second = np.delete(first, index_rows), np.delete(second, matching)


def _beyond_ascii(ids: Ids) -> Ints:
    high = np.flatnonzero(ids.buffer >= 0x80)
    if not len(high):
        return high
    return np.flatnonzero(np.searchsorted(high, ids.start) < np.searchsorted(high, ids.start + ids.length))


def _each(ids: Ids, rows: Ints, change: Callable[[str], str]) -> Ids:
    """The ids, with those of the given rows changed one by one."""
    if not len(rows):
        return ids
    changed = Ids.from_bytes(
        [
            change(value.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
            for value in ids.take(rows)
        ]
    )
    position = np.arange(len(ids))
    position[rows] = len(ids) + np.arange(len(rows))
    return concatenate([ids, changed]).take(position)


def unpaired(count: int, *rows: Ints) -> NDArray[np.bool_]:
    """For each of ``count`` rows, whether it is in none of the lists."""
    remaining = np.ones(count, dtype=bool)
    for paired_rows in rows:
        remaining[paired_rows] = False
    return remaining


# Which queries and documents judgments and results share, exactly or nearly.

Near = list[tuple[str, Ints, Ints]]


@dataclass(frozen=True, eq=False)
class IdSide:
    """The queries of one side, and the query number and document of each row."""

    queries: Ids
    query: Ints
    docs: Ids


@dataclass(frozen=True, eq=False)
class IdOverlap:
    """Judgments and results, compared by their ids."""

    judged: IdSide
    results: IdSide

    @cached_property
    def common(self) -> tuple[Ints, Ints]:
        """The numbers of the shared queries, in the results and in the judgments."""
        return _index(self.judged.queries).find(self.results.queries, _zeros(self.results.queries))

    @cached_property
    def near_queries(self) -> Near:
        """Near matches of queries that only one side has: code, numbers in the judgments, numbers in the results."""
        judged_numbers = np.flatnonzero(unpaired(len(self.judged.queries), self.common[1]))
        result_numbers = np.flatnonzero(unpaired(len(self.results.queries), self.common[0]))
        judged, results = self.judged.queries.take(judged_numbers), self.results.queries.take(result_numbers)
        matches = near_matches(judged, _zeros(judged), results, _zeros(results))
        return [
            (code, judged_numbers[judged_rows], result_numbers[result_rows])
            for code, judged_rows, result_rows in matches
        ]

    @property
    def missing(self) -> Ints:
        """The queries of the judgments without an exact or near match in the results."""
        near = [judged_numbers for _, judged_numbers, _ in self.near_queries]
        return np.flatnonzero(unpaired(len(self.judged.queries), self.common[1], *near))

    @property
    def extra(self) -> Ints:
        """The queries of the results without an exact or near match in the judgments."""
        near = [result_numbers for _, _, result_numbers in self.near_queries]
        return np.flatnonzero(unpaired(len(self.results.queries), self.common[0], *near))

    @cached_property
    def _group(self) -> Ints:
        """The number in the judgments of each result's query; -1 if it is not judged."""
        number = np.full(len(self.results.queries), -1, dtype=np.int64)
        number[self.common[0]] = self.common[1]
        return number[self.results.query]

    @cached_property
    def _shared_rows(self) -> tuple[Ints, Ints]:
        """The rows of the results that are judged, and the judged rows that were retrieved."""
        rows = np.flatnonzero(self._group >= 0)
        unique = self._unique_judged
        index = IdIndex(self.judged.docs.take(unique), self.judged.query[unique])
        matching, index_rows = index.find(self.results.docs.take(rows), self._group[rows])
        return rows[matching], unique[index_rows]

    @cached_property
    def _unique_judged(self) -> Ints:
        """The judged rows; of a document judged twice, only the first."""
        again = repeated(self.judged.docs, self.judged.query)[1]
        return np.flatnonzero(unpaired(len(self.judged.docs), again))

    @property
    def any_document(self) -> bool:
        """Whether any judged document was retrieved."""
        return len(self._shared_rows[0]) > 0

    @cached_property
    def unretrieved(self) -> Ints:
        """The judged rows of shared queries that were not retrieved; of a document judged twice, the first."""
        is_shared = ~unpaired(len(self.judged.queries), self.common[1])
        rows = np.setdiff1d(self._unique_judged, self._shared_rows[1])
        return rows[is_shared[self.judged.query[rows]]]

    @cached_property
    def near_documents(self) -> Near:
        """Near matches of documents of a shared query that only one side has: code, judged rows, result rows."""
        judged = self.unretrieved
        results = np.flatnonzero(unpaired(len(self.results.docs), self._shared_rows[0]) & (self._group >= 0))
        matches = near_matches(
            self.judged.docs.take(judged),
            self.judged.query[judged],
            self.results.docs.take(results),
            self._group[results],
        )
        return [(code, judged[judged_rows], results[result_rows]) for code, judged_rows, result_rows in matches]

    def samples(self, count: int) -> tuple[list[bytes], list[bytes]]:
        """A few ids of retrieved and of judged documents, of queries that both sides have if there are any."""
        rows = np.flatnonzero(self._group >= 0)
        results = self.results.docs.take(rows) if len(rows) else self.results.docs
        judged = self.judged.docs.take(self.unretrieved) if len(self.unretrieved) else self.judged.docs
        return _first_distinct(results, count), _first_distinct(judged, count)


def _first_distinct(ids: Ids, count: int) -> list[bytes]:
    return list(islice(dict.fromkeys(ids.head(EXAMINED_IDS)), count))


def queries_only(queries: Ids) -> IdSide:
    """A side that has queries and no rows."""
    no_rows = np.zeros(0, dtype=np.int64)
    return IdSide(queries, no_rows, queries.take(no_rows))


def _index(ids: Ids) -> IdIndex:
    return IdIndex(ids, _zeros(ids))


def _zeros(ids: Ids) -> Ints:
    return np.zeros(len(ids), dtype=np.int64)


# Why no retrieved document is judged: the ids of the two sides, and what they look like.

NOTHING_JUDGED = "nothing-judged"
SHOWN_IDS = 3
EXAMINED_IDS = 1000
_RANDOM_ID = re.compile(  # ends in a UUID, or in a long hexadecimal number with digits and letters
    rb"(?:.*[^0-9A-Za-z])?"
    rb"(?:[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{16,})",
    re.IGNORECASE | re.DOTALL,
)
_SEPARATOR = re.compile(rb"[^0-9A-Za-z]+")
# The fields of metadata in which ``--set retriever.unit=document`` looks for the id of a document by itself.
METADATA_ID_NAMES = ("ref_doc_id", "document_id", "doc_id", "source_id", "source")
STABLE_ID = "choose one that stays the same: --set retriever.id={path} (id='{path}')"


def are_random(ids: Collection[bytes]) -> bool:
    """Whether all of some ids look as if they were drawn by chance: UUIDs, or long hexadecimal numbers."""
    return bool(ids) and all(_RANDOM_ID.fullmatch(name) for name in ids)


class ChunkId(NamedTuple):
    """The id of a chunk, the id of its document, and what separates that from the rest."""

    name: bytes
    document: bytes
    separator: bytes


def chunk_of(names: Iterable[bytes], documents: Collection[bytes]) -> ChunkId | None:
    """The first id that looks like a chunk of a document.

    ``doc-1#3`` and ``doc-1_0`` are chunks of ``doc-1``: what follows its id begins with a separator and has a digit.
    """
    for name in names:
        for match in reversed(list(_SEPARATOR.finditer(name))):
            document, rest = name[: match.start()], name[match.end() :]
            if document in documents and any(48 <= byte <= 57 for byte in rest):
                return ChunkId(name, document, match[0])
    return None


def field_of_judged_ids(metadata: Iterable[Mapping[str, Any]], documents: Collection[bytes]) -> str | None:
    """The first field of metadata that holds the id of a judged document."""
    for values in metadata:
        for name, value in values.items():
            is_id = isinstance(value, (str, int)) and not isinstance(value, bool)
            if is_id and str(value).encode("utf-8", "surrogateescape") in documents:
                return str(name)
    return None


def nothing_judged(
    overlap: IdOverlap | None = None,
    metadata: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    ids_change: bool = False,
    path: str | None = None,
    is_explained: bool = False,
    has_option: bool = False,
) -> Note:
    """The note that no retrieved document is judged, with ids of both sides if these are known, and the likely cause.

    ``metadata`` are those of results by id. ``ids_change`` says that a query, asked twice, had other ids; ``path`` is
    where results have judged ids, if that was looked for; ``is_explained`` says that another note names the cause;
    ``has_option``, that one names an option, if no cause is known.
    """
    start = "none of the retrieved documents is judged"
    if overlap is None:
        return Note(NOTHING_JUDGED, f"{start}: are the ids the same on both sides? {COMPARE_IDS}")
    results, judged = overlap.samples(EXAMINED_IDS)
    sides = [", ".join(map(shown, ids[:SHOWN_IDS])) or "none" for ids in (results, judged)]
    start = f"{start}: the results have the ids {sides[0]}, the judgments {sides[1]}"
    if is_explained:
        return Note(NOTHING_JUDGED, start)
    cause = _likely_cause(results, judged, metadata or {}, path, ids_change=ids_change)
    return Note(NOTHING_JUDGED, start if has_option and cause == COMPARE_IDS else f"{start}; {cause}")


COMPARE_IDS = "`rankgauge runs validate RUN --labels LABELS` compares them"


def _likely_cause(
    results: list[bytes],
    judged: list[bytes],
    metadata: Mapping[str, Mapping[str, Any]],
    path: str | None,
    *,
    ids_change: bool,
) -> str:
    """Why no id is judged, and the way out."""
    documents = set(judged)
    of_results = [metadata[name] for name in (_text(result) for result in results) if name in metadata]
    field = field_of_judged_ids(of_results or islice(metadata.values(), EXAMINED_IDS), documents)
    path = path or (None if field is None else f"metadata.{field}")
    stable_id = STABLE_ID.format(path=path or "metadata.source")
    if ids_change:
        return f"the same query, asked twice, had results with other ids: {stable_id}"
    if are_random(results[:EXAMINED_IDS]):
        return f"the ids of the results look random, as those that an index assigns whenever it is built: {stable_id}"
    if path is not None:
        if path not in {f"metadata.{name}" for name in METADATA_ID_NAMES}:
            return (
                f"{path} of the results has judged ids: score results by it with --set retriever.id={path} "
                f"--set retriever.unit=document (id={path!r}, unit='document')"
            )
        return (
            f"{path} of the results has judged ids, so documents are judged and chunks were returned: score documents "
            "with --set retriever.unit=document (unit='document')"
        )
    chunk = chunk_of(results, documents)
    if chunk is not None:
        return (
            f"{shown(chunk.name)} looks like a chunk of {shown(chunk.document)}: score documents "
            "with --set retriever.unit=document (unit='document'), which needs results that name their document; for "
            f"ids alone, id=lambda id: id.rpartition({shown(chunk.separator)})[0]"
        )
    return COMPARE_IDS


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
