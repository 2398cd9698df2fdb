"""The data for the scripts: scores of each query, tops of rankings, snippets; compressed, within a size limit."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankgauge.core.tables import Floats
from rankgauge.evaluation.groups import groups
from rankgauge.render.html.charts.differences import averaged_values, axes_of
from rankgauge.render.html.page_systems import PageSystems
from rankgauge.render.html.payload_rankings import PayloadSize, pack_rankings
from rankgauge.render.html.rankings import TopRanking
from rankgauge.render.html.text import plain, shorten_end
from rankgauge.report.report import Report

QUERY_CHARACTERS = 240  # of a query's text that are kept
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
    PayloadSize(5, 1, 0, 4),
    PayloadSize(5, 1, 0, 4, queries=2000),
    PayloadSize(5, 1, 0, 4, queries=500),
)


def payload(report: Report, page_systems: PageSystems, tops: Sequence[TopRanking | None], limit: int) -> str:
    """The data as base64 of gzip of JSON, in at most ``limit`` characters if possible."""
    order = _by_difference(page_systems)
    for size in PAYLOAD_SIZES:
        queries = order[: size.queries]
        scores = _scores(report, page_systems, size.digits)
        scales = [measure["scale"] for measure in scores["measures"]]
        sample = pack_rankings(tops, scales, replace(size, snippets=0), queries[::SAMPLING_STEP])
        estimate = len(compress(scores)) + SAMPLING_STEP * len(compress(sample))
        if size is not PAYLOAD_SIZES[-1] and estimate > limit * 1.1:
            continue
        rankings = pack_rankings(tops, scales, size, queries, snippets=report.snippets, baseline=page_systems.baseline)
        packed = compress({**scores, **rankings})
        if len(packed) <= limit:
            break
    return packed


def compress(data: dict[str, Any]) -> str:
    """JSON, gzip without a timestamp, base64."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8"), 9, mtime=0)).decode("ascii")


def _scores(report: Report, page_systems: PageSystems, digits: int) -> dict[str, Any]:
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
        "measures": [_measure(page_systems, index, digits) for index in range(len(first.measures))],
    }


def _measure(page_systems: PageSystems, index: int, digits: int) -> dict[str, Any]:
    measure = page_systems.scores[0].measures[index]
    values = [averaged_values(scores, index) for scores in page_systems.scores]
    scale = scale_of(values, digits)
    return {
        "name": measure.name,
        "direction": measure.definition.direction,
        "count": measure.definition.aggregate == "sum",
        "scale": scale,
        "values": [integers(run_values.tolist(), scale) for run_values in values],
        **axes_of(page_systems.scores, index).to_dict(),
    }


def scale_of(values: Sequence[Floats], digits: int) -> int:
    """The factor that makes values integers with as many digits as the page shows."""
    largest = max((float(np.nanmax(np.abs(run_values), initial=0.0)) for run_values in values), default=0.0)
    if not math.isfinite(largest) or largest < 10:
        return int(10**digits)
    return int(10 ** max(0, digits - math.floor(math.log10(largest))))


def integers(values: Sequence[float], scale: int) -> list[int | None]:
    """Values times the scale, as integers; null if there is no value."""
    return [round(value * scale) if math.isfinite(value) else None for value in values]


def _by_difference(page_systems: PageSystems) -> list[int]:
    """The queries by how much their scores on the first measure differ, the largest difference first."""
    values = np.stack([averaged_values(scores, 0) for scores in page_systems.scores])
    differences = np.nan_to_num(np.abs(values - values[page_systems.baseline])).max(axis=0)
    return [int(query) for query in np.argsort(-differences, kind="stable")]
