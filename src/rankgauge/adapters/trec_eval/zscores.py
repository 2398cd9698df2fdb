"""The file of -Z: the mean and the deviation of each measure for each query over reference systems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.errors import TREC_COMPUTE_ERROR, TREC_FILE_ERROR, TrecEvalError
from rankgauge.adapters.trec_eval.files import leading_number
from rankgauge.core.ids import Ids
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.io.sources import read_bytes

UNKNOWN_ZSCORE = -1000000.0


@dataclass(frozen=True)
class ZScores:
    """Mean and deviation by (query, measure)."""

    deviations: dict[tuple[bytes, bytes], tuple[float, float]]
    last_query: bytes

    @classmethod
    def read(cls, path: str) -> ZScores:
        """Read ``query measure mean deviation`` lines."""
        try:
            data, _ = read_bytes(path)
        except InputError as error:
            raise TrecEvalError(TREC_FILE_ERROR, error.message) from None
        deviations = {}
        for line, text in enumerate(data.removesuffix(b"\n").split(b"\n"), start=1):
            fields = text.split()
            if len(fields) != 4:
                raise TrecEvalError(
                    TREC_FILE_ERROR, f"{path}:{line}: malformed line, expected 4 columns: {shown(text)}"
                )
            deviations[fields[0], fields[1]] = (leading_number(fields[2]), leading_number(fields[3]))
        return cls(deviations, max((query for query, _ in deviations), default=b""))

    def scale(self, label: str, queries: Ids, values: Floats, present: NDArray[np.bool_]) -> Floats:
        """The distance of each value from its mean, in deviations."""
        scaled = np.zeros(len(values))
        for row in np.flatnonzero(present).tolist():
            query = queries[row]
            if query > self.last_query:
                raise TrecEvalError(
                    TREC_COMPUTE_ERROR, f"query {shown(query)} sorts after the last query of the -Z file"
                )
            mean, deviation = self.deviations.get((query, label.encode()), (0.0, -1.0))
            distance = float(values[row]) - mean
            if deviation == -1.0 or (deviation == 0 and distance != 0):
                scaled[row] = UNKNOWN_ZSCORE
            else:
                scaled[row] = distance / deviation if deviation else 0.0
        return scaled
