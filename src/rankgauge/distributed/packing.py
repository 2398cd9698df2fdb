"""Tables and errors on their way between a driver and its workers, as bytes and text that any engine can carry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

import rankgauge.errors
from rankgauge.core.qrels import Qrels
from rankgauge.distributed.blocks import DOC, GRADE, JUDGED_QUERY, JUDGMENT, KIND, QUERY, RUN
from rankgauge.distributed.results import SAMPLE, STATUS, UNJUDGED
from rankgauge.errors import RankgaugeError
from rankgauge.io.formats import arrow
from rankgauge.io.row_checks import DUPLICATE_HINT

PACKED = "packed"  # the one column of packed tables
PACKED_TYPES = f"{PACKED} binary"
CHUNK_ROWS = 1 << 20
DISTRIBUTED_HINT = "keep each document once per query: rows on a cluster have no order, so none of them is the first"
WORKER_ERROR = re.compile(r"rankgauge-error (\{.*\})")
NO_RANKGAUGE = re.compile(r"No module named '(rankgauge[\w.]*|numpy|scipy|pyarrow)'")


def to_bytes(table: Any) -> bytes:
    """An Arrow table or batch as bytes."""
    pyarrow = arrow.library("a distributed evaluation")
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def load(data: bytes | bytearray) -> Any:
    """The Arrow table in bytes."""
    return arrow.library("a distributed evaluation").ipc.open_stream(bytes(data)).read_all()


def pack(batches: Iterable[Any]) -> Iterator[Any]:
    """One row with the bytes of each batch."""
    pyarrow = arrow.library("a distributed evaluation")
    for batch in batches:
        if batch.num_rows:
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([to_bytes(batch)], pyarrow.binary())], names=[PACKED])


def unpack(batches: Iterable[Any]) -> Iterator[Any]:
    """The batches of packed rows."""
    for batch in batches:
        for data in batch.column(0):
            yield from load(data.as_py()).to_batches()


def pack_results(batches: Iterable[Any], *, names: Sequence[str]) -> Iterator[Any]:
    """One row with the bytes of each batch of results, whose columns get their names back.

    Of the queries without judgments, only a few and the number of the others are kept.
    """
    return pack(without_most_unjudged(batch.rename_columns(list(names))) for batch in batches)


def without_most_unjudged(batch: Any) -> Any:
    """The batch with few of its unjudged queries; its metadata has the number of the others, by run."""
    pyarrow = arrow.library("a distributed evaluation")
    is_unjudged = np.array([status == UNJUDGED for status in batch.column(STATUS).to_pylist()], dtype=bool)
    dropped = np.flatnonzero(is_unjudged)[SAMPLE:]
    counts: dict[str, int] = {}
    runs = batch.column(RUN)
    for row in dropped.tolist():
        counts[runs[row].as_py()] = counts.get(runs[row].as_py(), 0) + 1
    kept = batch.take(pyarrow.array(np.delete(np.arange(batch.num_rows), dropped)))
    return kept.replace_schema_metadata({UNJUDGED: json.dumps(counts)})


def dropped_queries(tables: Iterable[Any]) -> dict[str, int]:
    """The number of unjudged queries that packing left out, by run."""
    counts: dict[str, int] = {}
    for table in tables:
        for run, count in json.loads((table.schema.metadata or {}).get(UNJUDGED.encode(), b"{}")).items():
            counts[run] = counts.get(run, 0) + count
    return counts


def judgment_tables(qrels: Qrels, *, with_judgments: bool) -> Iterator[Any]:
    """The judged queries, and their judgments if these are to be joined, in the columns of a block."""
    pyarrow = arrow.library("a distributed evaluation")
    judged = len(qrels.docs) if with_judgments else 0
    ids = qrels.queries
    for begin in range(0, len(ids), CHUNK_ROWS):
        part = list(ids.take(np.arange(begin, min(begin + CHUNK_ROWS, len(ids)))))
        yield pyarrow.table(
            {
                QUERY: pyarrow.array(part, pyarrow.binary()),
                DOC: pyarrow.nulls(len(part), pyarrow.binary()),
                GRADE: pyarrow.nulls(len(part), pyarrow.float64()),
                KIND: pyarrow.array(np.full(len(part), JUDGED_QUERY, dtype=np.int8)),
            }
        )
    for begin in range(0, judged, CHUNK_ROWS):
        rows = np.arange(begin, min(begin + CHUNK_ROWS, judged))
        yield pyarrow.table(
            {
                QUERY: pyarrow.array(list(ids.take(qrels.query[rows])), pyarrow.binary()),
                DOC: pyarrow.array(list(qrels.docs.take(rows)), pyarrow.binary()),
                GRADE: pyarrow.array(qrels.grades[rows]),
                KIND: pyarrow.array(np.full(len(rows), JUDGMENT, dtype=np.int8)),
            }
        )


class WorkerError(Exception):
    """An error of a worker, in a form that survives the stack traces of an engine."""

    def __init__(self, error: RankgaugeError) -> None:
        hint = DISTRIBUTED_HINT if error.hint == DUPLICATE_HINT else error.hint
        packed = {"type": type(error).__name__, "message": error.message, "hint": hint}
        super().__init__(f"{error.message}\nrankgauge-error {json.dumps(packed)}")


def error_of_worker(text: str) -> RankgaugeError | None:
    """The error that a worker raised, from the text of an engine's own; None if it is another one."""
    found = WORKER_ERROR.search(text)
    if found:
        packed = json.loads(found[1])
        error: RankgaugeError = getattr(rankgauge.errors, packed["type"])(packed["message"], hint=packed["hint"])
        return error
    missing = NO_RANKGAUGE.search(text)
    if missing:
        return RankgaugeError(
            f"the workers have no module {missing[1]}",
            hint="install rankgauge and pyarrow on every worker, or ship an environment with --archives",
        )
    return None
