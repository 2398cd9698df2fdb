"""Test sets that are refused: what a file is, what is missing, and the one option that helps.

Labels may be text, answers, groups, or objects with fields, and their key may have a name that no pattern knows. The
keys that may be meant are named in the option, so that it works as it is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankgauge.core.formatting import listing
from rankgauge.errors import InputError, shown
from rankgauge.io.formats.case_keys import (
    KEYS,
    NOUNS,
    STEM_WORDS,
    answerable_flag,
    expected_text_keys,
    field_path,
    holds_words,
    is_answer,
    is_kind,
    is_plain_list,
    is_text_or_label,
    label_kind,
    names_for,
    plain_text_keys,
    stem_size,
)
from rankgauge.io.formats.case_lists import filtered_name
from rankgauge.io.formats.expected_text import PART_WORDS, WORD, is_part_of_id, quote_key, text_key_of
from rankgauge.io.formats.field_labels import LIST_DOCUMENTS, NO_FIELDS, is_limit, suggested_fields, suggested_names
from rankgauge.io.formats.json_mapping import further_fields, id_key_of
from rankgauge.io.formats.json_text import JsonPairs, Records
from rankgauge.io.formats.named_columns import columns_for, normalize_name

PLACE_WORDS = {"chapter", "clause", "fragment", "idx", "index", "line", "no", "number", "offset", "page", "paragraph",
               "position", "row", "section"}  # of a document  # fmt: skip
MIN_WORDS, MAX_NAME_WORDS = 1.5, 12.0  # of the texts of queries, of the names of documents, on average


def missing_key(source: str, table: Records, role: str, *, has_text: bool = True) -> InputError:
    """The error for a file that has no key of a role.

    ``has_text`` says whether the text of the queries is known; if not, the option names its likely key, too.
    """
    found = f"found {names_text(table.names)}"
    if role != "relevant":
        known = ", ".join(key for tier in KEYS[role] for key in tier)
        message, hint = f"expected a key for {role} ({known})", f"name it: --column {role}=KEY"
        return InputError.at(source, None, f"{message}, {found}", hint=hint)
    text_option = "".join(f" --column query={name}" for name in likely_text_keys(table)[: not has_text])
    recognized = _expected_text(table, text_option) or _groups(table)
    if recognized is not None:
        message, hint = recognized
        return InputError.at(source, None, f"{message}; {found}", hint=hint)
    if named := next(filter(label_kind, table.names), None):
        objects = [value for record in table.records if isinstance(value := record.get(named), JsonPairs)]
        if any(objects):
            return object_labels_error(source, named, [dict(value) for value in objects])
        message, hint = f"test cases whose {shown(named)} looks like an answer", _answer_hint(table, named)
        return InputError.at(source, None, f"{message}, expected the ids of documents; {found}", hint=hint)
    others, documents = _other_keys(table), document_keys(table)
    plain_count = max((_count_of_values(table, name) for name in documents if not _has_objects(table, name)), default=0)
    for name in dict.fromkeys([*filter(stem_size, others), *documents]):
        labels = [label for record in table.records for label in objects_in(record.get(name))]
        if suggested_fields(labels) and _count_of_values(table, name) > plain_count:
            return object_labels_error(source, name, labels, within=field_path(name) if stem_size(name) else "")
    return InputError.at(
        source,
        None,
        "test cases without a key for the relevant documents (relevant_ids, expected_sources, gold_file, …), " + found,
        hint=_unknown_key_hint(source, table, documents, text_option) if others else LIST_DOCUMENTS,
    )


def _expected_text(table: Records, text_option: str) -> tuple[str, str] | None:
    """What is said of cases that expect text or a part of an id, and the option; None for others."""
    names = table.names
    if part := next(filter(is_part_of_id, names), None):
        message = f"test cases that expect a part of an id ({shown(part)}), not documents"
        return message, f"compare with parts of the ids: --match contains{text_option}"
    compare = "compare with the texts of the results: --match text"
    texts = expected_text_keys(names) or [name for name in names if is_text_or_label(name)]
    if any(map(label_kind, names)):  # which is not readable, but says more than what an answer must contain
        texts = [name for name in texts if not is_answer(name)]
    if texts:
        hints = [f"{compare}{text_option}", *_document_hints(table)]
        if label_kind(texts[0]) or not _has_words(table, texts[0]):
            hints.append(f"if these are ids: --column relevant={texts[0]}")
        return f"test cases that expect text ({listing(map(shown, texts), 3)}), not documents", "; ".join(hints)
    if plain := plain_text_keys(table.records, names_for(names, "query")):
        choice = f" --column relevant={plain[0]}" * (len(plain) > 1) + text_option
        keys = listing(map(shown, plain), 3)
        message = f"test cases without a key for the relevant documents; {keys} may be expected text"
        return message, "; ".join([f"{compare}{choice}", *_document_hints(table)])
    return None


def _groups(table: Records) -> tuple[str, str] | None:
    """What is said of cases that have lists of lists, and the option; None for others."""
    name = next((one for one in table.names if any(is_nested(record.get(one)) for record in table.records)), None)
    if name is None:
        return None
    if all(_are_ranges(record.get(name)) for record in table.records):
        return f"test cases whose {shown(name)} has pairs of numbers, expected the ids of documents", LIST_DOCUMENTS
    hint = f"if one document of each group is enough, they are evidence: --column evidence={name}"
    return f"test cases whose {shown(name)} has groups", hint


def _answer_hint(table: Records, name: str) -> str:
    """What helps if a key of labels has a text: an answer, unless it is an id."""
    documents = [other for other in document_keys(table) if other != name and not _has_objects(table, other)]
    others = [other for other in table.names if label_kind(other) is None and not is_answer(other)]
    lists = [other for other in others if any(is_plain_list(record.get(other)) for record in table.records)]
    if (documents or lists) and any(" " in str(record.get(name, "")) for record in table.records):
        return f"name the key of the documents: --column relevant={(documents or lists)[0]}"
    return f"if it is an id, say so: --column relevant={name}; if the texts of results contain it: --match text"


def _unknown_key_hint(source: str, table: Records, documents: Sequence[str], text_option: str) -> str:
    """What helps if no name is known: the key that may have the documents, or a field of results."""
    others = _other_keys(table)
    stemmed = [name for name in documents if stem_size(name) and not _has_objects(table, name)]
    plain = [name for name in documents if not _has_objects(table, name)]
    together = stemmed if len(stemmed) > 1 or not any(map(is_place, plain)) else plain
    if len(together) > 1:
        fields = ",".join(map(_field_option, together))
        return (
            f"if results have them as fields: --match-field {fields} (FIELD=PATH says where); to compare one alone: "
            f"--column relevant={next((name for name in together if not is_place(name)), together[0])}"
        )
    likely = next((names for names in (documents, stemmed, others) if len(names) == 1), [])
    if not likely and documents:
        return f"choose one: {', '.join(f'--column relevant={name}' for name in documents[:3])}"
    hint = f"name it: --column relevant={likely[0] if likely else 'KEY'}{text_option}"
    if not likely and (ids := names_for(table.names, "id")):
        hint += f"; if {shown(ids[0])} is the id of a document: --column relevant={ids[0]}"
    if likely and any(likely[0] not in record and answerable_flag(record) is not False for record in table.records):
        hint = f"take the cases that have {shown(likely[0])}: {filtered_name(source, likely[0])}{text_option}"
    if likely and likely == stemmed:
        hint += f"; if results have it as a field: --match-field {_field_option(likely[0])} (FIELD=PATH says where)"
        hint += "; if their texts contain it: --match text" * _has_words(table, likely[0])
    return hint


def _field_option(name: str) -> str:
    """A key of cases and the field of results that may have the same, as ``--match-field`` takes them."""
    path = field_path(name, is_list=is_place(name))  # a result is at one place
    return name if path == name else f"{name}={path}"


def likely_text_keys(table: Records) -> list[str]:
    """The keys that may have the text of a query though no name says so: strings of several words."""
    keys = []
    for name in table.names:
        values = [record[name] for record in table.records if name in record]
        is_other = stem_size(name) or is_answer(name) or NO_FIELDS.fullmatch(normalize_name(name))
        if not is_other and values and all(isinstance(value, str) for value in values):
            keys += [name] if _words_per_value(table, name) > MIN_WORDS else []
    return keys


def _words_per_value(table: Records, name: str) -> float:
    """How many words the strings of a key have on average; 0 without strings."""
    values = [record[name] for record in table.records if name in record]
    texts = [item for value in values for item in (value if is_plain_list(value) else [value]) if isinstance(item, str)]
    return sum(len(text.split()) for text in texts) / len(texts) if texts else 0.0


def document_keys(table: Records) -> list[str]:
    """The keys that may have the documents though no pattern says so: ``source``, ``citation``, ``relevant_policy``.

    Their name begins as one of labels does or ends in a noun of documents, and they have ids, or objects.
    """
    keys = [
        name
        for name in _other_keys(table)
        if text_key_of(name) is None
        and label_kind(name) is None
        and (stem_size(name) or ((_names_document(name) or _lists_ids(table, name)) and not is_kind(name)))
        and any(_is_label_value(value) or objects_in(value) for record in table.records if (value := record.get(name)))
        and _words_per_value(table, name) <= MAX_NAME_WORDS
        and not NO_FIELDS.fullmatch(normalize_name(name))
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


def _lists_ids(table: Records, name: str) -> bool:
    """Whether a key has lists of the ids of something, by its name: ``dataset_ids``."""
    return normalize_name(name).endswith("ids") and any(is_plain_list(record.get(name)) for record in table.records)


def is_place(name: str) -> bool:
    """Whether a name is that of a place in a document: ``pages``, ``gold_section``."""
    return any(word.lower().removesuffix("s") in PLACE_WORDS for word in WORD.findall(name))


def _count_of_values(table: Records, name: str) -> int:
    return sum(is_something(record.get(name)) for record in table.records)


def _has_objects(table: Records, name: str) -> bool:
    return any(objects_in(record.get(name)) for record in table.records)


def _document_hints(table: Records) -> list[str]:
    """How to name the key of the documents, for cases whose texts or answers were recognized."""
    keys = [name for name in document_keys(table) if not _has_objects(table, name)]
    if keys and is_place(keys[0]):
        return [f"if results have such a field: --match-field {_field_option(keys[0])} (FIELD=PATH says where)"]
    return [f"if {shown(keys[0])} has the documents: --column relevant={keys[0]}"] if keys else []


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
        for label in objects_in(record.get(key)) if _is_label(record.get(key)) else ():
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


# -- values ---------------------------------------------------------------------------------------------------------


def objects_in(value: Any) -> list[dict[str, Any]]:
    """The objects that a value is, or lists."""
    items = [value] if isinstance(value, JsonPairs) else value if isinstance(value, list) else []
    return [dict(item) for item in items if isinstance(item, JsonPairs)]


def names_text(names: Iterable[str]) -> str:
    """Names of keys, for a message."""
    return listing(map(shown, names), 12) or "none"


def is_number(value: object) -> bool:
    """Whether a value is a number, and not true or false."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_nested(value: object) -> bool:
    """Whether a list has lists: of evidence, and not of quotes."""
    return isinstance(value, list) and any(isinstance(item, list) and not isinstance(item, JsonPairs) for item in value)


def _are_ranges(value: Any) -> bool:
    """Whether a list has pairs of numbers, the start and the end of something; or is empty."""
    items = value if is_plain_list(value) else []
    return all(is_plain_list(item) and len(item) == 2 and all(map(is_number, item)) for item in items)


def is_something(value: object) -> bool:
    """Whether a value is neither null nor empty."""
    return value is not None and value != [] and value != ""
