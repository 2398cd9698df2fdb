"""Which key of a test case or of a row of a log holds what.

Everyone names the expected documents differently, so their key is found by pattern: ``expected_sources``,
``relevantSessionIds`` and ``gold_file`` are words for the same thing. Names are compared without case, spaces, hyphens,
dots and underscores.
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
from rankgauge.io.formats.expected_text import PART_WORDS, WORD, is_part_of_id, text_key_of
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
         "must_include", "positive")  # fmt: skip
NOUNS = ("document", "doc", "source", "file", "path", "chunk", "note", "memory", "session", "passage", "page", "node",
         "citation", "symbol", "function", "article", "clause", "section", "url", "uri")  # fmt: skip
OTHER_THINGS = {"answer", "answers", "case", "category", "class", "intent", "label", "query", "question", "response",
                "tenant", "test", "tool", "tools", "user"}  # whose ids are not those of documents  # fmt: skip
COLLECTIVES = ("results", "items", "hits")  # may also be a number, or objects of any kind


def _pattern() -> re.Pattern[str]:
    stems = "|".join(sorted(map(normalize_name, STEMS), key=len, reverse=True))
    nouns = "|".join("memor(?:y|ies)" if noun == "memory" else f"{noun}s?" for noun in NOUNS)
    collective = "|".join(COLLECTIVES)
    noun = rf"(?P<noun>(?:{nouns}|contexts?(?=id)){{1,2}})"
    return re.compile(rf"(?:{stems})(?:{noun}|{collective})?(?P<id>ids?|indices)?(?P<name>names?)?")


RELEVANT = _pattern()
STEM_WORDS = {tuple(stem.split("_")) for stem in STEMS}
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
    match = RELEVANT.fullmatch(normalize_name(name))
    if match is None:
        return "any id" if _is_any_id(name) else None
    return "id" if match["id"] else "noun" if match["noun"] or match["name"] else "bare"


def _is_any_id(name: str) -> bool:
    """Whether a name is a stem, one or two words of any kind, and ``id`` or ``ids``; a dotted path is not a name."""
    words = [] if "." in name else [word.lower() for word in WORD.findall(name)]
    sizes = [size for size in range(1, MAX_STEM + 1) if tuple(words[:size]) in STEM_WORDS]
    between = words[max(sizes) : -1] if sizes and words[-1] in ("id", "ids") else []
    return len(between) in (1, 2) and not OTHER_THINGS & set(between)


def expected_text_keys(names: Iterable[str]) -> list[str]:
    """The keys that hold text to be found in results, rather than ids: ``must_contain``, ``expected_substring``."""
    return [name for name in names if label_kind(name) is None and text_key_of(name) is not None]


def takes_one_string(name: str) -> bool:
    """Whether a single string under a key is an id: its name has a noun, or says id; elsewhere it may be an answer."""
    return label_kind(name) in ("id", "noun", "any id") or normalize_name(name).endswith(("id", "ids"))


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
    return isinstance(value, list) or (kind != "bare" and isinstance(value, (str, int)) and not isinstance(value, bool))


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
    return (has_text and not has_document) or has_labels or has_grades or has_results or _has_nested_text(record)


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

    def __init__(self, source: str, table: Records, columns: Columns, match: str = "exact") -> None:
        check_roles(columns, ROLES)
        self.source, self.records, self.columns, self.match = source, table.records, columns, match
        self.names = list(table.names)
        self.notes: list[Note] = []

    def find(self) -> CaseKeys:
        """The keys; raises if two fit a role equally well, or one that is named is not there."""
        keys = {role: self._named(role) for role in self.columns}
        for role in ROLES:
            if role in keys or role == "system":
                continue  # a system is a column like any other, unless it separates rows of the same query
            if (key := self._relevant() if role == "relevant" else self._best(role)) is not None:
                keys[role] = key
        is_named = "relevant" in self.columns or is_part_of_id(keys.get("relevant", ""))
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
        """Copy the values at a dotted path to that key; whether there is any."""
        parts, is_there = path.split("."), False
        for record in self.records:
            value: Any = JsonPairs(record.items())
            for part in parts:
                value = dict(value).get(part) if isinstance(value, JsonPairs) else None
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

    def _relevant(self) -> str | None:
        """The key of the relevant documents, by pattern; raises if two fit."""
        matches = [
            name
            for name in self.names
            if name not in self.columns.values()
            and label_kind(name)
            and (self._has(name, partial(holds_labels, name)) or self._is_empty(name))
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
        return InputError.at(
            self.source,
            None,
            f"expected one key for {role}, found {len(matches)}: {', '.join(shown(name) for name in matches)}",
            hint=f"choose one: --column {role}={matches[0]}, columns={{{role!r}: {matches[0]!r}}}",
        )


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
    if texts := expected_text_keys(names):
        return InputError.at(
            source,
            None,
            f"test cases that expect text ({listing(map(shown, texts), 3)}), not documents; {found}",
            hint="compare with the texts of the results: --match text",
        )
    if answers := [name for name in names if label_kind(name)]:
        objects = [value for record in table.records if isinstance(value := record.get(answers[0]), JsonPairs)]
        if any(objects):
            return _object_labels(source, answers[0], [dict(value) for value in objects])
        return InputError.at(
            source,
            None,
            f"test cases whose {shown(answers[0])} looks like an answer, expected the ids of documents; {found}",
            hint=f"if it is an id, say so: --column relevant={answers[0]}",
        )
    others = [name for name in names if not any(names_for([name], role) for role in ("id", "query", "k"))]
    return InputError.at(
        source,
        None,
        "test cases without a key for the relevant documents (relevant_ids, expected_sources, gold_file, …), " + found,
        hint=f"name it: --column relevant={others[0] if len(others) == 1 else 'KEY'}",
    )


def _object_labels(source: str, name: str, objects: Sequence[Mapping[str, Any]]) -> InputError:
    """The error for labels that are objects: around a list of ids, or with fields that a result must have."""
    keys = list(dict.fromkeys(key for one in objects for key in one))
    lists = [key for key in keys if any(isinstance(one.get(key), list) for one in objects)]
    lists.sort(key=lambda key: tuple(map(str.lower, WORD.findall(key)[:1])) not in STEM_WORDS)
    parts = " --match contains" if any(PART_WORDS & set(map(str.lower, WORD.findall(key))) for key in keys) else ""
    expected = "expected the ids of documents"
    if lists:
        hint = f"name the key in it: --column relevant={name}.{lists[0]}"
    elif len(keys) == 1:
        hint = f"name the key in it: --column relevant={name}.{keys[0]}{parts}"
    elif all(len(one) == len(keys) for one in objects if one):
        fields = " ".join(f"--match-field {key}=PATH" for key in keys)
        expected = "expected ids, or the place in a result of each field that must match"
        hint = f"say where results have them: --column relevant={name} {fields}{parts}"
    else:
        expected = "expected the same fields in all cases, or the ids of documents"
        hint = 'list the documents that match: {"query": "…", "relevant_ids": ["…"]}'
    found = listing(map(shown, keys), 8)
    return InputError.at(
        source, None, f"test cases whose {shown(name)} is an object with {found}; {expected}", hint=hint
    )


# -- cases that expect nothing ----------------------------------------------------------------------------------

ANSWERABLE_NAMES = ("answerable", "is_answerable", "has_answer", "in_kb", "in_corpus", "in_scope")
NOTHING_NAMES = ("should_abstain", "expect_abstain", "abstain", "should_refuse", "expect_refusal", "negative",
                 "is_negative", "unanswerable", "no_answer", "expect_no_results", "expect_empty", "expects_nothing",
                 "out_of_scope", "out_of_corpus")  # fmt: skip
KIND_NAMES = ("expected_behavior", "expected_behaviour", "behavior", "expect", "expected", "kind", "category", "type")
NOTHING_WORDS = ("refuse", "refusal", "abstain", "abstention", "not in corpus", "no answer", "unanswerable", "nonsense",
                 "out of scope", "out of domain", "out of corpus", "not found", "negative", "no results")  # fmt: skip
_ANSWERABLE, _NOTHING, _KINDS, _WORDS = (
    frozenset(map(normalize_name, names)) for names in (ANSWERABLE_NAMES, NOTHING_NAMES, KIND_NAMES, NOTHING_WORDS)
)


def answerable_flag(record: Mapping[str, Any]) -> bool | None:
    """Whether a case says that it has an answer (``answerable``), or has none (``kind: unanswerable``); None if not."""
    for name, value in record.items():
        normalized = normalize_name(name)
        if isinstance(value, bool):
            if normalized in _ANSWERABLE:
                return value
            if normalized in _NOTHING:
                return not value
        elif isinstance(value, str) and normalized in _KINDS and normalize_name(value) in _WORDS:
            return False
    return None


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
    texts = [name for name in expected_text_keys(names) if name not in used]
    if texts and not texts_used:
        message = f"{texts[0]} is not used: only ids are compared; to compare texts: --match text"
        notes.append(Note("text-unused", f"{source}: {message}"))
    return notes
