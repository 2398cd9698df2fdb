"""The text that trec_eval prints, to the byte."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankgauge.adapters.trec_eval.command_line import Options, Request
from rankgauge.adapters.trec_eval.query_values import to_whole
from rankgauge.core.arrays import GEOMETRIC_FLOOR, Floats
from rankgauge.core.hits import Hits
from rankgauge.measures.aggregates import total


@dataclass(frozen=True)
class Column:
    """The values of one line for all evaluated queries."""

    request: Request
    label: bytes
    values: Floats


@dataclass(frozen=True)
class Totals:
    """What a summary needs beside the values of the queries."""

    run_id: bytes
    queries: int  # the divisor of means
    relevant: int | None  # of all judgments, if the summary counts them instead of adding up


def query_lines(options: Options, hits: Hits, columns: list[Column], made_up: set[int]) -> Iterator[bytes]:
    """The lines of each evaluated query. A ranking that trec_eval 10 made up has an empty relstring by default."""
    for query in range(len(hits)):
        query_id = hits.queries[query]
        for column in columns:
            if column.request.name == "relstring":
                is_empty = query in made_up and column.label == b"relstring"
                text = b"" if is_empty else relstring(hits, query, column.request.numbers[0])
                yield line(column.label, query_id, b"'" + text + b"'")
            elif column.request.name != "runid" and not column.request.family.summary_only:
                yield number_line(options, column, query_id, float(column.values[query]))


def relstring(hits: Hits, query: int, length: float) -> bytes:
    """One character for the judgment of each of the first documents."""
    characters = bytearray(b"-" * int(min(max(to_whole(length), 0), hits.retrieved[query])))
    for row in range(int(hits.offsets[query]), int(hits.offsets[query + 1])):
        index, grade = int(hits.rank[row]) - 1, int(hits.grade[row])
        if index < len(characters):
            characters[index : index + 1] = b"." if grade < 0 else b">" if grade > 9 else str(grade).encode()
    return bytes(characters)


def summary_lines(options: Options, columns: list[Column], totals: Totals) -> Iterator[bytes]:
    """The lines for all queries together."""
    for column in columns:
        if column.request.name == "runid":
            yield line(column.label, b"all", totals.run_id)
        elif column.request.name != "relstring":
            yield number_line(options, column, b"all", summary_value(column, totals))


def summary_value(column: Column, totals: Totals) -> float:
    """One value for all queries."""
    definition = column.request.family.make
    default = "sum" if column.request.family.whole else "mean"
    aggregate = default if definition is None else definition.aggregate
    if column.request.name == "num_q":
        return float(totals.queries)
    if column.request.name == "num_rel" and totals.relevant is not None:
        return float(totals.relevant)
    sum_of_values = added(column.values)
    if aggregate == "sum":
        return sum_of_values
    if aggregate == "gmean":
        missing = totals.queries - len(column.values)
        exponent = (sum_of_values + missing * math.log(GEOMETRIC_FLOOR)) / totals.queries
        return math.exp(exponent) if exponent < 700 or math.isnan(exponent) else math.inf
    return sum_of_values / totals.queries


def added(values: Floats) -> float:
    """The plain sum, from 0. The last NaN decides the sign of a sum that is NaN."""
    with np.errstate(all="ignore"):
        result = total(np.concatenate([[0.0], values]))
    if not math.isnan(result):
        return result
    undefined = values[np.isnan(values)]
    return math.copysign(math.nan, undefined[-1] if len(undefined) else -1.0)


def number_line(options: Options, column: Column, query_id: bytes, value: float) -> bytes:
    """One line with a number."""
    if options.zscores is not None:
        return b"Z" + line(column.label, query_id, decimal(value))
    return line(column.label, query_id, b"%d" % value if column.request.family.whole else decimal(value))


def decimal(value: float) -> bytes:
    """Four decimals; NaN with its sign."""
    if math.isnan(value):
        return b"  -nan" if math.copysign(1.0, value) < 0 else b"   nan"
    return b"%6.4f" % value


def line(label: bytes, query_id: bytes, value: bytes) -> bytes:
    """Three columns, as trec_eval prints them."""
    return label.ljust(22) + b"\t" + query_id + b"\t" + value + b"\n"
