"""The data for the scripts: scores of each query, tops of rankings, snippets; compressed, within a size limit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.evaluation.query_groups import groups
from rankgauge.render.html.charts.differences import averaged_values, axes_of
from rankgauge.render.html.page_systems import PageSystems
from rankgauge.render.html.page_text import plain, shorten_end
from rankgauge.render.html.payload_packing import Packer
from rankgauge.render.html.payload_rankings import PayloadSize, TopRanking, pack_rankings
from rankgauge.report.report import Report

QUERY_CHARACTERS = 240  # of a query's text that are kept
MAX_OVERESTIMATE = 1.25  # an estimate may be this many times the size
SAMPLING_STEP = 16  # one of this many queries is packed to estimate whether all will fit

# From everything to little: the first that fits is used.
PAYLOAD_SIZES = (
    PayloadSize(20, None, 400_000, 6, below=True),
    PayloadSize(20, 1, 200_000, 6, below=True),
    PayloadSize(20, 1, 100_000, 5),
    PayloadSize(10, None, 100_000, 5),
    PayloadSize(10, 1, 100_000, 4),
    PayloadSize(10, 1, 40_000, 4),
    PayloadSize(10, 1, 0, 4),
    PayloadSize(8, 1, 0, 4),
    PayloadSize(5, 1, 0, 4),
    PayloadSize(5, 1, 0, 4, queries=4000),
    PayloadSize(5, 1, 0, 4, queries=2000),
    PayloadSize(5, 1, 0, 4, queries=1000),
    PayloadSize(5, 1, 0, 4, queries=500),
)


class Payload:
    """The data of one report, packed in one of several sizes."""

    def __init__(self, report: Report, page_systems: PageSystems, tops: Sequence[TopRanking | None]) -> None:
        self.report, self.page_systems, self.tops = report, page_systems, tops
        self.order = _by_difference(page_systems)
        self.frame = _frame(report, page_systems)
        measures = range(len(page_systems.scores[0].measures))
        self.axes = [axes_of(page_systems.scores, index).to_dict() for index in measures]

    def text(self, limit: int) -> str:
        """For ``unpack.js``, in at most ``limit`` characters if possible."""
        sizes_of_scores: dict[int, int] = {}
        for size in PAYLOAD_SIZES:
            packer, scores = self._packed_scores(size)
            if size.digits not in sizes_of_scores:
                sizes_of_scores[size.digits] = packer.estimated_size(scores)
            sample, every = Packer(), replace(size, snippets=0)
            queries = self.order[: size.queries][::SAMPLING_STEP]
            rankings = pack_rankings(sample, self.tops, _scales(scores), every, queries)
            estimate = sizes_of_scores[size.digits] + SAMPLING_STEP * sample.estimated_size(rankings)
            if size is not PAYLOAD_SIZES[-1] and estimate > limit * MAX_OVERESTIMATE:
                continue
            text = packer.compress({**scores, **self._packed_rankings(packer, _scales(scores), size)})
            if len(text) <= limit:
                break
        return text

    def contents(self) -> Iterator[bytes]:
        """What is compressed, in every size: which of them fits depends on the version of zlib."""
        for size in PAYLOAD_SIZES:
            packer, scores = self._packed_scores(size)
            yield packer.content({**scores, **self._packed_rankings(packer, _scales(scores), size)})

    def _packed_scores(self, size: PayloadSize) -> tuple[Packer, dict[str, Any]]:
        """A packer, and everything but the rankings."""
        packer = Packer()
        return packer, {**self.frame, "measures": _measures(packer, self.page_systems, self.axes, size.digits)}

    def _packed_rankings(self, packer: Packer, scales: list[int], size: PayloadSize) -> dict[str, Any]:
        return pack_rankings(
            packer,
            self.tops,
            scales,
            size,
            self.order[: size.queries],
            snippets=self.report.snippets,
            baseline=self.page_systems.baseline,
        )


def _scales(scores: dict[str, Any]) -> list[int]:
    """The factor for each measure."""
    return [measure["scale"] for measure in scores["measures"]]


def _frame(report: Report, page_systems: PageSystems) -> dict[str, Any]:
    """Everything but scores and rankings."""
    first = page_systems.scores[0]
    texts = [shorten_end(report.texts.get(query, ""), QUERY_CHARACTERS) for query in first.queries]
    columns = []
    for name in report.by:
        members = list(groups(first.columns, name))
        codes = np.zeros(len(first), dtype=np.int64)
        for code, (_, queries) in enumerate(members):
            codes[queries] = code
        labels = [plain(label) for label, _ in members]
        columns.append({"name": plain(name), "labels": labels, "codes": codes.tolist()})
    return {
        "systems": [
            {"name": plain(system.name), "color": system.color, "shape": system.shape}
            for system in page_systems.systems
        ],
        "baseline": page_systems.baseline,
        "queries": [plain(query) for query in first.queries],
        "texts": texts if any(texts) else None,
        "columns": columns,
    }


def _measures(
    packer: Packer, page_systems: PageSystems, axes: Sequence[dict[str, Any]], digits: int
) -> list[dict[str, Any]]:
    return [{**_measure(packer, page_systems, index, digits), **of_one} for index, of_one in enumerate(axes)]


def _measure(packer: Packer, page_systems: PageSystems, index: int, digits: int) -> dict[str, Any]:
    measure = page_systems.scores[0].measures[index]
    values = [averaged_values(scores, index) for scores in page_systems.scores]
    scale = scale_of(values, digits)
    return {
        "name": measure.shown,
        "direction": measure.definition.direction,
        "count": measure.definition.aggregate == "sum",
        "scale": scale,
        "values": packer.numbers(np.rint(np.concatenate(values) * scale)),
    }


def scale_of(values: Sequence[Floats], digits: int) -> int:
    """The factor that makes values integers with as many digits as the page shows."""
    largest = max((float(np.nanmax(np.abs(run_values), initial=0.0)) for run_values in values), default=0.0)
    if not math.isfinite(largest) or largest < 10:
        return int(10**digits)
    return int(10 ** max(0, digits - math.floor(math.log10(largest))))


def _by_difference(page_systems: PageSystems) -> list[int]:
    """The queries by how much their scores on the first measure differ, the largest difference first."""
    values = np.stack([averaged_values(scores, 0) for scores in page_systems.scores])
    differences = np.nan_to_num(np.abs(values - values[page_systems.baseline])).max(axis=0)
    return [int(query) for query in np.argsort(-differences, kind="stable")]
