"""Which results a label means: those with its id, those whose path ends in it, those whose id or text contains it.

Labels become judgments of the results that were returned. A label is found at the rank of the first result that matches
it and counts once: a second chunk of a file that was found is not a second relevant document (``Hits.by_label``).
Nothing but exact ids is ever assumed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, cast

from rankgauge.core.formatting import listing, plural
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.core.subtopic_judgments import SubtopicJudgments
from rankgauge.errors import InputError, Note, UsageError, shown
from rankgauge.io.formats.case_keys import (
    denies_answer,
    expected_string_keys,
    holds_words,
    is_answer,
    is_nothing,
    is_plain_list,
    label_kind,
    plain_text_keys,
)
from rankgauge.io.formats.case_lists import filtered_name
from rankgauge.io.formats.expected_text import (
    ExpectedText,
    TextKey,
    expected_texts,
    own_id_of_text,
    plain_text_key_of,
    search_patterns,
    shown_text_ids,
    text_key_of,
)
from rankgauge.io.formats.field_labels import FieldLabels
from rankgauge.io.formats.log_rows import Log
from rankgauge.io.read import SourceRows, build_qrels
from rankgauge.io.reading_options import MATCH_RULES, MatchRule, Reading

MATCH_KEY = "match"
GOLD_KEY = "gold"  # of quotes, which are text as well
SHOWN_LABELS = 3
ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|file:")
NUMBERED = re.compile(r" \(\d+\)\Z")  # of the second text of an id, and of further ones (``shown_text_ids``)
ANY_TEXT = TextKey(needs_all=False, kind="contains")
NO_TEXT_KEYS_HINT = (
    'write {"query": "…", "must_contain": ["…"]} or {"query": "…", "expect_any": ["…"]}, or name the key: '
    "--column relevant=KEY"
)


@dataclass(frozen=True, eq=False)
class LabelSet:
    """Labels as documents of judgments, and the text that some of them expect, by query and label."""

    judgments: Qrels
    expected: Mapping[tuple[str, str], ExpectedText] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)  # of queries
    forbidden: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # labels of what must not be returned
    key: str = ""  # of the labels in test cases

    def rules(self, reading: Reading) -> list[MatchRule]:
        """The rule of each query: its own, or that of the settings."""
        column = own_rules(self.judgments)
        rules = [reading.match] * len(self.judgments.queries) if column is None else column
        return [rule or reading.match for rule in rules]

    def rule_by_query(self, reading: Reading) -> dict[str, MatchRule]:
        """The rule of each query, by its id."""
        return dict(zip(self.judgments.queries.to_text(), self.rules(reading), strict=True))


def own_rules(judgments: Qrels) -> list[MatchRule | None] | None:
    """The rules that queries have of their own, in a column ``match``; None if there is no such column.

    A column of that name without any rule is a column like any other.
    """
    column = judgments.columns.get(MATCH_KEY)
    values = [] if column is None else column.tolist()
    if not any(value in MATCH_RULES for value in values if isinstance(value, str)):
        return None
    rules: list[MatchRule | None] = []
    for query, value in zip(judgments.queries.to_text(), values, strict=True):
        is_absent = value is None or value == "" or value != value
        if not is_absent and value not in MATCH_RULES:
            raise InputError(
                f"{judgments.name}: query {shown(query)}: expected one of {', '.join(MATCH_RULES)} as match, found "
                f"{shown(str(value))}"
            )
        rules.append(None if is_absent else cast(MatchRule, value))
    return rules


@dataclass(frozen=True)
class MatchedLabels:
    """Judgments of the results that were returned, and what to know of the matches."""

    judgments: Qrels
    notes: tuple[Note, ...] = ()


def match_labels(
    labels: LabelSet,
    runs: Sequence[Run],
    reading: Reading,
    texts: Mapping[str, str] | None = None,
    fields: FieldLabels | None = None,
) -> MatchedLabels:
    """The labels as judgments of what runs returned; ``texts`` are those of results, for labels by text.

    ``fields`` are those of labels with several, if they have made the ids of the results.
    """
    judgments, rules = labels.judgments, labels.rules(reading)
    returned = _returned(judgments, runs)
    matcher = _Matcher(labels, returned, reading, texts or {}, fields or FieldLabels.of(reading.match_fields))
    names, docs, grades = judgments.queries.to_text(), judgments.docs.to_text(), judgments.grades.tolist()
    bounds = judgments.offsets.tolist()
    rows: list[tuple[str, str, str, float]] = []
    for number, (query, rule) in enumerate(zip(names, rules, strict=True)):
        for label, grade in zip(*(side[bounds[number] : bounds[number + 1]] for side in (docs, grades)), strict=True):
            found = matcher.find(query, label, rule)
            rows += [(query, label, doc, grade) for doc in found or [_unused(label, returned[query])]]
    rule_of = dict(zip(names, rules, strict=True))
    forbidden = {
        query: list(chain(*(matcher.find_forbidden(query, label, rule_of[query]) for label in listed)))
        for query, listed in labels.forbidden.items()
        if query in rule_of
    }
    made = _judgments(judgments, rows, _described(rules, reading)).with_forbidden(forbidden)
    made.__dict__["sha256"] = _sha256(labels, rules, reading)  # other results are not other labels
    return MatchedLabels(made, tuple(matcher.notes()))


def with_shown_text_ids(runs: Sequence[Run]) -> list[Run]:
    """The runs with readable names of results that are identified by their texts, the same in all of them."""
    names = shown_text_ids(doc for run in runs for doc in run.docs.to_text())
    return [_renamed(run, names) for run in runs] if names else list(runs)


def _renamed(run: Run, names: Mapping[str, str]) -> Run:
    """A run whose results have other names; lists, which alone have texts, keep their order."""
    docs = Ids.from_text([names.get(doc, doc) for doc in run.docs.to_text()], "document id")
    extras = run.extras
    if extras is not None:
        named = {names[doc]: text for doc, text in extras.texts.items() if doc in names}
        others = {doc: text for doc, text in extras.texts.items() if doc not in names and text is not None}
        metadata = {names.get(doc, doc): values for doc, values in extras.metadata.items()}
        given = {
            query: {names.get(doc, doc): score for doc, score in scores.items()}
            for query, scores in extras.given.items()
        }
        extras = replace(extras, texts={**others, **named}, metadata=metadata, given=given)
    return replace(run, docs=docs, extras=extras)


def _returned(judgments: Qrels, runs: Sequence[Run]) -> dict[str, list[str]]:
    """The ids that any run returned for each judged query."""
    returned: dict[str, dict[str, None]] = {query: {} for query in judgments.queries.to_text()}
    for run in runs:
        docs, bounds = run.docs, run.offsets.tolist()
        for number, query in enumerate(run.queries.to_text()):
            if query in returned:
                part = Ids(
                    docs.buffer, *(side[bounds[number] : bounds[number + 1]] for side in (docs.start, docs.length))
                )
                returned[query].update(dict.fromkeys(part.to_text()))
    return {query: list(ids) for query, ids in returned.items()}


def _unused(label: str, returned: Collection[str]) -> str:
    """An id for a label that no result matches: no result has it."""
    while label in returned:
        label += " (no match)"
    return label


def _described(rules: Sequence[MatchRule], reading: Reading) -> str:
    """The rules by which labels are matched, in words."""
    names = [rule for rule in MATCH_RULES if rule in rules and not (rule == "exact" and reading.match_fields)]
    how = " and ".join([*(["fields"] if reading.match_fields else []), *names])
    return f"{how}, ignoring case" if reading.ignore_case else how


def _judgments(labels: Qrels, rows: Sequence[tuple[str, str, str, float]], match: str) -> Qrels:
    queries, names, docs, grades = zip(*rows, strict=True) if rows else ((), (), (), ())
    made = Qrels.from_columns(queries, docs, grades, iters=names, by_subtopic=True, name=labels.name)
    known = set(queries)
    made = made.with_queries([name for name in labels.queries if name.decode("utf-8", "surrogateescape") not in known])
    columns = {name: values for name, values in labels.columns.items() if name != MATCH_KEY}
    groups = cast(SubtopicJudgments, made.by_group)
    return replace(made, columns=columns, by_group=replace(groups, kind="labels", match=match))


def _sha256(labels: LabelSet, rules: Sequence[MatchRule], reading: Reading) -> str:
    how = repr(("rankgauge labels 1", sorted(set(rules)), reading.ignore_case, reading.match_fields))
    forbidden = repr(sorted(labels.forbidden.items())) if labels.forbidden else ""
    each = rules if len(set(rules)) > 1 else ""
    return hashlib.sha256(f"{labels.judgments.sha256} {how} {each}{forbidden}".encode()).hexdigest()


class _Matcher:
    """Finds the results that a label of a query matches."""

    def __init__(
        self,
        labels: LabelSet,
        returned: Mapping[str, Sequence[str]],
        reading: Reading,
        texts: Mapping[str, str],
        fields: FieldLabels,
    ) -> None:
        self._labels, self._returned, self._texts = labels, returned, texts
        self._ignores_case = reading.ignore_case
        self._fields = fields
        self._rules = labels.rule_by_query(reading)
        rules = set(self._rules.values())
        distinct = dict.fromkeys([*labels.judgments.docs.to_text(), *chain(*labels.forbidden.values())])
        ids = dict.fromkeys(doc for docs in returned.values() for doc in docs)
        if self._fields:
            self._fields.check_results(ids, list(distinct), is_exact=rules == {"exact"} and not reading.ignore_case)
        has_paths = "suffix" in rules and not self._fields
        self._paths = resolve_paths(distinct, ids, ignore_case=self._ignores_case) if has_paths else {}
        self._patterns = self._search() if labels.expected else {}

    def find(self, query: str, label: str, rule: MatchRule) -> list[str]:
        """The results of a query that match one of its labels."""
        returned = self._returned[query]
        if (query, label) in self._labels.expected:
            expected = self._labels.expected[query, label]
            return [doc for doc in returned if doc in self._texts and self._has(expected, self._texts[doc])]
        if self._fields:
            compare = _string_rule(rule, ignore_case=self._ignores_case)
            return [doc for doc in returned if self._fields.match(label, doc, compare, ignore_case=self._ignores_case)]
        if rule == "suffix":
            resolved = self._paths.get(label, ())
            return [doc for doc in returned if doc in resolved]
        compare = _string_rule(rule, ignore_case=self._ignores_case)
        return [doc for doc in returned if compare(label, doc)]

    def find_forbidden(self, query: str, label: str, rule: MatchRule) -> list[str]:
        """The results that a query must not return by one of its labels, or the label if there is none.

        A label matches as one of a relevant document does. By text, these are the results that contain it, and those
        whose id it is.
        """
        if rule == "text" and not self._fields:
            wanted = label.casefold() if self._ignores_case else label
            found = []
            for doc in self._returned[query]:
                text = self._texts.get(doc, "")
                is_in = wanted in (text.casefold() if self._ignores_case else text)
                found += [doc] if is_in or NUMBERED.sub("", doc) == label else []
        else:
            found = self.find(query, label, rule)
        return found or [_unused(label, self._returned[query])]

    def _nearly_matched(self) -> list[str]:
        """The labels with fields that no result matches, and one would if parts of texts counted in any case."""
        compare = _string_rule("contains", ignore_case=True)
        judgments = self._labels.judgments
        names, bounds, docs = judgments.queries.to_text(), judgments.offsets.tolist(), judgments.docs.to_text()
        near = []
        for number, query in enumerate(names):
            for label in docs[bounds[number] : bounds[number + 1]]:
                if not self.find(query, label, self._rules[query]) and any(
                    self._fields.match(label, doc, compare, ignore_case=True) for doc in self._returned[query]
                ):
                    near.append(label)
        return near

    def _is_partly(self, query: str, expected: ExpectedText) -> bool:
        """Whether results have some of the strings that a label asks for, and none has them all."""
        if not expected.key.needs_all or len(expected.strings) < 2:
            return False
        texts = [self._texts[doc] for doc in self._returned[query] if doc in self._texts]
        either = replace(expected, key=replace(expected.key, needs_all=False))
        return any(self._has(either, text) for text in texts) and not any(self._has(expected, text) for text in texts)

    def _differs_in_case(self, query: str, expected: ExpectedText) -> bool:
        """Whether no result has the text of a label, and one has it in letters of another case."""
        texts = [self._texts[doc] for doc in self._returned[query] if doc in self._texts]
        if self._ignores_case or expected.key.kind == "pattern" or any(self._has(expected, text) for text in texts):
            return False
        return any(expected.matches(text, {}, ignore_case=True) for text in texts)

    def _has(self, expected: ExpectedText, text: str) -> bool:
        return expected.matches(text, self._patterns, ignore_case=self._ignores_case)

    def _search(self) -> dict[tuple[str, str], bool]:
        """Which pattern is in which text, for all that are needed."""
        pairs: dict[tuple[str, str], None] = {}
        for (query, _), expected in self._labels.expected.items():
            if expected.key.kind == "pattern":
                texts = [self._texts[doc] for doc in self._returned[query] if doc in self._texts]
                pairs.update(dict.fromkeys((pattern, text) for pattern in expected.strings for text in texts))
        return search_patterns(list(pairs), ignore_case=self._ignores_case)

    def _way_out(self, ambiguous: Mapping[str, Sequence[str]]) -> str:
        """What tells the places of paths apart: a template with a field of the cases, if one does."""
        key = self._labels.key
        if not key:
            return "write longer paths"
        judgments = self._labels.judgments
        names, bounds, docs = judgments.queries.to_text(), judgments.offsets.tolist(), judgments.docs.to_text()
        asked = [
            (number, label)
            for number in range(len(names))
            for label in docs[bounds[number] : bounds[number + 1]]
            if label in ambiguous
        ]
        labels = key if "{" in key else f"{{{key}}}"
        for column, values in judgments.columns.items() if asked else ():
            pairs = [(str(values[number]), label) for number, label in asked]
            for template in _templates(column, pairs, ambiguous):
                filled = [template.replace(f"{{{column}}}", value) + label for value, label in pairs]
                places = [ambiguous[label] for _, label in pairs]
                if all(len(self._resolved(path, ids)) == 1 for path, ids in zip(filled, places, strict=True)):
                    return f"--column relevant='{template}{labels}' tells them apart"
        return f"write longer paths, or add a field to tell them apart: --column relevant='{{FIELD}}/{labels}'"

    def _resolved(self, path: str, ids: Sequence[str]) -> Mapping[str, None]:
        return resolve_paths([path], ids, ignore_case=self._ignores_case).get(path, {})

    def notes(self) -> Iterator[Note]:
        """Paths that end results in several places; results without a text."""
        ambiguous = {label: sorted(ids) for label, ids in self._paths.items() if len(ids) > 1}
        if ambiguous:
            label, ids = next(iter(ambiguous.items()))
            others = f", and {len(ambiguous) - 1} more" if len(ambiguous) > 1 else ""
            yield Note(
                "labels-ambiguous",
                f"{plural(len(ambiguous), 'label')} that several paths end in, found at any of them: {shown(label)} is "
                f"{listing(map(shown, ids), SHOWN_LABELS)}{others}; {self._way_out(ambiguous)}",
            )
        if self._fields and (near := self._nearly_matched()):
            yield Note(
                "fields-nearly",
                f"{len(near)} of {plural(len(self._labels.judgments.docs), 'label')} would match a result if a part of "
                f"a text, in upper or lower case, were enough: {shown(near[0])}: --match contains --ignore-case "
                "(Reading(match='contains', ignore_case=True))",
            )
        expected = self._labels.expected
        partly = [label for query, label in expected if self._is_partly(query, expected[query, label])]
        if other_case := [label for query, label in expected if self._differs_in_case(query, expected[query, label])]:
            yield Note(
                "text-case",
                f"{len(other_case)} of {plural(len(expected), 'label')} would be in the text of a result but for upper "
                f"and lower case: {shown(other_case[0])}: --ignore-case (Reading(ignore_case=True))",
            )
        if partly:
            yield Note(
                "text-partly",
                f"of {plural(len(partly), 'label')}, results contain some of the strings, but no result contains all: "
                f"{shown(partly[0])}; if one string is enough, rename the key, for example to expect_any",
            )
        if expected:
            asked = dict.fromkeys(doc for query, _ in expected for doc in self._returned[query])
            missing = [doc for doc in asked if doc not in self._texts]
            if missing:
                yield Note(
                    "results-without-text",
                    f"{plural(len(missing), 'result')} without text, which no label by text matches: "
                    f"{listing(map(shown, missing), SHOWN_LABELS)}",
                )


def _templates(column: str, pairs: Sequence[tuple[str, str]], ambiguous: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What may come before paths: the folders of the first one, with a field in place of its value; then fewer."""
    value, label = pairs[0]
    end = path_key(label)
    for path in ambiguous[label]:
        folders = path.removesuffix(end).rstrip("/").split("/")
        if value in folders and "{" not in path:
            place = folders.index(value)
            tail = "/".join([f"{{{column}}}", *folders[place + 1 :], ""])
            yield "/".join([*folders[:place], tail])
            yield tail


