"""The key of each role in a file of test cases: found by name and value, or as the user names it.

A file in which two keys fit a role, or none does, is an error with the option that helps: labels may be text, answers,
groups, or objects with fields. What a key means by its name is decided in ``case_keys``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from rankgauge.core.formatting import listing
from rankgauge.errors import InputError, Note, nearest, shown
from rankgauge.io.formats.case_keys import (
    KEYS,
    NOUNS,
    STEM_WORDS,
    expected_text_keys,
    field_path,
    holds_labels,
    holds_words,
    is_answer,
    is_kind,
    is_plain_list,
    is_text_or_label,
    label_kind,
    may_be_words,
    names_for,
    plain_text_keys,
    stem_size,
)
from rankgauge.io.formats.expected_text import PART_WORDS, WORD, is_part_of_id, quote_key, text_key_of
from rankgauge.io.formats.field_labels import (
    LIST_DOCUMENTS,
    FieldLabels,
    compared_name,
    is_limit,
    suggested_fields,
    suggested_names,
)
from rankgauge.io.formats.json_mapping import further_fields, id_key_of
from rankgauge.io.formats.json_text import JsonPairs, Records
from rankgauge.io.formats.named_columns import Columns, check_roles, columns_for

PLACE_WORDS = {"chapter", "clause", "fragment", "idx", "index", "line", "no", "number", "offset", "page", "paragraph",
               "position", "row", "section"}  # of a document  # fmt: skip
ROLES = ("id", "query", "retrieved", "relevant", *(role for role in KEYS if role not in ("id", "query", "retrieved")))


@dataclass(frozen=True)
class CaseKeys:
    """The key of each role that a file has, and what to know of the others.

    ``is_named`` says whether the user named the key of the relevant documents, or asked for parts of ids, which it has.
    """

    keys: dict[str, str]
    is_named: bool = False
    notes: tuple[Note, ...] = ()


class KeyFinder:
    """Finds the key of each role among the objects of a file. Keys of nested objects have dotted names."""

    def __init__(
        self,
        source: str,
        table: Records,
        columns: Columns,
        match: str = "exact",
        fields: FieldLabels | None = None,
    ) -> None:
        check_roles(columns, ROLES)
        self.source, self.records, self.columns, self.match = source, table.records, columns, match
        self.fields = fields or FieldLabels(())
        self.names = list(table.names)
        self.notes: list[Note] = []

    def find(self) -> CaseKeys:
        """The keys; raises if two fit a role equally well, or one that is named is not there."""
        keys = {role: self._named(role) for role in self.columns}
        for role in ROLES:
            if role in keys or role == "system":
                continue  # a system is a column like any other, unless it separates rows of the same query
            if (key := self._relevant(keys.values()) if role == "relevant" else self._best(role)) is not None:
                keys[role] = key
        is_named = "relevant" in self.columns or is_part_of_id(keys.get("relevant", ""))
        if self.fields and "relevant" in keys:
            self._check_fields(keys["relevant"])
        return CaseKeys(keys, is_named, tuple(self.notes))

    def _named(self, role: str) -> str:
        """The key that the user names: as it is, a dotted path, or a template of labels."""
        name = self.columns[role]
        if name in self.names:
            return name
        if role == "relevant" and "{" in name:
            self._fill_template(name)
            return name
        if "." in name and self._flatten(name):
            return name
        close = nearest(name, self.names)
        raise InputError.at(
            self.source,
            None,
            f"expected a key {shown(name)} for {role}, found {_names_text(self.names)}",
            hint=f"did you mean {close}?" if close else None,
        )

    def _flatten(self, path: str) -> bool:
        """Copy the values at a dotted path to that key, those of all entries of a list; whether there is any."""
        parts, is_there = path.replace("[*]", "").replace("[]", "").split("."), False
        for record in self.records:
            value: Any = JsonPairs(record.items())
            for part in parts:
                value = _inner_value(value, part)
            if value is not None:
                record[path], is_there = value, True
        return is_there

    def _fill_template(self, template: str) -> None:
        """Make labels of a template such as ``docs/{product}/{paths}``: one for each value of a list in it."""
        fields = re.findall(r"\{([^{}]*)\}", template)
        for field in fields:
            if field not in self.names and not ("." in field and self._flatten(field)):
                close = nearest(field, self.names)
                raise InputError.at(
                    self.source,
                    None,
                    f"expected keys of the cases in {shown(template)}, found {shown(field)}",
                    hint=f"did you mean {{{close}}}?" if close else f"the keys are {_names_text(self.names)}",
                )
        for record in self.records:
            values = [record.get(field) for field in fields]
            if any(value is None for value in values):
                continue
            lists = [value if isinstance(value, list) else [value] for value in values]
            if all(isinstance(item, (str, int)) for items in lists for item in items):
                record[template] = [_filled(template, fields, choice) for choice in product(*lists)]

    def _best(self, role: str) -> str | None:
        """The key of a role by its name, if its values fit."""
        taken = set(self.columns.values())
        matches = [name for name in names_for(self.names, role) if name not in taken]
        if role in FITTING:
            fits = FITTING[role]
            matches = [name for name in matches if self._has(name, fits) or not self._has(name, _is_something)]
        if role == "query" and not matches:
            matches = self._nested(lambda name: bool(names_for([name], "query")), _is_text)[:1]
        if role in ("id", "query"):
            matches = matches[:1]
        if len(matches) > 1:
            raise self._ambiguous(role, matches)
        return matches[0] if matches else None

    def _relevant(self, taken: Iterable[str]) -> str | None:
        """The key of the relevant documents, by pattern; raises if two fit. Keys of other roles are taken."""
        if self.fields:
            return self._with_fields(set(taken))
        matches = [
            name
            for name in self.names
            if name not in self.columns.values()
            and label_kind(name)
            and (self._has(name, partial(holds_labels, name)) or self._is_empty(name))
            and not (may_be_words(name) and self._has(name, holds_words))
        ]
        matches = [name for name in matches if label_kind(name) != "any id"] or matches
        matches = [name for name in matches if not self._is_empty(name)] or matches
        if not matches:
            matches = self._nested(lambda name: label_kind(name) is not None, _is_list)
            self._check_nested_fields(matches)
        if not matches and self._matches_parts():
            matches = [name for name in self.names if is_part_of_id(name)]
        if len(matches) > 1:
            with_id = [name for name in matches if label_kind(name) == "id"]
            if len(with_id) != 1:
                raise self._ambiguous("relevant", with_id or matches)
            others = listing((shown(name) for name in matches if name != with_id[0]), 3)
            self.notes.append(
                Note(
                    "two-labels", f"{self.source}: relevant documents are those under {shown(with_id[0])}, not {others}"
                )
            )
            matches = with_id
        if not matches:
            return None
        if dropped := self._dropped_keys(matches[0]):
            fields = ",".join(f"{name}={compared_name(field_path(name))}" for name in (matches[0], *dropped))
            self.notes.append(
                Note(
                    "label-unused",
                    f"{self.source}: only {shown(matches[0])} is compared, not {listing(map(shown, dropped), 3)}; if a "
                    f"result must have them all: --match-field {fields} (FIELD=PATH says where)",
                )
            )
        return matches[0]

    def _dropped_keys(self, key: str) -> list[str]:
        """The keys that expect one more value of a result, beside a key of documents that has one value each."""
        if self._has(key, _is_list) or not self._has(key, _is_something):
            return []
        return [
            name
            for name in self.names
            if name != key
            and stem_size(name)
            and not is_answer(name)
            and not is_kind(name)
            and label_kind(name) is None
            and text_key_of(name) is None
            and self._has_only(name, partial(_is_one_value, name))
        ]

    def _check_nested_fields(self, matches: Sequence[str]) -> None:
        """Raise if one of some nested keys has the others: it is an object with fields, of which each must match."""
        for name in matches:
            if any(other.startswith(f"{name}.") for other in matches):
                labels = [label for record in self.records for label in _objects(record.get(name))]
                raise object_labels_error(self.source, name, labels)

    # -- labels with several fields, in objects or beside each other

    def _with_fields(self, taken: set[str]) -> str | None:
        """The key whose objects have the fields; if cases have them themselves, a key of labels made of them."""
        names = set(self.fields.names)
        tops = {name.partition(".")[0] for name in names}
        matches = [
            name
            for name in self.names
            if name not in taken
            and self._has(name, lambda value: any(tops & label.keys() for label in _objects(value)))
        ]
        matches = [name for name in matches if label_kind(name)] or matches
        matches = matches or self._nested(lambda name: True, lambda value: _have_all(value, tops))
        if len(matches) > 1:
            raise self._ambiguous("relevant", matches)
        if matches:
            return matches[0]
        own = [name for name in self.fields.names if name in self.names or ("." in name and self._flatten(name))]
        return self._labels_of_cases(own) if own else None

    def _labels_of_cases(self, names: Sequence[str]) -> str:
        """Make a label of what a case has under keys; if it has only one of them, one label for each value."""
        ranges = {name for field in self.fields.fields if field.is_range for name in field.label}
        key = "|".join(names)
        for record in self.records:
            values = {name: record[name] for name in names if name in record}
            known = {name: value for name, value in values.items() if _is_something(value)}
            if len(known) == 1 and not known.keys() & ranges:
                ((name, value),) = known.items()
                listed = value if isinstance(value, list) and not isinstance(value, JsonPairs) else [value]
                record[key] = [JsonPairs([(name, one)]) for one in listed]
            elif values:
                record[key] = [JsonPairs(known.items())] if known else []
        return key

    def _check_fields(self, key: str) -> None:
        """Raise if no label has a field: a condition that nothing tests would be lost."""
        labels = [label for record in self.records for label in _objects(record.get(key))]
        known = dict.fromkeys(name for label in labels for name in label)
        for name in self.fields.names:
            if name.partition(".")[0] not in known:
                close = nearest(name, list(known))
                raise InputError.at(
                    self.source,
                    None,
                    f"no label has {shown(name)}, which --match-field names: found {_names_text(known)}",
                    hint=f"did you mean {close}?" if close else None,
                )
        for name in self.fields.names:
            empty = sum(label.get(name, "-") in (None, "", []) and not self.fields.is_empty(label) for label in labels)
            if empty:
                message = (
                    f"{empty} of {len(labels)} labels have nothing under {shown(name)}: only their other fields count"
                )
                self.notes.append(Note("field-empty", f"{self.source}: {message}"))
        used = set(self.fields.names)
        quotes = filter(None, [quote_key(known)])
        names = [*suggested_names(labels), *quotes]
        if others := [name for name in dict.fromkeys(names) if not {name, name.partition(".")[0]} & used]:
            message = f"{self.source}: labels also have {_names_text(others)}, which is not compared"
            self.notes.append(Note("field-unused", message))

    def _matches_parts(self) -> bool:
        """Whether labels are parts of ids: by the settings, or by the rule of a case."""
        return self.match == "contains" or any(record.get("match") == "contains" for record in self.records)

    def _nested(self, is_name: Callable[[str], bool], fits: Callable[[Any], bool]) -> list[str]:
        """Dotted names of nested keys that fit by their own name, or by the whole path; their values are copied."""
        paths: dict[str, None] = {}
        for record in self.records[:50]:
            for path, value in _paths(record):
                if fits(value) and (is_name(path) or is_name(path.rpartition(".")[2])):
                    paths[path] = None
        return [path for path in paths if self._flatten(path)]

    def _has(self, name: str, fits: Callable[[Any], bool]) -> bool:
        return any(fits(record[name]) for record in self.records if name in record)

    def _has_only(self, name: str, fits: Callable[[Any], bool]) -> bool:
        """Whether the values of a key that are not empty fit, and there are any."""
        values = [record[name] for record in self.records if _is_something(record.get(name))]
        return bool(values) and all(map(fits, values))

    def _is_empty(self, name: str) -> bool:
        return not self._has(name, _is_something)

    def _ambiguous(self, role: str, matches: Sequence[str]) -> InputError:
        hint = f"choose one: --column {role}={matches[0]}, columns={{{role!r}: {matches[0]!r}}}"
        if role == "relevant":
            paths = [field_path(name, is_list=self._has(name, _is_list)) for name in matches]
            if not any(word.lower().removesuffix("s") in PLACE_WORDS for word in WORD.findall(matches[0])):
                paths[0] = "id"
            fields = ",".join(f"{name}={path}" for name, path in zip(matches, paths, strict=True))
            hint += f"; if a result must have them all: --match-field {fields} (FIELD=PATH says where)"
        return InputError.at(
            self.source,
            None,
            f"expected one key for {role}, found {len(matches)}: {', '.join(shown(name) for name in matches)}",
            hint=hint,
        )


def _inner_value(value: Any, key: str) -> Any:
    """What an object has under a key, or all that the objects of a list have; None without it."""
    if isinstance(value, JsonPairs):
        return dict(value).get(key)
    if not isinstance(value, list):
        return None
    found = [inner for item in value if (inner := _inner_value(item, key)) is not None]
    return [one for inner in found for one in (inner if is_plain_list(inner) else [inner])] or None


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects that a value is, or lists."""
    items = [value] if isinstance(value, JsonPairs) else value if isinstance(value, list) else []
    return [dict(item) for item in items if isinstance(item, JsonPairs)]


