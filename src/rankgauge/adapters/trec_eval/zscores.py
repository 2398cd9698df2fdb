"""The file of -Z: the mean and the deviation of each measure for each query over reference systems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.adapters.trec_eval.errors import TREC_COMPUTE_ERROR, TREC_ZSCORE_ERROR, TrecEvalError
from rankgauge.adapters.trec_eval.files import leading_number
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import read_bytes

UNKNOWN_ZSCORE = -1000000.0


@dataclass(frozen=True)
class ZScores:
    """The lines of the file, sorted by query and measure, and where each query begins and ends."""

    measures: list[bytes]
    deviations: list[tuple[float, float]]  # mean and deviation
    queries: dict[bytes, tuple[int, int]]
    last_query: bytes

    @classmethod
    def read(cls, path: str) -> ZScores:
        """Read ``query measure mean deviation`` lines."""
        try:
            data, _ = read_bytes(path)
        except InputError as error:
            raise TrecEvalError(TREC_ZSCORE_ERROR, error.message) from None
        if not data:
            raise TrecEvalError(TREC_ZSCORE_ERROR, f"{path}: file is empty")
        rows = []
        for line, text in enumerate(data.removesuffix(b"\n").split(b"\n"), start=1):
            fields = text.split()
            if len(fields) != 4:
                raise TrecEvalError(
                    TREC_ZSCORE_ERROR, f"{path}:{line}: malformed line, expected 4 columns: {shown(text)}"
                )
            rows.append(fields)
        rows.sort(key=lambda fields: (fields[0], fields[1]))
        queries: dict[bytes, tuple[int, int]] = {}
        for index, (query, *_) in enumerate(rows):
            queries[query] = (queries.get(query, (index, index))[0], index + 1)
        return cls(
            [measure for _, measure, *_ in rows],
            [(leading_number(mean), leading_number(deviation)) for *_, mean, deviation in rows],
            queries,
            rows[-1][0],
        )

    def scale(self, query: bytes, label: bytes, value: float) -> float:
        """The distance of a value from its mean, in deviations."""
        if query > self.last_query:
            raise TrecEvalError(TREC_COMPUTE_ERROR, f"query {shown(query)} sorts after the last query of the -Z file")
        index = self._find(query, label)
        if index is None:
            return UNKNOWN_ZSCORE
        mean, deviation = self.deviations[index]
        if deviation:
            with np.errstate(all="ignore"):
                return float((np.float64(value) - np.float64(mean)) / np.float64(deviation))
        return 0.0 if value == mean else UNKNOWN_ZSCORE

    def _find(self, query: bytes, label: bytes) -> int | None:
        """The line of a measure, by trec_eval's binary search, which also looks at the line after the query's last."""
        if query not in self.queries:
            return None
        first, end = self.queries[query]
        low, high = first, end
        while low <= high:
            index = first + (low - first + high - first) // 2
            if index == len(self.measures):
                raise TrecEvalError(TREC_COMPUTE_ERROR, f"{shown(label)} sorts after the last measure of the -Z file")
            if label == self.measures[index]:
                return index
            low, high = (low, index - 1) if label < self.measures[index] else (index + 1, high)
        return None
