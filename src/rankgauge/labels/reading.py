"""Read pools and judgments, line by line, with everything that they keep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.core.views import ResultList
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits, read_bytes
from rankgauge.io.checks.faults import Faults
from rankgauge.io.corpus.lines import document_limits
from rankgauge.io.formats.json_records import Record, describe_json, id_from_json, read_records
from rankgauge.io.formats.judgments import is_judgment_record
from rankgauge.labels.records import Inclusion, Judgment, PoolItem

MAX_STRATUM = 10**12
POOL_HINT = "make it with `rankgauge pool`, or write one JSON object per document: query_id, query, doc_id, text"


def read_pool(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> list[PoolItem]:
    """The documents of a pool, each once per query."""
    faults = Faults(str(path))
    data, _ = read_bytes(path, limits=document_limits(limits))
    try:
        table = read_records(faults, data)
    except InputError as error:
        raise InputError(error.message, hint=error.hint or POOL_HINT) from None
    items: dict[tuple[str, str], PoolItem] = {}
    for line, row in zip(table.line.tolist(), table.records, strict=True):
        pair = _pair(faults, line, row)
        if pair is None:
            continue
        if pair in items:
            found = f"document {shown(pair[1])} of query {shown(pair[0])} again"
            faults.add("duplicate", [line], expected="each document of a query once", found=found)
        items[pair] = PoolItem(
            *pair,
            _inclusion(faults, line, row) or Inclusion("given"),
            query_text=_text(faults, line, row, "query"),
            title=_text(faults, line, row, "title") or "",
            text=_text(faults, line, row, "text"),
            sampled=row.get("sampled") is not False,
        )
    faults.raise_errors()
    return ResultList(items.values())


def read_judgments(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> list[Judgment]:
    """Every line of a file that ``rankgauge judge`` wrote, in order, with those that were replaced or withdrawn."""
    return ResultList(parse_judgments(str(path), read_bytes(path, limits=document_limits(limits))[0]))


def parse_judgments(source: str, data: bytes) -> list[Judgment]:
    """Every judgment in the content of such a file."""
    faults = Faults(source)
    table = read_records(faults, data)
    judgments: list[Judgment] = []
    for line, row in zip(table.line.tolist(), table.records, strict=True):
        if not is_judgment_record(row):
            found = ", ".join(shown(key) for key in row) or "none"
            faults.add("record", [line], expected="a judgment with who judged and how (assessor, how)", found=found)
            continue
        pair, grade = _pair(faults, line, row), row["relevance"]
        if grade is not None and (isinstance(grade, bool) or not isinstance(grade, (int, float))):
            faults.add("grade", [line], expected="a number or null as grade", found=describe_json(grade))
            continue
        if grade is not None and not abs(grade) <= LARGEST_GRADE:
            faults.add(
                "grade",
                [line],
                expected=f"a grade from -{LARGEST_GRADE} to {LARGEST_GRADE}",
                found=describe_json(grade),
            )
            continue
        if pair is not None:
            judgments.append(_judgment(faults, line, pair, row))
    faults.raise_errors()
    return judgments


def current_judgments(judgments: Sequence[Judgment]) -> list[Judgment]:
    """The judgments that count: the last of each assessor for a document, unless it has no grade."""
    last = {(judgment.query, judgment.doc, judgment.assessor): judgment for judgment in judgments}
    return [judgment for judgment in last.values() if judgment.grade is not None]


def _judgment(faults: Faults, line: int, pair: tuple[str, str], row: Record) -> Judgment:
    def text(key: str) -> str | None:
        return _text(faults, line, row, key)

    def required(key: str) -> str:
        if row[key] is None:
            faults.add("text", [line], expected=f"text as {key}", found=describe_json(None))
        return text(key) or ""

    cost = {
        key: value for key in ("calls", "prompt_tokens", "completion_tokens") if isinstance(value := row.get(key), int)
    }
    return Judgment(
        *pair,
        row["relevance"],
        required("assessor"),
        required("how"),
        at=text("at") or "",
        text_sha256=text("text_sha256"),
        note=text("note"),
        status=text("status"),
        inclusion=_inclusion(faults, line, row),
        key=text("key"),
        cost=cost or None,
    )


def _inclusion(faults: Faults, line: int, row: Record) -> Inclusion | None:
    """How a document came to be judged; None if the line says nothing."""
    strategy = _text(faults, line, row, "strategy")
    if strategy is None:
        return None
    probability = row.get("probability")
    is_number = isinstance(probability, (int, float)) and not isinstance(probability, bool)
    if probability is not None and not (is_number and 0 < probability <= 1):
        expected = "a number above 0 and at most 1, or null, as probability"
        faults.add("probability", [line], expected=expected, found=describe_json(probability))
    sizes = {key: row.get(key) for key in ("stratum_size", "stratum_sample")}
    for key, size in sizes.items():
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or not 0 < size <= MAX_STRATUM):
            faults.add("stratum", [line], expected=f"a whole number above 0 as {key}", found=describe_json(size))
    return Inclusion(strategy, probability, _text(faults, line, row, "stratum"), **sizes)


def _pair(faults: Faults, line: int, row: Record) -> tuple[str, str] | None:
    """Query and document; None, and a fault, if one is missing."""
    ids: list[str] = []
    for key, what in (("query_id", "query id"), ("doc_id", "document id")):
        try:
            ids.append(id_from_json(row.get(key), what).decode("utf-8", "surrogateescape"))
        except InputError:
            faults.add("id", [line], expected=f"a string or a whole number as {key}", found=describe_json(row.get(key)))
    return (ids[0], ids[1]) if len(ids) == 2 else None


def _text(faults: Faults, line: int, row: Record, key: str) -> str | None:
    value: Any = row.get(key)
    if value is None or isinstance(value, str):
        return value
    faults.add("text", [line], expected=f"text as {key}", found=describe_json(value))
    return None
