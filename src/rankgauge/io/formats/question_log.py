"""A log: one JSON object per query, with the retrieved and the relevant documents. Judgments and runs in one file.

{"query": "reset 2FA?", "retrieved": [{"id": "kb-104", "score": 0.9, "text": "…"}], "relevant": ["kb-104"]}

``docs/reference/log.md`` defines it. Test cases are read here as well: they are a log without results.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from rankgauge.core.batch import Batch
from rankgauge.core.formatting import plural
from rankgauge.core.group_judgments import Evidence
from rankgauge.core.ids import Ids, encode_id
from rankgauge.core.qrels import ANSWERABLE
from rankgauge.core.run import RunExtras
from rankgauge.errors import InputError, Note, shown, warn_user
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats.case_keys import (
    K_UNUSED,
    CaseKeys,
    KeyFinder,
    answerable_flag,
    check_object_labels,
    field_path,
    holds_labels,
    is_case,
    label_kind,
    missing_key,
    names_for,
    other_label_keys,
    takes_one_string,
    unused_notes,
)
from rankgauge.io.formats.decimals import DECIMAL
from rankgauge.io.formats.detection import YAML_SUFFIXES, Head
from rankgauge.io.formats.expected_text import text_id
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
)
from rankgauge.io.formats.named_columns import (
    METADATA_NAMES,
    TEXT_FIELD_NAMES,
    Columns,
    IsByText,
    Kind,
    Wanted,
    columns_for,
    normalize_name,
)
from rankgauge.io.formats.test_sets import (
    CaseRecords,
    cases_of_objects,
    filtered_name,
    first_case,
    holds_lists,
    is_case_header,
    read_test_set,
)
from rankgauge.io.row_checks import several_systems
from rankgauge.io.text_checks import replace_lone_surrogates
from rankgauge.measures.aggregates import WEIGHT, are_weights

CONTEXT_KEYS = ("retrieved_contexts", "contexts")  # of texts, beside a list of ids or in its place
DEFAULT_ERROR = "failed"
SCALARS = {str, int, float, bool}
QUIET_NOTES = ("beside-cases", "comment", "label-rows", K_UNUSED)  # which Python does not warn of
NOTHING_HINT = "write [] if a case expects nothing"
NUMBER_ROLES = {"latency": "milliseconds", "tokens": "tokens", "cost": "units of money"}  # one for each query
EVIDENCE_SHAPE = 'lists of relevant ids as evidence: [["a", "b"], ["c"]]'


class EvidenceError(Exception):
    """Evidence that cannot be read; the text says what was found."""


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
    notes: Sequence[Note] = ()  # on keys that are not used, and on what was around the rows
    is_named: bool = False  # whether the user named the key of the relevant documents
    kind: str = ""  # what the file is, if it is known to hold no labels
    fields: FieldLabels = field(default_factory=lambda: FieldLabels(()))  # of labels that have several
    is_by_text: IsByText | None = None

    @property
    def warnings(self) -> list[Note]:
        """The notes on what changes the meaning of the cases; the others say how they were read."""
        return [note for note in self.notes if note.code not in QUIET_NOTES]

    @property
    def has_id_key(self) -> bool:
        """Whether the key of the relevant documents says that they are ids, or the user says so."""
        return self.is_named or label_kind(self.keys.get("relevant", "relevant_ids")) == "id"

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
            collected = part._plain_rows("run") or part._collect(faults, "run", part._retrieved)
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

        rows = self._plain_rows("qrels")
        if rows is None:
            if (key := self.keys.get("relevant")) is not None and not self.fields:
                check_object_labels(faults.source, self.records, key)
            rows = self._collect(faults, "qrels", read)
        columns = {**self.columns(), **self.answerable(rows.empty)}
        return replace(rows, columns=columns, evidence=self._evidence(), forbidden=self.forbidden(faults))

    def _plain_rows(self, kind: Kind) -> Batch | None:
        """All labels or all results at once, if each row lists ids as text, without numbers; None if not."""
        key = self.keys.get("relevant" if kind == "qrels" else "retrieved")
        others = {"grades", "evidence"} if kind == "qrels" else {"scores", "error"}
        if key is None or others & self.keys.keys() or self.systems or self.fields:
            return None
        if len(self.queries) != len(self.records.records) or (kind == "run" and self.is_by_text is not None):
            return None
        values: list[Any] = [record.get(key) for record in self.records.records]
        types = set(map(type, values))
        if types == {str} and kind == "qrels" and (self.is_named or takes_one_string(key)):
            docs = values
            sizes = np.ones(len(values), dtype=np.int64)
        elif types == {list}:
            if kind == "qrels" and set(map(type, chain.from_iterable(values))) <= {str}:
                values = [_distinct(docs) for docs in values]
            docs = list(chain.from_iterable(values))
            sizes = np.fromiter(map(len, values), np.int64, len(values))
        else:
            return None
        if not set(map(type, docs)) <= {str} or not _are_ids(docs):
            return None
        rows = np.repeat(np.arange(len(values)), sizes)
        queries = list(self.queries.values())
        ids = Ids.from_bytes(queries)
        query = ids.take(rows)
        if sizes.all():
            query.__dict__["distinct"] = rows, ids  # no need to find out which ids differ
        ends = np.cumsum(sizes)
        return Batch(
            self.records.line[rows],
            query,
            Ids.from_text(docs, "document id"),
            np.ones(len(docs)) if kind == "qrels" else (ends[rows] - np.arange(len(docs))).astype(np.float64),
            empty=tuple(queries[row] for row in np.flatnonzero(sizes == 0).tolist()),
        )

    def answerable(self, empty: Sequence[bytes]) -> dict[str, dict[str, Any]]:
        """Which queries have an answer, as a column, if some have none: nothing is expected for them."""
        records = self.records.records
        nothing = {query for query in empty if answerable_flag(records[self.first_rows[query]]) is not True}
        if not nothing:
            return {}
        queries = {query.decode("utf-8", "surrogateescape"): query not in nothing for query in self.first_rows}
        return {ANSWERABLE: queries}

    def columns(self) -> dict[str, dict[str, Any]]:
        """Every key with a scalar that has no other role: column → query id → value, that of the first row."""
        used_keys = {name for role, name in self.keys.items() if role not in ("query", "k")}
        records = [self.records.records[row] for row in self.first_rows.values()]
        names = [query.decode("utf-8", "surrogateescape") for query in self.first_rows]
        columns: dict[str, dict[str, Any]] = {}
        for key in self.records.names:
            if key in used_keys:
                continue
            values = [record.get(key) for record in records]
            column = dict(zip(names, values, strict=True))
            if not set(map(type, values)) <= SCALARS:
                column = {name: value for name, value in column.items() if isinstance(value, (str, int, float))}
            if column:
                columns["k" if key == self.keys.get("k") else key] = column
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
        key = self.keys.get("query")
        if key is None:
            return {}
        records = self.records.records
        values: list[Any] = [records[row].get(key) for row in self.first_rows.values()]
        texts = dict(zip(self.first_rows, values, strict=True))
        if set(map(type, values)) == {str}:
            return texts
        return {query: text for query, text in texts.items() if isinstance(text, str)}

    def _collect(self, faults: Faults, kind: Kind, read: Callable[[Faults, int], list[Entry] | None]) -> Batch:
        entry_rows = EntryRows(faults, kind)
        for row, query in self.queries.items():
            line = int(self.records.line[row])
            try:
                entries = read(faults, row)
                if entries is not None:
                    entry_rows.add(line, query, entries)
            except EvidenceError as error:
                faults.add("shape", [line], expected=EVIDENCE_SHAPE, found=str(error))
            except StructureError as error:
                what = "retrieved" if kind == "run" else "relevant"
                expected = error.expected or f"{STRUCTURES} as {what} documents"
                faults.add("shape", [line], expected=expected, found=str(error), action=error.hint)
        return entry_rows.batch()

    def _retrieved(self, faults: Faults, row: int) -> list[Entry] | None:
        """The results on a row; None if it has only labels."""
        record, line = self.records.records[row], int(self.records.line[row])
        key = self._required_key(faults.source, "retrieved")
        if record.get(key) is None and self._error(record) is not None:
            return []
        if key not in record and self._has_labels(record):
            return None
        entries = read_entries(self._by_fields(_as_list(key, record.get(key)), "run"), "run")
        scores = record.get(self.keys.get("scores", ""))
        if scores is not None:
            entries = _with_scores(entries, scores)
        if self._is_by_text(row):
            texts = _result_texts(record, key) or [None] * len(entries)
            entries = [(_text_id(doc, text), number) for (doc, number), text in zip(entries, texts, strict=True)]
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
        """The labels on a row, none if it expects nothing; None if it has only results."""
        record, line = self.records.records[row], int(self.records.line[row])
        pieces = self._pieces(row)
        if pieces is not None and not self._lists_relevant(record):
            docs = dict.fromkeys(doc for piece in pieces for doc in piece)
            return [(doc.decode("utf-8", "surrogateescape"), 1) for doc in docs]
        entries = self._listed(faults, row, record, line)
        relevant = {str(doc) for doc, grade in entries or () if not _is_nonrelevant(grade)}
        for doc in (doc.decode("utf-8", "surrogateescape") for piece in pieces or () for doc in piece):
            if doc not in relevant:
                raise EvidenceError(f"{shown(doc)}, which is not among the relevant documents")
        return entries

    def _listed(self, faults: Faults, row: int, record: Record, line: int) -> list[Entry] | None:
        """The relevant documents and grades on a row, none if it expects nothing; None if it has only results."""
        graded = _read_grades(record.get(self.keys.get("grades", "")))
        key = self.keys.get("relevant")
        value = None if key is None else record.get(key)
        if value is None and graded is not None:
            return graded
        if key is None and graded is None and "evidence" in self.keys:
            return None if self.keys.get("retrieved") in record else []
        if key is None:
            key = self._required_key(faults.source, "grades" if "grades" in self.keys else "relevant")
        if value is None:
            if key not in record and self.keys.get("retrieved") in record:
                return None
            if key not in record and answerable_flag(record) is not False:
                query = self.queries[row]
                hints = [NOTHING_HINT, f"to leave such cases out: {filtered_name(faults.source, key)}"]
                if not self.fields and (others := other_label_keys(record, key)):
                    fields = ",".join(f"{name}={field_path(name, is_list=True)}" for name in others)
                    hints.append(
                        f"to compare fields of results: --match-field {key}=id,{fields} (FIELD=PATH says where)"
                    )
                faults.add(
                    "shape",
                    [line],
                    expected=f"{shown(key)}, as other cases have, for query {shown(query)}",
                    found="nothing",
                    action="; ".join(hints),
                )
                return None
            return []
        entries = read_entries(self._by_fields(self._as_labels(key, value, record), "qrels"), "qrels")
        if not isinstance(value, JsonPairs):
            entries = list({_hashable(entry): entry for entry in entries}.values())  # listed twice counts once
        grade_by_id = {str(doc): grade for doc, grade in graded or []}
        for doc, _ in entries:
            number = number_from_json(grade_by_id.get(str(doc)))
            if number is not None and number <= 0:
                raise StructureError(f"{describe_json(doc)} listed as relevant and graded {number:g}")
        relevant = [(doc, grade_by_id.get(str(doc), grade)) for doc, grade in entries]
        relevant_ids = {str(doc) for doc, _ in entries}
        graded_only: list[Entry] = [(doc, grade) for doc, grade in graded or [] if str(doc) not in relevant_ids]
        return [(doc, 1 if grade is NO_NUMBER else grade) for doc, grade in relevant] + graded_only

    def _pieces(self, row: int) -> list[list[bytes]] | None:
        """The evidence on a row: lists of ids, of each of which one is enough; an id alone is a list of one."""
        value = self.records.records[row].get(self.keys.get("evidence", ""))
        if value is None:
            return None
        if not isinstance(value, list) or isinstance(value, JsonPairs):
            raise EvidenceError(describe_json(value))
        pieces = [item if isinstance(item, list) else [item] for item in value]
        if any(isinstance(piece, JsonPairs) or not piece for piece in pieces):
            raise EvidenceError("an empty list or an object in the list")
        try:
            return [[id_from_json(doc, "document id") for doc in piece] for piece in pieces]
        except InputError as error:
            raise EvidenceError(error.message) from None

    def _evidence(self) -> Evidence | None:
        """The evidence of all queries; None if none has any. Rows that cannot be read are faults already."""
        pieces: dict[bytes, list[list[bytes]]] = {}
        is_complete = True
        for row, query in self.queries.items() if "evidence" in self.keys else ():
            try:
                listed = self._pieces(row)
            except EvidenceError:
                continue
            if listed is not None:
                pieces.setdefault(query, listed)
                is_complete = is_complete and self._lists_relevant(self.records.records[row])
        return Evidence(pieces, is_complete) if pieces else None

    def forbidden(self, faults: Faults) -> dict[str, tuple[str, ...]]:
        """The documents that queries must not return, by query. Rows of several systems are put together."""
        documents: dict[str, dict[str, None]] = {}
        key = self.keys.get("forbidden")
        for row, query in self.queries.items() if key is not None else ():
            value = self.records.records[row].get(key or "")
            items = [] if value is None else [value] if isinstance(value, str) else value
            try:
                if not isinstance(items, list) or isinstance(items, JsonPairs):
                    raise InputError(describe_json(items))
                ids = [self.fields.label_id(item) if self.fields else item for item in items]
                names = [id_from_json(item, "document id").decode("utf-8", "surrogateescape") for item in ids]
            except InputError as error:
                line = int(self.records.line[row])
                faults.add("shape", [line], expected="a list of ids as forbidden documents", found=error.message)
                continue
            documents.setdefault(query.decode("utf-8", "surrogateescape"), {}).update(dict.fromkeys(names))
        return {query: tuple(docs) for query, docs in documents.items() if docs}

    def _lists_relevant(self, record: Record) -> bool:
        return any(record.get(self.keys.get(role, "")) is not None for role in ("relevant", "grades"))

    def _as_labels(self, key: str, value: Any, record: Record) -> Any:
        """The labels under a key; a single string or number is one, if the key says that it is an id."""
        is_one = isinstance(value, (str, int)) and not isinstance(value, bool)
        if is_one and value != "" and (self.is_named or takes_one_string(key)):
            return [value]
        if value == "" or (isinstance(value, str) and answerable_flag(record) is False):
            return []
        if isinstance(value, str):
            raise StructureError(f"{describe_json(value)}, which looks like an answer")
        return value

    def _by_fields(self, value: Any, kind: Kind) -> Any:
        """Labels or results with the values of their fields in place of ids; as they are if no fields are named."""
        if not self.fields:
            return value
        items = [value] if isinstance(value, JsonPairs) else value
        if not isinstance(items, list):
            return value
        make_id = self.fields.result_id if kind == "run" else self.fields.label_id
        try:
            return [_with_id(item, make_id(item), kind) for item in items]
        except InputError as error:
            raise StructureError(error.message, expected="the fields that --match-field names") from None

    def _is_by_text(self, row: int) -> bool:
        """Whether the results on a row are identified by their texts, too; those with fields are not."""
        if self.is_by_text is None or self.fields:
            return False
        return self.is_by_text(self.queries[row].decode("utf-8", "surrogateescape"))

    def _required_key(self, source: str, role: str) -> str:
        if role not in self.keys and self.kind:
            message = f"this is {self.kind}; expected labels"
            raise InputError.at(source, None, message, hint="name the request as labels, and this as results")
        if role not in self.keys:
            raise missing_key(source, self.records, role)
        return self.keys[role]

    def _has_labels(self, record: Record) -> bool:
        return any(self.keys.get(role) in record for role in ("relevant", "grades", "evidence"))

    def _may_have_details(self) -> bool:
        """Whether results may have more than ids: they are not all text, or texts are beside them or in their place."""
        key = self.keys.get("retrieved", "")
        if any(map(_is_context_key, self.records.names)):
            return True
        lists: list[Any] = [record.get(key) for record in self.records.records]
        return not set(map(type, lists)) <= {list} or not set(map(type, chain.from_iterable(lists))) <= {str}

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
        numbers: dict[str, dict[str, float]] = {role: {} for role in NUMBER_ROLES}
        errors: dict[str, str] = {}
        refused: dict[str, bool] = {}
        roles = {"error", "refused", *NUMBER_ROLES} & self.keys.keys()
        for row, query_id in self.queries.items() if roles or self._may_have_details() else ():
            record, query = self.records.records[row], query_id.decode("utf-8", "surrogateescape")
            is_by_text = self._is_by_text(row)
            for name, text, values in _details(record, self.keys.get("retrieved"), self.fields):
                doc = text_id(name, text) if is_by_text else name
                if text is not None and texts.setdefault(doc, text) != text:
                    texts[doc] = None
                if values is not None:
                    metadata.setdefault(doc, values)
            if (error := self._error(record)) is not None:
                errors[query] = error
            if isinstance(flag := record.get(self.keys.get("refused", "")), bool):
                refused[query] = flag
            for role, noun in NUMBER_ROLES.items():
                value = record.get(self.keys.get(role, ""))
                found = None if isinstance(value, bool) else number_from_json(value)
                if found is not None and found >= 0:
                    numbers[role][query] = found
                elif value is not None:
                    expected = f"a number of {noun} as {self.keys[role]}"
                    faults.add("latency", [int(self.records.line[row])], expected=expected, found=describe_json(value))
        latencies, tokens, cost = numbers.values()
        extras = RunExtras(texts, metadata, latencies, errors, refused=refused, tokens=tokens, cost=cost)
        return extras if any((texts, metadata, latencies, errors, refused, tokens, cost)) else None


def load(
    faults: Faults,
    data: bytes,
    columns: Columns | None = None,
    fields: Sequence[str] = (),
    match: str = "exact",
) -> Log:
    """The log or the test cases in a file's bytes.

    ``fields`` are those of labels with several (``field_labels``); ``match`` is how labels are matched with results.
    """
    with paused_collection():
        return _log_of(faults, read_test_set(faults, data, columns), columns or {}, fields, match)


@contextmanager
def paused_collection() -> Iterator[None]:
    """Make many objects, none of which is garbage, without looking for garbage among them again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def load_objects(
    faults: Faults,
    objects: Any,
    columns: Columns | None = None,
    fields: Sequence[str] = (),
    match: str = "exact",
) -> Log:
    """Test cases in memory: dicts, or a dict around a list of them."""
    return _log_of(faults, cases_of_objects(faults, objects), columns or {}, fields, match)


