"""Runs in DataFrames, scored where they lie, and their scores.

    union(results, judged queries) → repartition by run and query → sort → mapInArrow → one row per run and query

Every judged query is a row of the shuffled table, so that a query without results is scored with the others, and large
judgments take the same way. Tasks are pure functions of their rows: one that is retried or run twice gives the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rankgauge.core.qrels import Qrels
from rankgauge.distributed import kernel, transport
from rankgauge.distributed.kernel import Task
from rankgauge.distributed.spark.session import input_errors, library
from rankgauge.errors import InputError, InputTypeError, RankgaugeError, UsageError, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.scores import Scores
from rankgauge.io.formats import arrow
from rankgauge.io.formats.named_columns import Columns, find_columns
from rankgauge.io.read import as_qrels
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames

if TYPE_CHECKING:
    from rankgauge.distributed.spark.session import DataFrame, SparkSession

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
    requested = conventions.measures(measures)
    judgments = SparkJudgments.of(frame.sparkSession, qrels, conventions, broadcast_limit, requested)
    task = Task.of(requested, judgments.facts, conventions, SOURCE, "score" not in roles)
    transport.check_names(task.measure_names)
    judged, keys = judgments.rows.withColumn(kernel.VALUE, functions.lit(None).cast("double")), [kernel.QUERY]
    if "tag" in roles:
        runs = _run_names(data) if runs is None else list(runs)
        judged = judged.withColumn(kernel.RUN, functions.explode(functions.array(*map(functions.lit, runs))))
        keys = [kernel.RUN, kernel.QUERY]
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
        packed = plain.mapInArrow(partial(transport.pack_results, names=frame.columns), transport.PACKED_TYPES)
        rows = packed.collect()
    if not rows:
        raise InputError("the DataFrame has no rows", hint="a run needs at least one result")
    tables = [transport.load(row[0]) for row in rows]
    table = arrow.library("Spark").concat_tables([table.replace_schema_metadata(None) for table in tables])
    unjudged = transport.dropped_queries(tables)
    scores = transport.scores_of_results(table, task, qrels, unjudged=unjudged, columns=columns)
    return {one.run: one for one in scores}


def _score_partition(
    batches: Iterable[Any], *, task: Task, qrels: Any, runs: tuple[str, ...], text: bool
) -> Iterator[Any]:
    """What a worker does."""
    try:
        yield from transport.score_batches(batches, task, None if qrels is None else qrels.value, runs, text=text)
    except RankgaugeError as error:
        raise transport.WorkerError(error) from None


def _run_names(data: DataFrame) -> list[str]:
    names = [row[0] for row in data.select(kernel.RUN).distinct().collect()]
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
    facts = [types.StructField(name, types.LongType()) for name in transport.FACTS]
    facts.append(types.StructField("without_relevant", types.BooleanType()))
    facts.append(types.StructField("tied_at", types.ArrayType(types.LongType())))
    ids = types.StringType() if is_text else types.BinaryType()
    return types.StructType(
        [
            types.StructField(kernel.RUN, types.StringType()),
            types.StructField(kernel.QUERY, ids, metadata={METADATA: known}),
            types.StructField(transport.STATUS, types.StringType()),
            types.StructField(transport.AVERAGED, types.BooleanType()),
            *(types.StructField(name, types.DoubleType()) for name in dict.fromkeys(task.measure_names)),
            types.StructField(transport.JOIN, types.StructType(facts)),
        ]
    )


def _task_of(frame: DataFrame) -> tuple[Task, str]:
    """How a result was made, and the name of the judgments."""
    known = frame.schema[kernel.QUERY].metadata.get(METADATA) if kernel.QUERY in frame.columns else None
    if known is None or transport.JOIN not in frame.columns:
        raise InputTypeError(
            "expected a DataFrame that evaluate() of rankgauge.distributed.spark made",
            hint="keep all of its columns; filter its rows as you like",
        )
    conventions = Conventions(**known["conventions"])
    return Task(tuple(known["measures"]), tuple(known["requested"]), conventions, SOURCE), known["qrels"]


# Judgments for the workers: sent to each of them if they are few, joined by query if they are many.

ROW_TYPES = f"{kernel.QUERY} binary, {kernel.DOC} binary, {kernel.GRADE} double, {kernel.KIND} tinyint"


@dataclass(frozen=True, eq=False)
class SparkJudgments:
    """Judgments as the rows that are shuffled with the results: every judgment, or only the judged queries."""

    rows: DataFrame
    facts: Qrels  # whatever has the collection-wide facts of all judgments
    broadcast: Any = None  # what every worker gets; None if the rows have all

    @classmethod
    def of(
        cls, session: SparkSession, qrels: Any, conventions: Conventions, limit: int, measures: Sequence[Measure]
    ) -> SparkJudgments:
        """From a DataFrame, or from anything that an evaluation on one machine takes; ``measures`` fit the grades."""
        if hasattr(qrels, "mapInArrow"):
            rows = _judgment_rows(qrels)
            count, facts = _count_and_facts(rows)
            conventions.check_grades(facts, measures)
            if count > limit:
                return cls(rows, conventions.judgments(facts))
            qrels = _collected(rows)
        qrels = as_qrels(qrels)
        conventions.check_grades(qrels, measures)
        judged = conventions.judgments(qrels)
        is_joined = len(judged) > limit
        if is_joined and (judged.judgments != "grades" or judged.columns):
            raise UsageError(
                f"{len(judged)} judgments with groups, subtopics or query columns, but only plain ones can be joined",
                hint=f"raise broadcast_limit ({limit}), so that they are sent to every worker",
            )
        tables = transport.judgment_tables(judged, with_judgments=is_joined)
        packed = session.createDataFrame([(transport.to_bytes(table),) for table in tables], transport.PACKED_TYPES)
        broadcast = None if is_joined else session.sparkContext.broadcast(judged)
        return cls(packed.mapInArrow(transport.unpack, ROW_TYPES), judged, broadcast)


def _judgment_rows(frame: DataFrame) -> DataFrame:
    roles = find_columns("DataFrame of judgments", frame.columns, "qrels")
    return frame.select(
        id_column(frame, roles["query"]).alias(kernel.QUERY),
        id_column(frame, roles["doc"]).alias(kernel.DOC),
        number_column(frame, roles["grade"]).alias(kernel.GRADE),
        library().functions.lit(kernel.JUDGMENT).cast("tinyint").alias(kernel.KIND),
    )


def _count_and_facts(rows: DataFrame) -> tuple[int, Qrels]:
    """The number of judgments, and judgments of the lowest and the highest grade, and of one between 0 and 1."""
    functions, grade = library().functions, library().functions.col(kernel.GRADE)
    between = functions.min(functions.when((grade > 0) & (grade < 1), grade))
    figures = rows.agg(functions.count("*"), functions.min(grade), functions.max(grade), between).collect()[0]
    count, *grades = figures
    named = {name: one for name, one in zip(("lowest", "highest", "between"), grades, strict=True) if one is not None}
    if not count or not named:
        raise InputError("the DataFrame of judgments has no grades")
    return count, Qrels.from_dict({"all queries": named})


def _collected(rows: DataFrame) -> Qrels:
    with input_errors():
        packed = rows.mapInArrow(transport.pack, transport.PACKED_TYPES).collect()
    return kernel.block_judgments(arrow.library("Spark").concat_tables([transport.load(row[0]) for row in packed]))


# The columns of a DataFrame as the columns of a block: ids as bytes, which are compared as such, and numbers.

WHOLE_TYPES = ("tinyint", "smallint", "int", "bigint")
ID_TYPES = ("string", "varchar", "char", "binary", *WHOLE_TYPES)
NUMBER_TYPES = ("float", "double", "decimal", *WHOLE_TYPES)


def result_rows(frame: DataFrame, roles: Mapping[str, str]) -> DataFrame:
    """The results of a run, or of several, as rows of blocks."""
    functions = library().functions
    columns = [
        id_column(frame, roles["query"]).alias(kernel.QUERY),
        id_column(frame, roles["doc"]).alias(kernel.DOC),
        number_column(frame, roles["score" if "score" in roles else "rank"]).alias(kernel.VALUE),
        functions.lit(None).cast("double").alias(kernel.GRADE),
        functions.lit(kernel.RESULT).cast("tinyint").alias(kernel.KIND),
    ]
    if "tag" in roles:
        columns.append(functions.col(_quoted(roles["tag"])).cast("string").alias(kernel.RUN))
    return frame.select(*columns)


def id_column(frame: DataFrame, name: str) -> Any:
    """A column of ids as bytes: those of text, or of the digits of whole numbers."""
    kind = type_of(frame, name)
    if kind not in ID_TYPES:
        raise InputError(
            f"expected strings or whole numbers in column {shown(name)}, found {shown(kind)}",
            hint="write the ids as text",
        )
    column = library().functions.col(_quoted(name))
    return column if kind == "binary" else column.cast("string").cast("binary")


def number_column(frame: DataFrame, name: str) -> Any:
    """A column of numbers."""
    kind = type_of(frame, name)
    if kind not in NUMBER_TYPES:
        raise InputError(f"expected numbers in column {shown(name)}, found {shown(kind)}")
    return library().functions.col(_quoted(name)).cast("double")


def type_of(frame: DataFrame, name: str) -> str:
    """The type of a column, without its length or precision."""
    kind: str = frame.schema[name].dataType.simpleString()
    return kind.partition("(")[0]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
