"""What a key of a test case or of a log means, by its name and its value.

Everyone names the expected documents differently, so their key is known by pattern: ``expected_sources``,
``relevantSessionIds`` and ``gold_file`` are words for the same thing. Names are compared without case, spaces, hyphens,
dots and underscores. Flags and kinds say that a case expects nothing (``should_refuse``, ``kind: unanswerable``); keys
that are known but not used get a note. Which of a file's keys has which role is decided in ``key_finder``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rankgauge.errors import Note
from rankgauge.io.formats.expected_text import WORD, plain_text_key_of, quote_key, text_key_of
from rankgauge.io.formats.json_text import JsonPairs
from rankgauge.io.formats.named_columns import columns_for, normalize_name

# Role → names in tiers: the certain ones first, then those used if no certain one is there (they may contain texts).
KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "id": (("query_id", "qid", "question_id", "_id", "id"), ("case_id", "test_id", "key")),
    "query": (
        ("question", "query", "user_input", "q", "ask", "prompt", "search_terms", "search_query", "query_text",
         "query_string", "pregunta", "consulta", "pergunta", "domanda", "frage", "anfrage", "requête", "vraag",
         "вопрос", "запрос", "问题", "問題", "查询", "質問", "질문", "text", "input"),
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
WEAK_TEXT_NAMES = ("text", "input")  # which results have, too
STEMS = ("expected", "expects", "expect", "relevant", "golden", "gold", "ground_truth", "reference", "required",
         "must_include", "must_cite", "should_cite", "must_retrieve", "should_retrieve", "positive")  # fmt: skip
WEAK_STEMS = ("rel", "target", "correct")  # which need a noun, or say id
NOUNS = ("document", "doc", "source", "file", "path", "chunk", "note", "memory", "session", "passage", "page", "node",
         "citation", "symbol", "function", "article", "clause", "section", "url", "uri")  # fmt: skip
OTHER_THINGS = {"answer", "answers", "case", "category", "class", "intent", "label", "query", "question", "response",
                "tenant", "test", "tool", "tools", "user"}  # whose ids are not those of documents  # fmt: skip
ANSWER_WORDS = {"answer", "answers", "response", "responses", "reply", "output"}  # what a system says, not documents
ID_MARK = re.compile(r"^(?=\S*[0-9/_.:#-])\S+$")  # of a text that may be an id
NOTHING_WORDS = {"none", "null", "nil", "n/a", "na", "nothing"}  # in place of a label
COLLECTIVES = ("results", "items", "hits", "retrieved")  # may also be a number, or objects of any kind


def _pattern() -> re.Pattern[str]:
    stems = "|".join(sorted(map(normalize_name, (*STEMS, *WEAK_STEMS)), key=len, reverse=True))
    nouns = "|".join("memor(?:y|ies)" if noun == "memory" else f"{noun}s?" for noun in NOUNS)
    collective = "|".join(COLLECTIVES)
    noun = rf"(?P<noun>(?:{nouns}|contexts?(?=id)){{1,2}})"
    return re.compile(rf"(?:{stems})(?:{noun}|{collective})?(?P<id>(?:uu|gu)?ids?|indices)?(?P<name>names?)?")


RELEVANT = _pattern()
WEAK_NAMES = re.compile(rf"(?:{'|'.join(WEAK_STEMS)})(?:{'|'.join(COLLECTIVES)})?")  # without either
STEM_WORDS = {tuple(stem.split("_")) for stem in (*STEMS, *WEAK_STEMS)}
MAX_STEM = max(map(len, STEM_WORDS))


# -- names --------------------------------------------------------------------------------------------------------


def names_for(names: Sequence[str], role: str) -> list[str]:
    """The names of a role in the most certain tier that has one, the best first."""
    for tier in KEYS[role]:
        order = [normalize_name(key) for key in tier]
        matches = [name for name in names if normalize_name(name) in order]
        if matches:
            return sorted(matches, key=lambda name: order.index(normalize_name(name)))
    return []


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
    size = 0 if "." in name else stem_size(name)
    between = words[size:-1] if size and words[-1] in ("id", "ids") else []
    return len(between) in (1, 2) and not OTHER_THINGS & set(between)


def expected_text_keys(names: Iterable[str]) -> list[str]:
    """The keys that hold text to be found in results, rather than ids: ``must_contain``, ``expected_substring``."""
    return [
        name for name in names if label_kind(name) is None and text_key_of(name) is not None and _flag(name) is None
    ]


def plain_text_keys(records: Sequence[Mapping[str, Any]], taken: Iterable[str] = ()) -> list[str]:
    """The keys that may hold expected text though no name says so: lists of words or of quotes under ``keywords``."""
    names = dict.fromkeys(name for record in records for name in record)
    return [
        name
        for name in names
        if name not in taken
        and plain_text_key_of(name) is not None
        and any(_holds_strings(record[name]) for record in records if name in record)
    ]


def expected_string_keys(records: Sequence[Mapping[str, Any]], taken: Iterable[str] = ()) -> list[str]:
    """The keys that have strings, and say that something is expected, whatever it is: ``expect``, ``gold_needles``.

    An answer is not one of them, nor the kind of a case.
    """
    names = dict.fromkeys(name for record in records for name in record)
    return [
        name
        for name in names
        if name not in taken
        and stem_size(name)
        and not is_answer(name)
        and (label_kind(name) == "bare" or not is_kind(name))
        and any(_may_be_text(name, record[name]) for record in records if name in record)
    ]


def _may_be_text(name: str, value: Any) -> bool:
    """Whether a value is a string, or a list of them, that is not empty; under a key of labels, none that are ids."""
    items = value if is_plain_list(value) else [value]
    is_id = label_kind(name) is not None and (is_plain_list(value) or takes_one_string(name)) and not holds_words(value)
    return bool(items) and all(isinstance(item, str) and item for item in items) and not is_id


def _holds_strings(value: Any) -> bool:
    """Whether a value is a list of strings of which one is words, or of objects that have a quote; or a string."""
    if isinstance(value, str):
        return bool(value)
    if not is_plain_list(value) or not value:
        return False
    if all(isinstance(item, JsonPairs) for item in value):
        return all(quote_key(item.names()) is not None for item in value)
    return all(isinstance(item, str) for item in value) and holds_words(value)


def is_text_or_label(name: str) -> bool:
    """Whether a name fits both expected text and relevant documents: ``must_include``, whose values decide."""
    return label_kind(name) == "bare" and text_key_of(name) is not None


def may_be_words(name: str) -> bool:
    """Whether a key of labels may have words of a text or of an answer instead: ``must_include``, ``required``."""
    return is_text_or_label(name) or normalize_name(name) == "required"


def takes_one_string(name: str) -> bool:
    """Whether a single string under a key is an id: its name has a noun, or says id; elsewhere it may be an answer.

    What is ``relevant``, or to be cited, is not an answer.
    """
    return (
        normalize_name(name) in ("relevant", "mustcite", "shouldcite")
        or label_kind(name) in ("id", "noun", "any id")
        or normalize_name(name).endswith(("id", "ids"))
    )


def stem_size(name: str) -> int:
    """How many words of a name are the stem of a key of relevant documents: 1 for ``expected_topic``."""
    words = _lowered(WORD.findall(name))
    return max((size for size in range(1, MAX_STEM + 1) if words[:size] in STEM_WORDS), default=0)


def is_answer(name: str) -> bool:
    """Whether a key has what a system should say, by its name: ``expected_answer``."""
    return bool(ANSWER_WORDS & set(_lowered(WORD.findall(name))))


def _lowered(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.lower() for word in words)


def field_path(name: str, *, is_list: bool = False) -> str:
    """Where a result may have what a key of cases expects: ``topic`` for ``expected_topic``."""
    words, size = WORD.findall(name), stem_size(name)
    rest = name[name.index(words[size], sum(map(len, words[:size]))) :] if size < len(words) else name
    return rest[:-1] if is_list and rest.endswith("s") and not rest.endswith("ss") else rest


# -- values -------------------------------------------------------------------------------------------------------


def is_nothing(text: str) -> bool:
    """Whether a text in place of a label says that there is none."""
    return text.strip().lower() in NOTHING_WORDS


def holds_words(value: Any) -> bool:
    """Whether a value has words, which are expected text, rather than ids: no digit or mark in one of them."""
    items = value if is_plain_list(value) else [value]
    return any(isinstance(item, str) and not ID_MARK.search(item.strip()) for item in items)


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
    has_fields = bool(names_for(names, "query")) and any(
        stem_size(name) and not is_answer(name) and is_plain_list(value) and value for name, value in record.items()
    )
    has_flag = bool(names_for(names, "id")) and any(
        is_flag_name(name) and is_expectation(name) and truth(value) is not None for name, value in record.items()
    )
    has_labels = has_labels or has_objects or has_fields or has_flag
    return (has_text and not has_document) or has_labels or has_grades or has_results or _has_nested_text(record)


def _holds_lists(name: str, value: Any) -> bool:
    """Whether a key of labels has an object with lists: ``{"expected": {"files": ["a.py"], "symbols": ["f"]}}``."""
    is_labeled = label_kind(name) is not None and isinstance(value, JsonPairs)
    return is_labeled and any(is_plain_list(inner) and inner for _, inner in value)


def _has_nested_text(record: Mapping[str, Any]) -> bool:
    """Whether an object has the text of a query in an object: ``{"vars": {"question": …}}``."""
    return any(
        isinstance(value, JsonPairs)
        and any(normalize_name(key) in ("question", "query") and isinstance(text, str) for key, text in value)
        for value in record.values()
    )


def is_plain_list(value: object) -> bool:
    """Whether a value is a list, and not an object."""
    return isinstance(value, list) and not isinstance(value, JsonPairs)


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
CASES_WORD = re.compile(r"(?i)[_ -]?(?:cases|entries|examples|items|queries|questions|rows|samples|tests)$")
TRUTH = {
    **dict.fromkeys(("true", "yes", "y", "1", "on"), True),
    **dict.fromkeys(("false", "no", "n", "0", "off"), False),
}
PLAIN_FLAG = re.compile(r"(?:is|has)?(?:un)?answerable|should(?:abstain|refuse|answer)|(?:is|has)?noanswer|hasanswer")
NOTHING_FLAG = re.compile(rf"(?:must)?{FILLING}(?:{NOTHING_CORE})")
ANSWERABLE_FLAG = re.compile(rf"{FILLING}(?:{ANSWERABLE_CORE})")
EXPECTATION = re.compile(  # expected_answer may be the answer to a question of yes or no
    rf"(?:must|should|expect(?:ed|s)?){FILLING}(?:{NOTHING_CORE})|should{FILLING}(?:{ANSWERABLE_CORE})|(?:is|has)?(?:un)?answerable|hasanswer|"
    r"(?:is)?(?:in|outof)(?:scope|corpus|domain|kb|context)|oos|ood|(?:is)?offtopic|noanswer|answer(?:exists|present)"
)
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
    flags = [(_flag(name), truth) for name, value in record.items() if (truth := _flag_value(name, value)) is not None]
    if any(flag is value for flag, value in flags):
        return False
    if any(flag is False for flag, _ in flags):
        return True
    return False if any(_says_nothing(name, value) for name, value in record.items()) else None


def truth(value: Any) -> bool | None:
    """True or false in one of the usual spellings: yes, "1", 0; None for anything else."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return TRUTH.get(value.strip().lower())
    return bool(value) if isinstance(value, (int, float)) and value in (0, 1) else None


