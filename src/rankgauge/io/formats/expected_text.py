"""Test cases that expect text: which keys hold it, what it means for a result to contain it, and patterns from data.

{"query": "refund period?", "must_contain": ["30 days", "receipt"], "expect_any": ["refund", "money back"]}
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from rankgauge.core.dataclass import dataclass
from rankgauge.errors import InputError, shown
from rankgauge.io.formats.json_text import JsonPairs, describe_json

TextKind = Literal["contains", "pattern", "prefix"]
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
LEADS = {"expected", "expect", "expects", "must", "should", "required", "gold", "golden", "reference", "ground",
         "relevant", "answer", "text", "contains", "contain", "result", "evidence"}  # fmt: skip
NOUNS = {"anchors", "any", "all", "contain", "contains", "content", "contents", "context", "contexts", "fact", "facts",
         "include", "includes", "keyword", "keywords", "match", "matches", "mention", "mentions", "needle", "needles",
         "pattern", "patterns", "phrase", "phrases", "prefix", "quote", "quotes", "regex", "regexes", "regexp",
         "snippet", "snippets", "string", "strings", "substr", "substring", "substrings", "term", "terms", "text",
         "texts"}  # fmt: skip
ID_WORDS = {"id", "ids", "doc", "docs", "document", "documents", "source", "sources", "file", "files", "path", "paths",
            "title", "titles", "uri", "uris", "url", "urls"}  # fmt: skip
TEXT_NOUNS = {"content", "contents", "context", "contexts", "fact", "facts", "keyword", "keywords", "phrase", "phrases",
              "quote", "quotes", "snippet", "snippets", "term", "terms", "text", "texts"}  # fmt: skip
TEXT_OWNERS = {"doc", "docs", "document", "documents", "source", "sources", "file", "files"}  # which have such texts
PLAIN_NOUNS = TEXT_NOUNS - {"text", "texts", "content", "contents"} | {"hint", "hints", "mention", "mentions"}
NEGATIVE_WORDS = {"avoid", "banned", "exclude", "excluded", "forbid", "forbidden", "negative", "no", "not", "reject"}
PATTERN_WORDS = {"match", "matches", "pattern", "patterns", "regex", "regexes", "regexp"}
PART_WORDS = {"contain", "contains", "substr", "substring", "substrings", "hint", "hints", "fragment", "fragments"}
ALL_WORDS = {"all", "must"}
MAX_PATTERN = 500  # characters of a regular expression
MAX_TEXT = 100_000  # characters of a result that a regular expression is tried on
PATTERN_SECONDS = 10.0  # for all patterns of a command together


@dataclass(frozen=True)
class TextKey:
    """What a key of expected text asks for: one of several strings or all of them, as they are or as patterns."""

    needs_all: bool
    kind: TextKind


def text_key_of(name: str) -> TextKey | None:
    """What a key asks for, by its name: ``must_contain``, ``expect_any``, ``expected_substring``; None for any other.

    "all" and "must" ask for every string, any other name for one of them; "match", "pattern" and "regex" are regular
    expressions. Keys that say what must *not* be there, and keys of documents, are others; ``relevant_doc_keywords`` is
    text of documents.
    """
    words = [word.lower() for word in WORD.findall(name)]
    known = set(words)
    of_ids = known & ID_WORDS - (TEXT_OWNERS if words and words[-1] in TEXT_NOUNS else set())
    if "not" in known or "no" in known or of_ids or not known & NOUNS:
        return None
    if not known & LEADS or (len(words) == 1 and words[0] not in ("contains",)):
        return None
    kind: TextKind = "pattern" if known & PATTERN_WORDS else "prefix" if "prefix" in known else "contains"
    return TextKey(bool(known & ALL_WORDS), kind)


def plain_text_key_of(name: str) -> TextKey | None:
    """What a key asks for that may hold expected text, though its name does not say that it is expected: ``keywords``.

    ``key_facts``, ``any_of``, ``candidateHints``, ``contexts``: for cases without a key that says so.
    """
    words = [word.lower() for word in WORD.findall(name)]
    if not words or set(words) & (NEGATIVE_WORDS | ID_WORDS):
        return None
    is_group = words in (["any"], ["all"], ["any", "of"], ["all", "of"])
    return TextKey("all" in words, "contains") if is_group or words[-1] in PLAIN_NOUNS else None


def is_part_of_id(name: str) -> bool:
    """Whether a key has a part of the ids of documents, by its name: ``expected_source_contains``."""
    known = {word.lower() for word in WORD.findall(name)}
    return bool(known & ID_WORDS and known & PART_WORDS and known & LEADS)


@dataclass(frozen=True)
class ExpectedText:
    """What the text of a result must contain to match a label."""

    strings: tuple[str, ...]
    key: TextKey

    @property
    def name(self) -> str:
        """The strings, as the label is shown."""
        shown_strings = [f"/{text}/" if self.key.kind == "pattern" else text for text in self.strings]
        return (" & " if self.key.needs_all else " | ").join(shown_strings)

    def matches(self, text: str, patterns: Mapping[tuple[str, str], bool], *, ignore_case: bool) -> bool:
        """Whether a text has any of the strings, or all of them; ``patterns`` says which pattern is in which text."""
        if self.key.kind == "pattern":
            found = (patterns[pattern, text] for pattern in self.strings)
        else:
            compared = text.casefold() if ignore_case else text
            strings = [string.casefold() if ignore_case else string for string in self.strings]
            if self.key.kind == "prefix":
                found = (compared.lstrip().startswith(string) for string in strings)
            else:
                found = (string in compared for string in strings)
        return all(found) if self.key.needs_all else any(found)


QUOTE_WORDS = ("quote", "quotes", "snippet", "excerpt", "passage", "substring", "contains", "phrase", "phrases", "text",
               "content", "fact")  # of the text in an object, the best first  # fmt: skip


def quote_key(names: Iterable[str]) -> str | None:
    """Which key of an object has the text that a result must contain; None without one."""
    words = {name: {word.lower() for word in WORD.findall(name)} for name in names}
    return next((name for quote in QUOTE_WORDS for name in words if quote in words[name]), None)


def expected_texts(value: Any, key: TextKey, place: str) -> list[ExpectedText]:
    """The expected texts of a case: one for all its strings; one for each object that has a quote."""
    objects = [item for item in value if isinstance(item, JsonPairs)] if isinstance(value, list) else []
    if not objects or isinstance(value, JsonPairs) or len(objects) < len(value):
        found = expected_text(value, key, place)
        return [] if found is None else [found]
    texts = [dict(item).get(quote_key(item.names()) or "") for item in objects]
    single = [expected_text(text, key, place) for text in texts]
    return [text for text in single if text is not None]


def expected_text(value: Any, key: TextKey, place: str) -> ExpectedText | None:
    """The expected text of a case: a string or a list of strings; None if it expects nothing. ``place`` names it."""
    if isinstance(value, JsonPairs) or not (value is None or isinstance(value, (str, list))):
        raise InputError(f"{place}: expected a string or a list of strings, found {describe_json(value)}")
    strings = [] if value is None else [value] if isinstance(value, str) else value
    for string in strings:
        if not isinstance(string, str) or not string.strip():
            found = "an empty one" if isinstance(string, str) else describe_json(string)
            raise InputError(f"{place}: expected strings, found {found}")
        if key.kind == "pattern":
            _check_pattern(string, place)
    return ExpectedText(tuple(dict.fromkeys(strings)), key) if strings else None


# A result that is compared by its text is identified by both its id and its text: an id may be that of a file, of which
# several parts are returned.

TEXT_ID = re.compile(r"(.+) \(text [0-9a-f]{16}\)", re.DOTALL)


def text_id(name: str, text: str | None) -> str:
    """The id of a result together with its text; the id as it is without one."""
    if text is None:
        return name
    return f"{name} (text {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]})"


def own_id_of_text(name: str) -> str:
    """The inverse of ``text_id``."""
    match = TEXT_ID.fullmatch(name)
    return name if match is None else match[1]


def shown_text_ids(names: Iterable[str]) -> dict[str, str]:
    """A readable name of each id with a text: the id itself, and ``docs/a.md (2)`` for its second text."""
    ids = list(dict.fromkeys(names))
    parts = {name: match[1] for name in ids if (match := TEXT_ID.fullmatch(name))}
    taken = {name for name in ids if name not in parts}
    counts: Counter[str] = Counter()
    readable: dict[str, str] = {}
    for name, base in parts.items():
        chosen = base
        while chosen in taken:
            counts[base] += 1
            chosen = f"{base} ({counts[base] + 1})"
        taken.add(chosen)
        readable[name] = chosen
    return readable


def _check_pattern(pattern: str, place: str) -> None:
    if len(pattern) > MAX_PATTERN:
        raise InputError(
            f"{place}: expected a regular expression of at most {MAX_PATTERN} characters, found {len(pattern)}"
        )
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"{place}: expected a regular expression, found {shown(pattern)}: {error}") from None


# Patterns come from data, and Python's can take forever on a text. They are tried in a process of their own, which is
# ended if it takes too long: a thread cannot be.

SEARCH_PROGRAM = """
import json, re, sys
data = json.load(sys.stdin)
compiled = [re.compile(pattern, data["flags"]) for pattern in data["patterns"]]
for pattern, text in data["pairs"]:
    print(pattern, end=" ", flush=True)
    print(int(compiled[pattern].search(data["texts"][text]) is not None), flush=True)
