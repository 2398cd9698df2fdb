"""What is judged already, so that a pool can leave it out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rankgauge.core.ids import concatenate
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import group_of
from rankgauge.errors import InputError
from rankgauge.io.byte_streams import open_stored
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.judgments import is_judgment_record
from rankgauge.io.options import DEFAULT_READING, Reading
from rankgauge.io.read import as_qrels
from rankgauge.labels.pooling import SAMPLED_STRATEGIES, PoolOptions
from rankgauge.labels.reading import current_judgments, read_judgments


def read_judged(
    paths: Sequence[str | Path], options: PoolOptions | None = None, reading: Reading = DEFAULT_READING
) -> Qrels | None:
    """The judgments of several files together; a document that is judged in several counts once, with the first grade.

    A random sample cannot continue another one: its probabilities would no longer hold.
    """
    if options is not None and options.strategy in SAMPLED_STRATEGIES:
        for path in paths:
            _check_not_sampled(path)
    return _together([as_qrels(path, reading) for path in paths]) if paths else None


def has_provenance(path: str | Path) -> bool:
    """Whether a file was written by ``rankgauge judge``."""
    if not Path(path).is_file():
        return False
    with open_stored(path) as file:
        record = Head(file.readline()).record
    return record is not None and is_judgment_record(record)


def _check_not_sampled(path: str | Path) -> None:
    if not has_provenance(path):
        return
    for judgment in current_judgments(read_judgments(path)):
        if judgment.inclusion is not None and judgment.inclusion.probability != 1:
            raise InputError.at(
                path,
                None,
                f"has judgments of a {judgment.inclusion.strategy} pool, whose probabilities a sample would change",
                hint="draw one larger sample, or pool without --judged",
            )


def _together(parts: Sequence[Qrels]) -> Qrels:
    if len(parts) == 1:
        return parts[0]
    queries = concatenate([part.queries.take(group_of(part.offsets)) for part in parts])
    docs, grades = concatenate([part.docs for part in parts]), np.concatenate([part.grades for part in parts])
    first: dict[tuple[bytes, bytes], int] = {}
    for row, pair in enumerate(zip(queries, docs, strict=True)):
        first.setdefault(pair, row)
    rows = np.array(list(first.values()), dtype=np.int64)
    return Qrels.build(queries.take(rows), docs.take(rows), grades[rows])
