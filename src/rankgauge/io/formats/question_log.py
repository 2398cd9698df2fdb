"""A log: one JSON object per query, with the retrieved and the relevant documents. Judgments and runs in one file.

{"query": "reset 2FA?", "retrieved": [{"id": "kb-104", "score": 0.9, "text": "…"}], "relevant": ["kb-104"]}

``docs/reference/log.md`` defines it. Test cases are read here as well: they are a log without results. Here are decided
what a log is, and the query and system of each row; ``log_rows`` has the labels, ``log_results`` the results.
"""

from __future__ import annotations

import gc
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from rankgauge.core.batch import Batch
from rankgauge.core.formatting import plural
from rankgauge.core.ids import encode_id
from rankgauge.errors import InputError, Note, shown, warn_user
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats.case_keys import (
    FORBIDDEN_UNUSED,
    holds_labels,
    is_case,
    names_for,
    unused_notes,
)
from rankgauge.io.formats.case_lists import CaseRecords, cases_of_objects
from rankgauge.io.formats.case_tables import is_case_header
from rankgauge.io.formats.detection import YAML_SUFFIXES, Head
from rankgauge.io.formats.field_labels import FieldLabels
from rankgauge.io.formats.json_text import (
    Records,
    as_json,
    id_from_json,
)
from rankgauge.io.formats.key_finder import CaseKeys, KeyFinder
from rankgauge.io.formats.log_results import run_batches
from rankgauge.io.formats.log_rows import Log, are_ids
from rankgauge.io.formats.named_columns import (
    Columns,
    Kind,
    Wanted,
)
from rankgauge.io.formats.test_sets import first_case, holds_lists, read_test_set


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
        if "retrieved" not in keys and "id" not in columns and len(set(ids.values())) < len(ids):
            ids, more = _ids_by_text(faults.source, records, ids, keys)
            notes += more
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
    """What to know of test cases; of a log, whose keys are those of its program, only of forbidden documents."""
    used, names = [key for role, key in found.keys.items() if role != "k"], table.records.names
    if "retrieved" in found.keys:
        forbidden = [note for note in unused_notes(source, names, used) if note.code == FORBIDDEN_UNUSED]
        return [*table.notes, *found.notes, *forbidden]
    has_text_rules = "match" in names and any(record.get("match") == "text" for record in table.records.records)
    return [*table.notes, *found.notes, *unused_notes(source, names, used, has_text_rules)]


def read_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """One side of a log, one batch for each system: which key is which is known at its end."""
    log = load(faults, stream.read(), wanted.columns, wanted.fields)
    log = replace(log, is_by_text=wanted.is_by_text, knows_scores=wanted.knows_scores)
    if wanted.kind == "run":
        yield from run_batches(log, faults)
        return
    for note in log.warnings:
        warn_user(note.message)
    with paused_collection():
        rows = log.qrels_rows(faults)
    yield rows


# -- whether an object or a file is a log -------------------------------------------------------------------------


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
        if record is None:
            return False
        return is_log_record(record, kind) or (kind == "run" and _has_results_below(head, record))
    if kind != "qrels" or head.is_arrow:
        return False
    return is_case_header(header_names(head))


def _has_results_below(head: Head, record: Mapping[str, Any]) -> bool:
    """Whether the first line has labels only, of a query that may have failed, and another one has results."""
    if head.is_array or not head.is_json or not is_log_record(record, "qrels"):
        return False
    for line in head.lines[1:]:
        with suppress(ValueError, RecursionError):
            row = json.loads(line)
            if isinstance(row, dict) and is_log_record(dict(as_json(row)), "run"):
                return True
    return False


def header_names(head: Head) -> list[str]:
    """The cells of the first line of a delimited table."""
    from rankgauge.io.formats.delimited import delimiter_of

    return [cell.strip(b' "').decode("utf-8", "surrogateescape") for cell in head.line.split(delimiter_of(head.line))]


# -- the query and the system of each row -------------------------------------------------------------------------


def _query_ids(faults: Faults, records: Records, keys: Mapping[str, str]) -> dict[int, bytes]:
    """Row → id: the query id, else (without the key, or if it is null) the text of the query, else the line number."""
    ids: dict[int, bytes] = {}
    key, text_key = keys.get("id") or keys.get("query"), keys.get("query", "")
    values: list[Any] = [record.get(key or "") for record in records.records]
    if text_key != key and None in values:
        values = [
            record.get(text_key) if value is None else value
            for record, value in zip(records.records, values, strict=True)
        ]
    if set(map(type, values)) == {str} and are_ids(values):
        return dict(enumerate(value.encode("utf-8", "surrogateescape") for value in values))
    for row in range(len(values)):
        line = int(records.line[row]) or row + 1
        try:
            ids[row] = id_from_json(values[row], "query id") if key else encode_id(str(line), "query id")
        except InputError as error:
            faults.add("id", [int(records.line[row])], expected=f"an id or a text as {key}", found=error.message)
    return ids


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


def _ids_by_text(
    source: str, records: Records, ids: Mapping[int, bytes], keys: Mapping[str, str]
) -> tuple[dict[int, bytes], list[Note]]:
    """The texts of test cases as ids, with a note, if an id is that of several texts, and each text is there once."""
    texts = [record.get(keys.get("query", "")) for record in records.records]
    if "id" not in keys or len(ids) < len(texts) or not all(isinstance(text, str) and text for text in texts):
        return dict(ids), []
    made = {row: str(text).encode("utf-8", "surrogateescape") for row, text in enumerate(texts)}
    if len(set(made.values())) < len(made):
        return dict(ids), []
    repeated = next(query for query, count in Counter(ids.values()).items() if count > 1)
    message = f"{shown(keys['id'])} has {shown(repeated)} for several texts, so the texts identify the queries"
    return made, [Note("ids-repeated", f"{source}: {message}")]


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
