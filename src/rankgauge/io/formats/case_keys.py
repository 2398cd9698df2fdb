"""Which key of a test case or of a row of a log holds what.

Everyone names the expected documents differently, so their key is found by pattern: ``expected_sources``,
``relevantSessionIds`` and ``gold_file`` are words for the same thing. Names are compared without case, spaces, hyphens,
dots and underscores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Any

from rankgauge.core.formatting import listing
from rankgauge.errors import InputError, Note, nearest, shown
from rankgauge.io.formats.expected_text import PART_WORDS, WORD, is_part_of_id, quote_key, text_key_of
from rankgauge.io.formats.field_labels import FieldLabels, suggested_fields
from rankgauge.io.formats.json_mapping import further_fields, id_key_of
from rankgauge.io.formats.json_text import JsonPairs, Records
from rankgauge.io.formats.named_columns import Columns, check_roles, columns_for, normalize_name

# Role → names in tiers: the certain ones first, then those used if no certain one is there (they may contain texts).
KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "id": (("query_id", "qid", "question_id", "_id", "id"), ("case_id", "test_id", "key")),
    "query": (
        ("question", "query", "user_input", "q", "ask", "prompt", "search_terms", "search_query", "query_text",
         "query_string", "text", "input"),
    ),
    "retrieved": (
        ("retrieved_ids", "retrieved_context_ids", "retrieved_doc_ids", "retrieved_chunk_ids", "predicted_ids"),
        ("retrieved", "retrieved_docs", "retrieved_documents", "retrieved_chunks", "results", "predictions",
         "top_paths"),
        ("contexts", "retrieved_contexts"),
    ),
    "grades": (("grades", "relevance_grades", "judgments", "qrels", "relevance", "ratings"),),
    "evidence": (("evidence", "evidence_ids"),),
    "forbidden": (("forbidden_ids", "forbidden_doc_ids", "forbidden_chunk_ids"),
                  ("forbidden", "forbidden_docs", "forbidden_documents", "forbidden_chunks", "forbidden_sources")),
    "scores": (("scores", "retrieved_scores", "retrieval_scores", "similarities"),),
    "k": (("k", "top_k"),),
    "latency": (("latency_ms",),),
    "tokens": (("tokens", "total_tokens"),),
    "cost": (("cost", "cost_usd"),),
    "refused": (("refused", "abstained"),),
    "error": (("error",),),
    "system": (("system", "mode"),),
}  # fmt: skip
ROLES = ("id", "query", "retrieved", "relevant", *(role for role in KEYS if role not in ("id", "query", "retrieved")))
WEAK_TEXT_NAMES = ("text", "input")  # which results have, too

STEMS = ("expected", "expects", "expect", "relevant", "golden", "gold", "ground_truth", "reference", "required",
         "must_include", "must_cite", "should_cite", "must_retrieve", "should_retrieve", "positive")  # fmt: skip
WEAK_STEMS = ("rel", "target", "correct")  # which need a noun, or say id
NOUNS = ("document", "doc", "source", "file", "path", "chunk", "note", "memory", "session", "passage", "page", "node",
         "citation", "symbol", "function", "article", "clause", "section", "url", "uri")  # fmt: skip
OTHER_THINGS = {"answer", "answers", "case", "category", "class", "intent", "label", "query", "question", "response",
                "tenant", "test", "tool", "tools", "user"}  # whose ids are not those of documents  # fmt: skip
ID_MARK = re.compile(r"^(?=\S*[0-9/_.:#-])\S+$")  # of a text that may be an id
COLLECTIVES = ("results", "items", "hits", "retrieved")  # may also be a number, or objects of any kind


def _pattern() -> re.Pattern[str]:
    stems = "|".join(sorted(map(normalize_name, (*STEMS, *WEAK_STEMS)), key=len, reverse=True))
    nouns = "|".join("memor(?:y|ies)" if noun == "memory" else f"{noun}s?" for noun in NOUNS)
    collective = "|".join(COLLECTIVES)
    noun = rf"(?P<noun>(?:{nouns}|contexts?(?=id)){{1,2}})"
    return re.compile(rf"(?:{stems})(?:{noun}|{collective})?(?P<id>ids?|indices)?(?P<name>names?)?")


RELEVANT = _pattern()
WEAK_NAMES = re.compile(rf"(?:{'|'.join(WEAK_STEMS)})(?:{'|'.join(COLLECTIVES)})?")  # without either
STEM_WORDS = {tuple(stem.split("_")) for stem in (*STEMS, *WEAK_STEMS)}
MAX_STEM = max(map(len, STEM_WORDS))


@dataclass(frozen=True)
class CaseKeys:
    """The key of each role that a file has, and what to know of the others.

    ``is_named`` says whether the user named the key of the relevant documents, or asked for parts of ids, which it has.
    """

    keys: dict[str, str]
    is_named: bool = False
    notes: tuple[Note, ...] = ()


def label_kind(name: str) -> str | None:
    """How sure a name is to hold relevant documents: it says ``id``, has a ``noun``, or is ``bare``; None if not.

    ``any id`` is the id of something that is not known to be a document: ``expected_entry_ids``.
    """
    normalized = normalize_name(name)
    match = RELEVANT.fullmatch(normalized)
    if match is None or WEAK_NAMES.fullmatch(normalized):
        return "any id" if _is_any_id(name) else None
    return "id" if match["id"] else "noun" if match["noun"] or match["name"] else "bare"


def _is_any_id(name: str) -> bool:
    """Whether a name is a stem, one or two words of any kind, and ``id`` or ``ids``; a dotted path is not a name."""
    words = [] if "." in name else [word.lower() for word in WORD.findall(name)]
    size = 0 if "." in name else _stem_size(name)
    between = words[size:-1] if size and words[-1] in ("id", "ids") else []
    return len(between) in (1, 2) and not OTHER_THINGS & set(between)


def expected_text_keys(names: Iterable[str]) -> list[str]:
    """The keys that hold text to be found in results, rather than ids: ``must_contain``, ``expected_substring``."""
    return [
        name for name in names if label_kind(name) is None and text_key_of(name) is not None and _flag(name) is None
    ]


def is_text_or_label(name: str) -> bool:
    """Whether a name fits both expected text and relevant documents: ``must_include``, whose values decide."""
    return label_kind(name) == "bare" and text_key_of(name) is not None


def holds_words(value: Any) -> bool:
    """Whether a value has words, which are expected text, rather than ids: no digit or mark in one of them."""
    items = value if _is_plain_list(value) else [value]
    return any(isinstance(item, str) and not ID_MARK.search(item.strip()) for item in items)


def takes_one_string(name: str) -> bool:
    """Whether a single string under a key is an id: its name has a noun, or says id; elsewhere it may be an answer.

    What is ``relevant`` is not an answer.
    """
    return (
        normalize_name(name) == "relevant"
        or label_kind(name) in ("id", "noun", "any id")
        or normalize_name(name).endswith(("id", "ids"))
    )


def names_for(names: Sequence[str], role: str) -> list[str]:
    """The names of a role in the most certain tier that has one, the best first."""
    for tier in KEYS[role]:
        order = [normalize_name(key) for key in tier]
        matches = [name for name in names if normalize_name(name) in order]
        if matches:
            return sorted(matches, key=lambda name: order.index(normalize_name(name)))
    return []


def holds_labels(name: str, value: Any) -> bool:
    """Whether a key and its value list relevant documents."""
    kind = label_kind(name)
    if kind is None:
        return False
    if isinstance(value, JsonPairs):
        plain = (int, float) if kind == "bare" else (str, int, float, type(None))
        return all(isinstance(inner, plain) for _, inner in value)
    is_one = isinstance(value, (str, int)) and not isinstance(value, bool)
    return isinstance(value, list) or (is_one and takes_one_string(name))


def holds_grades(value: Any) -> bool:
    """Whether a value under a key of grades has documents with grades."""
    if isinstance(value, JsonPairs):
        return bool(value) and all(isinstance(grade, (int, float)) for _, grade in value)
    objects = [item for item in value if isinstance(item, JsonPairs)] if isinstance(value, list) else []
    return bool(objects) and bool(columns_for(objects[0].names(), "grade"))


def _lists_results(value: Any) -> bool:
    """Whether a value lists results, rather than cases."""
    if not isinstance(value, list):
        return False
    return not any(isinstance(item, JsonPairs) and is_case(dict(item)) for item in value[:1])


def is_case(record: Mapping[str, Any]) -> bool:
    """Whether an object is a test case or a row of a log, rather than a result, a judgment or a comment."""
    names = list(record)
    texts = [name for name in names_for(names, "query") if normalize_name(name) not in WEAK_TEXT_NAMES]
    has_text = any(isinstance(record[name], str) for name in texts)
    has_document = bool(columns_for(names, "doc")) and bool(
        columns_for(names, "grade") or columns_for(names, "score") or columns_for(names, "rank")
    )
    has_labels = any(holds_labels(name, value) for name, value in record.items())
    has_grades = any(holds_grades(record[name]) for name in names_for(names, "grades"))
    has_results = any(_lists_results(record[name]) for name in names_for(names, "retrieved"))
    has_objects = bool(names_for(names, "query")) and any(_holds_lists(name, value) for name, value in record.items())
    has_labels = has_labels or has_objects
    return (has_text and not has_document) or has_labels or has_grades or has_results or _has_nested_text(record)


def _holds_lists(name: str, value: Any) -> bool:
    """Whether a key of labels has an object with lists: ``{"expected": {"files": ["a.py"], "symbols": ["f"]}}``."""
    is_labeled = label_kind(name) is not None and isinstance(value, JsonPairs)
    return is_labeled and any(_is_plain_list(inner) and inner for _, inner in value)


def _has_nested_text(record: Mapping[str, Any]) -> bool:
    """Whether an object has the text of a query in an object: ``{"vars": {"question": …}}``."""
    return any(
        isinstance(value, JsonPairs)
        and any(normalize_name(key) in ("question", "query") and isinstance(text, str) for key, text in value)
        for value in record.values()
    )


# -- the key of each role ---------------------------------------------------------------------------------------


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
            and not (is_text_or_label(name) and self._has(name, holds_words))
        ]
        matches = [name for name in matches if label_kind(name) != "any id"] or matches
        if not matches:
            matches = self._nested(lambda name: label_kind(name) is not None, _is_list)
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
        return matches[0] if matches else None

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
        used = {name.partition(".")[0] for name in self.fields.names}
        if others := [name for name in suggested_names(labels) if name not in used]:
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

    def _is_empty(self, name: str) -> bool:
        return not self._has(name, _is_something)

    def _ambiguous(self, role: str, matches: Sequence[str]) -> InputError:
        hint = f"choose one: --column {role}={matches[0]}, columns={{{role!r}: {matches[0]!r}}}"
        if role == "relevant":
            paths = ["id", *(field_path(name, is_list=self._has(name, _is_list)) for name in matches[1:])]
            fields = ",".join(f"{name}={path}" for name, path in zip(matches, paths, strict=True))
            hint += f"; if a result must have them all: --match-field {fields} (FIELD=PATH says where)"
        return InputError.at(
            self.source,
            None,
            f"expected one key for {role}, found {len(matches)}: {', '.join(shown(name) for name in matches)}",
            hint=hint,
        )


def _stem_size(name: str) -> int:
    """How many words of a name are the stem of a key of relevant documents: 1 for ``expected_topic``."""
    words = _lowered(WORD.findall(name))
    return max((size for size in range(1, MAX_STEM + 1) if words[:size] in STEM_WORDS), default=0)


def field_path(name: str, *, is_list: bool = False) -> str:
    """Where a result may have what a key of cases expects: ``topic`` for ``expected_topic``."""
    words, size = WORD.findall(name), _stem_size(name)
    rest = name[name.index(words[size], sum(map(len, words[:size]))) :] if size < len(words) else name
    return rest[:-1] if is_list and rest.endswith("s") and not rest.endswith("ss") else rest


def _lowered(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.lower() for word in words)


def _inner_value(value: Any, key: str) -> Any:
    """What an object has under a key, or all that the objects of a list have; None without it."""
    if isinstance(value, JsonPairs):
        return dict(value).get(key)
    if not isinstance(value, list):
        return None
    found = [inner for item in value if (inner := _inner_value(item, key)) is not None]
    return [one for inner in found for one in (inner if _is_plain_list(inner) else [inner])] or None


def _is_plain_list(value: object) -> bool:
    return isinstance(value, list) and not isinstance(value, JsonPairs)


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects that a value is, or lists."""
    items = [value] if isinstance(value, JsonPairs) else value if isinstance(value, list) else []
    return [dict(item) for item in items if isinstance(item, JsonPairs)]


