"""Judgments for the workers: sent to each of them if they are few, joined by query if they are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankgauge.core.qrels import Qrels
from rankgauge.distributed import blocks, packing
from rankgauge.distributed.spark.columns import id_column, number_column
from rankgauge.distributed.spark.library import input_errors, library
from rankgauge.errors import InputError, UsageError
from rankgauge.evaluation.conventions import Conventions
from rankgauge.io.formats import arrow
from rankgauge.io.formats.names import find_columns
from rankgauge.io.read import as_qrels

if TYPE_CHECKING:
    from rankgauge.distributed.spark.library import DataFrame, SparkSession

ROW_TYPES = f"{blocks.QUERY} binary, {blocks.DOC} binary, {blocks.GRADE} double, {blocks.KIND} tinyint"


@dataclass(frozen=True, eq=False)
class SparkJudgments:
    """Judgments as the rows that are shuffled with the results: every judgment, or only the judged queries."""

    rows: DataFrame
    facts: Qrels  # whatever has the collection-wide facts of all judgments
    broadcast: Any = None  # what every worker gets; None if the rows have all

    @classmethod
    def of(cls, session: SparkSession, qrels: Any, conventions: Conventions, limit: int) -> SparkJudgments:
        """From a DataFrame, or from anything that an evaluation on one machine takes."""
        if hasattr(qrels, "mapInArrow"):
            rows = _judgment_rows(qrels)
            count, facts = _count_and_facts(rows)
            if count > limit:
                return cls(rows, conventions.judgments(facts))
            qrels = _collected(rows)
        judged = conventions.judgments(as_qrels(qrels))
        is_joined = len(judged) > limit
        if is_joined and (judged.judgments != "grades" or judged.columns):
            raise UsageError(
                f"{len(judged)} judgments with groups, subtopics or query columns, but only plain ones can be joined",
                hint=f"raise broadcast_limit ({limit}), so that they are sent to every worker",
            )
        tables = packing.judgment_tables(judged, with_judgments=is_joined)
        packed = session.createDataFrame([(packing.to_bytes(table),) for table in tables], packing.PACKED_TYPES)
        broadcast = None if is_joined else session.sparkContext.broadcast(judged)
        return cls(packed.mapInArrow(packing.unpack, ROW_TYPES), judged, broadcast)


def _judgment_rows(frame: DataFrame) -> DataFrame:
    roles = find_columns("DataFrame of judgments", frame.columns, "qrels")
    return frame.select(
        id_column(frame, roles["query"]).alias(blocks.QUERY),
        id_column(frame, roles["doc"]).alias(blocks.DOC),
        number_column(frame, roles["grade"]).alias(blocks.GRADE),
        library().functions.lit(blocks.JUDGMENT).cast("tinyint").alias(blocks.KIND),
    )


def _count_and_facts(rows: DataFrame) -> tuple[int, Qrels]:
    """The number of judgments, and judgments of the lowest and the highest grade."""
    functions, grade = library().functions, library().functions.col(blocks.GRADE)
    count, lowest, highest = rows.agg(functions.count("*"), functions.min(grade), functions.max(grade)).collect()[0]
    if not count or lowest is None:
        raise InputError("the DataFrame of judgments has no grades")
    return count, Qrels.from_dict({"all queries": {"lowest": lowest, "highest": highest}})


def _collected(rows: DataFrame) -> Qrels:
    with input_errors():
        packed = rows.mapInArrow(packing.pack, packing.PACKED_TYPES).collect()
    return blocks.block_judgments(arrow.library("Spark").concat_tables([packing.load(row[0]) for row in packed]))
