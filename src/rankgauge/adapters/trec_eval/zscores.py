"""The file behind -Z: the mean and the deviation of each measure for each query over some reference systems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.errors import COMPUTE, FILE, Stop
from rankgauge.adapters.trec_eval.files import number
from rankgauge.core.ids import Ids
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.io.sources import read_bytes

UNKNOWN = -1000000.0


@dataclass(frozen=True)
class ZScores:
    """Mean and deviation by (query, measure)."""

    known: dict[tuple[bytes, bytes], tuple[float, float]]
    last: bytes

    @classmethod
    def read(cls, path: str) -> ZScores:
        """Read ``query measure mean deviation`` lines."""
        try:
            data, _ = read_bytes(path)
        except InputError as error:
            raise Stop(FILE, error.message) from None
        known = {}
        for place, text in enumerate(data.removesuffix(b"\n").split(b"\n"), start=1):
            fields = text.split()
            if len(fields) != 4:
                raise Stop(FILE, f"{path}:{place}: malformed line, expected 4 columns: {shown(text)}")
            known[fields[0], fields[1]] = (number(fields[2]), number(fields[3]))
        return cls(known, max((query for query, _ in known), default=b""))

    def scale(self, label: str, queries: Ids, values: Floats, present: NDArray[np.bool_]) -> Floats:
        """The distance of each value from its mean, in deviations."""
        out = np.zeros(len(values))
        for place in np.flatnonzero(present).tolist():
            query = queries[place]
            if query > self.last:
                raise Stop(COMPUTE, f"query {shown(query)} sorts behind the last query of the -Z file")
            mean, deviation = self.known.get((query, label.encode()), (0.0, -1.0))
            away = float(values[place]) - mean
            if deviation == -1.0 or (deviation == 0 and away != 0):
                out[place] = UNKNOWN
            else:
                out[place] = away / deviation if deviation else 0.0
        return out
