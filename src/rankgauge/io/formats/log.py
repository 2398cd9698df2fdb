"""A log: one JSON object per question, with the retrieved and the relevant documents. Judgments and a run in one file.

{"question": "reset 2FA?", "retrieved_ids": ["kb-018", "kb-104"], "relevant_ids": ["kb-104"], "category": "auth"}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from rankgauge.core.batch import Batch
from rankgauge.core.ids import encode_id
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.entries import NO_NUMBER, STRUCTURES, Entry, EntryRows, StructureError, read_entries
from rankgauge.io.formats.json_records import (
    Record,
    Records,
    describe_json,
    id_from_json,
    number_from_json,
    read_records,
)
from rankgauge.io.formats.jsontext import JsonPairs
from rankgauge.io.formats.names import Columns, Kind, Wanted, check_roles, normalize_name

# Role → keys in tiers: the certain ones first, then those used if no certain one is there (they may contain texts).
KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (("query_id", "qid", "question_id", "_id", "id"),),
    "text": (("question", "query", "user_input", "text", "prompt", "input"),),
    "retrieved": (
        ("retrieved_ids", "retrieved_context_ids", "retrieved_doc_ids", "retrieved_chunk_ids", "predicted_ids"),
        ("retrieved", "retrieved_docs", "retrieved_documents", "retrieved_chunks", "results", "predictions"),
        ("contexts", "retrieved_contexts"),
    ),
    "relevant": (
        ("relevant_ids", "reference_context_ids", "relevant_doc_ids", "golden_chunk_ids", "golden_ids", "gold_ids",
         "golden_doc_ids", "expected_ids", "ground_truth_ids", "reference_ids", "positive_ids"),
        ("relevant", "relevant_docs", "expected", "golden", "gold", "ground_truth"),
    ),
    "grades": (("grades", "relevance_grades", "judgments", "qrels", "relevance"),),
    "scores": (("scores", "retrieved_scores", "retrieval_scores", "similarities"),),
    "k": (("k", "top_k"),),
}  # fmt: skip
ID_SUFFIXES = ("ids", "id")  # under a key that ends so, a single string is an id; elsewhere it may be an answer


@dataclass(frozen=True, eq=False)
class Log:
    """The rows of a log, each under the id of its question."""

    faults: Faults
    records: Records
    keys: Mapping[str, str]
    queries: Mapping[int, bytes] = field(default_factory=dict)  # row → id; rows without one are faults

    def run_rows(self, faults: Faults) -> Batch:
        """The retrieved documents."""
        return self._collect(faults, "run", self._retrieved)

    def qrels_rows(self, faults: Faults) -> Batch:
        """The relevant documents, with the columns of each question."""
        return replace(self._collect(faults, "qrels", self._relevant), columns=self.columns())

    def columns(self) -> dict[str, dict[str, Any]]:
        """Every key with a scalar that has no other role: column → question id → value."""
        used_keys = {name for role, name in self.keys.items() if role not in ("text", "k")}
        columns: dict[str, dict[str, Any]] = {}
        for row, query in self.queries.items():
            name = query.decode("utf-8", "surrogateescape")
            for key, value in self.records.records[row].items():
                if key not in used_keys and isinstance(value, (str, int, float)):
                    columns.setdefault("k" if key == self.keys.get("k") else key, {})[name] = value
        return columns

    def texts(self) -> dict[bytes, str]:
        """The text of each question that has one."""
        key = self.keys.get("text")
        values = {query: self.records.records[row].get(key) for row, query in self.queries.items() if key}
        return {query: text for query, text in values.items() if isinstance(text, str)}

    def _collect(self, faults: Faults, kind: Kind, read: Callable[[Faults, int, Record], list[Entry]]) -> Batch:
        entry_rows = EntryRows(faults, kind)
        for row, query in self.queries.items():
            line = int(self.records.line[row])
            try:
                entry_rows.add(line, query, read(faults, line, self.records.records[row]))
            except StructureError as error:
                what = "retrieved" if kind == "run" else "relevant"
                faults.add("shape", [line], expected=f"{STRUCTURES} as {what} documents", found=str(error))
        return entry_rows.batch()

    def _retrieved(self, faults: Faults, line: int, record: Record) -> list[Entry]:
        key = _required_key(faults.source, self.keys, "retrieved")
        entries = read_entries(_as_list(key, record.get(key)), "run")
        scores = record.get(self.keys.get("scores", ""))
        if scores is not None:
            entries = _with_scores(entries, scores)
        numbers = [number_from_json(number) for _, number in entries]
        if any(a is not None and b is not None and a < b for a, b in pairwise(numbers)):
            faults.add(
                "order-against-scores",
                [line],
                expected="scores that decrease down the list",
                found="an increasing one: results are ordered by score, not by position (distances? negate them)",
                severity="warning",
            )
        return entries

    def _relevant(self, faults: Faults, line: int, record: Record) -> list[Entry]:
        grades = record.get(self.keys.get("grades", ""))
        if grades is not None and not isinstance(grades, JsonPairs):
            raise StructureError(f"{describe_json(grades)} as grades, instead of an object of ids and grades")
        key = self.keys.get("relevant")
        if key is None or (record.get(key) is None and grades is not None):
            _required_key(faults.source, self.keys, "grades" if "grades" in self.keys else "relevant")
            return list(grades or [])
        entries = read_entries(_as_list(key, record.get(key)), "qrels")
        if not isinstance(record[key], JsonPairs):
            entries = list({_hashable(entry): entry for entry in entries}.values())  # listed twice counts once
        grade_by_id = {} if grades is None else grades.to_dict(faults.source, line)
        for doc, _ in entries:
            number = number_from_json(grade_by_id.get(str(doc)))
            if number is not None and number <= 0:
                raise StructureError(f"{describe_json(doc)} listed as relevant and graded {number:g}")
        relevant = [(doc, grade_by_id.get(str(doc), grade)) for doc, grade in entries]
        relevant_ids = {str(doc) for doc, _ in entries}
        graded_only: list[Entry] = [(doc, grade) for doc, grade in grades or [] if doc not in relevant_ids]
        return [(doc, 1 if grade is NO_NUMBER else grade) for doc, grade in relevant] + graded_only


def load(faults: Faults, data: bytes, columns: Columns | None = None) -> Log:
    """The log in a file's bytes."""
    check_roles(columns or {}, list(KEYS))
    records = read_records(faults, data)
    keys = _find_keys(faults.source, records.names, columns or {})
    return Log(faults, records, keys, _query_ids(faults, records, keys))