def _have_all(value: Any, names: set[str]) -> bool:
    """Whether an object, or one of a list, has all of some keys."""
    return any(names <= label.keys() for label in _objects(value))


def _names_text(names: Iterable[str]) -> str:
    return listing(map(shown, names), 12) or "none"


def _paths(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The dotted names and values of keys in objects within an object, two levels deep."""
    for key, value in record.items():
        for inner, nested in value if isinstance(value, JsonPairs) else ():
            yield f"{key}.{inner}", nested
            for innermost, deepest in nested if isinstance(nested, JsonPairs) else ():
                yield f"{key}.{inner}.{innermost}", deepest


def _filled(template: str, fields: Sequence[str], values: Sequence[object]) -> str:
    for field, value in zip(fields, values, strict=True):
        template = template.replace(f"{{{field}}}", str(value), 1)
    return template


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_word(value: object) -> bool:
    return isinstance(value, str) and len(value.split()) == 1


def _is_one_value(name: str, value: object) -> bool:
    """Whether a value is one word, or the number of a place in a document: ``gold_chunk_index``."""
    return _is_word(value) or (_is_number(value) and WORD.findall(name)[-1].lower() in PLACE_WORDS)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_nested(value: object) -> bool:
    """Whether a list has lists: of evidence, and not of quotes."""
    return isinstance(value, list) and any(isinstance(item, list) and not isinstance(item, JsonPairs) for item in value)


FITTING: dict[str, Callable[[Any], bool]] = {
    "query": _is_text,
    "grades": _is_list,
    "retrieved": _is_list,
    "evidence": _is_nested,
    "forbidden": lambda value: isinstance(value, (list, str)),
    "tokens": _is_number,
    "cost": _is_number,
    "refused": lambda value: isinstance(value, bool),
}


def _are_ranges(value: Any) -> bool:
    """Whether a list has pairs of numbers, the start and the end of something; or is empty."""
    items = value if is_plain_list(value) else []
    return all(is_plain_list(item) and len(item) == 2 and all(map(_is_number, item)) for item in items)


def _is_something(value: object) -> bool:
    return value is not None and value != [] and value != ""


# -- files without a key of a role, and the option that helps -----------------------------------------------------


def missing_key(source: str, table: Records, role: str) -> InputError:
    """The error for a file that has no key of a role: what it is, what is missing, and the one option that helps."""
    names = table.names
    found = f"found {_names_text(names)}"
    if role != "relevant":
        known = ", ".join(key for tier in KEYS[role] for key in tier)
        return InputError.at(
            source, None, f"expected a key for {role} ({known}), {found}", hint=f"name it: --column {role}=KEY"
        )
    if part := next(filter(is_part_of_id, names), None):
        return InputError.at(
            source,
            None,
            f"test cases that expect a part of an id ({shown(part)}), not documents; {found}",
            hint="compare with parts of the ids: --match contains",
        )
    if texts := expected_text_keys(names) or [name for name in names if is_text_or_label(name)]:
        hints = ["compare with the texts of the results: --match text", *_document_hints(table)]
        if label_kind(texts[0]) or not _has_words(table, texts[0]):
            hints.append(f"if these are ids: --column relevant={texts[0]}")
        return InputError.at(
            source,
            None,
            f"test cases that expect text ({listing(map(shown, texts), 3)}), not documents; {found}",
            hint="; ".join(hints),
        )
    if plain := plain_text_keys(table.records, names_for(names, "query")):
        choice = f" --column relevant={plain[0]}" if len(plain) > 1 else ""
        return InputError.at(
            source,
            None,
            f"test cases without a key for the relevant documents; {listing(map(shown, plain), 3)} may be expected "
            f"text; {found}",
            hint="; ".join([f"compare with the texts of the results: --match text{choice}", *_document_hints(table)]),
        )
    if groups := [name for name in names if any(_is_nested(record.get(name)) for record in table.records)]:
        if all(_are_ranges(record.get(groups[0])) for record in table.records):
            return InputError.at(
                source,
                None,
                f"test cases whose {shown(groups[0])} has pairs of numbers, expected the ids of documents; {found}",
                hint=LIST_DOCUMENTS,
            )
        return InputError.at(
            source,
            None,
            f"test cases whose {shown(groups[0])} has groups; {found}",
            hint=f"if one document of each group is enough, they are evidence: --column evidence={groups[0]}",
        )
    if answers := [name for name in names if label_kind(name)]:
        objects = [value for record in table.records if isinstance(value := record.get(answers[0]), JsonPairs)]
        if any(objects):
            return object_labels_error(source, answers[0], [dict(value) for value in objects])
        return _answer_error(source, table, answers[0])
    others = _other_keys(table)
    documents = document_keys(table)
    plain_count = max((_count_of_values(table, name) for name in documents if not _has_objects(table, name)), default=0)
    for name in dict.fromkeys([*filter(stem_size, others), *documents]):
        labels = [label for record in table.records for label in _objects(record.get(name))]
        if suggested_fields(labels) and _count_of_values(table, name) > plain_count:
            return object_labels_error(source, name, labels, within=field_path(name) if stem_size(name) else "")
    stemmed = [name for name in documents if stem_size(name) and not _has_objects(table, name)]
    likely = documents if len(documents) == 1 else stemmed if len(stemmed) == 1 else others if len(others) == 1 else []
    hint = f"name it: --column relevant={likely[0] if likely else 'KEY'}"
    if likely and likely == stemmed:
        field = likely[0]
        hint += f"; if results have it as a field: --match-field {field}={field_path(field)} (FIELD=PATH says where)"
    elif len(stemmed) > 1:
        fields = ",".join(f"{name}={field_path(name)}" for name in stemmed)
        hint = f"if results have them as fields: --match-field {fields} (FIELD=PATH says where)"
        hint += f"; to compare one alone: --column relevant={stemmed[0]}"
    elif not likely and documents:
        hint = f"choose one: {', '.join(f'--column relevant={name}' for name in documents[:3])}"
    return InputError.at(
        source,
        None,
        "test cases without a key for the relevant documents (relevant_ids, expected_sources, gold_file, …), " + found,
        hint=hint if others else LIST_DOCUMENTS,
    )


def document_keys(table: Records) -> list[str]:
    """The keys that may have the documents though no pattern says so: ``source``, ``citation``, ``relevant_policy``.

    Their name begins as one of labels does or ends in a noun of documents, and they have ids, or objects.
    """
    keys = [
        name
        for name in _other_keys(table)
        if text_key_of(name) is None
        and label_kind(name) is None
        and (stem_size(name) or (_names_document(name) and not is_kind(name)))
        and any(_is_label_value(value) or _objects(value) for record in table.records if (value := record.get(name)))
    ]
    return sorted(keys, key=lambda name: (not stem_size(name), not _names_document(name)))


def _other_keys(table: Records) -> list[str]:
    """The keys of cases that are neither their id, their text, nor an answer."""
    roles = ("id", "query", "k")
    return [name for name in table.names if not is_answer(name) and not any(names_for([name], role) for role in roles)]


def _names_document(name: str) -> bool:
    """Whether a name ends in a noun of documents, or in the id or the name of one: ``source``, ``docId``, ``refs``."""
    words = [word.lower() for word in WORD.findall(name)]
    while len(words) > 1 and words[-1] in ("id", "ids", "name", "names", "title", "titles"):
        words.pop()
    return bool(words) and bool(
        {words[-1], words[-1].removesuffix("s")} & {*NOUNS, "paper", "ref", "reference", "target"}
    )


def _count_of_values(table: Records, name: str) -> int:
    return sum(_is_something(record.get(name)) for record in table.records)


def _has_objects(table: Records, name: str) -> bool:
    return any(_objects(record.get(name)) for record in table.records)


def _document_hints(table: Records) -> list[str]:
    """How to name the key of the documents, for cases whose texts or answers were recognized."""
    keys = [name for name in document_keys(table) if not _has_objects(table, name)]
    return [f"if {shown(keys[0])} has the documents: --column relevant={keys[0]}"] if keys else []


def _answer_error(source: str, table: Records, name: str) -> InputError:
    """The error for a key of labels that has a text: an answer, unless it is an id."""
    hint = f"if it is an id, say so: --column relevant={name}"
    documents = [other for other in document_keys(table) if other != name and not _has_objects(table, other)]
    others = [other for other in table.names if label_kind(other) is None and not is_answer(other)]
    lists = [other for other in others if any(is_plain_list(record.get(other)) for record in table.records)]
    if (documents or lists) and any(" " in str(record.get(name, "")) for record in table.records):
        hint = f"name the key of the documents: --column relevant={(documents or lists)[0]}"
    found = f"found {_names_text(table.names)}"
    return InputError.at(
        source,
        None,
        f"test cases whose {shown(name)} looks like an answer, expected the ids of documents; {found}",
        hint=hint,
    )


def other_label_keys(record: Mapping[str, Any], key: str) -> list[str]:
    """The keys of a case that expect something else of a result: ``expected_memory_types`` beside ``…_ids``."""
    names = [name for name in record if name != key and stem_size(name) and text_key_of(name) is None]
    return [name for name in names if is_plain_list(record[name]) and _is_label_value(record[name])]


def _has_words(table: Records, name: str) -> bool:
    return any(holds_words(value) for record in table.records if (value := record.get(name)) not in (None, []))


def _is_label_value(value: Any) -> bool:
    items = value if is_plain_list(value) else [value]
    return any(isinstance(item, (str, int)) and not isinstance(item, bool) for item in items)


def check_object_labels(source: str, table: Records, key: str) -> None:
    """Raise if labels are objects with more than an id: one that lacks its clause would match any clause."""
    labels: list[dict[str, Any]] = []
    first_line: int | None = None
    for line, record in zip(table.line.tolist(), table.records, strict=True):
        for label in _objects(record.get(key)) if _is_label(record.get(key)) else ():
            labels.append(label)
            if id_key_of(label) is None or further_fields(list(label), _id_and_grade(label)):
                first_line = first_line or line
    if first_line is not None:
        raise object_labels_error(source, key, labels, first_line)


def _is_label(value: Any) -> bool:
    """Whether an object, or a list of them, is not an object of ids and grades."""
    return not isinstance(value, JsonPairs) or not all(isinstance(inner, (int, float)) for _, inner in value)


def _id_and_grade(label: Mapping[str, Any]) -> list[str]:
    return [*(key for key in (id_key_of(label),) if key), *columns_for(list(label), "grade")]


def object_labels_error(
    source: str, name: str, labels: Sequence[Mapping[str, Any]], line: int | None = None, within: str = ""
) -> InputError:
    """The error for labels that are objects: around a list of ids, or with fields that a result must have.

    ``within`` is the field of a result that may have them.
    """
    keys = list(dict.fromkeys(key for label in labels for key in label))
    lists = [key for key in keys if any(isinstance(label.get(key), list) for label in labels)]
    stemmed = [key for key in lists if tuple(word.lower() for word in WORD.findall(key)[:1]) in STEM_WORDS]
    fields, names = suggested_fields(labels, within), suggested_names(labels)
    if limits := list(filter(is_limit, keys)):
        return InputError.at(
            source,
            line,
            f"test cases whose {shown(name)} has objects with {listing(map(shown, keys), 8)}; {shown(limits[0])} is a "
            "limit, and only values are compared",
            hint=LIST_DOCUMENTS,
        )
    expected = "expected ids, or the fields that a result must have"
    hints = []
    if (quote := quote_key(keys)) is not None:
        named = "" if text_key_of(name) else f" --column relevant={name}.{quote}"
        hints.append(f"to find {shown(quote)} in the texts of results: --match text{named}")
    if stemmed or (lists and set(names) <= set(lists)):
        expected = "expected the ids of documents"
        hints.append(f"name the key in it: --column relevant={name}.{(stemmed or lists)[0]}")
    elif names:
        hints.append(f"if results have these fields: --match-field {fields} (FIELD=PATH says where)")
        if len(names) > 1 and (one := next(filter(_is_document, keys), None)) is not None:
            hints.append(f"to compare {shown(one)} alone: --column relevant={name}.{one}")
    found = listing(map(shown, keys), 8)
    return InputError.at(
        source,
        line,
        f"test cases whose {shown(name)} has objects with {found}; {expected}",
        hint="; ".join(hints) or 'list the documents that match: {"query": "…", "relevant_ids": ["…"]}',
    )


def _is_document(name: str) -> bool:
    """Whether a field of a label names a document by itself, in full."""
    words = {word.lower() for word in WORD.findall(name)}
    return bool(words & {*NOUNS, "id"}) and not words & PART_WORDS
