"""Labels with several fields, such as a document and a clause, or a path and lines; and the same fields of results.

``doc_id=metadata.doc`` compares the field ``doc_id`` of a label with what a result has at a path; several are separated
by commas. ``start..end=from..to`` is a range of two fields on either side, ``title_contains=title`` a part of a text.
A label and a result become ids that list the values, which ``match`` compares. A result that has an id besides them
keeps it: two chunks of a page are two results. Without one, results with the same values are one. A label need not have
all of the fields: those that it has must match.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import listing, plural
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.io.formats.case_keys import field_path, label_kind
from rankgauge.io.formats.expected_text import WORD, text_key_of
from rankgauge.io.formats.json_mapping import DESCRIPTIONS, id_key_of
from rankgauge.io.formats.json_text import JsonPairs, describe_json
from rankgauge.io.formats.named_columns import columns_for, normalize_name

RANGE = re.compile(r"[Ll]?(\d+)(?:\s*[-–:]\s*[Ll]?(\d+))?")
BETWEEN = ".."
EXAMPLE = "--match-field doc_id=metadata.doc,clause=metadata.clause"
Compare = Callable[[str, str], bool]
ABSENT = object()
EXAMINED_RESULTS = 1000
MIN_SHARE = 0.5  # of the labels that have a value at another path, so that it is the one that is meant
WRAPPERS = ("node", "document")  # of a result with its score
RANGE_ENDS = (("start", "end"), ("begin", "end"), ("from", "to"), ("first", "last"))
TIME_WORDS = {"time", "times", "timestamp", "second", "seconds", "sec", "secs", "ms", "millis", "minute", "minutes"}
RANGE_WORDS = {"line", "lines", "linerange", "range", "span"}
PART_WORDS = {"contain", "contains", "substring", "includes", "include", "fragment", "hint"}
PREFIX_WORDS = {"prefix", "startswith"}
IDENTIFYING = {"title", "url", "source", "kind", "type", "name"}  # descriptions, unless a label has no id
LIMIT_WORDS = {"min", "max", "gte", "lte", "gt", "lt", "before", "after"}  # of values that are not to be equal
RANK_WORDS = {"rank", "position", "docs", "documents", "chunks", "hits", "results", "matches", "count", "score",
              "recall", "precision", "k", "tokens"}  # fmt: skip
NUMBER_WORDS = {"rank", "position", "score", "similarity", "distance", "count"}  # of a result, not of a document
NEGATIVE = re.compile(r"(?:forbid|avoid|exclude|reject|mustnot|shouldnot|not)\w*|acceptable\w*")
NO_FIELDS = re.compile(r"(?:max|min)\w*|k|topk|why|reason\w*|rationale|note\w*|comment\w*|description|verify|optional")


LIST_DOCUMENTS = 'list the documents that match: {"query": "…", "relevant_ids": ["…"]}'


def is_limit(name: str) -> bool:
    """Whether a field of labels limits a value rather than saying what it is: ``year_min``, ``max_price``."""
    words = _words(name)
    is_first = words[:1] and words[0] in LIMIT_WORDS and not RANK_WORDS & set(words)
    return len(words) > 1 and bool(is_first or words[-1] in LIMIT_WORDS)


@dataclass(frozen=True)
class MatchField:
    """A field of labels, or two that are a range, and the path or paths of the same thing in a result."""

    label: tuple[str, ...]
    result: tuple[str, ...]

    @property
    def is_range(self) -> bool:
        """Whether values overlap rather than being equal."""
        is_pair = len(self.label) > 1 or len(self.result) > 1
        return is_pair or bool(RANGE_WORDS & set(_words(self.label[0])))

    @property
    def last_word(self) -> str:
        """The last word of the name, which may say how texts are compared."""
        return (_words(self.label[0]) or [""])[-1]

    @classmethod
    def parse(cls, text: str) -> MatchField:
        """From ``FIELD=PATH``, or ``FIELD`` if the path is the same; that of ``title_contains`` is ``title``."""
        label, sign, result = text.partition("=")
        sides = tuple(
            tuple(part.strip() for part in side.split(BETWEEN)) for side in (label, result if sign else label)
        )
        if not all(all(side) and len(side) <= 2 for side in sides):
            raise UsageError(f"--match-field takes FIELD=PATH, found {shown(text)}", hint=EXAMPLE)
        if any(map(is_limit, sides[0])):
            raise UsageError(
                f"--match-field compares values, and {shown(label)} is a limit, which other values satisfy",
                hint=LIST_DOCUMENTS,
            )
        return cls(sides[0], sides[1] if sign else tuple(map(compared_name, sides[0])))


class FieldLabels:
    """The ids of labels and of results that have several fields."""

    def __init__(self, fields: Sequence[MatchField]) -> None:
        self.fields = tuple(fields)
        self._first_results: list[Any] = []  # to say where they have what labels expect
        self._own_ids: dict[str, str] = {}  # of results of which the id is one of the fields

    @classmethod
    def of(cls, texts: Sequence[str]) -> FieldLabels:
        """From texts such as ``clause=metadata.clause``, each of one field or of several."""
        return cls([MatchField.parse(part) for text in texts for part in text.split(",")])

    def __bool__(self) -> bool:
        return bool(self.fields)

    @property
    def names(self) -> list[str]:
        """The fields of labels."""
        return [name for field in self.fields for name in field.label]

    def label_id(self, value: Any) -> str:
        """The id of a label; raises if it has none of the fields."""
        values = self._values_at(value, [field.label for field in self.fields], "a label")
        if all(one is None for one in values):
            raise InputError(f"a label has none of {listing(map(shown, self.names), 5)}: found {_described(value)}")
        return json.dumps(values, ensure_ascii=False)

    def is_empty(self, value: Any) -> bool:
        """Whether a label has the fields, and nothing in any of them."""
        found = [_at(value, name) for name in self.names] if isinstance(value, (JsonPairs, Mapping)) else []
        return any(one is not ABSENT for one in found) and all(one in (ABSENT, None, "", []) for one in found)

    def result_id(self, value: Any) -> str:
        """The id of a result, or of the first of a pair of a result and its score; its own id is the last value."""
        if isinstance(value, (tuple, list)) and len(value) == 2 and not isinstance(value, JsonPairs):
            value = value[0] if not hasattr(value, "_fields") else value
        if len(self._first_results) < EXAMINED_RESULTS:
            self._first_results.append(value)
        values = self._values_at(value, [field.result for field in self.fields], "a result")
        own = str(_own_id(value))
        if own not in values:
            values.append(own)
            return json.dumps(values, ensure_ascii=False)
        made = json.dumps(values, ensure_ascii=False)
        self._own_ids[made] = own
        return made

    def own_id(self, doc: str) -> str:
        """The id of a result without its fields; the first text among them if it is one of them."""
        values = json.loads(doc)
        if len(values) > len(self.fields):
            return str(values[-1])
        return self._own_ids.get(doc) or str(next((value for value in values if isinstance(value, str)), doc))

    def _values_at(self, value: Any, sides: Sequence[tuple[str, ...]], what: str) -> list[Any]:
        """The value of each field: a text, a list of texts of which one is enough, a range; None without it."""
        values: list[Any] = []
        for field, paths in zip(self.fields, sides, strict=True):
            found = [_at(value, path) for path in paths]
            if ABSENT in found or None in found:
                values.append(None)
            else:
                values.append(_range_text(found, what) if field.is_range else _texts(found[0], what, paths[0]))
        return values

    def match(self, label: str, result: str, compare: Compare, *, ignore_case: bool = False) -> bool:
        """Whether all fields of a label match: ranges if they overlap, parts of texts, others as ``compare`` says."""
        sides = self._values(label, "the label"), self._values(result, "the result")
        for field, wanted, found in zip(self.fields, *sides, strict=True):
            if wanted is None:
                continue
            compare_one = _comparison(field, compare, ignore_case=ignore_case)
            if found is None or not any(compare_one(one, other) for one in _listed(wanted) for other in _listed(found)):
                return False
        return True

    def check_results(self, results: Iterable[str], labels: Sequence[str] = (), *, is_exact: bool = True) -> None:
        """Raise if there are results, and none has one of the fields: its path is wrong.

        If the first results have what labels expect at another path, the hint is the option with it. If values must be
        equal, the path is wrong, too, if no result has one of a label there, and most have one at another.
        """
        try:
            rows = [self._values(name, "the result") for name in results]
        except InputError:
            return  # which is said once a label is compared
        for number, field in enumerate(self.fields):
            if rows and all(row[number] is None for row in rows):
                others = [one.result[0] for place, one in enumerate(self.fields) if any(row[place] for row in rows)]
                found = f"found {listing(map(shown, others), 5)}" if others else "found none of the fields"
                name, path = BETWEEN.join(field.label), BETWEEN.join(field.result)
                example = f"--match-field {name}=PATH, for example {name}=metadata.{path}"
                corrected = self._corrected(labels, {number})
                raise InputError(
                    f"no result has {shown(path)}: {found}",
                    hint=f"say where results have it: {corrected or example}",
                )
        wrong = self._unmatched(rows, labels) if is_exact and rows else set()
        if wrong and (corrected := self._corrected(labels, wrong, MIN_SHARE)):
            field = self.fields[min(wrong)]
            name, path = BETWEEN.join(field.label), BETWEEN.join(field.result)
            raise InputError(
                f"no result has at {shown(path)} what a label has as {shown(name)}",
                hint=f"results have it elsewhere: {corrected}",
            )

    def _unmatched(self, rows: Sequence[Sequence[Any]], labels: Iterable[str]) -> set[int]:
        """The fields whose values are to be equal, and of which no label has one that a result has, too."""
        wanted = [self._values(label, "the label") for label in labels]
        unmatched = set()
        for number, field in enumerate(self.fields):
            if field.is_range or field.last_word in PART_WORDS | PREFIX_WORDS:
                continue
            found = {one for row in rows if row[number] is not None for one in _listed(row[number])}
            if not any(one in found for row in wanted if row[number] is not None for one in _listed(row[number])):
                unmatched.add(number)
        return unmatched

    def _corrected(self, labels: Iterable[str], wrong: Collection[int], least: float = 0.0) -> str:
        """The option with the paths at which the first results have what labels expect; empty if one is not found.

        ``wrong`` are the fields whose path is looked for, ``least`` the share of labels that a path must have.
        """
        rows = [self._values(label, "the label") for label in labels]
        paths = dict.fromkeys(path for result in self._first_results for path in _paths_of(result))
        values = {path: self._values_of_results(path) for path in paths}
        taken = {path for field in self.fields for path in field.result}
        parts, counts, rule = [], [], ""
        for number, field in enumerate(self.fields):
            name, own = BETWEEN.join(field.label), BETWEEN.join(field.result)
            if field.is_range and not set(field.result) <= values.keys() and (ends := _range_paths(values, name)):
                parts.append(f"{name}={BETWEEN.join(ends)}")
                counts.append(f"results have {shown(ends[0])} and {shown(ends[1])}")
                continue
            if number not in wrong and (field.is_range or own in values or own == "id"):
                parts.append(name if name == own else f"{name}={own}")
                continue
            wanted = [set(_listed(row[number])) for row in rows if row[number] is not None]
            words = set(_words(name))
            others = [path for path in values if path not in taken and self._may_have(path, words, wanted)]
            found = {path: sum(bool(one & values[path]) for one in wanted) for path in others}
            best = max(found, key=lambda path: (found[path], len(words & set(_words(path)))), default="")
            if not found.get(best):
                found = {path: sum(_are_ends(one, values[path]) for one in wanted) for path in found}
                best, rule = max(found, key=lambda path: found[path], default=""), " --match suffix"
            if not found.get(best) or found[best] < least * len(wanted):
                return ""
            taken.add(best)
            parts.append(name if name == best else f"{name}={best}")
            verb = "has" if found[best] == 1 else "have"
            counts.append(f"{found[best]} of {plural(len(wanted), 'label')} {verb} a value at {shown(best)}")
        return f"--match-field {','.join(parts)}{rule} ({', '.join(counts)})" if counts else ""

    @staticmethod
    def _may_have(path: str, words: set[str], wanted: Sequence[set[str]]) -> bool:
        """Whether a path may be that of a field: not of a rank; of numbers, it has a word of the field's name."""
        own, known = ({word.removesuffix("s") for word in one} for one in (_words(path), words))
        is_number = all(one.isdigit() for labels in wanted for one in labels)
        return not own & NUMBER_WORDS and not (is_number and not own & known)

    def _values_of_results(self, path: str) -> set[str]:
        """What the first results have at a path, as text."""
        found = [_at(result, path) for result in self._first_results]
        listed = [one for value in found for one in (value if isinstance(value, (list, tuple)) else [value])]
        return {str(one) for one in listed if isinstance(one, (str, int)) and not isinstance(one, bool)}

    def _values(self, name: str, what: str) -> list[Any]:
        """The values that an id lists; raises if it is an id of another kind."""
        try:
            values = json.loads(name)
        except ValueError:
            values = None
        size = len(self.fields)
        if not isinstance(values, list) or len(values) not in (size, size + 1):
            raise InputError(
                f"{what} {shown(name)} is an id without fields",
                hint="--match-field compares objects: the labels and results of a log, test cases and a live retriever",
            )
        return list(values[:size])