def suggested_names(labels: Iterable[Mapping[str, Any]]) -> list[str]:
    """The fields of labels that say which result is meant."""
    return [part.partition("=")[0] for part in suggested_fields(labels).split(",") if part]


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


def _is_something(value: object) -> bool:
    return value is not None and value != [] and value != ""


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
        hints = ["compare with the texts of the results: --match text"]
        if label_kind(texts[0]) or not _has_words(table, texts[0]):
            hints.append(f"if these are ids: --column relevant={texts[0]}")
        return InputError.at(
            source,
            None,
            f"test cases that expect text ({listing(map(shown, texts), 3)}), not documents; {found}",
            hint="; ".join(hints),
        )
    if groups := [name for name in names if any(_is_nested(record.get(name)) for record in table.records)]:
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
    others = [name for name in names if not any(names_for([name], role) for role in ("id", "query", "k"))]
    stemmed = [
        name for name in others if _stem_size(name) and any(_is_label_value(one.get(name)) for one in table.records)
    ]
    likely = stemmed if len(stemmed) == 1 else others if len(others) == 1 else []
    hint = f"name it: --column relevant={likely[0] if likely else 'KEY'}"
    if stemmed == likely != []:
        field = likely[0]
        hint += f"; if results have it as a field: --match-field {field}={field_path(field)} (FIELD=PATH says where)"
    return InputError.at(
        source,
        None,
        "test cases without a key for the relevant documents (relevant_ids, expected_sources, gold_file, …), " + found,
        hint=hint,
    )


