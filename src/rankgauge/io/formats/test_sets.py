"""Files of test cases and logs as people write them: read whole, and recognized by their first bytes.

JSON, JSON Lines, YAML, CSV, Parquet and Arrow. What comes out is one object per case with its line, as a reader of JSON
gives it; JSON is decoded step by step, so that lines are known. Where the cases are in a document is decided in
``case_lists``, in a table in ``case_tables``; which key holds what in ``case_keys``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from rankgauge.core.formatting import plural
from rankgauge.errors import InputError, Note
from rankgauge.io.byte_streams import AnyFile, Limits, open_source, split_selector
from rankgauge.io.faults import Faults
from rankgauge.io.formats.case_keys import (
    is_case,
)
from rankgauge.io.formats.case_lists import (
    FILTER,
    MAX_DEPTH,
    CaseRecords,
    KeyPath,
    Lines,
    cases_having,
    cases_of_document,
    first_case_of,
    is_around,
    is_case_list,
    is_list_of_objects,
    list_selector,
    lists_cases,
    lists_of_cases,
    object_lists,
    selected_cases,
)
from rankgauge.io.formats.case_tables import read_case_table, with_label_rows
from rankgauge.io.formats.detection import HEAD_BYTES, Head
from rankgauge.io.formats.json_text import (
    JsonPairs,
    decode_json,
    pairs_decoder,
    read_records,
    records_of,
    skip_blanks,
)
from rankgauge.io.formats.named_columns import Columns
from rankgauge.io.text_checks import check_text

CASES_SOURCE = "test cases"
SKETCH_BYTES = 1 << 24  # of a document whose first bytes do not show what it is


def read_test_set(faults: Faults, data: bytes, columns: Columns | None = None) -> CaseRecords:
    """The cases in a file's bytes; raises if it is not clear where they are."""
    cases = _read_all(faults, data, columns)
    wanted = FILTER.search(split_selector(faults.source)[1] or "")
    return cases if wanted is None else cases_having(faults.source, cases, wanted[1])


def _read_all(faults: Faults, data: bytes, columns: Columns | None) -> CaseRecords:
    path, selector = split_selector(faults.source)
    selector = list_selector(selector)
    head = Head(data, path, selector)
    if head.is_arrow:
        from rankgauge.io.formats.arrow import table_of

        faults.has_lines = False
        table = table_of(faults.source, data)
        records = records_of(faults.source, table.to_pylist())
        return with_label_rows(faults, records, table.column_names, columns or {})
    if head.is_json:
        data, notes = _without_comments(faults.source, data)
        if _has_rows(head):
            return CaseRecords(read_records(faults, data), notes)
        text = check_text(faults, data).decode("utf-8", "surrogateescape")
        document, lines = _parse_lined(faults.source, text)
        cases = cases_of_document(faults, document, lines, selector)
        return replace(cases, notes=(*notes, *cases.notes))
    if head.is_yaml:
        from rankgauge.io.formats.yaml_text import load_yaml_data

        loaded = load_yaml_data(check_text(faults, data), faults.source)
        return cases_of_document(faults, loaded.data, loaded.lines, selector)
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
            return bool(selected_cases(_parse_lined(str(path), text)[0], selector))
    if head.is_yaml:
        from rankgauge.io.formats.yaml_text import load_yaml_data

        with suppress(InputError):
            return bool(selected_cases(load_yaml_data(data, str(path)).data, selector))
    return False


def _without_comments(source: str, data: bytes) -> tuple[bytes, tuple[Note, ...]]:
    """JSON without the lines that begin with // or #, and a note on them; the lines of all else stay as they are."""
    if not (data.startswith((b"//", b"#")) or b"\n//" in data or b"\n#" in data):
        return data, ()
    cleaned, count = re.subn(rb"(?m)^(?://|#)[^\n]*", b"", data)
    return cleaned, (Note("comment", f"{source}: {plural(count, 'comment line')} left out"),)


# -- what a file is, from its first bytes -------------------------------------------------------------------------


def first_case(head: Head) -> dict[str, Any] | None:
    """The first case of a file that is a test set or a log, as far as its first bytes show it."""
    if head.is_json and _has_rows(head):
        return head.record
    document = _sketch(head)
    return None if document is None else first_case_of(document, list_selector(head.selector))


def holds_lists(head: Head) -> bool:
    """Whether a JSON file has lists of objects that are neither judgments nor cases that are recognized."""
    return head.is_json and not _has_rows(head) and bool(object_lists(_sketch(head)))


def _has_rows(head: Head) -> bool:
    """Whether a file has one object per line, or only one that has no cases in it: not a document around them."""
    if head.record is None or head.is_array or list_selector(head.selector) is not None:
        return False
    document = JsonPairs(head.record.items())
    has_lists = lists_of_cases(document) or object_lists(document)
    is_document = has_lists and (lists_cases(document) or not is_case(head.record))
    return head.has_more_lines or not (is_around(document) or is_document)


def _sketch(head: Head) -> Any:
    """The beginning of a document as far as it can be decoded; None if it is neither JSON nor YAML."""
    if head.is_json:
        walk = _JsonWalk(head.text.decode("utf-8", "ignore"), MAX_DEPTH)
        if (
            first_case_of(walk.sketch(), list_selector(head.selector)) is None
            and _may_hold_cases(walk.root)
            and len(head.data) > HEAD_BYTES
        ):
            walk = _JsonWalk(head.data[head.begin : head.begin + SKETCH_BYTES].decode("utf-8", "ignore"), MAX_DEPTH)
            walk.sketch()
        is_part_of_case = not walk.is_complete and isinstance(walk.root, JsonPairs) and is_case(dict(walk.root))
        return None if is_part_of_case and not lists_of_cases(walk.root) else walk.root
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
    return any(isinstance(value, (str, int, float)) or is_list_of_objects(value) for _, value in document[:3])


# -- JSON, with the line of each entry ----------------------------------------------------------------------------


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
    if is_list and not is_case_list(document):
        walk = _JsonWalk(text, MAX_DEPTH + 1)
        document = walk.walk()
    return document, walk.lines