def _flag_value(name: str, value: Any) -> bool | None:
    """The value of a flag; a number is one only if the name says what is expected: ``hits`` may count."""
    return truth(value) if isinstance(value, (bool, str)) or is_expectation(name) else None


def is_flag_name(name: str) -> bool:
    """Whether a key is a flag by its name."""
    return _flag(name) is not None


def is_wrong_flag(name: str, value: Any) -> bool:
    """Whether a key that is certainly a flag has a value that is neither true nor false, nor absent."""
    is_plain = PLAIN_FLAG.fullmatch(normalize_name(name)) is not None
    return is_plain and value is not None and value != "" and truth(value) is None


def claims_answer(record: Mapping[str, Any]) -> bool:
    """Whether a flag that says what is expected says that a case has an answer: ``answerable: true``."""
    return any(
        _flag(name) is False and is_expectation(name) and _flag_value(name, value) is True
        for name, value in record.items()
    )


def denies_answer(record: Mapping[str, Any]) -> bool:
    """Whether a flag of a case says that it has no answer, even if it lists documents.

    ``found`` and ``refused`` may be what happened in a test, rather than what is expected.
    """
    values = ((name, found) for name, value in record.items() if (found := _flag_value(name, value)) is not None)
    return any(_flag(name) is found and is_expectation(name) for name, found in values)