def _string_rule(rule: MatchRule, *, ignore_case: bool) -> Callable[[str, str], bool]:
    """Whether a string of a label matches one of a result."""

    def compared(text: str) -> str:
        return text.casefold() if ignore_case else text

    if rule == "contains":
        return lambda label, value: compared(label) in compared(value)
    if rule == "suffix":
        return lambda label, value: bool(resolve_paths([label], [value], ignore_case=ignore_case))
    return lambda label, value: label == value


# Paths: a label is the end of an id, at a slash.


def path_key(text: str, *, ignore_case: bool = False) -> str:
    """A path without ``./`` or ``/`` before it, with slashes."""
    key = text.replace("\\", "/").removeprefix("file://")
    while key.startswith(("./", "/")):
        key = key[1:].lstrip("/")
    return key.casefold() if ignore_case else key


def path_ends(key: str) -> Iterator[str]:
    """A path, and each of its ends after a slash, the longest first."""
    yield key
    position = key.find("/")
    while position >= 0:
        if position + 1 < len(key):
            yield key[position + 1 :]
        position = key.find("/", position + 1)


def resolve_paths(
    labels: Iterable[str], ids: Iterable[str], *, ignore_case: bool = False
) -> dict[str, dict[str, None]]:
    """The ids that each label means; labels that mean none are left out.

    An id that is the label, but for ``/`` or ``./`` before it, is the only one. Otherwise these are all ids that end in
    the label. An absolute path of a label also means an id with a folder that the path ends in.
    """
    by_key: dict[str, list[str]] = {}
    by_end: dict[str, list[str]] = {}
    for label in labels:
        key = path_key(label, ignore_case=ignore_case)
        by_key.setdefault(key, []).append(label)
        if ABSOLUTE.match(label):
            for end in list(path_ends(key))[1:]:
                if "/" in end:
                    by_end.setdefault(end, []).append(label)
    same: dict[str, dict[str, None]] = {}
    longer: dict[str, dict[str, None]] = {}
    for name in ids:
        key = path_key(name, ignore_case=ignore_case)
        for label in by_key.get(key, ()):
            same.setdefault(label, {})[name] = None
        for end in list(path_ends(key))[1:]:
            for label in by_key.get(end, ()):
                longer.setdefault(label, {})[name] = None
        for label in by_end.get(key, ()):
            longer.setdefault(label, {})[name] = None
    return {**longer, **same}


