"""A log: one JSON object per query, with the retrieved and the relevant documents. Judgments and runs in one file.

{"query": "reset 2FA?", "retrieved": [{"id": "kb-104", "score": 0.9, "text": "…"}], "relevant": ["kb-104"]}

``docs/reference/log.md`` defines it. Test cases are read here as well: they are a log without results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from rankgauge.core.batch import Batch
from rankgauge.core.ids import encode_id
from rankgauge.core.run import RunExtras
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats.detection import CASES_KEY, Head
from rankgauge.io.formats.field_labels import FieldLabels
from rankgauge.io.formats.json_mapping import (
    NO_NUMBER,
    STRUCTURES,
    Entry,
    EntryRows,
    StructureError,
    id_key_of,
    read_entries,
)
from rankgauge.io.formats.json_text import (
    JsonPairs,
    Record,
    Records,
    describe_json,
    id_from_json,
    number_from_json,
    read_records,
)
from rankgauge.io.formats.named_columns import (
    METADATA_NAMES,
    TEXT_FIELD_NAMES,
    Columns,
    Kind,
    Wanted,
    check_roles,
    columns_for,
    normalize_name,
)
from rankgauge.io.row_checks import several_systems
from rankgauge.io.text_checks import replace_lone_surrogates

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
    "latency": (("latency_ms",),),
    "error": (("error",),),
    "system": (("system", "mode"),),
}  # fmt: skip
ID_SUFFIXES = ("ids", "id")  # under a key that ends so, a single string is an id; elsewhere it may be an answer
CONTEXT_KEYS = ("retrieved_contexts", "contexts")  # of texts, beside a list of ids or in its place
DEFAULT_ERROR = "failed"


@dataclass(frozen=True, eq=False)
class Log:
    """The rows of a log, each under the id of its query.

    If a query appears more than once, a key separates the systems: ``systems`` has that of each row.
    """

    faults: Faults
    records: Records
    keys: Mapping[str, str]
    queries: Mapping[int, bytes] = field(default_factory=dict)  # row → id; rows without one are faults
    systems: Mapping[int, str] = field(default_factory=dict)  # row with results → name; empty if there is one system
    fields: FieldLabels = field(default_factory=lambda: FieldLabels(()))  # of labels that have several

    @cached_property
    def first_rows(self) -> dict[bytes, int]:
        """The first row of each query."""
        rows: dict[bytes, int] = {}
        for row, query in self.queries.items():
            rows.setdefault(query, row)
        return rows

    def run_rows(self, faults: Faults) -> Batch:
        """The retrieved documents of a log of one system; raises if there are several."""
        names = list(dict.fromkeys(self.systems.values()))
        if len(names) > 1:
            raise several_systems(faults.source, names)
        return next(self.run_batches(faults))

    def run_batches(self, faults: Faults) -> Iterator[Batch]:
        """The retrieved documents of each system, with what came with them."""
        for name in list(dict.fromkeys(self.systems.values())) or [""]:
            part = self
            if self.systems:
                part = replace(
                    self, queries={row: q for row, q in self.queries.items() if self.systems.get(row) == name}
                )
            collected = part._collect(faults, "run", part._retrieved)
            extras = part._extras(faults)
            failed = () if extras is None else tuple(encode_id(query, "query id") for query in extras.errors)
            system = name.encode("utf-8", "surrogateescape")
            yield replace(collected, system=system, extras=extras, failed=failed)

    def qrels_rows(self, faults: Faults) -> Batch:
        """The relevant documents, with the columns of each query. Rows of several systems must agree."""
        judged: dict[bytes, tuple[int, set[tuple[str, str]]]] = {}

        def read(faults: Faults, row: int) -> list[Entry] | None:
            entries = self._relevant(faults, row)
            if entries is None or not self.systems:
                return entries
            line, query, labels = int(self.records.line[row]), self.queries[row], set(map(_hashable, entries))
            if query not in judged:
                judged[query] = line, labels
                return entries
            if labels != judged[query][1]:
                before = faults.describe_line(judged[query][0])
                faults.add(
                    "labels-differ",
                    [line],
                    expected=f"the same relevant documents for query {shown(query)} in every system",
                    found=f"others than {f'on {before}' if before else 'before'}",
                )
            return None

        return replace(self._collect(faults, "qrels", read), columns=self.columns())

    def columns(self) -> dict[str, dict[str, Any]]:
        """Every key with a scalar that has no other role: column → query id → value, that of the first row."""
        used_keys = {name for role, name in self.keys.items() if role not in ("text", "k")}
        columns: dict[str, dict[str, Any]] = {}
        for query, row in self.first_rows.items():
            name = query.decode("utf-8", "surrogateescape")
            for key, value in self.records.records[row].items():
                if key not in used_keys and isinstance(value, (str, int, float)):
                    columns.setdefault("k" if key == self.keys.get("k") else key, {})[name] = value
        return columns

    def case_fields(self) -> dict[str, dict[str, Any]]:
        """The values of each query that have no other role, of any type: what a retriever may need besides the text."""
        used_keys = {name for role, name in self.keys.items() if role != "system"}
        return {
            query.decode("utf-8", "surrogateescape"): {
                key: _plain(value)
                for key, value in self.records.records[row].items()
                if key not in used_keys and value is not None
            }
            for query, row in self.first_rows.items()
        }

    def texts(self) -> dict[bytes, str]:
        """The text of each query that has one."""
        key = self.keys.get("text")
        values = {query: self.records.records[row].get(key) for query, row in self.first_rows.items() if key}
        return {query: text for query, text in values.items() if isinstance(text, str)}

    def _collect(self, faults: Faults, kind: Kind, read: Callable[[Faults, int], list[Entry] | None]) -> Batch:
        entry_rows = EntryRows(faults, kind)
        for row, query in self.queries.items():
            line = int(self.records.line[row])
            try:
                entries = read(faults, row)
                if entries is not None:
                    entry_rows.add(line, query, entries)
            except StructureError as error:
                what = "retrieved" if kind == "run" else "relevant"
                expected = error.expected or f"{STRUCTURES} as {what} documents"
                faults.add("shape", [line], expected=expected, found=str(error), action=error.hint)
        return entry_rows.batch()

    def _retrieved(self, faults: Faults, row: int) -> list[Entry] | None:
        """The results on a row; None if it has only labels."""
        record, line = self.records.records[row], int(self.records.line[row])
        key = _required_key(faults.source, self.keys, "retrieved")
        if record.get(key) is None and self._error(record) is not None:
            return []
        if key not in record and self._has_labels(record):
            return None
        entries = read_entries(self._by_fields(_as_list(key, record.get(key)), "run"), "run")
        scores = record.get(self.keys.get("scores", ""))
        if scores is not None:
            entries = _with_scores(entries, scores)
        if self.fields:  # results with the same values are one
            entries = list({str(doc): (doc, number) for doc, number in reversed(entries)}.values())[::-1]
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

    def _relevant(self, faults: Faults, row: int) -> list[Entry] | None:
        """The labels on a row; None if it has only results."""
        record, line = self.records.records[row], int(self.records.line[row])
        grades = record.get(self.keys.get("grades", ""))
        if grades is not None and not isinstance(grades, JsonPairs):
            raise StructureError(f"{describe_json(grades)} as grades, instead of an object of ids and grades")
        key = self.keys.get("relevant")
        if key is None or (record.get(key) is None and grades is not None):
            _required_key(faults.source, self.keys, "grades" if "grades" in self.keys else "relevant")
            return list(grades or [])
        if key not in record and self.keys.get("retrieved") in record:
            return None
        entries = read_entries(self._by_fields(_as_list(key, record.get(key)), "qrels"), "qrels")
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

    def _by_fields(self, value: Any, kind: Kind) -> Any:
        """Labels or results with the values of their fields in place of ids; as they are if no fields are named."""
        if not self.fields:
            return value
        items = [value] if isinstance(value, JsonPairs) else value
        if not isinstance(items, list):
            return value
        make_id = self.fields.result_id if kind == "run" else self.fields.label_id
        return [_with_id(item, make_id(item), kind) for item in items]

    def _has_labels(self, record: Record) -> bool:
        return any(self.keys.get(role) in record for role in ("relevant", "grades"))

    def _error(self, record: Record) -> str | None:
        """Why a query failed; None if it did not. A value that is no text says only that it failed."""
        value = record.get(self.keys.get("error", ""))
        if isinstance(value, str):
            return replace_lone_surrogates(value) or None
        return None if value is None or value is False else DEFAULT_ERROR

    def _extras(self, faults: Faults) -> RunExtras | None:
        """What came with the results: texts, metadata, latencies and errors; None if nothing did."""
        texts: dict[str, str | None] = {}
        metadata: dict[str, Mapping[str, Any]] = {}
        latencies: dict[str, float] = {}
        errors: dict[str, str] = {}
        for row, query_id in self.queries.items():
            record, query = self.records.records[row], query_id.decode("utf-8", "surrogateescape")
            for doc, text, values in _details(record, self.keys.get("retrieved"), self.fields):
                if text is not None and texts.setdefault(doc, text) != text:
                    texts[doc] = None
                if values is not None:
                    metadata.setdefault(doc, values)
            if (error := self._error(record)) is not None:
                errors[query] = error
            value = record.get(self.keys.get("latency", ""))
            latency = None if isinstance(value, bool) else number_from_json(value)
            if latency is not None and latency >= 0:
                latencies[query] = latency
            elif value is not None:
                line = int(self.records.line[row])
                expected = f"a number of milliseconds as {self.keys['latency']}"
                faults.add("latency", [line], expected=expected, found=describe_json(value))
        return RunExtras(texts, metadata, latencies, errors) if texts or metadata or latencies or errors else None


def load(faults: Faults, data: bytes, columns: Columns | None = None, fields: Sequence[str] = ()) -> Log:
    """The log in a file's bytes; ``fields`` are those of labels that have several (``field_labels``)."""
    check_roles(columns or {}, list(KEYS))
    records = read_records(faults, data, CASES_KEY if _is_wrapped(Head(data)) else None)
    keys = _find_keys(faults.source, records.names, columns or {})
    ids = _query_ids(faults, records, keys)
    system_key = _system_key(records, ids, columns or {})
    if system_key is None:
        return Log(faults, records, keys, _unique_queries(faults, records, ids, {}), fields=FieldLabels.of(fields))
    result_keys = {keys[role] for role in ("retrieved", "error") if role in keys}
    rows = [row for row in ids if result_keys & records.records[row].keys()]  # others have labels only
    systems = {row: _system_name(records.records[row].get(system_key)) for row in rows}
    queries = _unique_queries(faults, records, ids, systems)
    return Log(faults, records, {**keys, "system": system_key}, queries, systems, FieldLabels.of(fields))