def read_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """One side of a log, in one batch: which key is which is known at its end."""
    log = load(faults, stream.read(), wanted.columns)
    yield log.run_rows(faults) if wanted.kind == "run" else log.qrels_rows(faults)


def is_log_record(record: Mapping[str, Any], kind: Kind | None = None) -> bool:
    """Whether an object is a row of a log: it lists retrieved documents, relevant ones, or (for no kind) both."""
    list_keys = [name for name in record if isinstance(record[name], list)]
    has_retrieved = bool(_keys_for(list_keys, "retrieved"))
    has_relevant = bool(_keys_for(list_keys, "relevant") or _keys_for(list_keys, "grades"))
    return {"run": has_retrieved, "qrels": has_relevant, None: has_retrieved and has_relevant}[kind]


def _keys_for(names: Sequence[str], role: str) -> list[str]:
    for tier in KEYS[role]:
        tier_names = {normalize_name(key) for key in tier}
        matches = [name for name in names if normalize_name(name) in tier_names]
        if matches:
            return matches
    return []


def _find_keys(source: str, names: Sequence[str], columns: Columns) -> dict[str, str]:
    keys: dict[str, str] = {}
    for role in KEYS:
        if role in columns:
            if columns[role] not in names:
                raise InputError.at(source, None, f"expected a key {shown(columns[role])} for {role}, found none")
            keys[role] = columns[role]
            continue
        matches = [name for name in _keys_for(names, role) if name not in columns.values()]
        if role in ("query", "text"):
            matches = _best_match(matches, role)
        if len(matches) > 1:
            raise InputError.at(
                source,
                None,
                f"expected one key for {role}, found {len(matches)}: {', '.join(shown(name) for name in matches)}",
                hint=f"choose one: columns={{{role!r}: {matches[0]!r}}}, --column {role}={matches[0]}",
            )
        if matches:
            keys[role] = matches[0]
    return keys


def _best_match(matches: list[str], role: str) -> list[str]:
    """The match that comes first in the table of keys: a row may have an id and a text besides its query id."""
    order = [normalize_name(key) for tier in KEYS[role] for key in tier]
    return sorted(matches, key=lambda name: order.index(normalize_name(name)))[:1]


def _query_ids(faults: Faults, records: Records, keys: Mapping[str, str]) -> dict[int, bytes]:
    """Row → id: the query id, else the text of the question, else the line number."""
    ids: dict[int, bytes] = {}
    first_lines: dict[bytes, int] = {}
    key = keys.get("query") or keys.get("text")
    for row, record in enumerate(records.records):
        line = int(records.line[row]) or row + 1
        try:
            query = id_from_json(record.get(key), "query id") if key else encode_id(str(line), "query id")
        except InputError as error:
            faults.add("id", [int(records.line[row])], expected=f"an id or a text as {key}", found=error.message)
            continue
        if query in first_lines:
            faults.add(
                "duplicate-query",
                [int(records.line[row])],
                expected="each question once",
                found=f"{shown(query)} again (first on line {first_lines[query]})",
                action="give each row its own query_id",
            )
            continue
        first_lines[query] = line
        ids[row] = query
    return ids


def _required_key(source: str, keys: Mapping[str, str], role: str) -> str:
    if role in keys:
        return keys[role]
    known_keys = ", ".join(key for tier in KEYS[role] for key in tier)
    raise InputError.at(
        source, None, f"expected a key for {role} ({known_keys}), found none", hint=f"name it: --column {role}=KEY"
    )


def _as_list(key: str, value: Any) -> Any:
    """The value, or a list of it if it is a single string under a key of ids."""
    return [value] if isinstance(value, str) and normalize_name(key).endswith(ID_SUFFIXES) else value


def _with_scores(entries: list[Entry], scores: Any) -> list[Entry]:
    """Ids with their scores: a list of the same length, or an object by id."""
    if isinstance(scores, JsonPairs):
        score_by_id = dict(scores)
        return [(doc, score_by_id.get(str(doc))) for doc, _ in entries]
    if not isinstance(scores, list) or len(scores) != len(entries):
        size = f"a list of {len(scores)}" if isinstance(scores, list) else describe_json(scores)
        raise StructureError(f"{size} as scores of {len(entries)}")
    return [(doc, number) for (doc, _), number in zip(entries, scores, strict=True)]


def _hashable(entry: Entry) -> tuple[str, str]:
    return repr(entry[0]), repr(entry[1])
