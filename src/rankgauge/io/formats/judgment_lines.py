"""The line format of ``rankgauge judge``: what a line holds, how it is read, and which lines count.

The file is JSON Lines that only grow, with who judged, when and how. A later line of the same assessor replaces an
earlier one for the same document; a line without a grade withdraws it (or says that the document was skipped). If
several assessors judged a document, its grade is their median; of two middle grades the lower one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.batch import Batch
from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.core.result_views import ResultList
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import DEFAULT_LIMITS, ByteStream, Limits, document_limits, open_stored, read_bytes
from rankgauge.io.faults import Faults
from rankgauge.io.formats.detection import Head
from rankgauge.io.formats.json_text import Record, Records, describe_json, id_from_json, json_line, read_records
from rankgauge.io.formats.named_columns import Wanted, batch_of_table

JUDGMENT_KEYS = ("query_id", "doc_id", "relevance", "assessor", "how")  # in every line
COST_KEYS = ("calls", "prompt_tokens", "completion_tokens")
MAX_STRATUM = 10**12


# -- what a line holds ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inclusion:
    """How a document came to be judged: by which strategy, and with which probability.

    ``probability`` is that of being in the sample, 1 if the strategy takes every document; None if it is unknown, since
    what was judged depended on earlier judgments. ``stratum`` names the part of the query's pool it was drawn from,
    with the number of documents there and the number that were drawn. ``query_probability`` is that of the query, if
    queries were drawn at random; None if they were not.
    """

    strategy: str
    probability: float | None = 1.0
    stratum: str | None = None
    stratum_size: int | None = None
    stratum_sample: int | None = None
    query_probability: float | None = None

    def to_row(self) -> dict[str, Any]:
        """For JSON: what is known of the stratum and of the sample of queries only if there is one."""
        row: dict[str, Any] = {"strategy": self.strategy, "probability": self.probability}
        if self.query_probability is not None:
            row["query_probability"] = self.query_probability
        if self.stratum is not None:
            row |= {"stratum": self.stratum, "stratum_size": self.stratum_size, "stratum_sample": self.stratum_sample}
        return row


@dataclass(frozen=True)
class Judgment:
    """One decision: who, when, how, which grade, and of which text.

    A judgment without a grade says in ``status`` why: "skipped" or "withdrawn". ``how`` is "terminal", "machine" or
    another word. ``key`` is the content that a machine judged: its instructions, the query and the text. ``cost`` has
    its calls and tokens.
    """

    query: str
    doc: str
    grade: float | None
    assessor: str
    how: str
    at: str = ""
    text_sha256: str | None = None
    note: str | None = None
    status: str | None = None
    inclusion: Inclusion | None = None
    key: str | None = None
    cost: Mapping[str, int] | None = None

    def to_line(self) -> bytes:
        """The line of a file of judgments."""
        grade = None if self.grade is None else int(self.grade) if self.grade == int(self.grade) else self.grade
        row: dict[str, Any] = {"query_id": self.query, "doc_id": self.doc, "relevance": grade}
        row |= {"assessor": self.assessor, "at": self.at or now(), "how": self.how}
        details = {"text_sha256": self.text_sha256, "note": self.note, "status": self.status, "key": self.key}
        row |= {name: value for name, value in details.items() if value is not None}
        row |= {} if self.cost is None else dict(self.cost)
        return json_line({**row, **({} if self.inclusion is None else self.inclusion.to_row())})


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# -- how lines are read -----------------------------------------------------------------------------------------


def is_judgment_record(record: Mapping[str, Any]) -> bool:
    """Whether an object is a line of such a file."""
    return all(key in record for key in JUDGMENT_KEYS)


def has_provenance(path: str | Path) -> bool:
    """Whether a file was written by ``rankgauge judge``."""
    if not Path(path).is_file():
        return False
    with open_stored(path) as file:
        record = Head(file.readline()).record
    return record is not None and is_judgment_record(record)


def judgment_records(faults: Faults, data: bytes) -> Records:
    """Every line of such a file, also those that were replaced; a line that does not say who judged is a fault."""
    table = read_records(faults, complete_lines(faults, data))
    for line, record in zip(table.line.tolist(), table.records, strict=True):
        if not is_judgment_record(record):
            found = ", ".join(shown(key) for key in record) or "none"
            faults.add("record", [line], expected="a judgment with who judged and how (assessor, how)", found=found)
    return table.take([row for row, record in enumerate(table.records) if is_judgment_record(record)])


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


@dataclass(frozen=True)
class RecordLine:
    """The values on one line of judgments or of a pool. What is wrong with one is added to the faults."""

    faults: Faults
    line: int
    record: Record

    def pair(self) -> tuple[str, str] | None:
        """Query and document; None if one is missing."""
        ids: list[str] = []
        for key, what in (("query_id", "query id"), ("doc_id", "document id")):
            try:
                ids.append(id_from_json(self.record.get(key), what).decode("utf-8", "surrogateescape"))
            except InputError:
                self._add("id", f"a string or a whole number as {key}", self.record.get(key))
        return (ids[0], ids[1]) if len(ids) == 2 else None

    def text(self, key: str) -> str | None:
        """A text; None without one."""
        value = self.record.get(key)
        if value is None or isinstance(value, str):
            return value
        self._add("text", f"text as {key}", value)
        return None

    def inclusion(self) -> Inclusion | None:
        """How the document came to be judged; None if the line says nothing."""
        strategy = self.text("strategy")
        if strategy is None:
            return None
        probability, query_probability = self._probability("probability"), self._probability("query_probability")
        sizes = {key: self.record.get(key) for key in ("stratum_size", "stratum_sample")}
        for key, size in sizes.items():
            is_size = isinstance(size, int) and not isinstance(size, bool) and 0 < size <= MAX_STRATUM
            if size is not None and not is_size:
                self._add("stratum", f"a whole number above 0 as {key}", size)
        return Inclusion(strategy, probability, self.text("stratum"), **sizes, query_probability=query_probability)

    def _probability(self, key: str) -> float | None:
        value = self.record.get(key)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and not (is_number and 0 < value <= 1):
            self._add("probability", f"a number above 0 and at most 1, or null, as {key}", value)
        return value

    def judgment(self) -> Judgment | None:
        """The judgment; None without ids or with a wrong grade."""
        pair, grade = self.pair(), self.record["relevance"]
        if grade is not None and (isinstance(grade, bool) or not isinstance(grade, (int, float))):
            self._add("grade", "a number or null as grade", grade)
            return None
        if grade is not None and not abs(grade) <= LARGEST_GRADE:
            self._add("grade", f"a grade from -{LARGEST_GRADE} to {LARGEST_GRADE}", grade)
            return None
        if pair is None:
            return None
        cost = {key: value for key in COST_KEYS if isinstance(value := self.record.get(key), int)}
        return Judgment(
            *pair,
            grade,
            self._required_text("assessor"),
            self._required_text("how"),
            at=self.text("at") or "",
            text_sha256=self.text("text_sha256"),
            note=self.text("note"),
            status=self.text("status"),
            inclusion=self.inclusion(),
            key=self.text("key"),
            cost=cost or None,
        )

    def _required_text(self, key: str) -> str:
        if self.record[key] is None:
            self._add("text", f"text as {key}", None)
        return self.text(key) or ""

    def _add(self, code: str, expected: str, value: object) -> None:
        self.faults.add(code, [self.line], expected=expected, found=describe_json(value))


def read_judgments(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> list[Judgment]:
    """Every line of a file that ``rankgauge judge`` wrote, in order, with those that were replaced or withdrawn."""
    return ResultList(parse_judgments(str(path), read_bytes(path, limits=document_limits(limits))[0]))


def parse_judgments(source: str, data: bytes) -> list[Judgment]:
    """Every judgment in the content of such a file."""
    faults = Faults(source)
    table = judgment_records(faults, data)
    lines = zip(table.line.tolist(), table.records, strict=True)
    judgments = [RecordLine(faults, line, record).judgment() for line, record in lines]
    faults.raise_or_warn()
    return [judgment for judgment in judgments if judgment is not None]


# -- which lines count ------------------------------------------------------------------------------------------


def _rows_that_count(lines: Iterable[tuple[object, object, object, object]]) -> list[int]:
    """The last line of each assessor for a document, unless it has no grade, by the first appearance of the three.

    A line is its query, document, assessor and grade.
    """
    last: dict[tuple[str, str, str], tuple[int, bool]] = {}
    for row, (query, doc, assessor, grade) in enumerate(lines):
        last[str(query), str(doc), str(assessor)] = (row, grade is not None)
    return [row for row, has_grade in last.values() if has_grade]


def current_records(table: Records) -> Records:
    """The lines that count, in the order of the file."""
    lines = (
        (one.get("query_id"), one.get("doc_id"), one.get("assessor"), one.get("relevance")) for one in table.records
    )
    return table.take(sorted(_rows_that_count(lines)))


def current_judgments(judgments: Sequence[Judgment]) -> list[Judgment]:
    """The judgments that count, by the first appearance of each assessor's judgment of a document."""
    rows = _rows_that_count((one.query, one.doc, one.assessor, one.grade) for one in judgments)
    return [judgments[row] for row in rows]


def median_grade(grades: Sequence[float]) -> float:
    """The median of several assessors' grades; of two middle ones the lower, so that it is a grade that was given."""
    return sorted(grades)[(len(grades) - 1) // 2]


# -- as judgments with one grade per document -------------------------------------------------------------------


def read_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """One grade for each document that has one, all in one batch: a later line may replace any earlier one.

    A grade needs no more of a line than ids and the grade itself, so that lines by hand need not say who judged or how.
    """
    current = current_records(read_records(faults, complete_lines(faults, stream.read())))
    if current.records:
        yield _median_rows(faults, batch_of_table(faults, current, wanted))


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
