"""Vectors of length 1 on a fixed grid, so that their cosine is exact on every machine.

Components are rounded to multiples of 2^-24, which float32 holds exactly. A product of two is then a multiple of
2^-48, and no sum of such products over two vectors of length 1 exceeds 1 in size: float64 holds every partial sum
exactly. So the cosine is the same number whatever the processor, the BLAS library, the order of summation or the
block size. The error of the grid, about 1e-8, is far below the six digits that a score keeps.

A cosine in float32 costs a fraction of that and is only near: :func:`float32_error` bounds its error, so that it can
propose which documents to compute exactly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ints
from rankgauge.errors import InputError

GRID = float(1 << 24)
FLOAT32_ROUNDING = 2.0**-24  # the largest relative error of one operation
NUMBERS_PER_BLOCK = 1 << 20  # converted to float64 at once: 8 MB
UnitVectors = NDArray[np.float32]


def to_unit(vectors: NDArray[Any], what: str = "vectors") -> UnitVectors:
    """Scale each row to length 1, on the grid; a row of zeros has no direction and stays zero."""
    rows: Floats = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2:
        raise InputError(f"{what} must be a table with one row per text, found {rows.ndim} dimensions")
    if not np.isfinite(rows).all():
        row = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise InputError(f"{what} must be finite, found NaN or infinity in row {row + 1}")
    if rows.shape[1]:
        # cumsum adds one by one on every machine; the order of sum depends on the width of the registers.
        length = np.sqrt(np.cumsum(rows * rows, axis=1)[:, -1])
        rows = rows / np.where(length > 0, length, 1.0)[:, None]
    return (np.rint(rows * GRID) / GRID).astype(np.float32)


def cosines(queries: UnitVectors, documents: UnitVectors) -> Floats:
    """The cosine of each query with each document, exact."""
    return queries.astype(np.float64) @ documents.astype(np.float64).T


def row_cosines(queries: UnitVectors, query_row: Ints, documents: UnitVectors, document_row: Ints) -> Floats:
    """The cosine of each given pair of a query and a document, exact."""
    out = np.empty(len(query_row))
    step = max(1, NUMBERS_PER_BLOCK // max(1, queries.shape[1]))
    for begin in range(0, len(out), step):
        part = slice(begin, begin + step)
        pair = queries[query_row[part]].astype(np.float64), documents[document_row[part]].astype(np.float64)
        out[part] = np.einsum("ij,ij->i", *pair)
    return out


def float32_error(width: int) -> float:
    """An upper bound on the error of a cosine of two such vectors that is computed in float32, in any order of adding.

    The error of a sum of n products is at most n u / (1 - n u) times the sum of their sizes, where u is the largest
    relative error of one operation (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1). By the
    inequality of Cauchy and Schwarz the sum of sizes is at most the product of the lengths: 1 each, up to the grid.
    Nothing underflows, since a product is 0 or at least 2^-48. A fused operation rounds once less.
    """
    rounding = width * FLOAT32_ROUNDING
    if rounding >= 0.5:
        return 2.0  # more than 8 million dimensions: nothing is known
    length = 1 + math.sqrt(width) / (2 * GRID)
    return rounding / (1 - rounding) * length * length
