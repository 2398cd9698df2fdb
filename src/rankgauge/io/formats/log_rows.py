"""The rows of a log or of test cases, each under the id of its query: labels, columns and texts.

Labels are relevant ids or grades, evidence, and forbidden documents. ``question_log`` makes the rows of a file;
``log_results`` reads the results on them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from rankgauge.core.batch import Batch
from rankgauge.core.ids import Ids, encode_id
from rankgauge.core.qrels import ANSWERABLE, UNLABELED
from rankgauge.core.subtopic_judgments import Evidence
from rankgauge.errors import InputError, Note, shown
from rankgauge.io.faults import Faults
from rankgauge.io.formats.case_keys import (
    K_UNUSED,
    answerable_flag,
    claims_answer,
    field_path,
    is_flag_name,
    is_wrong_flag,
    label_kind,
    takes_one_string,
)
from rankgauge.io.formats.case_lists import filtered_name
from rankgauge.io.formats.case_refusals import check_object_labels, missing_key, other_label_keys
from rankgauge.io.formats.field_labels import FieldLabels
from rankgauge.io.formats.json_mapping import (
    NO_NUMBER,
    STRUCTURES,
    Entry,
    EntryRows,
    StructureError,
    read_entries,
)
from rankgauge.io.formats.json_text import (
    JsonPairs,
    Record,
    Records,
    as_dicts,
    describe_json,
    id_from_json,
    number_from_json,
)
from rankgauge.io.formats.named_columns import (
    IsByText,
    Kind,
    columns_for,
)
from rankgauge.io.text_checks import DECIMAL

SCALARS = {str, int, float, bool}
QUIET_NOTES = ("beside-cases", "comment", "label-rows", K_UNUSED)  # which Python does not warn of
NOTHING_HINT = "write [] if a case expects nothing"
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
    knows_scores: bool = False  # whether it was said what the scores of a list mean
    labels_apply: bool = True  # whether they are those of the evaluation: others need not be complete

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

        rows = self.plain_rows("qrels")
        if rows is None:
            if (key := self.keys.get("relevant")) is not None and not self.fields:
                check_object_labels(faults.source, self.records, key)
            rows = self.collect(faults, "qrels", read)
        self._check_flags(faults, rows.empty)
        evidence, forbidden = self._evidence(), self.forbidden(faults)
        labeled = {*rows.query.distinct[1], *rows.empty}
        guarded = {encode_id(query, "query id") for query in forbidden}
        columns = {**self.columns(), **self.answerable(rows.empty, guarded - labeled)}
        return replace(rows, columns=columns, evidence=evidence, forbidden=forbidden)

    def _check_flags(self, faults: Faults, empty: Sequence[bytes]) -> None:
        """Report flags that are neither true nor false, and cases that have an answer and list nothing."""
        names = [name for name in self.records.names if is_flag_name(name)]
        keys = [self.keys[role] for role in ("relevant", "grades", "evidence") if role in self.keys]
        nothing = set(empty)
        for row, query in self.queries.items() if names else ():
            record, line = self.records.records[row], int(self.records.line[row])
            for name in names:
                if is_wrong_flag(name, record.get(name)):
                    found = f"{describe_json(record[name])} as {shown(name)}"
                    faults.add("flag", [line], expected="true or false", found=found)
            key = next((key for key in keys if key in record), None)
            if self.labels_apply and query in nothing and key is not None and claims_answer(record):
                expected = f"relevant documents for query {shown(query)}, which has an answer by its flag"
                faults.add("flag", [line], expected=expected, found=f"none under {shown(key)}")

    def plain_rows(self, kind: Kind) -> Batch | None:
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
        if not set(map(type, docs)) <= {str} or not are_ids(docs):
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

    def answerable(self, empty: Sequence[bytes], unlabeled: Collection[bytes] = ()) -> dict[str, dict[str, Any]]:
        """Which queries have an answer, as a column, if some have none, or only forbidden documents."""
        records = self.records.records
        nothing = {query for query in empty if self.says_answer(records[self.first_rows[query]]) is not True}
        if not nothing and not unlabeled:
            return {}
        marks = {query: UNLABELED if query in unlabeled else query not in nothing for query in self.first_rows}
        return {ANSWERABLE: {query.decode("utf-8", "surrogateescape"): mark for query, mark in marks.items()}}

    def says_answer(self, record: Record) -> bool | None:
        """Whether a row says that its query has an answer; that the system refused it is what happened, in a log."""
        refused = self.keys.get("refused") if "retrieved" in self.keys else None
        if refused is not None and refused in record:
            record = {key: value for key, value in record.items() if key != refused}
        return answerable_flag(record)

    @property
    def free_keys(self) -> list[str]:
        """The keys that have no other role than that of a column."""
        used_keys = {name for role, name in self.keys.items() if role not in ("query", "k")}
        return [key for key in self.records.names if key not in used_keys]

    def columns(self) -> dict[str, dict[str, Any]]:
        """Every key with a scalar that has no other role: column → query id → value, that of the first row."""
        records = [self.records.records[row] for row in self.first_rows.values()]
        names = [query.decode("utf-8", "surrogateescape") for query in self.first_rows]
        columns: dict[str, dict[str, Any]] = {}
        for key in self.free_keys:
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
                key: as_dicts(value)
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

    def collect(self, faults: Faults, kind: Kind, read: Callable[[Faults, int], list[Entry] | None]) -> Batch:
        """What a function reads on each row, as one batch; what it cannot read is a fault."""
        entry_rows = EntryRows(faults, kind, knows_scores=self.knows_scores)
        for row, query in self.queries.items():
            line = int(self.records.line[row])
            try:
                entries = read(faults, row)
                if entries is not None:
                    entry_rows.add(line, query, entries, is_list=not self._is_object(row, kind))
            except EvidenceError as error:
                faults.add("shape", [line], expected=EVIDENCE_SHAPE, found=str(error))
            except StructureError as error:
                what = "retrieved" if kind == "run" else "relevant"
                expected = error.expected or f"{STRUCTURES} as {what} documents"
                faults.add("shape", [line], expected=expected, found=str(error), action=error.hint)
        return entry_rows.batch()

    def _is_object(self, row: int, kind: Kind) -> bool:
        """Whether the results on a row are an object of ids and scores, which has no order."""
        value = self.records.records[row].get(self.keys.get("retrieved", ""))
        return kind == "run" and isinstance(value, JsonPairs) and not self.fields

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
            return None if self.keys.get("retrieved") in record and self.says_answer(record) is not False else []
        if key is None:
            key = self.required_key(faults.source, "grades" if "grades" in self.keys else "relevant")
        if value is None:
            if key not in record and self.says_answer(record) is False:
                return []
            if key not in record and self.keys.get("retrieved") in record:
                return None
            if key not in record:
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
        entries = read_entries(self.by_fields(self._as_labels(key, value, record), "qrels"), "qrels")
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
        if value == "" or (isinstance(value, str) and self.says_answer(record) is False):
            return []
        if isinstance(value, str):
            raise StructureError(f"{describe_json(value)}, which looks like an answer")
        return value

    def by_fields(self, value: Any, kind: Kind) -> Any:
        """Labels or results with the values of their fields in place of ids; as they are if no fields are named."""
        if not self.fields:
            return value
        items = [value] if isinstance(value, JsonPairs) else value
        if not isinstance(items, list):
            return value
        make_id = self.fields.result_id if kind == "run" else self.fields.label_id
        try:
            items = [item for item in items if kind == "run" or not self.fields.is_empty(item)]
            return [_with_id(item, make_id(item), kind) for item in items]
        except InputError as error:
            raise StructureError(error.message, expected="the fields that --match-field names") from None

    def required_key(self, source: str, role: str) -> str:
        """The key of a role; raises an error that says what helps if there is none."""
        if role not in self.keys and self.kind:
            message = f"this is {self.kind}; expected labels"
            raise InputError.at(source, None, message, hint="name the request as labels, and this as results")
        if role not in self.keys:
            raise missing_key(source, self.records, role, has_text="query" in self.keys)
        return self.keys[role]

    def has_labels(self, record: Record) -> bool:
        """Whether a row has a key of labels, or says that its query has no answer."""
        has_key = any(self.keys.get(role) in record for role in ("relevant", "grades", "evidence"))
        return has_key or self.says_answer(record) is False


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


def _distinct(docs: list[str]) -> list[str]:
    """A list without what it has already: listed twice counts once."""
    return docs if len(docs) < 2 or len(set(docs)) == len(docs) else list(dict.fromkeys(docs))


def are_ids(texts: Sequence[str]) -> bool:
    """Whether each of some texts can be an id."""
    text = "".join(texts)
    if not text.isascii():
        try:
            text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return False
    return "\0" not in text and all(texts)