def _answer_error(source: str, table: Records, name: str) -> InputError:
    """The error for a key of labels that has a text: an answer, unless it is an id."""
    hint = f"if it is an id, say so: --column relevant={name}"
    others = [other for other in table.names if label_kind(other) is None]
    lists = [other for other in others if any(_is_plain_list(record.get(other)) for record in table.records)]
    if lists and any(" " in str(record.get(name, "")) for record in table.records):
        hint = f"name the key of the documents: --column relevant={lists[0]}"
    found = f"found {_names_text(table.names)}"
    return InputError.at(
        source,
        None,
        f"test cases whose {shown(name)} looks like an answer, expected the ids of documents; {found}",
        hint=hint,
    )


def other_label_keys(record: Mapping[str, Any], key: str) -> list[str]:
    """The keys of a case that expect something else of a result: ``expected_memory_types`` beside ``…_ids``."""
    names = [name for name in record if name != key and _stem_size(name) and text_key_of(name) is None]
    return [name for name in names if _is_plain_list(record[name]) and _is_label_value(record[name])]


def _has_words(table: Records, name: str) -> bool:
    return any(holds_words(value) for record in table.records if (value := record.get(name)) not in (None, []))


def _is_label_value(value: Any) -> bool:
    items = value if _is_plain_list(value) else [value]
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
    source: str, name: str, labels: Sequence[Mapping[str, Any]], line: int | None = None
) -> InputError:
    """The error for labels that are objects: around a list of ids, or with fields that a result must have."""
    keys = list(dict.fromkeys(key for label in labels for key in label))
    lists = [key for key in keys if any(isinstance(label.get(key), list) for label in labels)]
    stemmed = [key for key in lists if _lowered(WORD.findall(key)[:1]) in STEM_WORDS]
    fields, names = suggested_fields(labels), suggested_names(labels)
    expected = "expected ids, or the fields that a result must have"
    hints = []
    if (quote := quote_key(keys)) is not None and text_key_of(name) is not None:
        hints.append(f"to find {shown(quote)} in the texts of results: --match text")
    if stemmed or (lists and set(names) <= set(lists)):
        expected = "expected the ids of documents"
        hints.append(f"name the key in it: --column relevant={name}.{(stemmed or lists)[0]}")
    elif names:
        hints.append(f"if results have these fields: --match-field {fields} (FIELD=PATH says where)")
        if len(names) > 1 and (one := next(filter(_is_document, names), None)) is not None:
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