# Test cases whose labels are text, or of which each says how it is matched.


def read_label_set(log: Log, name: str, reading: Reading) -> LabelSet:
    """The labels of test cases, or of a log, with the text that cases expect."""
    faults = log.faults
    named = log.keys["relevant"] if log.is_named else None
    has_text = reading.match == "text" or any(record.get(MATCH_KEY) == "text" for record in log.records.records)
    plain = _plain_keys(log) if named is None and has_text else {}
    of_answers = _answer_keys(log)
    expected: dict[tuple[str, str], ExpectedText] = {}
    grades: dict[str, dict[str, float]] = {}
    other_rows: dict[int, bytes] = {}
    used: dict[str, None] = {}
    for row, query_id in log.queries.items():
        record, query = log.records.records[row], query_id.decode("utf-8", "surrogateescape")
        if (record.get(MATCH_KEY) or reading.match) != "text":
            other_rows[row] = query_id
            continue
        keys = _text_keys(record, named, log.keys.get("query")) or {
            key: meaning for key, meaning in plain.items() if key in record
        }
        keys = {key: meaning for key, meaning in keys.items() if key not in of_answers}
        place = f"{faults.source}:{int(log.records.line[row]) or row + 1}"
        if not keys and log.says_answer(record) is not False:
            raise InputError(
                f"{place}: expected a key of expected text (must_contain, expect_any, …), found "
                f"{', '.join(map(shown, record))}",
                hint=f"to leave such cases out: {filtered_name(faults.source, '|'.join(plain or used))}"
                if plain or used
                else NO_TEXT_KEYS_HINT,
            )
        used.update(dict.fromkeys(keys))
        own = grades.setdefault(query, {})
        if log.says_answer(record) is False if "retrieved" in log.keys else denies_answer(record):
            continue
        for key, meaning in keys.items():
            value: Any = record.get(key)
            if isinstance(value, str) and is_nothing(value):
                continue
            listed: list[Any] = value if key in plain and label_kind(key) and is_plain_list(value) else [value]
            for found in chain(*(expected_texts(one, meaning, f"{place}: {key}") for one in listed)):
                expected[query, found.name] = found
                own[found.name] = 1.0
    texts = {query.decode("utf-8", "surrogateescape"): text for query, text in log.texts().items()}
    if other_rows:
        rows = replace(log, queries=other_rows).qrels_rows(faults)
        faults.raise_errors()
        if rows.evidence is not None:
            raise UsageError(
                f"{name}: evidence is matched by exact ids: a piece of it is a list of documents, of which one is "
                "enough, and a label that matches several results would be several of them",
                hint="write the ids of results as evidence, and leave out --match; or leave out the key evidence",
            )
        grades |= build_qrels(SourceRows(replace(rows, forbidden={}), faults), name=name).to_dict()
    forbidden = log.forbidden(faults)
    faults.raise_errors()
    columns = {key: values for key, values in log.columns().items() if key not in used}
    empty = [query for query in log.first_rows if not grades.get(query.decode("utf-8", "surrogateescape"))]
    judgments = Qrels.from_dict(grades, name=name).with_columns({**columns, **log.answerable(empty)})
    return LabelSet(judgments, expected, texts, forbidden, log.keys.get("relevant", ""))