def read_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """One side of a log, one batch for each system: which key is which is known at its end."""
    log = load(faults, stream.read(), wanted.columns, wanted.fields)
    if wanted.kind == "run":
        yield from log.run_batches(faults)
    else:
        yield log.qrels_rows(faults)


def is_log_record(record: Mapping[str, Any], kind: Kind | None = None) -> bool:
    """Whether an object is a row of a log: it lists retrieved documents, relevant ones, or (for no kind) both."""
    list_keys = [name for name in record if isinstance(record[name], list)]
    has_retrieved = bool(_keys_for(list_keys, "retrieved"))
    has_relevant = bool(_keys_for(list_keys, "relevant") or _keys_for(list_keys, "grades"))
    return {"run": has_retrieved, "qrels": has_relevant, None: has_retrieved and has_relevant}[kind]


def is_log_head(head: Head, kind: Kind | None = None) -> bool:
    """Whether a file begins as a log: with one of its rows, on a line, in a list, or in that of ``{"cases": […]}``."""
    if not head.is_json:
        return False
    record = head.first_case if _is_wrapped(head) else head.record
    return record is not None and is_log_record(record, kind)


def _is_wrapped(head: Head) -> bool:
    """Whether the rows are under the key ``cases`` of one object, which is not itself a row."""
    is_row = head.record is not None and (is_log_record(head.record, "run") or is_log_record(head.record, "qrels"))
    return not is_row and head.first_case is not None and not head.is_array


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
        if role == "system":
            continue  # a column like any other, unless it separates rows of the same query
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
    """Row → id: the query id, else the text of the query, else the line number."""
    ids: dict[int, bytes] = {}
    key = keys.get("query") or keys.get("text")
    for row, record in enumerate(records.records):
        line = int(records.line[row]) or row + 1
        try:
            ids[row] = id_from_json(record.get(key), "query id") if key else encode_id(str(line), "query id")
        except InputError as error:
            faults.add("id", [int(records.line[row])], expected=f"an id or a text as {key}", found=error.message)
    return ids


