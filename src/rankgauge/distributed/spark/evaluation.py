"""Runs in DataFrames, scored where they lie, and their scores.

    union(results, judged queries) → repartition by run and query → sort → mapInArrow → one row per run and query

Every judged query is a row of the shuffled table, so that a query without results is scored with the others, and large
judgments take the same way. Tasks are pure functions of their rows: one that is retried or run twice gives the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from rankgauge.distributed import blocks, packing, results
from rankgauge.distributed.kernel import Task
from rankgauge.distributed.spark.columns import result_rows, type_of
from rankgauge.distributed.spark.judgments import SparkJudgments
from rankgauge.distributed.spark.library import input_errors, library
from rankgauge.errors import InputError, InputTypeError, RankgaugeError, UsageError
from rankgauge.evaluation.conventions import Conventions, MeasureNames
from rankgauge.evaluation.scores import Scores
from rankgauge.io.formats import arrow
from rankgauge.io.formats.names import Columns, find_columns

if TYPE_CHECKING:
    from rankgauge.distributed.spark.library import DataFrame

SOURCE = "DataFrame"  # in messages
BROADCAST_LIMIT = 2_000_000  # judgments, about 100 MB in each Python worker
METADATA = "rankgauge"  # the key of what ``collect_scores`` must know, in the metadata of the query column


def evaluate(
    frame: DataFrame,
    qrels: Any,
    measures: MeasureNames | None = None,
    *,
    conventions: Conventions | None = None,
    columns: Columns | None = None,
    runs: Sequence[str] | None = None,
    default_name: str = "run",
    partitions: int | None = None,
    broadcast_limit: int = BROADCAST_LIMIT,
) -> DataFrame:
    """Score the runs in a Spark DataFrame: one row per run and judged query, one column per measure.

    ``frame`` has a column of queries, one of documents and one of scores or ranks, found by their names or named by
    ``columns``, in any order and partitioning; with a column of run names (``tag``), it has many runs. ``qrels`` is
    whatever ``rankgauge.evaluate`` takes, or a DataFrame too. Up to ``broadcast_limit`` judgments are sent to every
    worker; more are joined by query. ``runs`` are the names of the runs, which saves the pass that collects them;
    ``default_name`` is that of the only one. ``partitions`` is the number after the shuffle, by default the session's.

    Nothing is computed before the result is used; ``collect_scores`` makes ``Scores`` of it.
    """
    conventions = conventions or Conventions()
    functions = library().functions
    roles = find_columns(SOURCE, frame.columns, "run", columns)
    data, is_text = result_rows(frame, roles), type_of(frame, roles["query"]) != "binary"
    judgments = SparkJudgments.of(frame.sparkSession, qrels, conventions, broadcast_limit)
    task = Task.of(conventions.measures(measures), judgments.facts, conventions, SOURCE, "score" not in roles)
    results.check_names(task.measure_names)
    judged, keys = judgments.rows.withColumn(blocks.VALUE, functions.lit(None).cast("double")), [blocks.QUERY]
    if "tag" in roles:
        runs = _run_names(data) if runs is None else list(runs)
        judged = judged.withColumn(blocks.RUN, functions.explode(functions.array(*map(functions.lit, runs))))
        keys = [blocks.RUN, blocks.QUERY]
    elif runs is not None:
        raise UsageError("runs are named, but the DataFrame has no column of run names", hint="use default_name")
    score = partial(
        _score_partition, task=task, qrels=judgments.broadcast, runs=tuple(runs or [default_name]), text=is_text
    )
    both = data.unionByName(judged)
    spread = both.repartition(*keys) if partitions is None else both.repartition(partitions, *keys)
    return spread.sortWithinPartitions(*keys).mapInArrow(score, _schema(task, judgments.facts.name, is_text))


def collect_scores(frame: DataFrame, *, columns: Mapping[str, Any] | None = None) -> dict[str, Scores]:
    """Bring what ``evaluate`` made to this process: ``Scores`` by the name of the run, for any statistics.

    ``frame`` may have been stored and read again, or filtered by run. ``columns`` are of the queries, each a mapping
    from query to value, for groups and weights.
    """
    task, qrels = _task_of(frame)
    plain = frame.toDF(*(f"column_{index}" for index in range(len(frame.columns))))  # a dot in a name confuses Spark
    with input_errors():
        packed = plain.mapInArrow(partial(packing.pack_results, names=frame.columns), packing.PACKED_TYPES)
        rows = packed.collect()
    if not rows:
        raise InputError("the DataFrame has no rows", hint="a run needs at least one result")
    tables = [packing.load(row[0]) for row in rows]
    table = arrow.library("Spark").concat_tables([table.replace_schema_metadata(None) for table in tables])
    unjudged = packing.dropped_queries(tables)
    scores = results.scores_of_results(table, task, qrels, unjudged=unjudged, columns=columns)
    return {one.run: one for one in scores}


def _score_partition(
    batches: Iterable[Any], *, task: Task, qrels: Any, runs: tuple[str, ...], text: bool
) -> Iterator[Any]:
    """What a worker does."""
    try:
        yield from results.score_batches(batches, task, None if qrels is None else qrels.value, runs, text=text)
    except RankgaugeError as error:
        raise packing.WorkerError(error) from None


def _run_names(data: DataFrame) -> list[str]:
    names = [row[0] for row in data.select(blocks.RUN).distinct().collect()]
    if None in names or "" in names:
        raise InputError("expected the name of a run in each row, found nothing")
    if not names:
        raise InputError("the DataFrame has no rows", hint="a run needs at least one result")
    return names


def _schema(task: Task, qrels: str, is_text: bool) -> Any:
    """The columns of the result; the metadata of one of them says how it was made."""
    types = library().types
    known = {
        "measures": list(task.measure_names),
        "requested": list(task.requested_names),
        "conventions": asdict(task.conventions),
        "qrels": qrels,
    }
    facts = [types.StructField(name, types.LongType()) for name in results.FACTS]
    facts.append(types.StructField("without_relevant", types.BooleanType()))
    facts.append(types.StructField("tied_at", types.ArrayType(types.LongType())))
    ids = types.StringType() if is_text else types.BinaryType()
    return types.StructType(
        [
            types.StructField(blocks.RUN, types.StringType()),
            types.StructField(blocks.QUERY, ids, metadata={METADATA: known}),
            types.StructField(results.STATUS, types.StringType()),
            types.StructField(results.AVERAGED, types.BooleanType()),
            *(types.StructField(name, types.DoubleType()) for name in dict.fromkeys(task.measure_names)),
            types.StructField(results.JOIN, types.StructType(facts)),
        ]
    )


def _task_of(frame: DataFrame) -> tuple[Task, str]:
    """How a result was made, and the name of the judgments."""
    known = frame.schema[blocks.QUERY].metadata.get(METADATA) if blocks.QUERY in frame.columns else None
    if known is None or results.JOIN not in frame.columns:
        raise InputTypeError(
            "expected a DataFrame that evaluate() of rankgauge.distributed.spark made",
            hint="keep all of its columns; filter its rows as you like",
        )
    conventions = Conventions(**known["conventions"])
    return Task(tuple(known["measures"]), tuple(known["requested"]), conventions, SOURCE), known["qrels"]
