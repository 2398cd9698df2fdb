"""The key of each role in a file of test cases: found by name and value, or as the user names it.

A file in which two keys fit a role is an error with the option that chooses one; if none does, the error is one of
``case_refusals``. What a key means by its name is decided in ``case_keys``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from rankgauge.core.formatting import listing, plural
from rankgauge.errors import InputError, Note, nearest, shown
from rankgauge.io.formats.case_keys import (
    KEYS,
    answerable_flag,
    denies_answer,
    field_path,
    holds_labels,
    holds_words,
    is_answer,
    is_expectation,
    is_kind,
    is_nothing,
    is_plain_list,
    label_kind,
    may_be_words,
    names_for,
    stem_size,
)
from rankgauge.io.formats.case_lists import filter_key
from rankgauge.io.formats.case_refusals import (
    PLACE_WORDS,
    document_keys,
    is_nested,
    is_number,
    is_place,
    is_something,
    names_text,
    object_labels_error,
    objects_in,
)
from rankgauge.io.formats.expected_text import WORD, is_part_of_id, quote_key, text_key_of
from rankgauge.io.formats.field_labels import FieldLabels, compared_name, suggested_names
from rankgauge.io.formats.json_text import JsonPairs, Records
from rankgauge.io.formats.named_columns import Columns, check_roles, normalize_name

SURE_NAMES = ("relevant", "gold", "golden")  # which do not hold answers if they have lists
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
        self.source, self.table, self.records, self.columns, self.match = source, table, table.records, columns, match
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
        wanted = filter_key(self.source)  # the key that cases must have
        is_filtered = {"relevant", "grades", "evidence"}.isdisjoint(keys) and self.match != "text"
        is_filtered = is_filtered and wanted in self.names and wanted not in keys.values()
        if is_filtered and (likely := document_keys(self.table)):
            is_filtered = wanted in likely
        if is_filtered:
            keys["relevant"] = wanted
        is_named = "relevant" in self.columns or is_filtered or is_part_of_id(keys.get("relevant", ""))
        if self.fields and "relevant" in keys:
            self._check_fields(keys["relevant"])
        elif "relevant" in keys and "retrieved" not in keys:
            self._read_nothing(keys["relevant"])
        for role in ("relevant", "grades", "evidence"):
            if role in keys:
                self._follow_flags(keys[role])
        return CaseKeys(keys, is_named, tuple(self.notes))

    def _read_nothing(self, key: str) -> None:
        """Take a label that says that there is none, such as ``none`` in a cell of a table, for an empty list."""
        count, word = 0, ""
        for record in self.records:
            value = record.get(key)
            if isinstance(value, str) and is_nothing(value):  # in a list, it is an id
                record[key], word = [], value
                count += 1
        if count:
            verb = "says" if count == 1 else "say"
            message = f"{plural(count, 'case')} {verb} {shown(word)} under {shown(key)}: nothing is expected"
            self.notes.append(Note("none-expected", f"{self.source}: {message}"))

    def _follow_flags(self, key: str) -> None:
        """Expect nothing of cases whose flag says that they have no answer, though they list documents."""
        if not any(map(is_expectation, self.names)):
            return
        denied = [record for record in self.records if is_something(record.get(key)) and denies_answer(record)]
        for record in denied:
            record[key] = []
        if denied:
            verb = "says that it has" if len(denied) == 1 else "say that they have"
            message = f"{plural(len(denied), 'case')} {verb} no answer: what is under {shown(key)} is not expected"
            self.notes.append(Note("none-expected", f"{self.source}: {message}"))

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
            f"expected a key {shown(name)} for {role}, found {names_text(self.names)}",
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
                    hint=f"did you mean {{{close}}}?" if close else f"the keys are {names_text(self.names)}",
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
            is_log = any(names_for(self.names, "retrieved"))
            fits = is_scalar if is_log and role in LOG_VALUES else FITTING[role]
            matches = [name for name in matches if self._has(name, fits) or not self._has(name, is_something)]
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
        matches = [name for name in matches if not self._is_empty(name)] or matches
        if any(label_kind(name) in ("id", "noun") or normalize_name(name) in SURE_NAMES for name in matches):
            matches = [name for name in matches if label_kind(name) != "any id"]
        elif self._has_both_kinds(matches):
            matches = [name for name in matches if label_kind(name) != "any id" or self._has(name, _is_list)]
        if not matches:
            matches = self._nested(lambda name: label_kind(name) is not None, _is_list)
            self._check_nested_fields(matches)
        if not matches and self._matches_parts():
            matches = [name for name in self.names if is_part_of_id(name)]
        if len(matches) > 1:
            with_id = [name for name in matches if label_kind(name) in ("id", "any id")]
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

    def _has_both_kinds(self, names: Sequence[str]) -> bool:
        """Whether some names are bare, and others the ids of something."""
        return {"bare", "any id"} <= {label_kind(name) for name in names}

    def _dropped_keys(self, key: str) -> list[str]:
        """The keys that expect one more value of a result, beside a key of documents that has one value each."""
        if self._has(key, _is_list) or not self._has(key, is_something):
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
                labels = [label for record in self.records for label in objects_in(record.get(name))]
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
            and self._has(name, lambda value: any(tops & label.keys() for label in objects_in(value)))
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
            known = {
                name: value
                for name, value in values.items()
                if is_something(value) and not (isinstance(value, str) and is_nothing(value))
            }
            if len(known) == 1 and not known.keys() & ranges:
                ((name, value),) = known.items()
                listed = value if isinstance(value, list) and not isinstance(value, JsonPairs) else [value]
                record[key] = [JsonPairs([(name, one)]) for one in listed]
            elif values or answerable_flag(record) is False:
                record[key] = [JsonPairs(known.items())] if known else []
        return key

    def _check_fields(self, key: str) -> None:
        """Raise if no label has a field: a condition that nothing tests would be lost."""
        labels = [label for record in self.records for label in objects_in(record.get(key))]
        known = dict.fromkeys(name for label in labels for name in label)
        for name in self.fields.names:
            if name.partition(".")[0] not in known:
                close = nearest(name, list(known))
                raise InputError.at(
                    self.source,
                    None,
                    f"no label has {shown(name)}, which --match-field names: found {names_text(known)}",
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
            verb = "is" if len(others) == 1 else "are"
            message = f"{self.source}: labels also have {names_text(others)}, which {verb} not compared"
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
        values = [record[name] for record in self.records if is_something(record.get(name))]
        return bool(values) and all(map(fits, values))

    def _is_empty(self, name: str) -> bool:
        return not self._has(name, is_something)

    def _ambiguous(self, role: str, matches: Sequence[str]) -> InputError:
        hint = f"choose one: --column {role}={matches[0]}, columns={{{role!r}: {matches[0]!r}}}"
        if role == "relevant":
            paths = [field_path(name, is_list=self._has(name, _is_list)) for name in matches]
            if not any(map(is_place, matches)):  # a result is a document; else a part of one, with an id of its own
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


def _have_all(value: Any, names: set[str]) -> bool:
    """Whether an object, or one of a list, has all of some keys."""
    return any(names <= label.keys() for label in objects_in(value))


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
    return _is_word(value) or (is_number(value) and WORD.findall(name)[-1].lower() in PLACE_WORDS)


def is_scalar(value: object) -> bool:
    """Whether a value is a text, a number, or a flag."""
    return isinstance(value, (str, int, float))


LOG_VALUES = ("tokens", "cost", "refused")  # of which a log says one for each query: any other value is an error
FITTING: dict[str, Callable[[Any], bool]] = {
    "query": _is_text,
    "grades": _is_list,
    "retrieved": _is_list,
    "evidence": is_nested,
    "forbidden": lambda value: isinstance(value, (list, str)),
    "tokens": is_number,
    "cost": is_number,
    "refused": lambda value: isinstance(value, bool),
}