def _system_key(records: Records, ids: Mapping[int, bytes], columns: Columns) -> str | None:
    """The key that separates systems: one that is named, or one that tells apart the rows of repeated queries."""
    if "system" in columns:
        return columns["system"]
    if len(set(ids.values())) == len(ids):
        return None
    candidates = _keys_for(records.names, "system")
    for key in _best_match(candidates, "system") + candidates:
        if len({(query, _system_name(records.records[row].get(key))) for row, query in ids.items()}) == len(ids):
            return key
    return candidates[0] if candidates else None


def _system_name(value: object) -> str:
    return str(value) if isinstance(value, (str, int)) else ""


def _unique_queries(
    faults: Faults, records: Records, ids: Mapping[int, bytes], systems: Mapping[int, str]
) -> dict[int, bytes]:
    """The rows whose query is there for the first time, in each system; any other is a fault."""
    unique: dict[int, bytes] = {}
    first_lines: dict[tuple[str, bytes], int] = {}
    for row, query in ids.items():
        pair = systems.get(row, ""), query
        if pair in first_lines:
            of_system = f" of {shown(pair[0])}" if systems else ""
            faults.add(
                "duplicate-query",
                [int(records.line[row])],
                expected="each query once per system" if systems else "each query once",
                found=f"{shown(query)}{of_system} again (first on line {first_lines[pair]})",
                action="give each row its own query_id; rows of several systems need a key system or mode",
            )
            continue
        first_lines[pair] = int(records.line[row]) or row + 1
        unique[row] = query
    return unique


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


