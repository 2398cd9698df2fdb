"""Test sets and logs as people write them: where the cases are, whatever contains them.

JSON, JSON Lines, YAML, CSV, Parquet and Arrow; a list, an object around one list, an object of columns or of cases by
their ids. What comes out is one object per case with its line, as a reader of JSON gives it. ``FILE#queries`` and
``FILE#suites[*].cases`` choose a list. Which key holds what is decided in ``case_keys``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from rankgauge.core.formatting import listing, plural
from rankgauge.errors import InputError, InputTypeError, Note, shown
from rankgauge.io.byte_streams import AnyFile, Limits, open_source, split_selector
from rankgauge.io.faults import Faults
from rankgauge.io.formats.case_keys import (
    KEYS,
    NOUNS,
    answerable_flag,
    holds_labels,
    is_case,
    label_kind,
    names_for,
    says_nothing,
)
from rankgauge.io.formats.detection import HEAD_BYTES, Head
from rankgauge.io.formats.json_mapping import id_key_of
from rankgauge.io.formats.json_text import (
    JsonPairs,
    Record,
    Records,
    decode_json,
    describe_json,
    pairs_decoder,
    read_records,
    skip_blanks,
)
from rankgauge.io.formats.named_columns import Columns, columns_for, normalize_name
from rankgauge.io.formats.relevance_tools import RESPONSE, response_rows
from rankgauge.io.text_checks import check_text

KeyPath = tuple[str | int, ...]
Lines = Mapping[KeyPath, int]
CASES_SOURCE = "test cases"
SKETCH_BYTES = 1 << 24  # of a document whose first bytes do not show what it is
SAMPLE = 5  # objects of a list that are looked at: the first may be a comment
MAX_DEPTH = 4
EXAMPLE = '{"query": "…", "relevant_ids": ["…"]}'
TEXT_MAPS = ("queries", "questions")  # of ids and texts, beside the documents of each id


@dataclass(frozen=True, eq=False)
class CaseRecords:
    """One object per case, with its line, and what to know of what was around them."""

    records: Records
    notes: tuple[Note, ...] = ()
    kind: str = ""  # what the file is, if it is known and holds no labels


FILTER = re.compile(
    r"\[\?([^\[\]]+)\]$"
)  # of cases that have a key: cases.json#queries[?expected_files|expected_symbols]


def list_selector(selector: str | None) -> str | None:
    """What chooses a list, without what leaves cases out; None if all of a file is read."""
    return None if selector is None else FILTER.sub("", selector) or None


def filtered_name(source: str, key: str) -> str:
    """A file without the cases that lack a key, as it is named, with the quotation marks that shells need."""
    file, selector = split_selector(source)
    return f"'{file}#{list_selector(selector) or ''}[?{key}]'"


def read_test_set(faults: Faults, data: bytes, columns: Columns | None = None) -> CaseRecords:
    """The cases in a file's bytes; raises if it is not clear where they are."""
    cases = _read_all(faults, data, columns)
    wanted = FILTER.search(split_selector(faults.source)[1] or "")
    return cases if wanted is None else _having(faults.source, cases, wanted[1])


def _having(source: str, cases: CaseRecords, wanted: str) -> CaseRecords:
    """The cases that have a key, or say that nothing is expected, and a note on how many do not."""
    records, keys = cases.records.records, set(wanted.split("|"))
    if not any(keys & record.keys() for record in records):
        names = listing(map(shown, cases.records.names), 12)
        raise InputError.at(source, None, f"expected cases with a key {shown(wanted)}, found {names}")
    rows = [row for row, record in enumerate(records) if keys & record.keys() or answerable_flag(record) is False]
    message = f"{source}: {len(records) - len(rows)} of {len(records)} cases left out: no {shown(wanted)}"
    return replace(cases, records=cases.records.take(rows), notes=(*cases.notes, Note("left-out", message)))


