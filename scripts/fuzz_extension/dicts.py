"""Dicts of scores: joined and gathered, some of them changed by their own keys meanwhile."""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import c_float
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np

from scripts.fuzz_extension.probe import REFUSALS, Probe, fuzzes

DOCS = [*(f"d{number}" for number in range(40)), "é", "e\u0301", "\U0001f600", "x" * 70]
ODD_DOCS: list[Any] = ["", "a\0b", "\ud800", 7, None, b"d1", ("d", 1)]


class OwnFloat(float):
    """A float whose ``__float__`` would run Python code."""

    def __float__(self) -> float:
        raise AssertionError("only the number is read")


NUMBERS: list[Any] = [0, 1, True, 2.5, -0.0, 1e300, math.inf, -math.inf, 10**30, np.float64(0.5), 1e-320, OwnFloat(2)]
ODD_NUMBERS: list[Any] = ["1", None, Decimal(1), np.float32(1), np.int64(1), 1j, 10**400, math.nan, []]


class Key(str):
    """A document that does something whenever it is compared, hashed or deleted."""

    __slots__ = ("act",)
    act: Callable[[], object]

    def __eq__(self, other: object) -> bool:
        self.act()
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        self.act()
        return str.__hash__(self)

    def __del__(self) -> None:
        self.act()


def _number(value: Any) -> float | None:
    """The value of a plain number; None if it is anything else."""
    if isinstance(value, float):
        return float.__float__(value)
    try:
        return float(value) if type(value) in (int, bool) else None
    except OverflowError:
        return None


def _is_text(doc: Any) -> bool:
    """Whether a document is an id: text that can be encoded and has no NUL."""
    try:
        return isinstance(doc, str) and bool(doc) and b"\0" not in doc.encode()
    except UnicodeEncodeError:
        return False


def _some_dict(rng: Random) -> dict[Any, Any]:
    docs: list[Any] = rng.sample(DOCS, rng.choice((0, 1, 3, 10, len(DOCS))))
    kind = rng.randrange(3)
    row = {
        doc: float(-at) if kind == 0 else rng.choice(NUMBERS) if kind == 1 else rng.random()
        for at, doc in enumerate(docs)
    }
    if rng.random() < 0.1:
        row[rng.choice(ODD_DOCS)] = 1.0
    if row and rng.random() < 0.1:
        row[rng.choice(list(row))] = rng.choice(ODD_NUMBERS)
    return row


Hit = tuple[int, int, int, int, int]  # query, rank, first and last rank of the tie, judgment


def _expected(rows: list[dict[Any, Any] | None], docs: list[list[str]], in_doubles: bool) -> list[Hit] | None:
    """The hits by query and rank; None if a dict is left to Python."""
    hits: list[Hit] = []
    first = 0
    for query, (row, judged) in enumerate(zip(rows, docs, strict=True)):
        scores: dict[Any, float] = {}
        for doc, value in (row or {}).items():
            number = _number(value)
            if number is None or math.isnan(number):
                return None
            scores[doc] = number if in_doubles else c_float(number).value
        if not all(isinstance(doc, str) for doc in scores):
            return None
        found: list[Hit] = []
        for ordinal, doc in enumerate(judged, first):
            if doc in scores:
                tied = [other for other, score in scores.items() if score == scores[doc]]
                if len(tied) > 1 and not all(map(_is_text, tied)):
                    return None
                before = sum(score > scores[doc] for score in scores.values())
                rank = 1 + before + sum(other.encode() > doc.encode() for other in tied if other != doc)
                found.append((query, rank, before + 1, before + len(tied), ordinal))
        hits += sorted(found)
        first += len(judged)
    return hits


