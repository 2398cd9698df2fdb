"""The columns of a DataFrame as the columns of a block: ids as bytes, which are compared as such, and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankgauge.distributed import blocks
from rankgauge.distributed.spark.library import library
from rankgauge.errors import InputError, shown

if TYPE_CHECKING:
    from rankgauge.distributed.spark.library import DataFrame

WHOLE_TYPES = ("tinyint", "smallint", "int", "bigint")
ID_TYPES = ("string", "varchar", "char", "binary", *WHOLE_TYPES)
NUMBER_TYPES = ("float", "double", "decimal", *WHOLE_TYPES)


def result_rows(frame: DataFrame, roles: Mapping[str, str]) -> DataFrame:
    """The results of a run, or of several, as rows of blocks."""
    functions = library().functions
    columns = [
        id_column(frame, roles["query"]).alias(blocks.QUERY),
        id_column(frame, roles["doc"]).alias(blocks.DOC),
        number_column(frame, roles["score" if "score" in roles else "rank"]).alias(blocks.VALUE),
        functions.lit(None).cast("double").alias(blocks.GRADE),
        functions.lit(blocks.RESULT).cast("tinyint").alias(blocks.KIND),
    ]
    if "tag" in roles:
        columns.append(functions.col(_quoted(roles["tag"])).cast("string").alias(blocks.RUN))
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