def _read_all(faults: Faults, data: bytes, columns: Columns | None) -> CaseRecords:
    path, selector = split_selector(faults.source)
    selector = list_selector(selector)
    head = Head(data, path, selector)
    if head.is_arrow:
        from rankgauge.io.formats.arrow import table_of

        faults.has_lines = False
        table = table_of(faults.source, data)
        records = records_of(faults.source, table.to_pylist())
        return _with_label_rows(faults, records, table.column_names, columns or {})
    if head.is_json:
        data, notes = _without_comments(faults.source, data)
        if _has_rows(head):
            return CaseRecords(read_records(faults, data), notes)
        text = check_text(faults, data).decode("utf-8", "surrogateescape")
        document, lines = _parse_lined(faults.source, text)
        cases = _cases_of_document(faults, document, lines, selector)
        return replace(cases, notes=(*notes, *cases.notes))
    if head.is_yaml:
        from rankgauge.io.formats.yaml_text import load_yaml_data

        loaded = load_yaml_data(check_text(faults, data), faults.source)
        return _cases_of_document(faults, loaded.data, loaded.lines, selector)
    if selector is not None:
        raise InputError.at(faults.source, None, "expected JSON or YAML, whose lists have names", hint="remove #…")
    return read_case_table(faults, data, head, columns or {})


def has_list(path: AnyFile, selector: str, limits: Limits) -> bool:
    """Whether a file is one document with a list under a selector; files with one object or row per line have none."""
    with open_source(path, limits=limits) as stream:
        data = stream.read()
    head = Head(data, str(path))
    if head.is_json and not _has_rows(head):
        with suppress(InputError):
            text = _without_comments(str(path), data)[0].decode("utf-8", "surrogateescape")
            return bool(_selected(_parse_lined(str(path), text)[0], selector))
    if head.is_yaml:
        from rankgauge.io.formats.yaml_text import load_yaml_data

        with suppress(InputError):
            return bool(_selected(load_yaml_data(data, str(path)).data, selector))
    return False


def _without_comments(source: str, data: bytes) -> tuple[bytes, tuple[Note, ...]]:
    """JSON without the lines that begin with // or #, and a note on them; the lines of all else stay as they are."""
    if not (data.startswith((b"//", b"#")) or b"\n//" in data or b"\n#" in data):
        return data, ()
    cleaned, count = re.subn(rb"(?m)^(?://|#)[^\n]*", b"", data)
    return cleaned, (Note("comment", f"{source}: {plural(count, 'comment line')} left out"),)


def cases_of_objects(faults: Faults, objects: Any) -> CaseRecords:
    """Test cases in memory: a list of dicts, or a dict around one."""
    if isinstance(objects, Mapping):
        faults.has_lines = False
        return _cases_of_document(faults, as_json(objects), {}, None)
    hint = f"test cases are a file, or a list of {EXAMPLE}"
    if isinstance(objects, bytes) or not isinstance(objects, Iterable):
        found = type(objects).__name__
        raise InputTypeError(f"{faults.source}: expected a list of dicts, found {found}", hint=hint)
    cases = list(objects)
    for number, case in enumerate(cases, 1):
        if not isinstance(case, Mapping):
            raise InputTypeError(f"{faults.source}:{number}: expected a dict, found {type(case).__name__}", hint=hint)
    if not cases:
        raise InputError("there are no test cases", hint=hint)
    return CaseRecords(records_of(faults.source, cases))


def is_test_set(objects: Mapping[str, Any]) -> bool:
    """Whether a dict holds test cases, rather than judgments by query."""
    values = list(objects.values())[:SAMPLE]
    if all(isinstance(value, Mapping) and all(isinstance(x, (int, float)) for x in value.values()) for value in values):
        return False
    try:
        return _first_case_of(as_json(objects)) is not None
    except (TypeError, ValueError):
        return False


def records_of(source: str, rows: Sequence[Mapping[str, Any]]) -> Records:
    """Dicts as a reader of JSON gives them, numbered from 1."""
    records = []
    for number, row in enumerate(rows, 1):
        try:
            records.append(dict(as_json(row)))
        except (TypeError, ValueError) as error:
            raise InputTypeError(f"{source}:{number}: {error}") from None
    return Records(np.arange(1, len(rows) + 1), records)


