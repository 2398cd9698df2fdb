"""What travels between a driver and its workers: the table of results, judgments, and errors.

The table has one row per run and judged query and one column per measure, and becomes ``Scores``. A query of a run that
is not judged has a row too, of status ``unjudged`` and without values. ``join`` has the facts from which the caveats
are made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import rankgauge.errors
from rankgauge.core.arrays import Column, query_columns
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels, are_unlabeled, expects_nothing
from rankgauge.core.run import Status
from rankgauge.distributed.kernel import (
    DOC,
    GRADE,
    JUDGED_QUERY,
    JUDGMENT,
    KIND,
    QUERY,
    RUN,
    BlockScores,
    Task,
    block_inputs,
    floats_of,
    query_blocks,
    score_block,
)
from rankgauge.errors import InputError, RankgaugeError, UsageError, shown
from rankgauge.evaluation.caveats import JoinFacts, notes_on, number_cutoffs, unreachable_notes
from rankgauge.evaluation.evaluate import averaged_queries, no_common_query
from rankgauge.evaluation.scores import Scores
from rankgauge.io.formats import arrow
from rankgauge.io.row_checks import DUPLICATE_HINT
from rankgauge.measures.measure import Measure

STATUS, AVERAGED, JOIN = "status", "averaged", "join"
UNJUDGED = "unjudged"
STATUSES = (*(status.name.lower() for status in Status), UNJUDGED)
FACTS = (
    "retrieved",
    "judged",
    "judged_in_pool",
    "negative",
    "nonrelevant",
    "pooled",
    "relevant",
)  # counts of documents
SAMPLE = 3


def score_batches(
    batches: Iterable[Any], task: Task, qrels: Qrels | None, runs: Sequence[str], *, text: bool = True
) -> Iterator[Any]:
    """Score sorted batches, block by block. ``runs`` are the names of all runs; without a run column it is only one."""
    known = frozenset(runs)
    for name, table in query_blocks(batches):
        run = runs[0] if name is None else name
        if run not in known:
            found = shown(run) if run else "nothing"
            raise InputError.at(task.source, None, f"expected one of {len(known)} runs by name, found {found}")
        scored = score_block(*block_inputs(table, task, qrels), task)
        yield result_batch(run, scored, task, text=text)


def check_names(measures: Sequence[str]) -> None:
    """Raise if two columns of the results would have the same name for an engine that ignores case."""
    measures = tuple(dict.fromkeys(measures))
    names = [name.casefold() for name in (RUN, QUERY, STATUS, AVERAGED, JOIN, *measures)]
    for name in measures:
        if names.count(name.casefold()) > 1:
            raise UsageError(f"two columns of the results would be called {name}", hint="evaluate one of them alone")


def result_batch(run: str, scored: BlockScores, task: Task, *, text: bool) -> Any:
    """The rows of a block as an Arrow batch; ids are text, or bytes."""
    pyarrow = arrow.library("a distributed evaluation")
    facts, judged, unjudged = scored.facts, len(scored.facts.queries), len(scored.unjudged)
    more = np.zeros(unjudged, dtype=np.int64)
    kind = pyarrow.string() if text else pyarrow.binary()
    queries = pyarrow.array([*facts.queries, *scored.unjudged], pyarrow.binary()).cast(kind)
    averaged = np.append(averaged_queries(facts, task.conventions), np.zeros(unjudged, dtype=bool))
    counts = [pyarrow.array(np.append(getattr(facts, name), more)) for name in FACTS]
    without = pyarrow.array(np.append(facts.without_relevant, np.zeros(unjudged, dtype=bool)))
    tied = [[cutoff for cutoff, is_tied in zip(task.cutoffs, row, strict=True) if is_tied] for row in facts.tied]
    ties = pyarrow.array([*tied, *([[]] * unjudged)], pyarrow.list_(pyarrow.int64()))
    columns = {
        RUN: pyarrow.array([run] * (judged + unjudged), pyarrow.string()),
        QUERY: queries,
        STATUS: pyarrow.array([*(STATUSES[status] for status in facts.status), *([UNJUDGED] * unjudged)]),
        AVERAGED: pyarrow.array(averaged),
    }
    for index, name in enumerate(task.measure_names):  # two names for one measure have one column
        values = np.append(scored.values[:, index], np.full(unjudged, np.nan))
        columns[name] = pyarrow.array(values, mask=np.isnan(values))
    columns[JOIN] = pyarrow.StructArray.from_arrays(
        [*counts, without, ties], names=[*FACTS, "without_relevant", "tied_at"]
    )
    return pyarrow.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def scores_of_results(
    table: Any, task: Task, qrels: str, *, unjudged: Mapping[str, int], columns: Mapping[str, Any] | None = None
) -> list[Scores]:
    """The scores of each run of a table of results, the runs by name; queries are sorted by their bytes.

    ``unjudged`` counts the queries without judgments that the table has no rows of; ``columns`` are of the queries.
    """
    names = arrow.ids_from_column(RUN, RUN, table.column(RUN))
    runs = sorted(set(names.take(names.changes()).to_text()))
    run_column = np.array(names.to_text(), dtype=object)
    return [
        _scores(run, table.take(np.flatnonzero(run_column == run)), task, qrels, unjudged.get(run, 0), columns)
        for run in runs
    ]


def _scores(run: str, table: Any, task: Task, qrels: str, unjudged: int, columns: Mapping[str, Any] | None) -> Scores:
    is_judged = np.array([status != UNJUDGED for status in table.column(STATUS).to_pylist()])
    unjudged_queries = list(_queries(table.take(np.flatnonzero(~is_judged))))
    table = table.take(np.flatnonzero(is_judged))
    queries = _queries(table)
    order = queries.order()
    table, queries = table.take(order), queries.take(order)
    facts = _facts(table, queries, task.measures, query_columns(columns, queries))
    answered = int((facts.status != Status.MISSING).sum())
    if len(queries) and not answered:
        samples = unjudged_queries[:SAMPLE], list(queries.head(SAMPLE))
        raise no_common_query(run, qrels, samples)
    total = answered + len(unjudged_queries) + unjudged
    return Scores(
        run=run,
        run_sha256=None,
        qrels=qrels,
        qrels_sha256=None,
        queries=tuple(queries.to_text()),
        measures=task.measures,
        values=np.column_stack([floats_of(table.column(name)) for name in task.measure_names]),
        averaged=averaged_queries(facts, task.conventions),
        status=facts.status,
        without_relevant=facts.without_relevant,
        conventions=task.conventions,
        notes=(*notes_on(facts, task.cutoffs, run_queries=total), *unreachable_notes(facts, task.measures)),
        columns=query_columns(columns, queries),
        requested=task.requested,
    )


def _queries(table: Any) -> Ids:
    return arrow.ids_from_column(QUERY, QUERY, table.column(QUERY))


def _facts(table: Any, queries: Ids, measures: Sequence[Measure], columns: Mapping[str, Column]) -> JoinFacts:
    join = table.column(JOIN).combine_chunks()
    cutoffs = number_cutoffs(measures)
    tied = [row or [] for row in join.field("tied_at").to_pylist()]
    counts = {name: np.array(join.field(name).to_numpy(zero_copy_only=False), dtype=np.int64) for name in FACTS}
    without_relevant = np.array(join.field("without_relevant").to_pylist(), dtype=bool)
    return JoinFacts(
        queries=queries,
        status=np.array([STATUSES.index(status) for status in table.column(STATUS).to_pylist()], dtype=np.uint8),
        without_relevant=without_relevant,
        expects_nothing=without_relevant & expects_nothing(columns, len(queries)),
        unlabeled=without_relevant & are_unlabeled(columns, len(queries)),
        tied=np.array([[cutoff in row for cutoff in cutoffs] for row in tied], dtype=bool).reshape(
            len(tied), len(cutoffs)
        ),
        **counts,
    )


# Tables and errors on their way between a driver and its workers, as bytes and text that any engine can carry.

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