"""


def search_patterns(pairs: Sequence[tuple[str, str]], *, ignore_case: bool) -> dict[tuple[str, str], bool]:
    """Whether each pattern is in the text beside it; raises if that takes too long."""
    if not pairs:
        return {}
    patterns, texts = ({value: n for n, value in enumerate(dict.fromkeys(side))} for side in zip(*pairs, strict=True))
    job = {
        "patterns": list(patterns),
        "texts": [text[:MAX_TEXT] for text in texts],
        "pairs": [(patterns[pattern], texts[text]) for pattern, text in pairs],
        "flags": int(re.IGNORECASE) if ignore_case else 0,
    }
    import subprocess  # few files have patterns

    command = [sys.executable, "-I", "-S", "-c", SEARCH_PROGRAM]
    try:
        done = subprocess.run(
            command, input=json.dumps(job).encode("ascii"), capture_output=True, timeout=PATTERN_SECONDS, check=True
        )
    except subprocess.TimeoutExpired as error:
        tried = (error.stdout or b"0").split()[::2]  # each pattern before it is searched for, then what was found
        slow = list(patterns)[int(tried[-1])]
        raise InputError(
            f"searching for {shown(slow)} takes longer than {PATTERN_SECONDS:g} seconds",
            hint="write a simpler pattern, without a repeated group that repeats something itself, or plain strings",
        ) from None
    values = done.stdout.split()[1::2]
    return {pair: value == b"1" for pair, value in zip(pairs, values, strict=True)}