def _with_id(item: Any, name: str, kind: Kind) -> Any:
    """A label or a result with another id, and with its number if it has one."""
    number_keys = (
        columns_for(item.names(), "score" if kind == "run" else "grade") if isinstance(item, JsonPairs) else []
    )
    return JsonPairs([("id", name), *((key, dict(item)[key]) for key in number_keys[:1])])


def _hashable(entry: Entry) -> tuple[str, str]:
    return repr(entry[0]), repr(entry[1])


# The texts and metadata of results: in objects, beside a list of ids, or the texts themselves in place of ids.

Detail = tuple[str, str | None, Mapping[str, Any] | None]  # an id, its text, its metadata


def _details(record: Record, key: str | None, fields: FieldLabels) -> Iterator[Detail]:
    """What a row has of each result besides its score, for results that have something."""
    items = record.get(key or "")
    if key is None or not isinstance(items, list) or isinstance(items, JsonPairs):
        return
    beside = next((record[name] for name in record if _is_context_key(name) and name != key), None)
    contexts = beside if isinstance(beside, list) and len(beside) == len(items) else [None] * len(items)
    for index, item in enumerate(items):
        if isinstance(item, JsonPairs):
            values = dict(item)
            keys = _result_keys(tuple(values))
            doc = fields.result_id(item) if fields else values.get(keys.doc)
            text, metadata = values.get(keys.text), values.get(keys.metadata)
            is_text, is_metadata = isinstance(text, str), isinstance(metadata, JsonPairs)
            if is_text or is_metadata:
                yield from _detail(doc, text if is_text else None, _plain(metadata) if is_metadata else None)
        elif _is_context_key(key) and isinstance(item, str):
            yield from _detail(item, item, None)
        elif isinstance(context := contexts[index], str):
            yield from _detail(item[0] if isinstance(item, list) and item else item, context, None)


def _detail(doc: object, text: str | None, metadata: Mapping[str, Any] | None) -> Iterator[Detail]:
    try:
        name = id_from_json(doc, "document id").decode("utf-8", "surrogateescape")
    except InputError:
        return  # a fault of the results
    yield name, None if text is None else replace_lone_surrogates(text), metadata


class _ResultKeys(NamedTuple):
    """Which keys of a result have its id, its text and its metadata; an empty one is none."""

    doc: str
    text: str
    metadata: str


@lru_cache(256)
def _result_keys(names: tuple[str, ...]) -> _ResultKeys:
    metadata = next((name for name in METADATA_NAMES if name in names), "")
    return _ResultKeys(id_key_of(names) or "", text_key(names) or "", metadata)


def text_key(names: Sequence[str]) -> str | None:
    """Which key of a result has its text."""
    keys = {normalize_name(name): name for name in names}
    return next((keys[name] for name in map(normalize_name, TEXT_FIELD_NAMES) if name in keys), None)


def _is_context_key(name: str) -> bool:
    return normalize_name(name) in map(normalize_name, CONTEXT_KEYS)


def _plain(value: Any) -> Any:
    """A JSON value with dicts as objects."""
    if isinstance(value, JsonPairs):
        return {key: _plain(inner) for key, inner in value}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
