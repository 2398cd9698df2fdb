"""Judgments as ``rankgauge judge`` writes them: JSON Lines that only grow, with who judged, when and how.

A later line of the same assessor replaces an earlier one for the same document; a line without a grade withdraws it (or
says that the document was skipped). If several assessors judged a document, its grade is their median; of two middle
grades the lower one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankgauge.core.batch import Batch
from rankgauge.errors import shown
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.columns import batch_of_table
from rankgauge.io.formats.json_records import Record, Records, read_records
from rankgauge.io.formats.names import Wanted

JUDGMENT_KEYS = ("query_id", "doc_id", "relevance", "assessor", "how")  # in every line


def is_judgment_record(record: Mapping[str, Any]) -> bool:
    """Whether an object is a line of such a file."""
    return all(key in record for key in JUDGMENT_KEYS)


def read_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """One grade for each document that has one, all in one batch: a later line may replace any earlier one."""
    table = read_records(faults, complete_lines(faults, stream.read()))
    valid = current_records(table.records)
    if valid:
        kept = Records(table.line[valid], [table.records[row] for row in valid])
        yield _median_rows(faults, batch_of_table(faults, kept, wanted))


def complete_lines(faults: Faults, data: bytes) -> bytes:
    """The data without a last line that has no end, which a crash of the machine left."""
    size = data.rfind(b"\n") + 1
    if not size or not data[size:].strip() or data.rstrip().endswith(b"}"):
        return data
    faults.add(
        "incomplete-line",
        [data.count(b"\n") + 1],
        expected="a complete judgment",
        found=f"{shown(data[size:])}, left out",
        severity="warning",
    )
    return data[:size]


def current_records(records: Sequence[Record]) -> list[int]:
    """The lines that count: the last one of each assessor for a document, unless it has no grade."""
    last: dict[tuple[str, str, str], int] = {}
    for row, record in enumerate(records):
        last[str(record.get("query_id")), str(record.get("doc_id")), str(record.get("assessor"))] = row
    return sorted(row for row in last.values() if records[row].get("relevance") is not None)


def median_grade(grades: Sequence[float]) -> float:
    """The median of several assessors' grades; of two middle ones the lower, so that it is a grade that was given."""
    return sorted(grades)[(len(grades) - 1) // 2]


def _median_rows(faults: Faults, rows: Batch) -> Batch:
    """One row per document, the first of each, with the median of its grades."""
    places: dict[tuple[bytes, bytes], list[int]] = {}
    for row, pair in enumerate(zip(rows.query, rows.doc, strict=True)):
        places.setdefault(pair, []).append(row)
    if len(places) == len(rows):
        return rows
    grades = rows.value.copy()
    for several in places.values():
        grades[several] = median_grade(grades[several].tolist())
    differing = [several for several in places.values() if len(set(rows.value[several].tolist())) > 1]
    faults.add(
        "assessors-differ",
        [int(rows.line[several[0]]) for several in differing],
        expected="assessors who agree",
        found=lambda at: f"grades {', '.join(f'{rows.value[row]:g}' for row in differing[at])}; the median counts",
        severity="note",
    )
    kept = np.array(sorted(several[0] for several in places.values()), dtype=np.int64)
    return replace(rows, value=grades).take(kept)
