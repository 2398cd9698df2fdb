"""A stored baseline as one of the systems: its values query by query, without the rankings behind them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.stored import read_baseline
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Status
from rankgauge.evaluation.scores import Scores


def stored_baseline(source: str | int | Path | Baseline) -> Baseline | None:
    """The baseline that ``rankgauge gate --write-baseline`` stored in a file; None if the file is not one."""
    if isinstance(source, Baseline):
        return source
    return read_baseline(source) if not isinstance(source, int) and Path(source).is_file() else None


def stored_scores(stored: Baseline, like: Scores, qrels: Qrels) -> Scores:
    """Its scores in the shape of a run's; refused if judgments, queries or conventions differ."""
    stored.check_comparable(like, qrels)
    return aligned_scores(stored, like)


def aligned_scores(stored: Baseline, like: Scores) -> Scores:
    """The values of a baseline for the queries and measures of other scores."""
    rows = [stored.row_of.get(query) for query in like.queries]
    known = np.array([row is not None for row in rows], dtype=bool)
    values = np.full(like.values.shape, np.nan)
    columns = [stored.column(measure.name) for measure in like.measures]
    values[known] = np.column_stack(columns)[[row for row in rows if row is not None]]
    return replace(
        like,
        run=stored.run,
        run_sha256=stored.run_sha256,
        values=values,
        averaged=known,
        status=np.full(len(like), Status.ANSWERED, dtype=np.uint8),
        notes=(),
    )