# -- cases that expect nothing ----------------------------------------------------------------------------------

# A flag is true or false; a kind is one word of several. Names have filling words before them: should_refuse,
# is_answerable, expected_fallback.

FILLING = r"(?:is|has|have|be|in|was|should|expect(?:ed|s)?|to|safety|query|question|case)*"
NOTHING_CORE = (
    r"abstain(?:ed|s)?|abstention|refus(?:e|es|ed|al)|declin(?:e|ed)|reject(?:ed)?|fallback|negative(?:case|test)?|"
    r"unanswerable|(?:no|empty|zero)(?:answer|match|result|hit|document|doc|source|evidence|retrieval)(?:es|s)?|"
    r"nothing(?:expected|found)?|empty|none|notfound|outof(?:scope|corpus|domain|kb|context)|oos|ood|offtopic|"
    r"insufficient(?:context|evidence)?|unsupported|nil"
)
ANSWERABLE_CORE = (
    r"answer(?:able|ed|s)?(?:exists|present)?|find(?:answer|s)?|found|match(?:es)?|hits?|retrieve[ds]?|results?|"
    r"kb|corpus|scope|domain|sufficient(?:context|evidence)?|supported|evidence|relevantdocs?"
)
NOTHING_FLAG = re.compile(rf"(?:must)?{FILLING}(?:{NOTHING_CORE})")
ANSWERABLE_FLAG = re.compile(rf"{FILLING}(?:{ANSWERABLE_CORE})")
KIND_NAME = re.compile(
    r"(?:(?:expected|question|query|case|test|answer)*(?:kind|category|type|class|group|bucket|behaviou?r|outcome|status|"
    r"verdict|label|shape|difficulty|tier|tags?|labels)|expects?|expected|split)"
)
NOTHING_KIND = re.compile(
    r"refus(?:e|al)|abstain|abstention|.*unanswerable.*|nonsense|.*outof(?:scope|domain|corpus|kb|context|distribution).*"
    r"|oos|ood|offtopic|negatives?|negative(?:control|case|query|test)s?|truenegatives?|.*no(?:t)?(?:in(?:corpus|kb|docs)|"
    r"found|answer(?:able)?|results?|match(?:es)?|hits?|info(?:rmation)?)|insufficient(?:context|evidence|information)?|"
    r"absent|missing(?:info|information|answer)?|irrelevant|decline"
)