def _log_of(faults: Faults, table: CaseRecords, columns: Columns, fields: Sequence[str], match: str) -> Log:
    records = table.records
    labels = FieldLabels.of(fields)
    found = KeyFinder(faults.source, records, columns, match, labels).find()
    keys, notes = found.keys, _notes(faults.source, table, found)
    ids = _query_ids(faults, records, keys)
    system_key = _system_key(records, ids, columns)
    if system_key is None:
        repeated = _repeated_cases(records, ids, keys)
        if repeated:
            notes.append(_repeated_note(faults.source, records, ids, repeated))
            ids = {row: query for row, query in ids.items() if row not in repeated}
        queries = _unique_queries(faults, records, ids, {})
        return Log(
            faults,
            records,
            keys,
            queries,
            notes=notes,
            is_named=found.is_named,
            kind=table.kind,
            fields=labels,
        )
    result_keys = {keys[role] for role in ("retrieved", "error") if role in keys}
    rows = [row for row in ids if result_keys & records.records[row].keys()]  # others have labels only
    systems = {row: _system_name(records.records[row].get(system_key)) for row in rows}
    queries = _unique_queries(faults, records, ids, systems)
    separated = {**keys, "system": system_key}
    return Log(faults, records, separated, queries, systems, notes, found.is_named, fields=labels)


