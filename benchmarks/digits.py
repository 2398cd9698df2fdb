"""Lines of a run file from arrays of whole numbers, without a Python object a line.

Fifty million lines by ``%`` take minutes; here a block of lines is one matrix of bytes, in which leading zeros are
masked out and the rest is written as it lies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def number(values: Ints, width: int) -> tuple[Bytes, Mask]:
    """Decimal digits, right-aligned in ``width`` columns, and which of them are written."""
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    digits = (values[:, None] // powers % 10 + ord("0")).astype(np.uint8)
    written = values[:, None] >= powers
    written[:, -1] = True
    return digits, written


def millionths(values: Ints, width: int) -> tuple[Bytes, Mask]:
    """``12345678`` as ``12.345678``, with ``width`` columns before the point."""
    whole, written = number(values // 1_000_000, width)
    fraction, _ = number(values % 1_000_000, 6)
    point, all_of_it = text(".", len(values))
    return np.hstack([whole, point, fraction]), np.hstack([written, all_of_it, np.ones_like(fraction, dtype=np.bool_)])


def text(words: str, lines: int) -> tuple[Bytes, Mask]:
    """The same words on every line."""
    row = np.frombuffer(words.encode(), dtype=np.uint8)
    return np.broadcast_to(row, (lines, len(row))), np.ones((lines, len(row)), dtype=np.bool_)


def run_lines(queries: Ints, documents: Ints, ranks: Ints, scores: Ints) -> bytes:
    """``query Q0 document rank score tag`` for every line; scores in millionths."""
    lines = len(queries)
    columns = [
        number(queries, 7),
        text(" Q0 ", lines),
        number(documents, 7),
        text(" ", lines),
        number(ranks, 4),
        text(" ", lines),
        millionths(scores, 2),
        text(" bench\n", lines),
    ]
    return np.hstack([c for c, _ in columns])[np.hstack([m for _, m in columns])].tobytes()
