"""Where the cases are in a document: a list, an object around lists, columns, or cases by their ids.

A document is JSON or YAML that is parsed, or objects in memory. ``FILE#queries`` and ``FILE#suites[*].cases`` choose a
list, ``FILE#queries[?expected_files]`` those of its cases that have a key. If a document has several lists, or only
lists that are not known to be cases, the error names them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankgauge.core.formatting import listing, plural
from rankgauge.errors import InputError, InputTypeError, Note, shown
from rankgauge.io.byte_streams import split_selector
from rankgauge.io.faults import Faults
from rankgauge.io.formats.case_keys import (
    answerable_flag,
    holds_labels,
    is_case,
    is_plain_list,
    label_kind,
    names_for,
    says_nothing,
)
from rankgauge.io.formats.json_mapping import id_key_of
from rankgauge.io.formats.json_text import (
    JsonPairs,
    Record,
    Records,
    as_json,
    describe_json,
    records_of,
)
from rankgauge.io.formats.named_columns import columns_for, normalize_name
from rankgauge.io.formats.relevance_tools import RESPONSE, response_rows

KeyPath = tuple[str | int, ...]
Lines = Mapping[KeyPath, int]
Items = list[tuple[KeyPath, Any]]
COMMENT = re.compile("comments?|notes?|sections?|separator|divider|header|description")  # the only key of an object
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


# -- documents in memory ------------------------------------------------------------------------------------------


def cases_of_objects(faults: Faults, objects: Any) -> CaseRecords:
    """Test cases in memory: a list of dicts, or a dict around one."""
    if isinstance(objects, Mapping):
        faults.has_lines = False
        return cases_of_document(faults, as_json(objects), {}, None)
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
        return first_case_of(as_json(objects)) is not None
    except (TypeError, ValueError):
        return False


# -- the cases of a document --------------------------------------------------------------------------------------


def first_case_of(document: Any, selector: str | None = None) -> dict[str, Any] | None:
    """The first case of a document, or of the lists that a selector chooses; None if it has none."""
    if selector is not None:
        return next((dict(item) for _, item in selected_cases(document, selector) if isinstance(item, JsonPairs)), None)
    if _is_own_file(document):
        return None
    if rows := response_rows(document):
        return dict(rows[0])
    if _is_test_set(document):
        items = _plain_cases(document)
    else:
        items = [item for path in lists_of_cases(document) for item in selected_cases(document, path)]
    return next((dict(item) for _, item in items if isinstance(item, JsonPairs) and is_case(dict(item))), None)


def cases_of_document(faults: Faults, document: Any, lines: Lines, selector: str | None) -> CaseRecords:
    """The cases of a document that is parsed, each with its line."""
    source = faults.source
    if rows := response_rows(document):
        faults.has_lines = False
        found = [row.to_dict(source, None) for row in rows]
        return CaseRecords(Records(np.arange(1, len(rows) + 1), found), kind=RESPONSE)
    notes: list[Note] = []
    if selector is not None:
        items = selected_cases(document, selector)
        if not items:
            names = [path for path in lists_of_cases(document) if path]
            hint = f"choose: {_choices(source, names)}" if names else None
            raise InputError.at(
                source, None, f"expected a list of cases under {shown(selector)}, found none", hint=hint
            )
    else:
        items, names = _only_cases(source, document)
        notes += _beside(source, document, names)
    comments = _comments(items)
    if comments:
        left_out = f"left out, because {'it is not a case' if len(comments) == 1 else 'they are not cases'}"
        kinds = listing(dict.fromkeys(map(_keys, comments)), 3)
        notes.append(Note("comment", f"{source}: {left_out}: {kinds}"))
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


def _comments(items: Items) -> list[JsonPairs]:
    """The objects before the first case, if it is among the first few, and those that have nothing but a comment."""
    first = [item for _, item in items[:SAMPLE] if isinstance(item, JsonPairs)]
    cases = [number for number, item in enumerate(first) if is_case(dict(item))]
    before = first[: cases[0]] if cases else []
    others = [item for _, item in items[len(before) :] if isinstance(item, JsonPairs)]
    return [*before, *(item for item in others if len(item) == 1 and COMMENT.fullmatch(normalize_name(item[0][0])))]


def _only_cases(source: str, document: Any) -> tuple[Items, list[str]]:
    """The cases, and the name of their list; raises if there are several lists, or none.

    A second list may have the cases that expect nothing, by its name: ``unanswerable``.
    """
    if _is_test_set(document):
        return _plain_cases(document), []
    paths = lists_of_cases(document)
    nothing = [path for path in paths if "[*]" not in path and says_nothing(path)]
    chosen = [path for path in _with_texts(document, paths) if path not in nothing]
    if len(chosen) == 1 and "[*]" not in chosen[0]:
        unanswerable = [item for path in nothing for item in selected_cases(document, path)]
        flagged = [(place, JsonPairs([*case, ("answerable", False)])) for place, case in unanswerable if case]
        return [*selected_cases(document, chosen[0]), *flagged], [chosen[0], *nothing]
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
    if lists := object_lists(document):
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
        if any(isinstance(case, JsonPairs) and _has_role(case, "query") for _, case in selected_cases(document, path))
    ]
    return found or list(paths)


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


# -- documents that are cases themselves: a list, one case, columns, cases by their ids ---------------------------


def _is_test_set(document: Any) -> bool:
    """Whether a document holds its cases without a name: a list, a case, columns, or cases by their ids."""
    if isinstance(document, JsonPairs):
        return _is_one_case(document) or bool(_columns_of(document)) or _are_cases_by_id(document)
    return isinstance(document, list) and is_case_list(document)


def _plain_cases(document: Any) -> Items:
    """The cases of such a document."""
    if not isinstance(document, JsonPairs):
        return [((number,), item) for number, item in enumerate(document)]
    if columns := _columns_of(document):
        return [((number,), item) for number, item in enumerate(columns)]
    if _is_one_case(document):
        return [((), document)]
    return [((key,), JsonPairs([("id", key), *(pair for pair in case if pair[0] != "id")])) for key, case in document]


def _is_one_case(document: JsonPairs) -> bool:
    """Whether an object is one case, rather than something around cases: lists of cases may be called ``positive``."""
    holds_cases = any(label_kind(name) and isinstance(value, list) and _have_texts(value) for name, value in document)
    return not holds_cases and not is_around(document) and not lists_cases(document) and is_case(dict(document))


def lists_cases(document: JsonPairs) -> bool:
    """Whether an object has a list of cases with the texts of queries, however deep: it is around them."""
    return any(_holds_cases(value) for _, value in document)


def _holds_cases(value: Any) -> bool:
    """Whether a value is a list of cases with texts, or has one in its objects."""
    if isinstance(value, JsonPairs):
        return lists_cases(value)
    if not isinstance(value, list):
        return False
    return _have_texts(value) or any(lists_cases(item) for item in value[:SAMPLE] if isinstance(item, JsonPairs))


def _have_texts(items: Sequence[Any]) -> bool:
    """Whether the first entries of a list are cases that have the text of a query."""
    objects = [item for item in items[:SAMPLE] if isinstance(item, JsonPairs)]
    return bool(objects) and all(is_case(dict(item)) and _has_role(item, "query") for item in objects)


def is_around(document: JsonPairs) -> bool:
    """Whether an object has cases in it, but in no list; or is a file of another kind."""
    is_other = _is_own_file(document) or bool(response_rows(document))
    return is_other or _are_cases_by_id(document) or bool(_columns_of(document))


def _is_own_file(document: Any) -> bool:
    """Whether an object is a result or a baseline that rankgauge wrote: it has no cases."""
    first = dict(document[:3]).get("schema") if isinstance(document, JsonPairs) else None
    return isinstance(first, str) and first.startswith("rankgauge.")


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


# -- lists of cases, and selectors --------------------------------------------------------------------------------


def is_case_list(items: Sequence[Any]) -> bool:
    """Whether one of the first few entries of a list is a case."""
    return any(isinstance(item, JsonPairs) and is_case(dict(item)) for item in items[:SAMPLE])


def lists_of_cases(value: Any, path: str = "", depth: int = 0) -> dict[str, int]:
    """The lists of cases in a document: the path of each, and how many cases it has."""
    found: dict[str, int] = {}
    if depth > MAX_DEPTH:
        return found
    if isinstance(value, JsonPairs):
        for key, inner in value:
            found |= lists_of_cases(inner, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list):
        if is_case_list(value):
            return {path: len(value)}
        for item in value:
            if isinstance(item, JsonPairs):
                for inner_path, count in lists_of_cases(item, f"{path}[*]", depth + 1).items():
                    found[inner_path] = found.get(inner_path, 0) + count
    return found


def selected_cases(document: Any, selector: str) -> Items:
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


FILTER = re.compile(
    r"\[\?([^\[\]]+)\]$"
)  # of cases that have a key: cases.json#queries[?expected_files|expected_symbols]


def list_selector(selector: str | None) -> str | None:
    """What chooses a list, without what leaves cases out; None if all of a file is read."""
    return None if selector is None else FILTER.sub("", selector) or None


def filter_key(source: str) -> str:
    """The key that the cases of a file must have, by its name; empty without one, or if there are several."""
    wanted = FILTER.search(split_selector(source)[1] or "")
    return "" if wanted is None or "|" in wanted[1] else wanted[1]


def filtered_name(source: str, key: str) -> str:
    """A file without the cases that lack a key, as it is named, with the quotation marks that shells need."""
    file, selector = split_selector(source)
    return f"'{file}#{list_selector(selector) or ''}[?{key}]'"


def cases_having(source: str, cases: CaseRecords, wanted: str) -> CaseRecords:
    """The cases that have a key, or say that nothing is expected, and a note on how many do not."""
    records, keys = cases.records.records, set(wanted.split("|"))
    if not any(keys & record.keys() for record in records):
        names = listing(map(shown, cases.records.names), 12)
        raise InputError.at(source, None, f"expected cases with a key {shown(wanted)}, found {names}")
    rows = [row for row, record in enumerate(records) if keys & record.keys() or answerable_flag(record) is False]
    message = f"{source}: {len(records) - len(rows)} of {len(records)} cases left out: no {shown(wanted)}"
    return replace(cases, records=cases.records.take(rows), notes=(*cases.notes, Note("left-out", message)))


def _choices(source: str, paths: Iterable[str]) -> str:
    """Names to choose from, with the quotation marks that shells need."""
    file = split_selector(source)[0]
    return listing((f"'{file}#{path}'" for path in paths), 3)


# -- lists of objects that are not known to be cases --------------------------------------------------------------


def object_lists(document: Any) -> dict[str, list[JsonPairs]]:
    """The lists of objects in an object, if some of them have no id, as judgments and results have."""
    if not isinstance(document, JsonPairs) or _is_own_file(document):
        return {}
    lists = {
        name: [item for item in value if isinstance(item, JsonPairs)]
        for name, value in document
        if is_list_of_objects(value)
    }
    return lists if any(id_key_of(tuple(objects[0].names())) is None for objects in lists.values()) else {}


def is_list_of_objects(value: Any) -> bool:
    """Whether a value is a list of objects that have neither scores nor grades."""
    if not isinstance(value, list) or isinstance(value, JsonPairs) or not value or not isinstance(value[0], JsonPairs):
        return False
    names = value[0].names()
    return not (columns_for(names, "score") or columns_for(names, "grade"))


def _unknown_lists(source: str, lists: Mapping[str, list[JsonPairs]]) -> InputError:
    """The error for lists of which none has cases by its keys: their names, and how to choose a list and its keys."""
    names = {name: objects[0].names() for name, objects in lists.items()}
    likely = [name for name, keys in names.items() if names_for(keys, "query") and any(label_kind(key) for key in keys)]
    likely = likely or [name for name, keys in names.items() if any(label_kind(key) for key in keys)]
    counted = listing((f"{shown(name)} ({plural(len(objects), 'object')})" for name, objects in lists.items()), 5)
    chosen = (likely or list(names))[0]
    missing = [role for role in ("query", "relevant") if not _has_role(lists[chosen][0], role)]
    likely_keys = {"query": _likely_text(lists[chosen]), "relevant": _likely_labels(lists[chosen])}
    keys = "".join(f" --column {role}={likely_keys[role]}" for role in missing)
    found = f"{shown(chosen)} has the keys {listing(map(shown, names[chosen]), 8)}"
    what = " and ".join({"query": "the query", "relevant": "the relevant documents"}[role] for role in missing)
    return InputError.at(
        source,
        None,
        f"this looks like test cases in {plural(len(lists), 'list')}: {counted}; {found}"
        + (f", and no key is known for {what}" if missing else ""),
        hint=f"choose: {_choices(source, likely or names)}{f', with{keys}' if keys else ''}",
    )


def _has_role(item: JsonPairs, role: str) -> bool:
    if role == "query":
        return any(isinstance(dict(item)[name], str) for name in names_for(item.names(), role))
    return any(holds_labels(name, value) for name, value in item)


def _likely_text(objects: Sequence[JsonPairs]) -> str:
    """The key that may have the texts of queries: the only one whose values are texts of several words."""
    sample = [dict(item) for item in objects[:SAMPLE]]
    names = [
        name
        for name in sample[0]
        if not label_kind(name) and all(len(str(one.get(name) or "").split()) > 2 for one in sample)
    ]
    texts = [name for name in names if all(isinstance(one.get(name), str) for one in sample)]
    return texts[0] if len(texts) == 1 else "KEY"


def _likely_labels(objects: Sequence[JsonPairs]) -> str:
    """The key that may have the labels: one with a name of labels, or what such a key has within."""
    names = objects[0].names()
    name = next(filter(label_kind, names), "KEY")
    value = dict(objects[0]).get(name)
    inner = [key for key, listed in value if is_plain_list(listed)] if isinstance(value, JsonPairs) else []
    return f"{name}.{inner[0]}" if len(inner) == 1 else name