def _notes(source: str, table: CaseRecords, found: CaseKeys) -> list[Note]:
    """What to know of test cases; the keys of a log of results are those of its program."""
    if "retrieved" in found.keys:
        return [*table.notes, *found.notes]
    used = [key for role, key in found.keys.items() if role != "k"]
    names = table.records.names
    weights = [record[WEIGHT] for record in table.records.records if WEIGHT in record] if WEIGHT in names else []
    text_weights = f"{source}: {WEIGHT} is text, so every query counts the same; to show groups: --by {WEIGHT}"
    notes = [Note("weight-unused", text_weights)] if weights and not are_weights(weights) else []
    has_text_rules = "match" in names and any(record.get("match") == "text" for record in table.records.records)
    return [*table.notes, *found.notes, *notes, *unused_notes(source, names, used, has_text_rules)]


def read_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """One side of a log, one batch for each system: which key is which is known at its end."""
    log = replace(load(faults, stream.read(), wanted.columns, wanted.fields), is_by_text=wanted.is_by_text)
    if wanted.kind == "run":
        yield from log.run_batches(faults)
        return
    for note in log.warnings:
        warn_user(note.message)
    with paused_collection():
        rows = log.qrels_rows(faults)
    yield rows


def is_log_record(record: Mapping[str, Any], kind: Kind | None = None) -> bool:
    """Whether an object is a row of a log: it lists retrieved documents, is a test case, or (for no kind) has both."""
    list_names = [name for name in record if isinstance(record[name], list)]
    has_retrieved = bool(names_for(list_names, "retrieved"))
    has_relevant = any(holds_labels(name, value) for name, value in record.items()) or any(
        names_for(list_names, role) for role in ("grades", "evidence")
    )
    if kind == "qrels":
        return has_relevant or is_case(record)
    return has_retrieved if kind == "run" else has_retrieved and has_relevant


