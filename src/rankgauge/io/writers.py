"""Rows as text: one function per format, and the writers of TREC runs and logs from memory.

An id that a format cannot contain is an error. Binary formats and judgments of several judges are written in
``formats``, beside their readers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from rankgauge.core import ranking
from rankgauge.core.arrays import offsets_of
from rankgauge.core.batch import Batch
from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, RunExtras, Status
from rankgauge.errors import InputError, shown, warn_user
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.formats.named_columns import Kind, normalize_name
from rankgauge.io.text_checks import replace_lone_surrogates

if TYPE_CHECKING:
    from rankgauge.core.group_judgments import GroupJudgments
    from rankgauge.io.queries import Queries

# The one writer of TREC files: runs from memory, ranked answers, or rows of judgments and results.

RankedAnswer = tuple[str, Sequence[str], Sequence[float]]  # a query, its documents best first, their scores
WHITE_SPACE = re.compile(rb"[ \t\n\v\f\r]")
# A file that begins with one of these would be detected as another kind: a byte order mark, UTF-16, compressed, binary.
OTHER_FORMATS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd",
                 b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\x80", b"PK\x03\x04")  # fmt: skip
DEFAULT_ITER: dict[Kind, bytes] = {"qrels": b"0", "run": b"Q0"}


def write_run(run: Run, out: str | Path, *, tag: str | None = None, inputs: Iterable[str | Path] = ()) -> None:
    """Write a run as a TREC file, completely or not at all. The tag is the run's name unless another is given.

    Texts and metadata that came with the results are not written, and a warning says so: ``write_log`` keeps them.
    """
    name = tag or run.name
    check_no_white_space(run.queries, "query id")
    check_no_white_space(run.docs, "document id")
    check_tag(name)
    best = run.ranked()
    docs, scores, ends = best.docs.to_text(), best.scores.tolist(), best.offsets.tolist()
    answers = (
        (query, docs[begin:end], scores[begin:end])
        for query, begin, end in zip(best.queries.to_text(), ends[:-1], ends[1:], strict=True)
    )
    write_answers(answers, out, name, inputs)
    if lost := lost_extras(run.extras):
        warn_user(f"{out}: {dropped_text(lost)}")


def dropped_text(lost: Sequence[str]) -> str:
    """What to say of a TREC run that does not hold all of the results."""
    return f"a TREC run holds ids and scores, not {' and '.join(lost)}: write a log to keep them (.jsonl)"


def lost_extras(extras: RunExtras | None) -> list[str]:
    """What a format that holds only ids and scores loses of what came with results."""
    if extras is None:
        return []
    texts, metadata = len(extras.texts), len(extras.metadata)
    lost = [f"the texts of {plural(texts, 'document')}"] if texts else []
    return lost + ([f"the metadata of {plural(metadata, 'document')}"] if metadata else [])


def write_answers(
    answers: Iterable[RankedAnswer], out: str | Path, tag: str, inputs: Iterable[str | Path] = ()
) -> None:
    """Write ranked answers, whose ids have been checked, as a TREC run; the position of a document is its rank."""
    with write_atomically(out, inputs=inputs) as file:
        write_lines(file, b" ", _answer_columns(answers, tag))


def _answer_columns(answers: Iterable[RankedAnswer], tag: str) -> Iterator[tuple[bytes, ...]]:
    encoded_tag = _encode(tag)
    for query, docs, scores in answers:
        encoded_query = _encode(query)
        for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), start=1):
            yield encoded_query, DEFAULT_ITER["run"], _encode(doc), b"%d" % rank, number_text(score), encoded_tag


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class Part(NamedTuple):
    """Which part of a file some rows of whole queries are."""

    is_first: bool = True
    is_last: bool = True


WHOLE = Part()


def write_trec_rows(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """Write ``query iter document grade``, or ``query Q0 document rank score tag``."""
    if kind == "qrels":
        write_qrels_rows(rows, out, b" ")
        return
    rows = with_ranks(rows)
    query, doc = words(rows.query, "query id"), words(rows.doc, "document id")
    iters = words(rows.iters, "iter", DEFAULT_ITER[kind])
    rank, tag = words(rows.rank, "rank", b"1"), words(rows.tag, "tag", b"run")
    scores = map(number_text, rows.value.tolist())
    write_lines(out, b" ", zip(query, iters, doc, rank, scores, tag, strict=False), part)


def write_qrels_rows(rows: Batch, out: IO[bytes], delimiter: bytes) -> None:
    """Write ``query iter document grade``."""
    query, doc = words(rows.query, "query id"), words(rows.doc, "document id")
    iters = words(rows.iters, "iter", DEFAULT_ITER["qrels"])
    write_lines(out, delimiter, zip(query, iters, doc, whole_grades(rows), strict=False))


def with_ranks(rows: Batch) -> Batch:
    """Batch with a rank column: their own, or one by score, and then sorted by it within each query."""
    if rows.rank is not None:
        return rows
    group = rows.group()
    by_query = np.argsort(group, kind="stable")
    offsets = offsets_of(group[by_query], int(group.max(initial=-1)) + 1)
    order = by_query[ranking.order(offsets, rows.doc.take(by_query), rows.value[by_query])]
    ranks = np.arange(len(order)) - offsets[group[order]] + 1
    columns = {name: ids.take(order) for name in ("iters", "tag") if isinstance(ids := getattr(rows, name), Ids)}
    return replace(
        rows,
        line=rows.line[order],
        query=rows.query.take(order),
        doc=rows.doc.take(order),
        value=rows.value[order],
        rank=Ids.from_bytes([b"%d" % rank for rank in ranks.tolist()]),
        **columns,  # type: ignore[arg-type]  # the two columns of these names
    )


def check_tag(tag: str) -> None:
    """Raise if a run's tag is not one word."""
    if not is_word(tag):
        raise InputError(f"a run's tag must be one word, found {shown(tag)}", hint="choose one: --tag NAME")


