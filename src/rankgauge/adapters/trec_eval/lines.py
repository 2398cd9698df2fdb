"""The text that trec_eval prints, to the byte."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.files import Results
from rankgauge.adapters.trec_eval.options import Options
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import GEOMETRIC_FLOOR, Floats
from rankgauge.measures import trec_names as trec
from rankgauge.measures.aggregates import geometric_mean, total


def query_lines(
    options: Options, hits: Hits, values: dict[str, Floats], queries: Ints, present: NDArray[np.bool_]
) -> Iterator[bytes]:
    """The lines of each query."""
    for query in queries.tolist():
        query_id = hits.queries[query]
        for entry in options.lines:
            if entry.family.name == "relstring":
                yield line(entry.label, query_id, b"'" + relstring(hits, query, trec.whole(entry.text)) + b"'")
            elif entry.measure is not None and not entry.family.summary_only:
                value = float(values[entry.label][query])
                if not present[query] and entry.family.name != "num_rel":
                    value = 0.0
                yield number_line(options, entry, query_id, value)


def relstring(hits: Hits, query: int, length: int) -> bytes:
    """One character for the judgment of each of the first documents."""
    characters = bytearray(b"-" * int(min(max(length, 0), hits.retrieved[query])))
    for row in range(int(hits.offsets[query]), int(hits.offsets[query + 1])):
        index, grade = int(hits.rank[row]) - 1, int(hits.grade[row])
        if index < len(characters):
            characters[index : index + 1] = b"." if grade < 0 else b">" if grade > 9 else str(grade).encode()
    return bytes(characters)


def summary_lines(
    options: Options,
    qrels: Qrels,
    results: Results,
    hits: Hits,
    values: dict[str, Floats],
    present: NDArray[np.bool_],
) -> Iterator[bytes]:
    """The lines for all queries together."""
    evaluated = np.flatnonzero(present)
    count = len(hits) if options.complete else len(evaluated)
    for entry in options.lines:
        name = entry.family.name
        if name == "runid":
            yield line(entry.label, b"all", results.run_id)
        if entry.measure is None:
            continue
        column = values[entry.label][evaluated]
        if name == "num_q":
            value = float(count)
        elif name == "num_rel" and options.complete and options.zscores is None:
            value = float((qrels.grades > 0).sum())
        elif entry.measure.definition.aggregate == "gmean" and options.zscores is not None:
            value = 0.0  # trec_eval has no values of single queries to scale here
        elif entry.measure.definition.aggregate == "gmean":
            value = geometric_mean(np.concatenate([column, np.full(count - len(column), GEOMETRIC_FLOOR)]))
        elif entry.measure.definition.aggregate == "sum":
            value = total(column)
        else:
            value = total(column) / count
        yield number_line(options, entry, b"all", value)


def number_line(options: Options, entry: trec.TrecRequest, query_id: bytes, value: float) -> bytes:
    """One line with a number."""
    if options.zscores is not None:
        return b"Z" + line(entry.label, query_id, b"%6.4f" % value)
    if entry.family.whole:
        return line(entry.label, query_id, b"%d" % value)
    return line(entry.label, query_id, b"  -nan" if math.isnan(value) else b"%6.4f" % value)


def line(label: str, query_id: bytes, value: bytes) -> bytes:
    """Three columns, as trec_eval prints them."""
    return f"{label:<22s}".encode() + b"\t" + query_id + b"\t" + value + b"\n"