def is_log_head(head: Head, kind: Kind | None = None) -> bool:
    """Whether a file begins as a log or as test cases, whatever contains them."""
    if head.is_json or head.is_yaml:
        record = first_case(head)
        if kind == "qrels" and (head.selector is not None or record is None):  # the reader says what is wrong
            return head.selector is not None or head.name.endswith(YAML_SUFFIXES) or holds_lists(head)
        return record is not None and is_log_record(record, kind)
    if kind != "qrels" or head.is_arrow:
        return False
    return is_case_header(header_names(head))


def header_names(head: Head) -> list[str]:
    """The cells of the first line of a delimited table."""
    from rankgauge.io.formats.delimited import delimiter_of

    return [cell.strip(b' "').decode("utf-8", "surrogateescape") for cell in head.line.split(delimiter_of(head.line))]


def _query_ids(faults: Faults, records: Records, keys: Mapping[str, str]) -> dict[int, bytes]:
    """Row → id: the query id, else the text of the query, else the line number."""
    ids: dict[int, bytes] = {}
    key = keys.get("id") or keys.get("query")
    values: list[Any] = [record.get(key or "") for record in records.records]
    if set(map(type, values)) == {str} and _are_ids(values):
        return dict(enumerate(value.encode("utf-8", "surrogateescape") for value in values))
    for row, record in enumerate(records.records):
        line = int(records.line[row]) or row + 1
        try:
            ids[row] = id_from_json(record.get(key), "query id") if key else encode_id(str(line), "query id")
        except InputError as error:
            faults.add("id", [int(records.line[row])], expected=f"an id or a text as {key}", found=error.message)
    return ids