@fuzzes("join_dicts")
def fuzz_join_dicts(probe: Probe) -> None:
    """The hits of plain dicts; whatever a key does meanwhile, a result or its exception."""
    rng = probe.rng
    rows = [_some_dict(rng) if rng.random() < 0.9 else None for _ in range(rng.randrange(5))]
    docs = [rng.sample([*DOCS, "", "a\0b"], rng.choice((0, 1, 3, 20, len(DOCS)))) for _ in rows]
    offsets = np.cumsum([0, *map(len, docs)]).astype(np.int64)
    flat, in_doubles = [doc for of_query in docs for doc in of_query], rng.random() < 0.5
    found = probe.call("join_dicts", rows, flat, offsets, in_doubles)
    expected = _expected(rows, docs, in_doubles)
    if expected is None:
        assert found is None, (rows, docs)
    else:
        assert list(map(tuple, np.frombuffer(found, dtype=np.int64).reshape(-1, 5).tolist())) == expected, (rows, docs)
    probe.call_wrongly("join_dicts", rows, flat, offsets, in_doubles)
    if rng.random() < 0.5:
        _join_changing(probe, rows, flat, offsets)


def _join_changing(probe: Probe, rows: list[Any], docs: list[Any], offsets: np.ndarray[Any, Any]) -> None:
    """Join while the keys change the arguments."""
    rng, calls_before = probe.rng, probe.rng.choice((0, 1, 2, 5))
    actions: list[Callable[[], object]] = [
        docs.clear,
        lambda: docs.__delitem__(slice(len(docs) // 2, None)),
        lambda: docs.insert(0, "d1"),
        lambda: docs.__setitem__(slice(None), [7] * len(docs)),
        rows.clear,
        lambda: [row.clear() for row in rows if row],
        lambda: [row.update({f"new{number}": number for number in range(99)}) for row in rows if row is not None],
        lambda: [row.update(dict.fromkeys(row, "text")) for row in rows if row],
        lambda: [row.update(dict.fromkeys(row, 0.125)) for row in rows if row],
        lambda: rows.__setitem__(slice(None), [7] * len(rows)),
        lambda: offsets.fill(rng.choice((-1, 2**62))),
        lambda: 1 / 0,
    ]
    action, is_armed = rng.choice(actions), False

    def act() -> None:
        nonlocal is_armed, calls_before
        if is_armed and calls_before:
            calls_before -= 1
        elif is_armed:
            is_armed = False  # what it does compares keys, too
            try:
                action()
            finally:
                is_armed = True

    for place in rng.sample(range(len(docs)), min(len(docs), 3)):
        docs[place] = Key(docs[place])
        docs[place].act = act
    for row in rows:
        for doc in [doc for doc in row or () if type(doc) is str and rng.random() < 0.2]:
            key = Key(doc)
            key.act = act
            row[key] = row.pop(doc)
    is_armed = True
    try:
        probe.call("join_dicts", rows, docs, offsets, rng.random() < 0.5)
    except (*REFUSALS, ZeroDivisionError):
        probe.extension.refused["join_dicts"] += 1
    is_armed = False


@fuzzes("gather_dicts")
def fuzz_gather_dicts(probe: Probe) -> None:
    """All documents, their texts and numbers, one dict after another."""
    rows = [_some_dict(probe.rng) for _ in range(probe.rng.randrange(6))]
    found = probe.call("gather_dicts", rows)
    entries = [entry for row in rows for entry in row.items()]
    values = [_number(value) for _, value in entries]
    if None in values or not all(_is_text(doc) for doc, _ in entries):
        assert found is None, rows
    else:
        docs, text, lengths, numbers = found
        encoded = [doc.encode() for doc, _ in entries]
        assert docs == [doc for doc, _ in entries], rows
        assert text == b"".join(encoded) + bytes(24), rows
        assert np.frombuffer(lengths, dtype=np.int64).tolist() == list(map(len, encoded)), rows
        assert list(map(repr, np.frombuffer(numbers).tolist())) == list(map(repr, values)), rows
    probe.call_wrongly("gather_dicts", rows)