def _plain_keys(log: Log) -> dict[str, TextKey]:
    """The keys of expected text if no name says that it is expected: those of documents with words, keywords, hints."""
    records = [log.records.records[row] for row in log.queries]
    if any(_text_keys(record, None, log.keys.get("query")) for record in records):
        return {}
    documents = log.keys.get("relevant")
    if documents is not None and any(holds_words(record[documents]) for record in records if documents in record):
        return {documents: ANY_TEXT}
    taken = [key for role, key in log.keys.items() if role in ("id", "query")]
    others = plain_text_keys(records, taken) or expected_string_keys(records, taken)
    if len(others) > 1:
        raise InputError.at(
            log.faults.source,
            None,
            f"expected one key of expected text, found {len(others)}: {', '.join(map(shown, others))}",
            hint=f"choose one: --column relevant={others[0]}",
        )
    return {key: plain_text_key_of(key) or ANY_TEXT for key in others}


def _answer_keys(log: Log) -> set[str]:
    """The keys of text that an answer must have (``expect_in_answer``), if others say what results must have."""
    if log.is_named:
        return set()
    query_key = log.keys.get("query")
    known = {key for record in log.records.records for key in _text_keys(record, None, query_key)}
    answers = set(filter(is_answer, known))
    return answers if answers < known else set()