def _are_ids(texts: Sequence[str]) -> bool:
    """Whether each of some texts can be an id."""
    text = "".join(texts)
    if not text.isascii():
        try:
            text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return False
    return "\0" not in text and all(texts)


def _distinct(docs: list[str]) -> list[str]:
    """A list without what it has already: listed twice counts once."""
    return docs if len(docs) < 2 or len(set(docs)) == len(docs) else list(dict.fromkeys(docs))


def _system_key(records: Records, ids: Mapping[int, bytes], columns: Columns) -> str | None:
    """The key that separates systems: one that is named, or one that tells apart the rows of repeated queries."""
    if "system" in columns:
        return columns["system"]
    if len(set(ids.values())) == len(ids):
        return None
    candidates = names_for(records.names, "system")
    for key in candidates:
        if len({(query, _system_name(records.records[row].get(key))) for row, query in ids.items()}) == len(ids):
            return key
    return candidates[0] if candidates else None


def _system_name(value: object) -> str:
    return str(value) if isinstance(value, (str, int)) else ""


def _repeated_cases(records: Records, ids: Mapping[int, bytes], keys: Mapping[str, str]) -> set[int]:
    """The rows of test cases without ids that have the text and the labels of a case before them."""
    if "id" in keys or "retrieved" in keys or len(set(ids.values())) == len(ids):
        return set()
    label_keys = [keys[role] for role in ("relevant", "grades", "evidence") if role in keys]
    first_rows: dict[bytes, int] = {}
    repeated = set()
    for row, query in ids.items():
        first = records.records[first_rows.setdefault(query, row)]
        is_again = first_rows[query] != row and bool(label_keys)
        if is_again and all(records.records[row].get(key) == first.get(key) for key in label_keys):
            repeated.add(row)
    return repeated