def answerable_flag(record: Mapping[str, Any]) -> bool | None:
    """Whether a case says that it has an answer (``answerable``), or has none (``kind: unanswerable``); None if not.

    A flag comes before a kind. ``should_refuse: false`` says neither: there are other reasons to refuse.
    """
    flags = [(_flag(name), value) for name, value in record.items() if isinstance(value, bool)]
    if any(flag is value for flag, value in flags):
        return False
    if any(flag is False for flag, _ in flags):
        return True
    return False if any(_says_nothing(name, value) for name, value in record.items()) else None


def says_nothing(kind: str) -> bool:
    """Whether a kind of cases is one that expects nothing: unanswerable, out_of_scope, negatives."""
    return bool(NOTHING_KIND.fullmatch(normalize_name(kind)))


def _says_nothing(name: str, value: Any) -> bool:
    """Whether a key is a kind, a category or tags, and says that nothing is expected."""
    if not isinstance(value, (str, list)) or not KIND_NAME.fullmatch(normalize_name(name)):
        return False
    kinds = [value] if isinstance(value, str) else value
    return any(isinstance(kind, str) and says_nothing(kind) for kind in kinds)


@lru_cache(1024)
def _flag(name: str) -> bool | None:
    """Which value of a flag says that nothing is expected; None if a name is not such a flag."""
    normalized = normalize_name(name)
    if NOTHING_FLAG.fullmatch(normalized):
        return True
    return False if ANSWERABLE_FLAG.fullmatch(normalized) else None