def _paths_of(result: Any) -> list[str]:
    """The dotted names of what a result has, and of what objects in it have."""
    paths = []
    for name, value in result.items() if isinstance(result, Mapping) else ():
        inner = [f"{name}.{key}" for key in value] if isinstance(value, Mapping) else [name]
        paths += [path for path in map(str, inner) if "," not in path and "=" not in path]
    return paths


def _range_paths(paths: Iterable[str], name: str = "") -> tuple[str, str] | None:
    """Where results have the start and the end of a range, if possible of what has a name; None without them.

    ``start_line`` and ``end_line`` are those of a ``line``, rather than ``start_byte`` and ``end_byte``.
    """
    by_words = {tuple(_words(path)): path for path in paths}
    for words, path in sorted(by_words.items(), key=lambda item: not set(item[0]) & set(_words(name))):
        for first, last in RANGE_ENDS:
            end = by_words.get(tuple(last if word == first else word for word in words))
            if first in words and end is not None:
                return path, end
    return None


def _range_ends(label: Mapping[str, Any]) -> tuple[str, str] | None:
    """The fields of a label that are the start and the end of a range; None without them."""
    numbers = [name for name, value in label.items() if isinstance(value, (int, float)) and not isinstance(value, bool)]
    return _range_paths(numbers)