def _repeated_note(source: str, records: Records, ids: Mapping[int, bytes], repeated: set[int]) -> Note:
    row = min(repeated)
    line = f"line {int(records.line[row])}" if int(records.line[row]) else f"case {row + 1}"
    message = f"{source}: {plural(len(repeated), 'case')} with the query and labels of another, counted once: {line}"
    return Note("case-repeated", f"{message}, {shown(ids[row])}")


def _unique_queries(
    faults: Faults, records: Records, ids: Mapping[int, bytes], systems: Mapping[int, str]
) -> dict[int, bytes]:
    """The rows whose query is there for the first time, in each system; any other is a fault."""
    if not systems and len(set(ids.values())) == len(ids):
        return dict(ids)
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
                action="give each row its own query_id, or name the key of the ids: --column id=KEY; rows of several "
                "systems need a key system or mode",
            )
            continue
        first_lines[pair] = int(records.line[row]) or row + 1
        unique[row] = query
    return unique


def _as_list(key: str, value: Any) -> Any:
    """The value, or a list of it if it is a single string under a key of ids."""
    return [value] if isinstance(value, str) and normalize_name(key).endswith(("id", "ids")) else value


def _read_grades(value: Any) -> list[Entry] | None:
    """The documents of a query with their grades; None if there are none."""
    if value is None:
        return None
    entries: list[Entry] | None = None
    if isinstance(value, JsonPairs):
        entries = list(value)
        if len({doc for doc, _ in entries}) != len(entries):
            raise StructureError("a document with two grades")
    elif isinstance(value, list) and all(isinstance(item, JsonPairs) for item in value):
        entries = read_entries(value, "qrels")
        if any(grade is NO_NUMBER for _, grade in entries):
            entries = None
    if entries is None:
        raise StructureError(f"{describe_json(value)} as grades, instead of ids and grades")
    return [(doc, _number(grade)) for doc, grade in entries]