def _text_keys(record: Mapping[str, Any], named: str | None, query_key: str | None) -> dict[str, TextKey]:
    """The keys of a case that have expected text, and what each asks for."""
    if named is not None:
        return {named: text_key_of(named) or ANY_TEXT} if named in record else {}
    known = {key: text_key_of(key) for key in record if key not in (query_key, MATCH_KEY)}
    known |= {key: ANY_TEXT for key in record if key.lower() == GOLD_KEY}
    return {key: meaning for key, meaning in known.items() if meaning is not None}


class LabelMatching:
    """The labels of one command that are not matched by exact ids, from their file to judgments of results."""

    def __init__(self, reading: Reading, *, by_text: bool) -> None:
        """``by_text`` says whether results bring their texts, which then identify them together with their ids."""
        self.reading = replace(reading, is_by_text=self.is_by_text) if by_text and not reading.match_fields else reading
        self._fields = FieldLabels.of(reading.match_fields)
        self._sets: dict[int, LabelSet] = {}  # by the identity of their judgments, which they keep alive
        self._rules: dict[str, MatchRule] = {}  # of each query

    def has_labels(self, record: Mapping[str, Any]) -> bool:
        """Whether an object has expected text, and its labels are matched by text."""
        named = (self.reading.columns or {}).get("relevant")
        is_by_text = self.reading.match == "text" or record.get(MATCH_KEY) == "text"
        return is_by_text and bool(_text_keys(record, named, None))

    def read(self, log: Log, name: str) -> LabelSet:
        """The labels of test cases or of a log, which judgments of that name hold."""
        label_set = read_label_set(log, name, self.reading)
        self._sets[id(label_set.judgments)] = label_set
        self._rules.update(label_set.rule_by_query(self.reading))
        return label_set

    def is_needed(self, judgments: Qrels) -> bool:
        """Whether some labels are not the ids of results."""
        rules = self._set_of(judgments).rules(self.reading)
        return bool(self.reading.match_fields) or any(rule != "exact" for rule in rules)

    def needed_set(self, judgments: Qrels) -> LabelSet | None:
        """The labels with what they expect; None if all of them are the ids of results."""
        return self._set_of(judgments) if self.is_needed(judgments) else None

    def is_by_text(self, query: str) -> bool:
        """Whether the labels of a query are compared with the texts of its results."""
        return self._rules.get(query, self.reading.match) == "text"

    def needs_texts(self, judgments: Qrels) -> bool:
        """Whether some labels expect text."""
        return bool(self._set_of(judgments).expected)

    def match(
        self,
        judgments: Qrels,
        runs: Sequence[Run],
        texts: Mapping[str, str] | None,
        forbidden: Mapping[str, Sequence[str]],
    ) -> MatchedLabels:
        """The labels as judgments of what runs returned; further ones of what must not be returned."""
        labels = self._set_of(judgments)
        listed = {
            query: tuple(dict.fromkeys([*labels.forbidden.get(query, ()), *forbidden.get(query, ())]))
            for query in [*labels.forbidden, *forbidden]
        }
        return match_labels(replace(labels, forbidden=listed), runs, self.reading, texts, self._fields)

    def without_documents(self, judgments: Qrels) -> Qrels:
        """The queries and their columns: what a live retriever is asked."""
        columns = judgments.columns
        return replace(Qrels.from_dict({query: {} for query in judgments.queries.to_text()}), columns=columns)

    def own_id(self, doc: str) -> str:
        """The id that a result had when it was returned, without the fields or the text that identify it here."""
        return self._fields.own_id(doc) if self._fields else own_id_of_text(doc)

    def asking_options(self) -> dict[str, Any]:
        """How the results of a live retriever are identified, if not by their ids alone."""
        return {"id": self._fields.result_id} if self._fields else {"is_by_text": self.reading.is_by_text}

    def _set_of(self, judgments: Qrels) -> LabelSet:
        label_set = self._sets.get(id(judgments)) or LabelSet(judgments, forbidden=judgments.forbidden)
        if not label_set.expected and "text" in label_set.rules(self.reading):
            raise UsageError(
                f"{judgments.name}: --match text needs test cases that expect text, found judgments of documents",
                hint=NO_TEXT_KEYS_HINT,
            )
        return label_set
