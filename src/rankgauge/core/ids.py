"""Columns of ids: exact bytes, stored as positions in one byte buffer.

There is no Python object per id. Ids are compared, ordered and hashed as eight-byte words gathered from the buffer; a
hash only narrows a search, and equality of the bytes decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import compiled
from rankgauge.core.dataclass import dataclass
from rankgauge.errors import InputError, InputTypeError, shown

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

WORD_BYTES = 8
DELETE = 0x7F  # the first character after the visible ones of ASCII
COPIED_BYTES_PER_ID = 1 << 10
LONG_ID_BYTES = 1 << 10  # an id longer than this is compared as a whole
PADDING = 3 * WORD_BYTES  # bytes after the last id, so that a word can be read at any position
_BYTE_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(WORD_BYTES)] + [(1 << 64) - 1], dtype=np.uint64)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


def words_of(buffer: NDArray[np.uint8]) -> Words:
    """The eight bytes that begin at each position of a buffer, as a little-endian word."""
    return np.ndarray((len(buffer) - WORD_BYTES + 1,), dtype="<u8", buffer=buffer, strides=(1,))


class IdParts(NamedTuple):
    """The contiguous arrays of a column of ids: the extension takes them as one argument."""

    buffer: NDArray[np.uint8]
    start: Ints
    length: Ints


@dataclass(frozen=True, eq=False)
class Ids:
    """A column of ids. ``buffer`` has ``PADDING`` bytes after the last one."""

    buffer: NDArray[np.uint8]
    start: Ints
    length: Ints

    @classmethod
    def from_bytes(cls, ids: Sequence[bytes]) -> Ids:
        """A column from byte strings."""
        length = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        return cls.packed(b"".join(ids) + bytes(PADDING), length)

    @classmethod
    def packed(cls, text: bytes, length: Ints) -> Ids:
        """A column from one padded text in which the ids follow one another."""
        return cls(np.frombuffer(text, dtype=np.uint8), np.cumsum(length) - length, length)

    @classmethod
    def from_text(cls, ids: Iterable[object], what: str = "id") -> Ids:
        """A column from ``str`` (encoded as UTF-8) or ``bytes``; anything else is an error."""
        values: list[Any] = ids if isinstance(ids, list) else list(ids)
        try:
            joined = "".join(values)  # raises if one of them is not text
            length = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
            if joined.isascii() and "\0" not in joined and length.all():
                return cls.packed(joined.encode("ascii") + bytes(PADDING), length)
        except TypeError:
            pass
        return cls.from_bytes([encode_id(value, what) for value in values])

    @property
    def parts(self) -> IdParts:
        """What the extension reads a column of ids from."""
        return IdParts(self.buffer, np.ascontiguousarray(self.start), np.ascontiguousarray(self.length))

    @property
    def has_visible_ascii_only(self) -> bool:
        """Whether there is nothing but visible ASCII characters in the buffer: then no id has anything odd in it."""
        text = self.buffer[: len(self.buffer) - PADDING]
        return not len(text) or bool(text.min() > ord(" ") and text.max() < DELETE)

    @property
    def is_utf8(self) -> bool:
        """Whether every id is text."""
        if not len(self.buffer) or int(self.buffer.max()) <= DELETE:
            return True
        try:
            for value in self:
                value.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, row: int) -> bytes:
        begin = int(self.start[row])
        return self.buffer[begin : begin + int(self.length[row])].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        # Slices of bytes are faster than those of a buffer, if copying it first does not cost more.
        text = self.buffer.tobytes() if len(self.buffer) < COPIED_BYTES_PER_ID * len(self) else self.buffer.data
        begins = self.start.tolist()
        for begin, end in zip(begins, (self.start + self.length).tolist(), strict=True):
            yield bytes(text[begin:end])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The ids as ``str``, kept for those who need them again: for queries, not for documents."""
        return tuple(self.to_text())

    def to_text(self) -> list[str]:
        """The ids as ``str``; bytes that are not UTF-8 become surrogate escapes."""
        return [value.decode("utf-8", "surrogateescape") for value in self]

    def take(self, rows: Ints | NDArray[np.bool_]) -> Ids:
        """The ids of the given rows, over the same buffer."""
        return Ids(self.buffer, self.start[rows], self.length[rows])

    def head(self, rows: int) -> Ids:
        """The ids of the first rows."""
        return Ids(self.buffer, self.start[:rows], self.length[:rows])

    def compact(self) -> Ids:
        """A copy of the ids over a new buffer that contains nothing else."""
        start = np.cumsum(self.length) - self.length
        if compiled.scanner is not None:
            return Ids(np.frombuffer(compiled.scanner.gather(self.parts), dtype=np.uint8), start, self.length)
        buffer = np.zeros(int(self.length.sum()) + PADDING, dtype=np.uint8)
        if len(self) and int(self.length.max()) > 64 * WORD_BYTES:
            for begin, target, size in zip(self.start, start, self.length, strict=True):
                buffer[target : target + size] = self.buffer[begin : begin + size]
        else:
            source = np.repeat(self.start - start, self.length)
            buffer[: len(source)] = self.buffer[source + np.arange(len(source))]
        return Ids(buffer, start, self.length)

    def words(self, j: int, rows: Ints | None = None) -> Words:
        """The j-th eight bytes of each id, little-endian, padded with zeros."""
        start, left = (self.start, self.length) if rows is None else (self.start[rows], self.length[rows])
        if j:
            start, left = start + WORD_BYTES * j, left - WORD_BYTES * j
        words: Words = words_of(self.buffer)[start]
        words &= _BYTE_MASKS.take(left, mode="clip")
        return words

    def hash(self, seed: Words) -> Words:
        """A 64-bit hash of each id, each with its own seed."""
        mixed = seed ^ self.length.astype(np.uint64)
        mixed *= _MULTIPLIER
        if int(self.length.max(initial=0)) > LONG_ID_BYTES:
            return self._hash_long(seed, mixed)
        return self._hash_words(mixed)

    def _hash_long(self, seed: Words, mixed: Words) -> Words:
        """The hashes of a column with very long ids, which are too slow word by word."""
        import hashlib

        long = self.length > LONG_ID_BYTES
        mixed[~long] = self.take(~long)._hash_words(mixed[~long])
        for row in np.flatnonzero(long).tolist():
            key = int(seed[row]).to_bytes(WORD_BYTES, "little")
            mixed[row] = int.from_bytes(hashlib.blake2b(self[row], digest_size=WORD_BYTES, key=key).digest(), "little")
        return mixed

    def _hash_words(self, mixed: Words) -> Words:
        shortest, longest = (int(self.length.min()), int(self.length.max())) if len(self) else (0, 0)
        for j in range(-(-longest // WORD_BYTES)):
            rows = None if shortest > WORD_BYTES * j else np.flatnonzero(self.length > WORD_BYTES * j)
            before = mixed if rows is None else mixed[rows]
            step = self.words(j, rows)
            step ^= before
            step *= _MULTIPLIER
            step ^= np.right_shift(step, _SHIFT, out=before)  # in place if possible: a new array costs more
            step *= _MULTIPLIER
            if rows is None:
                mixed = step
            else:
                mixed[rows] = step
        mixed ^= mixed >> _SHIFT
        return mixed

    def same(self, rows: Ints, other: Ids, other_rows: Ints) -> NDArray[np.bool_]:
        """Whether ``self[rows[i]]`` and ``other[other_rows[i]]`` are the same bytes, for each i."""
        equal: NDArray[np.bool_] = self.length[rows] == other.length[other_rows]
        for row in np.flatnonzero(equal & (self.length[rows] > LONG_ID_BYTES)).tolist():
            equal[row] = self[int(rows[row])] == other[int(other_rows[row])]
        short = self.length[rows] <= LONG_ID_BYTES
        j = 0
        while True:
            alive = np.flatnonzero(equal & short & (self.length[rows] > WORD_BYTES * j))
            if not len(alive):
                return equal
            equal[alive] = self.words(j, rows[alive]) == other.words(j, other_rows[alive])
            j += 1

    def changes(self) -> Ints:
        """The rows that differ from the row before, including the first."""
        fresh = np.ones(len(self), dtype=bool)
        if len(self):
            # Rows that refer to the same bytes, as those of a dictionary do, need not be compared.
            moved = np.flatnonzero((self.start[1:] != self.start[:-1]) | (self.length[1:] != self.length[:-1])) + 1
            if 4 * len(moved) < len(self):
                moved = moved[~self.same(moved, self, moved - 1)]
                return np.append(0, moved)
            np.not_equal(self.length[1:], self.length[:-1], out=fresh[1:])
            first = self.words(0)
            fresh[1:] |= first[1:] != first[:-1]
            if int(self.length.max()) > WORD_BYTES:
                rows = np.flatnonzero(~fresh & (self.length > WORD_BYTES))
                fresh[rows] = ~self.same(rows, self, rows - 1)
        return np.flatnonzero(fresh)

    @cached_property
    def distinct(self) -> tuple[Ints, Ids]:
        """The number of each id, in the order of first appearance, and the distinct ids."""
        intern = Interner()
        return intern(self), intern.ids

    def order(self, group: Ints | None = None, *, descending: bool = False) -> Ints:
        """The rows sorted by group (which must be ascending) and, within a group, by bytes; stable.

        Only groups of more than one row are read, and only as many words as are needed to distinguish their ids.
        """
        order = np.arange(len(self))
        group = np.zeros(len(self), dtype=np.int64) if group is None else group
        open_at = order
        j = 0
        while True:
            lone = np.ones(len(open_at), dtype=bool)
            same = group[1:] == group[:-1]
            lone[1:] &= ~same
            lone[:-1] &= ~same
            open_at, group = open_at[~lone], group[~lone]
            rows = order[open_at]
            if not np.any(self.length[rows] > WORD_BYTES * j):
                return order
            if WORD_BYTES * j >= LONG_ID_BYTES:
                # Ids that are still equal are long and rare.
                texts = {row: self[row] for row in rows.tolist()}
                for begin, end in pairwise([*np.flatnonzero(np.diff(group, prepend=-1)).tolist(), len(group)]):
                    part = sorted(rows[begin:end].tolist(), key=texts.__getitem__, reverse=descending)
                    order[open_at[begin:end]] = part
                return order
            word = np.zeros(len(rows), dtype=np.uint64)
            alive = np.flatnonzero(self.length[rows] > WORD_BYTES * j)
            word[alive] = self.words(j, rows[alive]).byteswap()
            by = np.lexsort((~word if descending else word, group))
            order[open_at] = rows[by]
            word, group = word[by], group[by]
            fresh = np.ones(len(by), dtype=bool)
            fresh[1:] = (group[1:] != group[:-1]) | (word[1:] != word[:-1])
            group = np.cumsum(fresh)
            j += 1

    def content(self) -> bytes:
        """The column as bytes for a content hash: the lengths first, then the ids."""
        packed = self.compact()
        lengths = np.ascontiguousarray(packed.length, dtype="<i8").tobytes()
        return lengths + packed.buffer[: int(packed.length.sum())].tobytes()


def concatenate(parts: Sequence[Ids]) -> Ids:
    """One column made of several."""
    packed = [part.compact() for part in parts]
    sizes = np.array([int(part.length.sum()) for part in packed], dtype=np.int64)
    buffer = np.concatenate(
        [part.buffer[:size] for part, size in zip(packed, sizes, strict=True)] + [np.zeros(PADDING, dtype=np.uint8)]
    )
    shift = np.cumsum(sizes) - sizes
    start = [part.start + by for part, by in zip(packed, shift, strict=True)]
    empty = np.zeros(0, dtype=np.int64)
    return Ids(
        buffer,
        np.concatenate([*start, empty]),
        np.concatenate([*(part.length for part in packed), empty]),
    )


def seeds(group: Ints) -> Words:
    """A hash seed for each group number."""
    return (group.astype(np.uint64) + np.uint64(1)) * _MULTIPLIER


class IdIndex:
    """An index of ids by group: the judged documents of each query, or the queries of a file."""

    def __init__(self, ids: Ids, group: Ints) -> None:
        self.ids = ids
        self.group = group
        hashes = ids.hash(seeds(group))
        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]
        # Sparse enough that few unknown ids pass, small enough to stay in a cache.
        bits = max(4, (8 * len(ids)).bit_length(), min((64 * len(ids)).bit_length(), 20))
        self._shift = np.uint64(64 - bits)
        self._maybe = np.zeros(1 << bits, dtype=bool)
        self._maybe[hashes >> self._shift] = True

    def find(self, ids: Ids, group: Ints, hashes: Words | None = None) -> tuple[Ints, Ints]:
        """The rows of ``ids`` that are in the index, ascending, and the row of each in the index.

        ``hashes`` are those of the ids under the seeds of their groups, if the caller has them already.
        """
        if hashes is None:
            hashes = ids.hash(seeds(group))
        rows = np.flatnonzero(self._maybe[hashes >> self._shift])
        at = np.searchsorted(self._hashes, hashes[rows])
        matching_rows, index_rows = [], []
        while len(rows):
            inside = at < len(self._hashes)
            inside[inside] = self._hashes[at[inside]] == hashes[rows[inside]]
            rows, at = rows[inside], at[inside]
            row = self._order[at]
            same = self.ids.same(row, ids, rows) & (self.group[row] == group[rows])
            matching_rows.append(rows[same])
            index_rows.append(row[same])
            rows, at = rows[~same], at[~same] + 1  # another id with the same hash: try the next one
        if len(matching_rows) == 1:
            return matching_rows[0], index_rows[0]
        empty = np.zeros(0, dtype=np.int64)
        all_rows = np.concatenate([*matching_rows, empty])
        by = np.argsort(all_rows, kind="stable")
        return all_rows[by], np.concatenate([*index_rows, empty])[by]


def repeated(ids: Ids, group: Ints, hashes: Words | None = None) -> tuple[Ints, Ints]:
    """Pairs of rows that have the same id in the same group: (an earlier row, a later one)."""
    if hashes is None:
        extension = compiled.scanner
        if extension is not None and not extension.has_repeated(
            ids.parts, np.ascontiguousarray(group, dtype=np.int64), compiled.SEED
        ):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        hashes = ids.hash(seeds(group))
    ordered = np.sort(hashes)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return twice.astype(np.int64), twice.astype(np.int64)
    rows = np.flatnonzero(np.isin(hashes, twice))
    rows = rows[np.argsort(group[rows], kind="stable")]
    rows = rows[ids.take(rows).order(group[rows])]
    first, second = rows[:-1], rows[1:]
    same = (group[first] == group[second]) & ids.same(first, ids, second)
    first, second = first[same], second[same]
    by = np.argsort(second, kind="stable")
    return first[by], second[by]


def number_ids(ids: Ids, group: Ints) -> tuple[Ints, int]:
    """A number for each distinct id of a group, in the order of first appearance, and how many there are."""
    if compiled.scanner is not None:
        numbers, count = compiled.scanner.number(ids.parts, np.ascontiguousarray(group, np.int64), compiled.SEED)
        return np.frombuffer(numbers, dtype=np.int64), count
    intern: dict[tuple[int, bytes], int] = {}
    keys = zip(group.tolist(), ids, strict=True)
    return np.array([intern.setdefault(key, len(intern)) for key in keys], dtype=np.int64), len(intern)


def order_by_group(group: Ints, groups: int) -> Ints:
    """The rows by group, each group in the order of its rows: a stable sort."""
    if compiled.scanner is None:
        return np.argsort(group, kind="stable")
    sizes = np.bincount(group, minlength=groups)
    begins = np.cumsum(sizes) - sizes
    ordered = compiled.scanner.order(np.ascontiguousarray(group, np.int64), begins.astype(np.int64))
    return np.frombuffer(ordered, dtype=np.int64)


def hashes_of(ids: Ids, seed: int) -> Words:
    """A hash of each id under one seed, the same within a process only."""
    if compiled.scanner is not None:
        return np.frombuffer(compiled.scanner.hashes(ids.parts, compiled.SEED ^ seed), dtype=np.uint64)
    return ids.hash(np.full(len(ids), compiled.SEED ^ seed, dtype=np.uint64))


class Interner:
    """Numbers every distinct id, in the order of first appearance."""

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}

    def __call__(self, ids: Ids) -> Ints:
        """The number of each id. Consecutive equal ids, the usual case for queries, cost one lookup."""
        begins = ids.changes()
        number = [self.numbers.setdefault(value, len(self.numbers)) for value in ids.take(begins)]
        return np.repeat(np.array(number, dtype=np.int64), np.diff([*begins, len(ids)]))

    @cached_property
    def ids(self) -> Ids:
        """The distinct ids, by number; to be read after all ids were added."""
        return Ids.from_bytes(list(self.numbers))


def encode_id(value: object, what: str) -> bytes:
    """An id as bytes; an error names the kind of id."""
    if isinstance(value, str):
        try:
            data = value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise InputError(f"{what} contains a lone surrogate (half a character): {shown(value)}") from None
    elif isinstance(value, bytes):
        data = value
    else:
        raise InputTypeError(
            f"{what} must be a string, found {type(value).__name__}: {shown(repr(value))}",
            hint="if ids are numbers, convert them with str(), in the judgments and in the run alike",
        )
    if not data:
        raise InputError(f"{what} is empty")
    if 0 in data:
        raise InputError(f"{what} contains a NUL byte: {shown(data)}")
    return data


def numbered(ids: Ids) -> tuple[Ints, Ids]:
    """The number of each row's id in the order of their bytes, and the distinct ids in that order."""
    intern = Interner()
    number = intern(ids)
    order = intern.ids.order()
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return position[number], intern.ids.take(order).compact()