def _number(grade: object) -> object:
    """A grade; OpenSearch writes it as text."""
    return float(grade) if isinstance(grade, str) and DECIMAL.fullmatch(grade.encode("utf-8", "replace")) else grade


def _with_scores(entries: list[Entry], scores: Any) -> list[Entry]:
    """Ids with their scores: a list of the same length, or an object by id."""
    if isinstance(scores, JsonPairs):
        score_by_id = dict(scores)
        return [(doc, score_by_id.get(str(doc))) for doc, _ in entries]
    if not isinstance(scores, list) or len(scores) != len(entries):
        size = f"a list of {len(scores)}" if isinstance(scores, list) else describe_json(scores)
        raise StructureError(f"{size} as scores of {len(entries)}")
    return [(doc, number) for (doc, _), number in zip(entries, scores, strict=True)]


def _is_nonrelevant(grade: object) -> bool:
    number = number_from_json(grade)
    return number is not None and number <= 0


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
    texts = _result_texts(record, key)
    for item, text in zip(record[key or ""], texts, strict=True) if texts else ():
        doc: Any = item
        metadata: Mapping[str, Any] | None = None
        if isinstance(item, JsonPairs):
            values = dict(item)
            keys = _result_keys(tuple(values))
            doc = fields.result_id(item) if fields else values.get(keys.doc)
            found = values.get(keys.metadata)
            others = {name: values[name] for name in keys.others if isinstance(values[name], (str, int, float))}
            if others or isinstance(found, JsonPairs):
                metadata = {**others, **(_plain(found) if isinstance(found, JsonPairs) else {})}
        elif isinstance(item, list) and item:
            doc = item[0]
        if text is not None or metadata is not None:
            yield from _detail(doc, text, metadata)


