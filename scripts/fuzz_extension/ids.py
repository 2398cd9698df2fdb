"""Columns of ids: gathered, hashed, numbered, ordered, searched for repeats, read as numbers."""

from __future__ import annotations

import math

import numpy as np

from scripts.fuzz_extension.inputs import DECIMAL, NOT_NUMBERS, column, damage, some_count, some_ids, some_number
from scripts.fuzz_extension.probe import Probe, fuzzes

WORD = 2**64 - 1
MIX, STIR = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03  # as in ids.c


def id_hash(text: bytes, seed: int) -> int:
    """The hash of an id: eight bytes at a time are multiplied, and the halves of the product combined."""

    def fold(number: int) -> int:
        product = number * STIR
        return (product >> 64) ^ (product & WORD)

    hash = seed ^ (len(text) * MIX & WORD)
    while len(text) > 8:
        hash = (fold(hash ^ int.from_bytes(text[:8], "little")) + MIX) & WORD
        text = text[8:]
    hash = fold(hash ^ int.from_bytes(text, "little"))
    return hash ^ (hash >> 32)


def _seed(probe: Probe) -> int:
    return probe.rng.choice((0, 1, WORD, probe.rng.getrandbits(64)))


def _groups(probe: Probe, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    groups = [probe.rng.choice((-(2**63), -1, 0, 1, 2, 3, 2**63 - 1)) for _ in range(count)]
    return np.array(sorted(groups) if probe.rng.random() < 0.6 else groups, dtype=np.int64)


@fuzzes("gather")
def fuzz_gather(probe: Probe) -> None:
    """The texts next to one another, with zeros behind them."""
    ids = some_ids(probe.rng, some_count(probe.rng))
    parts = column(probe.rng, ids)
    assert probe.call("gather", parts) == b"".join(ids) + bytes(24), ids
    probe.call_wrongly("gather", parts)


@fuzzes("hashes")
def fuzz_hashes(probe: Probe) -> None:
    """The same hashes as those of ``id_hash``."""
    ids, seed = some_ids(probe.rng, some_count(probe.rng)), _seed(probe)
    parts = column(probe.rng, ids)
    hashes = np.frombuffer(probe.call("hashes", parts, seed), dtype=np.uint64).tolist()
    assert hashes == [id_hash(id, seed) for id in ids], (ids, seed)
    probe.call_wrongly("hashes", parts, seed)


@fuzzes("number")
def fuzz_number(probe: Probe) -> None:
    """Distinct ids of a group are numbered as they appear."""
    count = probe.rng.choice((0, 1, 5, 60, 700, 2500)) if probe.rng.random() < 0.1 else some_count(probe.rng)
    ids, groups = some_ids(probe.rng, count), _groups(probe, count)
    if count > 500:  # more distinct ones than the first table has room for
        ids = [b"%d" % row for row in range(count)]
    numbers: dict[tuple[bytes, int], int] = {}
    expected = [numbers.setdefault(pair, len(numbers)) for pair in zip(ids, groups.tolist(), strict=True)]
    arguments = (column(probe.rng, ids), groups, _seed(probe))
    found, distinct = probe.call("number", *arguments)
    assert (np.frombuffer(found, dtype=np.int64).tolist(), distinct) == (expected, len(numbers)), (ids, groups)
    probe.call_wrongly("number", *arguments)


@fuzzes("has_repeated")
def fuzz_has_repeated(probe: Probe) -> None:
    """Whether two rows have the same id and group."""
    count = some_count(probe.rng)
    ids, groups = some_ids(probe.rng, count), _groups(probe, count)
    if probe.rng.random() < 0.5:  # none, or few
        ids = [id + b"%d" % row for row, id in enumerate(ids)]
    rows = list(zip(ids, groups.tolist(), strict=True))
    arguments = (column(probe.rng, ids), groups, _seed(probe))
    assert probe.call("has_repeated", *arguments) is (len(set(rows)) < count), rows
    probe.call_wrongly("has_repeated", *arguments)


@fuzzes("order")
def fuzz_order(probe: Probe) -> None:
    """Rows by group are what a stable sort gives."""
    count, kinds = some_count(probe.rng), probe.rng.randrange(1, 8)
    groups = np.array([probe.rng.randrange(kinds) for _ in range(count)], dtype=np.int64)
    sizes = np.bincount(groups, minlength=kinds)
    begins = (np.cumsum(sizes) - sizes).astype(np.int64)
    order = np.frombuffer(probe.call("order", groups, begins), dtype=np.int64)
    assert order.tolist() == np.argsort(groups, kind="stable").tolist(), (groups, begins)
    probe.call_wrongly("order", groups, begins)


@fuzzes("decimals")
def fuzz_decimals(probe: Probe) -> None:
    """Numbers are those of Python's float; what is not a number is detected."""
    texts = [some_number(probe.rng) for _ in range(some_count(probe.rng))]
    texts = [damage(probe.rng, text) if probe.rng.random() < 0.2 else text for text in texts]
    texts += [probe.rng.choice(NOT_NUMBERS) for _ in range(probe.rng.randrange(3))]
    parts = column(probe.rng, texts)
    values, statuses = probe.call("decimals", parts)
    for text, value, status in zip(texts, np.frombuffer(values).tolist(), statuses, strict=True):
        is_number = DECIMAL.fullmatch(text) is not None
        assert (status == 1) is not is_number, (text, status)
        if status == 0:
            assert (value, math.copysign(1, value)) == (float(text), math.copysign(1, float(text))), (text, value)
        elif is_number:  # left to Python, as few as possible
            assert len(text) > 19 or b"e" in text.lower(), text
    probe.call_wrongly("decimals", parts)