def _are_ends(labels: Iterable[str], values: Iterable[str]) -> bool:
    """Whether one of some labels is the end of a path."""
    ends = tuple(f"/{label}" for label in labels)
    return any(value.endswith(ends) for value in values)


def suggested_fields(labels: Iterable[Mapping[str, Any]], within: str = "") -> str:
    """The fields of labels that say which result is meant, as ``--match-field`` takes them; empty if there are none.

    ``within`` is the field of a result that may have them all.
    """
    fields: dict[str, str] = {}
    for label in labels:
        ends = _range_ends(label)
        if ends is not None:
            fields.setdefault(ends[0], BETWEEN.join(ends))
        others = DESCRIPTIONS if id_key_of(label) else DESCRIPTIONS - IDENTIFYING
        described = {*columns_for(list(label), "grade"), *(name for name in label if normalize_name(name) in others)}
        for name, value in _inner_fields(label):
            if name in described or name in (ends or ()) or not _is_condition(name, value):
                continue
            is_plural = isinstance(value, list) and name.endswith("s") and not name.endswith("ss")
            path = compared_name(field_path(name, is_list=is_plural))
            path = f"{within}.{path}" if within else path
            fields.setdefault(name, name if path == name else f"{name}={path}")
    return ",".join(fields.values())


def _inner_fields(label: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a label, and those of objects in it under dotted names: ``locator.page``."""
    for name, value in label.items():
        if isinstance(value, JsonPairs):
            yield from _inner_fields(dict(value), f"{within}{name}.")
        else:
            yield f"{within}{name}", value


def suggested_names(labels: Iterable[Mapping[str, Any]]) -> list[str]:
    """The fields of labels that say which result is meant."""
    return [part.partition("=")[0] for part in suggested_fields(labels).split(",") if part]


def _is_condition(name: str, value: Any) -> bool:
    """Whether a field of a label says which result is meant, rather than describing it."""
    is_part = (_words(name) or [""])[-1] in PART_WORDS | PREFIX_WORDS
    if any(names.fullmatch(normalize_name(name)) for names in (NO_FIELDS, NEGATIVE)) or (
        text_key_of(name) is not None and not is_part and not label_kind(name)
    ):
        return False
    items = value if isinstance(value, list) and not isinstance(value, JsonPairs) else [value]
    return bool(items) and all(isinstance(one, (str, int)) and not isinstance(one, bool) for one in items)


def _words(name: str) -> list[str]:
    return [word.lower() for word in WORD.findall(name)]


def compared_name(name: str) -> str:
    """The field of a result that a label with such a name is compared with: ``title`` for ``title_contains``."""
    parts = WORD.findall(name)
    if len(parts) < 2 or parts[-1].lower() not in PART_WORDS | PREFIX_WORDS:
        return name
    return name[: name.rindex(parts[-1])].rstrip("_-. ")


def _comparison(field: MatchField, compare: Compare, *, ignore_case: bool) -> Compare:
    """How values of a field are compared, by its name: part of a text, its beginning, a range; else as it is said."""
    if field.is_range:
        are_times = bool(TIME_WORDS & {word for name in field.label for word in _words(name)})
        return partial(_overlap, are_times=are_times)

    def compared(text: str) -> str:
        return text.casefold() if ignore_case else text

    if field.last_word in PART_WORDS:
        return lambda label, value: compared(label) in compared(value)
    if field.last_word in PREFIX_WORDS:
        return lambda label, value: compared(value).startswith(compared(label))
    return compare


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def _at(value: Any, path: str) -> Any:
    """What a value, or the node or document that it wraps, has at the end of a dotted path; ABSENT without it."""
    found = _follow(value, path)
    for name in WRAPPERS if found is ABSENT else ():
        wrapped = _follow(value, name)
        found = _follow(wrapped, path) if found is ABSENT and wrapped is not ABSENT else found
    return _own_id(value, ABSENT) if found is ABSENT and path == "id" else found


def _follow(value: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(value, JsonPairs):
            value = dict(value)
        if isinstance(value, (str, int, float, list, tuple)) and not hasattr(value, "_fields"):
            return ABSENT
        value = value.get(name, ABSENT) if isinstance(value, Mapping) else getattr(value, name, ABSENT)
        if value is ABSENT:
            return ABSENT
    return value


def _own_id(value: Any, default: Any = "") -> Any:
    """The id that a result has by itself, or that the node or document has that it wraps."""
    if isinstance(value, (str, int)):
        return value
    values = dict(value) if isinstance(value, (JsonPairs, Mapping)) else getattr(value, "__dict__", {})
    key = id_key_of(map(str, values))
    if key is not None:
        return values[key]
    wrapped = next((values[name] for name in WRAPPERS if name in values and not isinstance(values[name], str)), None)
    return default if wrapped is None else _own_id(wrapped, default)


def _texts(value: Any, what: str, path: str) -> Any:
    """A value as text; a list of values as a list of texts, None if it is empty."""
    if isinstance(value, (list, tuple)) and not isinstance(value, JsonPairs):
        return [_text(one, what, path) for one in value] or None
    return _text(value, what, path)


def _text(value: Any, what: str, path: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InputError(f"{what}: expected a text or a whole number as {shown(path)}, found {_described(value)}")
    return str(value).strip()


def _range_text(values: Sequence[Any], what: str) -> str:
    """``10-20`` from two numbers, a list of two, an object with start and end, a text such as L10-L20, or a number."""
    value: Any = values[0] if len(values) == 1 else list(values)
    bounds = value if isinstance(value, (list, tuple)) and not isinstance(value, JsonPairs) else [value, value]
    if isinstance(value, (JsonPairs, Mapping)):
        bounds = [dict(value).get("start"), dict(value).get("end")]
    elif isinstance(value, str) and (match := RANGE.fullmatch(value.strip())):
        bounds = [int(match[1]), int(match[2] or match[1])]
    numbers = [one for one in bounds if isinstance(one, (int, float)) and not isinstance(one, bool) and one >= 0]
    if len(bounds) != 2 or len(numbers) != 2 or numbers[0] > numbers[1]:
        raise InputError(f"{what}: expected a range such as [10, 20] or 10-20, found {_described(value)}")
    return BETWEEN.join(map(repr, numbers))


def _overlap(first: str, second: str, *, are_times: bool) -> bool:
    """Whether ranges overlap: of lines, both ends belong to one; of times, they must share more than an end.

    Numbers with decimals are times, whatever their name is. A point in time is in the ranges that it begins or ends.
    """
    (low, high), (begin, end) = (tuple(map(float, text.split(BETWEEN))) for text in (first, second))
    touches = low <= end and begin <= high
    are_times = are_times or any(number % 1 for number in (low, high, begin, end))
    is_point = low == high or begin == end
    return touches and (not are_times or is_point or (low < end and begin < high))


def _described(value: Any) -> str:
    if isinstance(value, JsonPairs):
        return ", ".join(shown(key) for key in value.names()) or "an empty object"
    if isinstance(value, Mapping):
        return ", ".join(shown(str(key)) for key in value) or "an empty object"
    return describe_json(value) if isinstance(value, (str, int, float, list, type(None))) else type(value).__name__