def _result_texts(record: Record, key: str | None) -> list[str | None]:
    """The text of each result on a row, None for one without; no texts if the results are no list."""
    items = record.get(key or "")
    if key is None or not isinstance(items, list) or isinstance(items, JsonPairs):
        return []
    beside = next((record[name] for name in record if _is_context_key(name) and name != key), None)
    contexts = beside if isinstance(beside, list) and len(beside) == len(items) else [None] * len(items)
    texts: list[Any] = []
    for item, context in zip(items, contexts, strict=True):
        if isinstance(item, JsonPairs):
            texts.append(dict(item).get(_result_keys(tuple(item.names())).text))
        else:
            texts.append(item if _is_context_key(key) and isinstance(item, str) else context)
    return [replace_lone_surrogates(text) if isinstance(text, str) else None for text in texts]


def _text_id(doc: object, text: str | None) -> object:
    """The id of a result with its text; as it is if it is no id, which is a fault of the results."""
    try:
        return text_id(id_from_json(doc, "document id").decode("utf-8", "surrogateescape"), text)
    except InputError:
        return doc


def _detail(doc: object, text: str | None, metadata: Mapping[str, Any] | None) -> Iterator[Detail]:
    try:
        name = id_from_json(doc, "document id").decode("utf-8", "surrogateescape")
    except InputError:
        return  # a fault of the results
    yield name, text, metadata


class _ResultKeys(NamedTuple):
    """Which keys of a result have its id, its text and its metadata, an empty one is none; and its other fields."""

    doc: str
    text: str
    metadata: str
    others: tuple[str, ...]


@lru_cache(256)
def _result_keys(names: tuple[str, ...]) -> _ResultKeys:
    metadata = next((name for name in METADATA_NAMES if name in names), "")
    known = (id_key_of(names) or "", text_key(names) or "", metadata)
    numbers = {*columns_for(names, "score"), *columns_for(names, "rank")}
    return _ResultKeys(*known, tuple(name for name in names if name not in known and name not in numbers))


def text_key(names: Sequence[str]) -> str | None:
    """Which key of a result has its text."""
    keys = {normalize_name(name): name for name in names}
    return next((keys[name] for name in map(normalize_name, TEXT_FIELD_NAMES) if name in keys), None)


@lru_cache(256)
def _is_context_key(name: str) -> bool:
    return normalize_name(name) in map(normalize_name, CONTEXT_KEYS)


def _plain(value: Any) -> Any:
    """A JSON value with dicts as objects."""
    if isinstance(value, JsonPairs):
        return {key: _plain(inner) for key, inner in value}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