@lru_cache(1024)
def is_expectation(name: str) -> bool:
    """Whether a flag says what is expected, by its name alone: ``is_answerable``, ``should_refuse``, ``in_scope``."""
    return bool(EXPECTATION.fullmatch(normalize_name(name)))


def is_kind(name: str) -> bool:
    """Whether a key has the kind of a case, or how a system should behave, by its name: ``expected_category``."""
    return bool(KIND_NAME.fullmatch(normalize_name(name))) or _flag(name) is not None


def says_nothing(kind: str) -> bool:
    """Whether a kind of cases, or a list of them, expects nothing: unanswerable, out_of_scope, refusal_rows."""
    return bool(NOTHING_KIND.fullmatch(normalize_name(CASES_WORD.sub("", kind))))


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


# -- keys that change the meaning, but are not used ---------------------------------------------------------------


@dataclass(frozen=True)
class Unused:
    """Keys that a scorer of one's own would use, and what to do instead; ``{key}`` is the first of them."""

    code: str
    pattern: re.Pattern[str]
    text: str


FORBIDDEN_UNUSED, K_UNUSED = "forbidden-unused", "k-unused"
UNUSED = (
    Unused(
        FORBIDDEN_UNUSED,
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
        "weight-unused",
        re.compile(r"weights?"),
        "{key} is not used: every query counts the same; to show groups: --by {key}",
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