# -- keys that change the meaning, but are not used -------------------------------------------------------------


@dataclass(frozen=True)
class Unused:
    """Keys that a scorer of one's own would use, and what to do instead; ``{key}`` is the first of them."""

    code: str
    pattern: re.Pattern[str]
    text: str


K_UNUSED = "k-unused"
UNUSED = (
    Unused(
        "forbidden-unused",
        re.compile(r"forbid(?:den)?\w*|reject(?:ed)?(?:ids?|docs?)?|mustnot\w*|shouldnot\w*|notexpected\w*|afterids?"),
        "{key} is not used; if it lists documents that must not be returned: --column forbidden={key} -m Leak@10",
    ),
    Unused(
        "lines-unused",
        re.compile(r"(?:expected)?(?:lines?|linerange|startline|endline|heading|anchor)(?:start|end)?"),
        "{key} is not used: a result counts if it is the right document, wherever in it; to require the passage, label "
        'by text: {{"query": "…", "gold": ["a sentence"]}}',
    ),
    Unused(
        "threshold-unused",
        re.compile(r"min(?:imum)?(?:recall|score|precision|hits?)\w*|threshold|\w*floors?|recallat\w*floor"),
        "{key} is not used; to require a value: `rankgauge gate LABELS RESULTS --require 'R@10>=0.8'`",
    ),
    Unused(
        "rank-unused",
        re.compile(r"max(?:imum)?rank|withintop|rankatmost"),
        "{key} is not used; to count the cases found within a rank: -m Success@3",
    ),
    Unused(
        "known-miss-unused",
        re.compile(r"known(?:miss|failure|fail|bug)|xfail|expectfail(?:ure)?|skip"),
        "{key} is not used: such cases count like any other; to show them apart: --by {key}",
    ),
    Unused(
        K_UNUSED, re.compile(r"k|topk"), "each case has its own {key}; to use it as the cutoff: -m R@k -m Success@k"
    ),
)


def unused_notes(source: str, names: Sequence[str], used: Iterable[str], texts_used: bool = False) -> list[Note]:
    """One note for each kind of key that changes the meaning of a case but is not used."""
    used = set(used)
    notes = []
    for unused in UNUSED:
        keys = [name for name in names if name not in used and unused.pattern.fullmatch(normalize_name(name))]
        if keys:
            notes.append(Note(unused.code, f"{source}: {unused.text.format(key=keys[0])}"))
    texts = [name for name in (*expected_text_keys(names), *filter(is_text_or_label, names)) if name not in used]
    if texts and not texts_used:
        message = f"{texts[0]} is not used: only ids are compared; to compare texts: --match text"
        notes.append(Note("text-unused", f"{source}: {message}"))
    return notes
