from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.core.ids import IdIndex, Ids, Interner, concatenate, repeated, seeds
from rankgauge.errors import InputError, InputTypeError

# Long ones share a prefix of several words, so that only later words tell them apart.
identifiers = st.one_of(
    st.binary(min_size=1, max_size=20).map(lambda b: b.replace(b"\0", b"\1")),
    st.sampled_from([b"clueweb09-en0000-00-0000" + bytes([n, m]) for n in range(1, 5) for m in range(1, 5)]),
    st.sampled_from([b"x" * n for n in range(1, 40)]),
)
columns = st.lists(identifiers, max_size=30)
groups = st.lists(st.integers(0, 3), min_size=30, max_size=30)


@given(columns)
def test_a_column_gives_back_its_ids(ids: list[bytes]) -> None:
    column = Ids.from_bytes(ids)
    assert list(column) == ids
    assert [column[row] for row in range(len(ids))] == ids
    assert list(column.compact()) == ids
    assert list(column.take(np.arange(len(ids))[::-1])) == ids[::-1]
    assert list(column.take(np.arange(len(ids))[::-1]).compact()) == ids[::-1]


@given(columns, st.booleans())
def test_order_is_that_of_the_bytes(ids: list[bytes], descending: bool) -> None:
    column = Ids.from_bytes(ids)
    assert [ids[row] for row in column.order(descending=descending)] == sorted(ids, reverse=descending)


@given(columns, groups)
def test_order_stays_within_groups_and_is_stable(ids: list[bytes], group: list[int]) -> None:
    number = np.sort(np.array(group[: len(ids)], dtype=np.int64))
    wanted = sorted(range(len(ids)), key=lambda row: (number[row], ids[row], row))
    assert Ids.from_bytes(ids).order(number).tolist() == wanted


@pytest.mark.slow
@given(columns, columns, groups, groups)
def test_an_index_finds_what_a_dict_finds(known: list[bytes], asked: list[bytes], g1: list[int], g2: list[int]) -> None:
    pairs = list(dict.fromkeys(zip(g1, known, strict=False)))
    index = IdIndex(Ids.from_bytes([i for _, i in pairs]), np.array([g for g, _ in pairs], dtype=np.int64))
    wanted = {pair: row for row, pair in enumerate(pairs)}
    rows, where = index.find(Ids.from_bytes(asked), np.array(g2[: len(asked)], dtype=np.int64))
    found = dict(zip(rows.tolist(), where.tolist(), strict=True))
    assert found == {row: wanted[g, i] for row, (g, i) in enumerate(zip(g2, asked, strict=False)) if (g, i) in wanted}


def test_ids_with_the_same_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ids, "hash", lambda self, seed: np.zeros(len(self), dtype=np.uint64))
    index = IdIndex(Ids.from_bytes([b"a", b"b", b"c"]), np.array([0, 0, 1]))
    rows, where = index.find(Ids.from_bytes([b"c", b"b", b"c", b"x", b"a"]), np.array([0, 0, 1, 0, 0]))
    assert (rows.tolist(), where.tolist()) == ([1, 2, 4], [1, 2, 0])
    first, second = repeated(Ids.from_bytes([b"a", b"b", b"a", b"b"]), np.array([0, 0, 0, 1]))
    assert (first.tolist(), second.tolist()) == ([0], [2])


@given(columns, groups)
def test_repeated_ids_are_found_within_their_group(ids: list[bytes], group: list[int]) -> None:
    number = np.array(group[: len(ids)], dtype=np.int64)
    _, again = repeated(Ids.from_bytes(ids), number)
    seen: set[tuple[int, bytes]] = set()
    wanted = []
    for row, key in enumerate(zip(group, ids, strict=False)):
        if key in seen:
            wanted.append(row)
        seen.add(key)
    assert again.tolist() == wanted


@given(columns)
def test_interning_numbers_ids_in_the_order_of_appearance(ids: list[bytes]) -> None:
    intern = Interner()
    numbers = intern(Ids.from_bytes(ids))
    known = list(dict.fromkeys(ids))
    assert [known[number] for number in numbers] == ids
    assert list(intern.ids) == known


@given(st.lists(columns, max_size=4))
def test_columns_concatenate(parts: list[list[bytes]]) -> None:
    assert list(concatenate([Ids.from_bytes(part) for part in parts])) == [i for part in parts for i in part]


def test_a_hash_depends_on_every_byte_and_on_the_seed() -> None:
    ids = Ids.from_bytes([b"a" * 9, b"a" * 8 + b"b", b"a" * 8, b"a" * 9])
    hashes = ids.hash(seeds(np.array([0, 0, 0, 1])))
    assert len(set(hashes.tolist())) == 4


def test_one_very_long_id_among_short_ones() -> None:
    ids = [b"d1", b"x" * 1_000_000, b"d2", b"x" * 999_999 + b"y"]
    column = Ids.from_bytes(ids)
    assert [ids[row] for row in column.order()] == sorted(ids)
    assert list(column.compact()) == ids


@pytest.mark.parametrize(
    ("value", "kind"), [(1, InputTypeError), (None, InputTypeError), ("", InputError), ("a\0", InputError)]
)
def test_what_is_no_id_is_named(value: object, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="query id"):
        Ids.from_text([value], "query id")