def is_word(text: str) -> bool:
    """Whether a text can be a column of a TREC file."""
    return bool(text) and not WHITE_SPACE.search(_encode(text))


def has_white_space(ids: Ids) -> bool:
    """Whether one of these ids has white space, which a TREC file cannot hold."""
    compact = ids.compact()
    return WHITE_SPACE.search(compact.buffer[: int(compact.length.sum())].tobytes()) is not None


def check_no_white_space(ids: Ids, what: str) -> None:
    """Raise if a TREC file cannot contain one of these ids."""
    if has_white_space(ids):
        spaced_id = next(value for value in ids if WHITE_SPACE.search(value))
        raise InputError(
            f"{what} {shown(spaced_id)} contains white space, which separates the columns of this format",
            hint="rename the id in all files, or write JSON Lines, CSV or Parquet, which can hold it",
        )


def words(ids: Ids | None, what: str, default: bytes | None = None) -> Iterable[bytes]:
    """Ids without white space. A missing column, or an empty cell of an optional one, becomes the default."""
    if ids is None:
        assert default is not None
        return repeat(default)
    check_no_white_space(ids, what)
    return list(ids) if default is None else [value or default for value in ids]


def write_lines(out: IO[bytes], delimiter: bytes, rows: Iterable[tuple[bytes, ...]], part: Part = WHOLE) -> None:
    """Write rows of columns; raises if the first would make the file look like another format."""
    for number, row in enumerate(rows):
        if not number and part.is_first and row[0].startswith(OTHER_FORMATS):
            raise InputError(
                f"a file that begins with the query id {shown(row[0])} would be detected as another kind of file",
                hint="write JSON Lines, CSV or Parquet",
            )
        out.write(delimiter.join(row) + b"\n")


def whole_grades(rows: Batch) -> Iterator[bytes]:
    """The grades as text; raises if one of them is not a whole number."""
    fractional = np.flatnonzero(rows.value != np.floor(rows.value))
    if len(fractional):
        row = int(fractional[0])
        raise InputError(
            f"grade {rows.value[row]:g} of document {shown(rows.doc[row])} for query {shown(rows.query[row])} "
            "is not a whole number, and this format has only whole numbers",
            hint="write JSON, JSON Lines, CSV or Parquet",
        )
    return (b"%d" % int(value) for value in rows.value.tolist())


def number_text(value: float) -> bytes:
    """The shortest text that reads back as the same number."""
    return str(int_if_exact(value)).encode("ascii")


def int_if_exact(value: float) -> float | int:
    """A whole number as an int, if that loses nothing."""
    is_whole = abs(value) < 2**53 and value == int(value) and (value != 0 or str(value) == "0.0")
    return int(value) if is_whole else value


QUOTE = '"'


class DelimitedTable(NamedTuple):
    """Where a delimited table is written, and how."""

    out: IO[bytes]
    delimiter: str
    part: Part = WHOLE
    escape_formulas: bool = False  # whether ids that a spreadsheet would read as formulas are marked


