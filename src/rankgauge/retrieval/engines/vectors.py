"""Vectors of length 1 on a fixed grid, so that their cosine is exact on every machine.

Components are rounded to multiples of 2^-24, which float32 holds exactly. A product of two is then a multiple of
2^-48, and no sum of such products over two vectors of length 1 exceeds 1 in size: float64 holds every partial sum
exactly. So the cosine is the same number whatever the processor, the BLAS library, the order of summation or the
block size. The error of the grid, about 1e-8, is far below the six digits that a score keeps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.tables import Floats
from rankgauge.errors import InputError

GRID = float(1 << 24)
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