def as_json(value: Any) -> Any:
    """A value of Python as a reader of JSON gives it: objects are pairs; types that JSON lacks become what it has."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return JsonPairs([(str(key), as_json(inner)) for key, inner in value.items()])
    if isinstance(value, (list, tuple)):
        return [as_json(inner) for inner in value]
    if isinstance(value, (set, frozenset)):
        return [as_json(inner) for inner in sorted(value)]
    if isinstance(value, (UUID, Path)):
        return str(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return as_json(value.tolist())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"expected text, numbers, lists and dicts, found {type(value).__name__}: {shown(repr(value))}")


# -- what a file is, from its first bytes ------------------------------------------------------------------------


def first_case(head: Head) -> dict[str, Any] | None:
    """The first case of a file that is a test set or a log, as far as its first bytes show it."""
    if head.is_json and _has_rows(head):
        return head.record
    document = _sketch(head)
    return None if document is None else _first_case_of(document, list_selector(head.selector))


def holds_lists(head: Head) -> bool:
    """Whether a JSON file has lists of objects that are neither judgments nor cases that are recognized."""
    return head.is_json and not _has_rows(head) and bool(_object_lists(_sketch(head)))


def _first_case_of(document: Any, selector: str | None = None) -> dict[str, Any] | None:
    if selector is not None:
        return next((dict(item) for _, item in _selected(document, selector) if isinstance(item, JsonPairs)), None)
    if _is_own_file(document):
        return None
    if rows := response_rows(document):
        return dict(rows[0])
    if _is_test_set(document):
        items = _plain_cases(document)
    else:
        items = [item for path in _case_lists(document) for item in _selected(document, path)]
    return next((dict(item) for _, item in items if isinstance(item, JsonPairs) and is_case(dict(item))), None)


def _is_own_file(document: Any) -> bool:
    """Whether an object is a result or a baseline that rankgauge wrote: it has no cases."""
    first = dict(document[:3]).get("schema") if isinstance(document, JsonPairs) else None
    return isinstance(first, str) and first.startswith("rankgauge.")


def _has_rows(head: Head) -> bool:
    """Whether a file has one object per line, or only one that has no cases in it: not a document around them."""
    if head.record is None or head.is_array or list_selector(head.selector) is not None:
        return False
    document = JsonPairs(head.record.items())
    has_lists = _case_lists(document) or _object_lists(document)
    return head.has_more_lines or not (_is_around(document) or (has_lists and not is_case(head.record)))


def _is_one_case(document: JsonPairs) -> bool:
    """Whether an object is one case, rather than something around cases."""
    return not _is_around(document) and is_case(dict(document))


def _is_around(document: JsonPairs) -> bool:
    """Whether an object has cases in it, but in no list; or is a file of another kind."""
    is_other = _is_own_file(document) or bool(response_rows(document))
    return is_other or _are_cases_by_id(document) or bool(_columns_of(document))


def _sketch(head: Head) -> Any:
    """The beginning of a document as far as it can be decoded; None if it is neither JSON nor YAML."""
    if head.is_json:
        walk = _JsonWalk(head.text.decode("utf-8", "ignore"), MAX_DEPTH)
        if (
            _first_case_of(walk.sketch(), list_selector(head.selector)) is None
            and _may_hold_cases(walk.root)
            and len(head.data) > HEAD_BYTES
        ):
            walk = _JsonWalk(head.data[head.begin : head.begin + SKETCH_BYTES].decode("utf-8", "ignore"), MAX_DEPTH)
            walk.sketch()
        is_part_of_case = not walk.is_complete and isinstance(walk.root, JsonPairs) and is_case(dict(walk.root))
        return None if is_part_of_case and not _case_lists(walk.root) else walk.root
    if head.is_yaml:
        from rankgauge.io.formats.yaml_text import load_yaml_data

        try:
            return load_yaml_data(head.data[head.begin :], "").data
        except InputError:
            return None
    return None


def _may_hold_cases(document: Any) -> bool:
    """Whether an object may have cases after what was decoded: something in it is not judgments or results."""
    if not isinstance(document, JsonPairs):
        return isinstance(document, list) and not document  # its first entry is long
    return any(isinstance(value, (str, int, float)) or _is_list_of_objects(value) for _, value in document[:3])


def _is_list_of_objects(value: Any) -> bool:
    if not isinstance(value, list) or isinstance(value, JsonPairs) or not value or not isinstance(value[0], JsonPairs):
        return False
    names = value[0].names()
    return not (columns_for(names, "score") or columns_for(names, "grade"))


# -- documents: where the cases are -----------------------------------------------------------------------------


def _cases_of_document(faults: Faults, document: Any, lines: Lines, selector: str | None) -> CaseRecords:
    """The cases of a document that is parsed, each with its line."""
    source = faults.source
    if rows := response_rows(document):
        faults.has_lines = False
        found = [row.to_dict(source, None) for row in rows]
        return CaseRecords(Records(np.arange(1, len(rows) + 1), found), kind=RESPONSE)
    notes: list[Note] = []
    if selector is not None:
        items = _selected(document, selector)
        if not items:
            names = [path for path in _case_lists(document) if path]
            hint = f"choose: {_choices(source, names)}" if names else None
            raise InputError.at(
                source, None, f"expected a list of cases under {shown(selector)}, found none", hint=hint
            )
    else:
        items, names = _only_cases(source, document)
        notes += _beside(source, document, names)
    comments = _comments(items)
    notes += [Note("comment", f"{source}: left out, because it is not a case: {_keys(item)}") for item in comments]
    faults.has_lines = len(set(lines.values())) > 1
    numbers: list[int] = []
    records: list[Record] = []
    for number, (path, item) in enumerate(items, 1):
        line = lines.get(path, 0) if faults.has_lines else number
        if not isinstance(item, JsonPairs):
            faults.add("record", [line], expected="an object", found=describe_json(item))
        elif not any(item is comment for comment in comments):
            numbers.append(line)
            records.append(item.to_dict(source, line if faults.has_lines else None))
    if not records:
        faults.raise_errors()
        raise InputError.at(source, None, "no test cases", hint=f"test cases are a list of {EXAMPLE}")
    return CaseRecords(Records(np.array(numbers, dtype=np.int64), records), tuple(notes))


Items = list[tuple[KeyPath, Any]]


def _comments(items: Items) -> list[JsonPairs]:
    """The objects before the first case, if it is among the first few."""
    first = [item for _, item in items[:SAMPLE] if isinstance(item, JsonPairs)]
    cases = [number for number, item in enumerate(first) if is_case(dict(item))]
    return first[: cases[0]] if cases else []


def _only_cases(source: str, document: Any) -> tuple[Items, list[str]]:
    """The cases, and the name of their list; raises if there are several lists, or none.

    A second list may have the cases that expect nothing, by its name: ``unanswerable``.
    """
    if _is_test_set(document):
        return _plain_cases(document), []
    paths = _case_lists(document)
    nothing = [path for path in paths if "[*]" not in path and says_nothing(path)]
    chosen = [path for path in _with_texts(document, paths) if path not in nothing]
    if len(chosen) == 1 and "[*]" not in chosen[0]:
        unanswerable = [item for path in nothing for item in _selected(document, path)]
        flagged = [(place, JsonPairs([*case, ("answerable", False)])) for place, case in unanswerable if case]
        return [*_selected(document, chosen[0]), *flagged], [chosen[0], *nothing]
    if paths:
        counted = listing((f"{shown(path)} ({plural(count, 'case')})" for path, count in paths.items()), 5)
        what = "nested lists" if len(paths) == 1 else f"{len(paths)} lists"
        raise InputError.at(
            source,
            None,
            f"test cases in {what}, expected one: {counted}",
            hint=f"choose: {_choices(source, paths)}",
        )
    if isinstance(document, list) and not isinstance(document, JsonPairs):
        return [((number,), item) for number, item in enumerate(document)], []
    if lists := _object_lists(document):
        raise _unknown_lists(source, lists)
    found = _keys(document) if isinstance(document, JsonPairs) else describe_json(document)
    raise InputError.at(
        source,
        None,
        f"expected a list of test cases, or an object around one, found {found}",
        hint=f"test cases are a list of {EXAMPLE}",
    )


def _with_texts(document: Any, paths: Mapping[str, int]) -> list[str]:
    """The lists whose cases have texts of queries, if some have; otherwise all of them."""
    found = [
        path
        for path in paths
        if any(isinstance(case, JsonPairs) and _has_role(case, "query") for _, case in _selected(document, path))
    ]
    return found or list(paths)


def _object_lists(document: Any) -> dict[str, list[JsonPairs]]:
    """The lists of objects in an object, if some of them have no id, as judgments and results have."""
    if not isinstance(document, JsonPairs) or _is_own_file(document):
        return {}
    lists = {
        name: [item for item in value if isinstance(item, JsonPairs)]
        for name, value in document
        if _is_list_of_objects(value)
    }
    return lists if any(id_key_of(tuple(objects[0].names())) is None for objects in lists.values()) else {}


def _unknown_lists(source: str, lists: Mapping[str, list[JsonPairs]]) -> InputError:
    """The error for lists of which none has cases by its keys: their names, and how to choose a list and its keys."""
    names = {name: objects[0].names() for name, objects in lists.items()}
    likely = [name for name, keys in names.items() if names_for(keys, "query") and any(label_kind(key) for key in keys)]
    counted = listing((f"{shown(name)} ({plural(len(objects), 'object')})" for name, objects in lists.items()), 5)
    chosen = (likely or list(names))[0]
    missing = [role for role in ("query", "relevant") if not _has_role(lists[chosen][0], role)]
    label = next(filter(label_kind, names[chosen]), "KEY")
    keys = "".join(f" --column {role}={label if role == 'relevant' else 'KEY'}" for role in missing)
    found = f"{shown(chosen)} has the keys {listing(map(shown, names[chosen]), 8)}"
    what = " and ".join({"query": "the query", "relevant": "the relevant documents"}[role] for role in missing)
    return InputError.at(
        source,
        None,
        f"this looks like test cases in {plural(len(lists), 'list')}: {counted}; {found}"
        + (f", and no key is known for {what}" if missing else ""),
        hint=f"choose: {_choices(source, likely or names)}{', with' if keys else ''}{keys}",
    )


def _has_role(item: JsonPairs, role: str) -> bool:
    if role == "query":
        return any(isinstance(dict(item)[name], str) for name in names_for(item.names(), role))
    return any(holds_labels(name, value) for name, value in item)


def _choices(source: str, paths: Iterable[str]) -> str:
    """Names to choose from, with the quotation marks that shells need."""
    file = split_selector(source)[0]
    return listing((f"'{file}#{path}'" for path in paths), 3)


def _is_test_set(document: Any) -> bool:
    """Whether a document holds its cases without a name: a list, a case, columns, or cases by their ids."""
    if isinstance(document, JsonPairs):
        return _is_one_case(document) or bool(_columns_of(document)) or _are_cases_by_id(document)
    return isinstance(document, list) and _is_case_list(document)


def _plain_cases(document: Any) -> Items:
    """The cases of such a document."""
    if not isinstance(document, JsonPairs):
        return [((number,), item) for number, item in enumerate(document)]
    if columns := _columns_of(document):
        return [((number,), item) for number, item in enumerate(columns)]
    if _is_one_case(document):
        return [((), document)]
    return [((key,), JsonPairs([("id", key), *(pair for pair in case if pair[0] != "id")])) for key, case in document]


def _are_cases_by_id(document: JsonPairs) -> bool:
    """Whether an object has a case under each id."""
    values = [value for _, value in document[:SAMPLE]]
    return bool(values) and all(
        isinstance(value, JsonPairs)
        and is_case(dict(value))
        and any(not isinstance(inner, (int, float)) for _, inner in value)
        and names_for(value.names(), "query") != []
        for value in values
    )


def _columns_of(document: JsonPairs) -> list[JsonPairs]:
    """The cases of an object of columns: lists of one length, or texts and documents by the id of the query."""
    values = dict(document)
    texts = next((name for name in values if normalize_name(name) in (*TEXT_MAPS, "query", "question")), None)
    if texts is None:
        return []
    column = values[texts]
    if isinstance(column, JsonPairs):
        if not column or not all(isinstance(text, str) for _, text in column):
            return []
        others = {
            name: dict(value)
            for name, value in values.items()
            if isinstance(value, JsonPairs) and (label_kind(name) or names_for([name], "grades"))
        }
        return [
            JsonPairs(
                [("id", key), ("query", text), *((name, docs[key]) for name, docs in others.items() if key in docs)]
            )
            for key, text in column
        ]
    if not isinstance(column, list) or not column or not all(isinstance(text, str) for text in column):
        return []
    rows = {name: value for name, value in values.items() if _is_column(value, len(column))}
    names = [next((key for key in ("query", "question") if normalize_name(name) == key), name) for name in rows]
    return [JsonPairs(zip(names, row, strict=True)) for row in zip(*rows.values(), strict=True)]


def _is_column(value: Any, size: int) -> bool:
    return isinstance(value, list) and not isinstance(value, JsonPairs) and len(value) == size


def _is_case_list(items: Sequence[Any]) -> bool:
    return any(isinstance(item, JsonPairs) and is_case(dict(item)) for item in items[:SAMPLE])


def _case_lists(value: Any, path: str = "", depth: int = 0) -> dict[str, int]:
    """The lists of cases in a document: the path of each, and how many cases it has."""
    found: dict[str, int] = {}
    if depth > MAX_DEPTH:
        return found
    if isinstance(value, JsonPairs):
        for key, inner in value:
            found |= _case_lists(inner, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list):
        if _is_case_list(value):
            return {path: len(value)}
        for item in value:
            if isinstance(item, JsonPairs):
                for inner_path, count in _case_lists(item, f"{path}[*]", depth + 1).items():
                    found[inner_path] = found.get(inner_path, 0) + count
    return found


def _selected(document: Any, selector: str) -> Items:
    """The cases in the lists at a path; a case also gets the plain values of the objects around its list."""
    places: list[tuple[KeyPath, Any, list[tuple[str, Any]]]] = [((), document, [])]
    name = ""
    for part in re.findall(r"\[\*\]|[^.\[\]]+", selector):
        moved = []
        for path, value, around in places:
            if part == "[*]":
                if isinstance(value, list) and not isinstance(value, JsonPairs):
                    moved += [((*path, number), item, around) for number, item in enumerate(value)]
            elif isinstance(value, JsonPairs) and part in (values := dict(value)):
                outer = [(f"{name}.{key}", inner) for key, inner in value if name and isinstance(inner, (str, int))]
                moved.append(((*path, part), values[part], [*around, *outer]))
        places = moved
        name = name if part == "[*]" else part
    items: Items = []
    for path, value, around in places:
        if isinstance(value, list) and not isinstance(value, JsonPairs):
            for number, item in enumerate(value):
                items.append(((*path, number), JsonPairs([*around, *item]) if isinstance(item, JsonPairs) else item))
        elif isinstance(value, JsonPairs):
            items += [((*path, *inner), item) for inner, item in _plain_cases(value)] if _is_test_set(value) else []
    return items


def _beside(source: str, document: Any, names: Sequence[str]) -> list[Note]:
    """A note on what is next to the lists of cases, none of which is used."""
    used = [name.partition(".")[0] for name in names]
    others = [key for key in document.names() if key not in used] if used and isinstance(document, JsonPairs) else []
    if not others:
        return []
    what = listing(map(shown, names), 3)
    return [
        Note("beside-cases", f"{source}: the cases are those under {what}; not used: {listing(map(shown, others), 8)}")
    ]


def _keys(value: JsonPairs) -> str:
    return f"an object with the keys {listing(map(shown, value.names()), 8)}" if value else "an empty object"


# -- JSON, with the line of each entry --------------------------------------------------------------------------


class _JsonWalk:
    """Decodes a JSON text; containers of the outer levels step by step, so that lines are known and an end is not
    needed.
    """

    def __init__(self, text: str, depth: int) -> None:
        self.text, self.depth = text, depth
        self.root: Any = None
        self.lines: dict[KeyPath, int] = {}
        self.is_complete = False
        self._open: list[tuple[list[Any], bool]] = []  # of each object without an end: its parent, if that is a list
        self._at, self._line = 0, 1
        self._decode = pairs_decoder.raw_decode

    def sketch(self) -> Any:
        """What can be decoded of a text that may be incomplete."""
        with suppress(ValueError, IndexError, RecursionError):
            self.walk()
            self.is_complete = True
        # An object that has no end yet may lack any key; the lists and objects around it are what matters.
        while not self.is_complete and self._open:
            parent, is_entry = self._open.pop()
            if is_entry:
                parent.pop()
                break
        return self.root

    def walk(self) -> Any:
        """The value of the whole text; raises ``ValueError`` or ``IndexError`` if it is not JSON."""

        def keep(value: Any) -> None:
            self.root = value

        end = self._value(skip_blanks(self.text, 0), (), keep, [])
        if skip_blanks(self.text, end) != len(self.text):
            raise ValueError("extra data")
        return self.root

    def _value(self, at: int, path: KeyPath, keep: Callable[[Any], None], parent: list[Any]) -> int:
        text = self.text
        opening = text[at]
        if opening not in "[{" or len(path) >= self.depth:
            value, end = self._decode(text, at)
            keep(value)
            return end
        is_object = opening == "{"
        closing = "}" if is_object else "]"
        container: list[Any] = JsonPairs() if is_object else []
        keep(container)
        if is_object:
            self._open.append((parent, bool(path) and not isinstance(parent, JsonPairs)))
        end = self._entries(skip_blanks(text, at + 1), path, container, closing)
        if is_object:
            self._open.pop()
        return end

    def _entries(self, at: int, path: KeyPath, container: list[Any], closing: str) -> int:
        """Add the entries of a list or an object; where it ends."""
        text, is_object = self.text, closing == "}"
        if text[at] == closing:
            return at + 1
        number = 0
        while True:
            key: str | int = number
            if is_object:
                if text[at] != '"':
                    raise ValueError("expected a key")
                key, at = self._decode(text, at)
                at = skip_blanks(text, at)
                if text[at] != ":":
                    raise ValueError("expected a colon")
                at = skip_blanks(text, at + 1)
                at = self._value(at, (*path, key), partial(_add_pair, container, key), container)
            else:
                self.lines[*path, number] = self._line_of(at)
                at = self._value(at, (*path, number), container.append, container)
            at = skip_blanks(text, at)
            if text[at] == closing:
                return at + 1
            if text[at] != ",":
                raise ValueError("expected a comma")
            at, number = skip_blanks(text, at + 1), number + 1

    def _line_of(self, at: int) -> int:
        self._line += self.text.count("\n", self._at, at)
        self._at = at
        return self._line


def _add_pair(container: list[Any], key: str | int, value: Any) -> None:
    container.append((key, value))


def _parse_lined(source: str, text: str) -> tuple[Any, Lines]:
    """A JSON document, and the line of each entry of its lists."""
    is_list = text.lstrip()[:1] == "["
    walk = _JsonWalk(text, 1 if is_list else MAX_DEPTH)
    try:
        document = walk.walk()
    except (ValueError, IndexError, RecursionError):
        decode_json(source, None, text, pairs_decoder)  # which says what is wrong
        raise
    if is_list and not _is_case_list(document):
        walk = _JsonWalk(text, MAX_DEPTH + 1)
        document = walk.walk()
    return document, walk.lines


# -- tables: one row per case, or per label ----------------------------------------------------------------------
#
# In a cell, ids are separated by one of ``;``, ``|`` and ``,``, the same one in the whole column. Ids that contain one
# of these are written as a JSON list: ``["a;b", "c"]``.

ID_SEPARATORS = (";", "|", ",")
DOCUMENT = re.compile(rf"(?:{'|'.join(NOUNS)}|memory|memories|filepath)s?(?:id|no|name)?|pid|corpusid|url")
NUMBERS = {"k": int, "weight": float}


def document_columns(names: Sequence[str]) -> list[str]:
    """The columns that hold a document, by their names alone."""
    return columns_for(names, "doc") or [name for name in names if DOCUMENT.fullmatch(normalize_name(name))]


def is_case_header(names: Sequence[str], columns: Columns | None = None) -> bool:
    """Whether a table has test cases: the text of a query, and labels in a column, or neither grades nor scores."""
    if columns and "relevant" in columns:
        return columns["relevant"] in names or "{" in columns["relevant"]
    texts = [name for name in names_for(names, "query") if normalize_name(name) not in ("text", "input")]
    if not texts:
        return False
    if any(label_kind(name) for name in names) or names_for(names, "grades"):
        return not (columns_for(names, "doc") and columns_for(names, "grade"))
    return not any(columns_for(names, role) for role in ("grade", "score", "rank"))


def read_case_table(faults: Faults, data: bytes, head: Head, columns: Columns) -> CaseRecords:
    """The rows of a delimited table below its header; an empty cell is absent."""
    from rankgauge.io.formats import delimited

    text = check_text(faults, data)
    cells = delimited.with_header(delimited.split_cells(faults, text, delimited.delimiter_of(head.line)))
    faults.raise_errors()
    lines = cells.line.tolist()
    records: list[Record] = [{} for _ in lines]
    for name, column in zip(cells.names, cells.cells, strict=True):
        texts = [cell.strip() for cell in column.to_text()]
        role = _cell_role(name, texts, columns)
        separator = _id_separator(faults.source, name, lines, texts) if role == "ids" else None
        for line, record, cell in zip(lines, records, texts, strict=True):
            if role == "ids":
                record[name] = _ids_of_cell(faults.source, line, cell, separator)
            elif cell:
                record[name] = _json_or_text(cell) if role == "grades" else _number_or_text(cell, role)
    return _with_label_rows(faults, Records(cells.line, records), list(cells.names), columns)


def _cell_role(name: str, texts: Sequence[str], columns: Columns) -> str | None:
    """What the cells of a column are: ids, grades as JSON, a number; None if text."""
    if name in columns.values():
        return "ids" if name == columns.get("relevant") else None
    kind = label_kind(name)
    if kind is not None:
        return None if kind == "bare" and _are_sentences(texts) else "ids"
    normalized = normalize_name(name)
    if normalized in map(normalize_name, KEYS["retrieved"][0]):
        return "ids"
    if names_for([name], "grades"):
        return "grades"
    return "k" if names_for([name], "k") else normalized if normalized in NUMBERS else None


def _are_sentences(texts: Sequence[str]) -> bool:
    """Whether cells have text with white space between words: an answer, not ids."""
    parts = (part.strip() for text in texts if not _is_json(text) for part in re.split(r"[;|,]", text))
    return any(len(part.split()) > 1 for part in parts)


def _with_label_rows(faults: Faults, table: Records, names: list[str], columns: Columns) -> CaseRecords:
    """The cases of a table; if it has no column of labels, each row is a label: a query and its document."""
    has_labels = "relevant" in columns or any(label_kind(name) for name in names) or bool(names_for(names, "grades"))
    has_results = bool(names_for(names, "retrieved"))
    texts = names_for(names, "query")
    if has_labels or has_results or not texts:
        return CaseRecords(table)
    documents = document_columns(names)
    ids = names_for(names, "id")
    key = documents[0] if len(documents) == 1 else ids[0] if ids and not documents else None
    if key is None:
        return CaseRecords(table)
    text_key = columns.get("query", texts[0])
    id_key = columns.get("id") or (ids[0] if ids and ids[0] != key else text_key)
    cases: dict[Any, tuple[int, Record]] = {}
    for line, record in zip(table.line.tolist(), table.records, strict=True):
        label = record.pop(key, None)
        case = cases.setdefault(record.get(id_key), (line, {**record, LABEL_ROWS: []}))[1]
        case[LABEL_ROWS] += [] if label is None or label in case[LABEL_ROWS] else [label]
    note = Note(
        "label-rows",
        f"{faults.source}: each row is one label: the document in {shown(key)} answers the query in {shown(text_key)}",
    )
    lines = np.array([line for line, _ in cases.values()], dtype=np.int64)
    return CaseRecords(Records(lines, [record for _, record in cases.values()]), (note,))


LABEL_ROWS = "relevant_ids"


def _id_separator(source: str, name: str, lines: Sequence[int], texts: Sequence[str]) -> str | None:
    """The character that separates the ids of a column; None if no cell has one."""
    first_line: dict[str, int] = {}
    for line, text in zip(lines, texts, strict=True):
        if _is_json(text):
            continue
        for mark in ID_SEPARATORS:
            if mark in text:
                first_line.setdefault(mark, line)
    if len(first_line) > 1:
        (mark, line), (other, other_line) = sorted(first_line.items(), key=lambda item: item[1])[:2]
        raise InputError.at(
            source,
            other_line,
            f"expected one separator of ids in {shown(name)}, found {other!r}, and {mark!r} on line {line}",
            hint='write ids that contain ";", "|" or "," as a JSON list: ["a;b", "c"]',
        )
    return next(iter(first_line), None)


def _ids_of_cell(source: str, line: int, text: str, separator: str | None) -> Any:
    if _is_json(text):
        ids = _json_or_text(text)
        if isinstance(ids, str):
            raise InputError.at(source, line, f"expected a JSON list of ids, found {shown(text)}")
        return ids
    return [part.strip() for part in text.split(separator) if part.strip()] if separator else [text] if text else []


def _is_json(text: str) -> bool:
    return text.startswith(("[", "{"))


def _json_or_text(text: str) -> Any:
    try:
        return as_json(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _number_or_text(text: str, role: str | None) -> Any:
    try:
        return NUMBERS[role](text) if role in NUMBERS else text
    except ValueError:
        return text