def write_msmarco_rows(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``query document rank`` separated by tabs, or TREC's judgments."""
    if kind == "qrels":
        write_qrels_rows(rows, out, b"\t")
        return
    rows = with_ranks(replace(rows, rank=None))
    query, doc = words(rows.query, "query id"), words(rows.doc, "document id")
    assert rows.rank is not None
    write_lines(out, b"\t", zip(query, doc, rows.rank, strict=True), part)


def write_beir_rows(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``query-id corpus-id score`` separated by tabs, below a header."""
    names = ["query-id", "corpus-id", "score"]
    write_table(DelimitedTable(out, "\t", part), names, [rows.query, rows.doc], list(whole_grades(rows)))


def write_delimited_rows(rows: Batch, kind: Kind, table: DelimitedTable) -> None:
    """Named columns; iter, rank and tag if there are any."""
    optional = _optional_columns(rows)
    names = ["query_id", "doc_id", *(name for name, _ in optional), "relevance" if kind == "qrels" else "score"]
    ids = [rows.query, rows.doc, *(column for _, column in optional)]
    values = [number_text(value) for value in rows.value.tolist()]
    write_table(table, names, ids, values)


def write_json_lines(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """One object per row; iter, rank and tag if there are any."""
    _check_finite(rows)
    value_name = "relevance" if kind == "qrels" else "score"
    columns = [("query_id", rows.query), ("doc_id", rows.doc), *_optional_columns(rows)]
    names = [name for name, _ in columns]
    cells = zip(*(column.to_text() for _, column in columns), strict=True)
    for texts, value in zip(cells, rows.value.tolist(), strict=True):
        row: dict[str, object] = dict(zip(names, texts, strict=True))
        row[value_name] = int_if_exact(value)
        out.write(_json(row) + b"\n")


def write_json_mapping(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``{query: {document: number}}``, one query per line."""
    _check_finite(rows)
    by_query: dict[str, dict[str, float | int]] = {}
    for query, doc, value in zip(rows.query.to_text(), rows.doc.to_text(), rows.value.tolist(), strict=True):
        by_query.setdefault(query, {})[doc] = int_if_exact(value)
    for query in Ids.from_bytes(rows.empty).to_text():
        by_query.setdefault(query, {})
    lines = [_json(query) + b": " + _json(row) for query, row in by_query.items()]
    begin = b"{\n" if part.is_first else b",\n" if lines else b""
    out.write(begin + b",\n".join(lines) + (b"\n}\n" if part.is_last else b""))


def _optional_columns(rows: Batch) -> list[tuple[str, Ids]]:
    columns = (("iter", rows.iters), ("rank", rows.rank), ("tag", rows.tag))
    return [(name, column) for name, column in columns if column]


def write_table(table: DelimitedTable, names: list[str], ids: list[Ids], values: list[bytes]) -> None:
    """Columns of ids, and one of numbers, below their names."""
    out, delimiter = table.out, table.delimiter
    # Python's csv writer leaves a lone carriage return unquoted, which its reader then takes for the end of a line.
    special = re.compile(f'[{delimiter}"\r\n]')
    guard = guard_formula if table.escape_formulas else guard_marked
    columns = [[guard(cell) for cell in column.to_text()] for column in ids]
    if table.part.is_first:
        out.write(delimiter.join(names).encode("ascii") + b"\n")
    for cells, value in zip(zip(*columns, strict=True), values, strict=True):
        quoted = [f'"{cell.replace(QUOTE, QUOTE * 2)}"' if special.search(cell) else cell for cell in cells]
        out.write(delimiter.join(quoted).encode("utf-8", "surrogateescape") + delimiter.encode("ascii") + value + b"\n")


def _check_finite(rows: Batch) -> None:
    infinite = np.flatnonzero(np.isinf(rows.value))
    if len(infinite):
        raise _infinite_score(rows.doc[int(infinite[0])], rows.query[int(infinite[0])])


def _infinite_score(doc: bytes, query: bytes) -> InputError:
    return InputError(
        f"the score of document {shown(doc)} for query {shown(query)} is infinite, which JSON cannot express"
    )


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogateescape")


# Logs: one JSON object per query, as ``formats/question_log.py`` reads them.

LOG_KEYS = (
    *("query_id", "query", "system", "retrieved", "relevant", "grades", "evidence", "forbidden", "scores"),
    *("latency_ms", "tokens", "cost", "refused", "error"),
)
FAILED_TEXT = "failed"
LOG_SUFFIXES = (".jsonl", ".ndjson")
LogRecord = dict[str, Any]


def write_log(
    path: str | Path,
    run: Run | Sequence[Run],
    qrels: Qrels | None = None,
    queries: Queries | Mapping[str, str] | None = None,
    *,
    inputs: Iterable[str | Path] = (),
) -> None:
    """Write results as a log, completely or not at all: one line per query, and per system if there are several runs.

    A line has the ids and scores of the results, with the texts and metadata that came with them, the relevant
    documents of ``qrels``, the latency or the error, and the query's text and columns. Judged queries that no run has
    are written without results.
    """
    runs = [run] if isinstance(run, Run) else list(run)
    labels = {} if qrels is None else _labels_by_query(qrels)
    texts, columns = _query_texts(queries), _query_columns(qrels, queries)
    queries_of_runs: set[str] = set()
    with write_atomically(path, inputs=inputs) as out:

        def write(records: Iterable[LogRecord]) -> None:
            for record in records:
                name = record["query_id"]
                text = {"query": replace_lone_surrogates(texts[name])} if name in texts else {}
                ordered = {"query_id": name, **text, **record, **labels.get(name, {}), **columns.get(name, {})}
                out.write(_json(ordered) + b"\n")

        for one in runs:
            system = {"system": one.name} if len(runs) > 1 else {}
            records = [{**record, **system} for record in _result_records(one)]
            queries_of_runs.update(record["query_id"] for record in records)
            # A reader sees from the first line that it is a log: first come the queries with labels and results.
            write(record for record in records if record["query_id"] in labels)
            write(record for record in records if record["query_id"] not in labels)
        write({"query_id": name} for name in labels if name not in queries_of_runs)


def is_log_name(out: str | Path) -> bool:
    """Whether results are written to a file as a log, by its name; otherwise as a TREC run."""
    return str(out).casefold().endswith(LOG_SUFFIXES)


def write_log_rows(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """One object per query, with its results or its relevant documents."""
    if kind == "qrels":
        qrels = Qrels.build(rows.query, rows.doc, rows.value).with_queries(rows.empty)
        qrels = qrels.with_forbidden(rows.forbidden).with_evidence(rows.evidence).with_columns(rows.columns)
        columns = _query_columns(qrels, None)
        for name, relevant in _labels_by_query(qrels).items():
            out.write(_json({"query_id": name, **relevant, **columns.get(name, {})}) + b"\n")
        return
    run = replace(Run.build(rows.query, rows.doc, rows.value).with_empty(rows.empty), extras=rows.extras)
    for record in _result_records(run.marked_failed(rows.failed)):
        out.write(_json(record) + b"\n")


def _result_records(run: Run) -> Iterator[LogRecord]:
    """What a run and its extras have of each query, best first."""
    extras = run.extras or RunExtras()
    texts, metadata = extras.texts, {doc: plain_json(dict(values)) for doc, values in extras.metadata.items()}
    infinite = np.flatnonzero(np.isinf(run.scores))
    if len(infinite):
        raise _infinite_score(run.docs[int(infinite[0])], run.queries[int(run.query[infinite[0]])])
    is_sorted = all(a >= b for begin, end in pairwise(run.offsets.tolist()) for a, b in pairwise(run.scores[begin:end]))
    best = run if is_sorted else run.ranked()
    docs, scores, offsets = best.docs.to_text(), best.scores.tolist(), best.offsets.tolist()
    for row, query in enumerate(best.queries.to_text()):
        retrieved = []
        for doc, score in zip(
            docs[offsets[row] : offsets[row + 1]], scores[offsets[row] : offsets[row + 1]], strict=True
        ):
            result: LogRecord = {"id": doc, "score": int_if_exact(score)}
            if (text := texts.get(doc)) is not None:
                result["text"] = replace_lone_surrogates(text)
            if doc in metadata:
                result["metadata"] = metadata[doc]
            retrieved.append(result)
        record: LogRecord = {"query_id": query, "retrieved": retrieved}
        latency = extras.latency_ms.get(query)
        if latency is not None and math.isfinite(latency):
            record["latency_ms"] = latency
        numbers = {"tokens": extras.tokens.get(query), "cost": extras.cost.get(query)}
        record |= {name: int_if_exact(value) for name, value in numbers.items() if value is not None}
        if query in extras.refused:
            record["refused"] = extras.refused[query]
        if best.status[row] == Status.FAILED:
            record["error"] = replace_lone_surrogates(extras.errors.get(query) or FAILED_TEXT)
        yield record


def _labels_by_query(qrels: Qrels) -> dict[str, LogRecord]:
    """The relevant documents of each judged query: their ids, or ids and grades if these differ from 1."""
    if qrels.judgments not in ("grades", "subtopics", "evidence") or _differ_by_subtopic(qrels):
        raise InputError(f"a log holds one grade per document, not the {qrels.judgments} of these judgments")
    docs, grades, offsets = qrels.docs.to_text(), qrels.grades.tolist(), qrels.offsets.tolist()
    labels: dict[str, LogRecord] = {}
    for query, (begin, end) in zip(qrels.queries.to_text(), pairwise(offsets), strict=True):
        graded = {doc: int_if_exact(grade) for doc, grade in zip(docs[begin:end], grades[begin:end], strict=True)}
        is_plain = all(grade == 1 for grade in graded.values())
        labels[query] = {"relevant": list(graded) if is_plain else graded}
    for query, pieces in _evidence_by_query(qrels).items():
        labels[query]["evidence"] = pieces
        if qrels.judgments == "evidence":
            del labels[query]["relevant"]
    for query, forbidden in qrels.forbidden.items():
        if query in labels:
            labels[query]["forbidden"] = list(forbidden)
    return labels


def _differ_by_subtopic(qrels: Qrels) -> bool:
    """Whether a document has another grade for one subtopic than for another, which a log cannot hold."""
    if qrels.judgments == "grades":
        return False
    judgments = cast("GroupJudgments", qrels.by_group)
    is_evidence = judgments.level > 0
    return bool((judgments.level != qrels.grades[judgments.ordinal])[is_evidence].any())


def _evidence_by_query(qrels: Qrels) -> dict[str, list[list[str]]]:
    """The pieces of evidence of each query, or its subtopics: the documents that have each."""
    if qrels.judgments not in ("subtopics", "evidence"):
        return {}
    judgments = cast("GroupJudgments", qrels.by_group)
    pieces: dict[str, dict[int, list[str]]] = {}
    docs, names = qrels.docs.to_text(), qrels.queries.to_text()
    rows = (judgments.query, judgments.group, judgments.ordinal, judgments.level)
    for query, group, ordinal, level in zip(*(column.tolist() for column in rows), strict=True):
        if level > 0:
            pieces.setdefault(names[query], {}).setdefault(group, []).append(docs[ordinal])
    return {query: list(groups.values()) for query, groups in pieces.items()}


def _query_texts(queries: Queries | Mapping[str, str] | None) -> Mapping[str, str]:
    if queries is None or isinstance(queries, Mapping):
        return queries or {}
    return queries.known_texts()


def _query_columns(qrels: Qrels | None, queries: Queries | Mapping[str, str] | None) -> dict[str, LogRecord]:
    """The columns of each query that a log keeps: plain values under names that mean nothing else there."""
    columns: dict[str, Mapping[str, Any]] = {}
    if qrels is not None:
        names = qrels.queries.to_text()
        columns = {name: dict(zip(names, values.tolist(), strict=True)) for name, values in qrels.columns.items()}
    if queries is not None and not isinstance(queries, Mapping):
        columns |= queries.columns
    reserved = set(map(normalize_name, LOG_KEYS))
    by_query: dict[str, LogRecord] = {}
    for name, values in columns.items():
        for query, value in values.items() if normalize_name(name) not in reserved else ():
            if isinstance(value, (str, int, float)) and (plain := plain_json(value)) is not None:
                by_query.setdefault(query, {})[replace_lone_surrogates(name)] = plain
    return by_query


def plain_json(value: Any) -> Any:
    """A value of any type as JSON has it; what it lacks becomes text, a number that is not finite nothing."""
    if isinstance(value, str):
        return replace_lone_surrogates(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {replace_lone_surrogates(str(key)): plain_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_json(inner) for inner in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return plain_json(value.tolist())
    return replace_lone_surrogates(str(value))


# Cells of CSV that a spreadsheet would run as a formula, made safe so that they read back as they were.
#
# A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets a ``'`` before it: spreadsheets
# show it and do not run it. A plain number stays as it is: it is no formula, and must stay a number. So that nothing
# is lost, a text that begins with ``'`` and such a character gets one more, and reading removes one.

GUARD = "'"
FORMULA_STARTS = "=+-@\t\r"
GUARDABLE = re.compile(rf"{GUARD}*[{re.escape(FORMULA_STARTS)}]")
NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?", re.ASCII)


def guard_formula(text: str) -> str:
    """A text that no spreadsheet runs."""
    return GUARD + text if GUARDABLE.match(text) and not NUMBER.fullmatch(text) else text


def guard_marked(text: str) -> str:
    """A text that reads back as it is, without making it safe: only one that looks guarded gets a guard."""
    return guard_formula(text) if text.startswith(GUARD) else text


def unguard_formula(text: str) -> str:
    """The inverse of ``guard_formula``."""
    is_guarded = text.startswith(GUARD) and GUARDABLE.match(text) and not NUMBER.fullmatch(text[1:])
    return text[1:] if is_guarded else text
