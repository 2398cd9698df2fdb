"""What a machine that judges answered: a grade, why, and what it cost.

A function returns its grade. A model writes text, and only two forms of it are an answer: JSON, and nothing else, with
one key ``grade`` that is a whole number in range; or that number, alone or as ``Grade: 2``. Whatever else it writes,
such as words of the passage that it was asked about, is never searched for a grade.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import printable, shown
from rankgauge.io.formats.json_text import JsonPairs
from rankgauge.retrieval.asking.failures import NoAnswer
from rankgauge.secrets import mask_secrets

TOKEN_KEYS = ("prompt_tokens", "completion_tokens")
MAX_TOKENS_OF_A_CALL = 10**9
REASON_CHARACTERS = 1000
STATED_GRADE = re.compile(r"(?:grade: ?)?([0-9]{1,3})", re.IGNORECASE)
FENCE = "```"


@dataclass(frozen=True)
class Verdict:
    """The grade of one text, its reason, and the tokens that it cost, if they are known."""

    grade: float
    reason: str | None = None
    tokens: Mapping[str, int] | None = None


@dataclass(frozen=True)
class ModelAnswer:
    """What a model wrote, and what its endpoint reports of the tokens, unchecked."""

    content: str
    tokens: Mapping[str, Any] | None = None


def answer_rule(max_grade: int) -> str:
    """The form of an answer, as a model is told."""
    return (
        'Answer with JSON and nothing else: {"reason": "one sentence", "grade": N}, '
        f"where N is a whole number from 0 to {max_grade}."
    )


def read_grade(content: str, max_grade: int) -> tuple[float, str | None]:
    """The grade and the reason in what a model wrote; raise NoAnswer if it has another form than the two."""
    text = content.strip()
    stated = STATED_GRADE.fullmatch(text)
    grade, reason = (int(stated[1]), None) if stated else _grade_in_json(text)
    if grade is None or not 0 <= grade <= max_grade:
        raise NoAnswer(f"expected a whole grade from 0 to {max_grade} in JSON, found {shown(text)}")
    return float(grade), reason


def _grade_in_json(text: str) -> tuple[int | None, str | None]:
    """The only grade of a JSON object, which may be in a code block; None if there is none."""
    if text.startswith(FENCE) and text.endswith(FENCE):
        text = text[len(FENCE) : -len(FENCE)].removeprefix("json")
    try:
        pairs = json.loads(text, object_pairs_hook=JsonPairs)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(pairs, JsonPairs) or [key for key, _ in pairs].count("grade") != 1:
        return None, None
    value, reason = dict(pairs)["grade"], dict(pairs).get("reason")
    return _whole_number(value), printable(reason, REASON_CHARACTERS) if isinstance(reason, str) else None


def _whole_number(value: object) -> int | None:
    if isinstance(value, str):
        return int(value) if STATED_GRADE.fullmatch(value) and value.isdigit() else None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return int(value) if value == value // 1 else None  # not for an infinite number or NaN
    return None


def verdict_of(result: Any, max_grade: int) -> Verdict:
    """A verdict from a grade, ``(grade, reason)`` or ``{"grade": …, "reason": …}``; raise NoAnswer if it is none."""
    if isinstance(result, ModelAnswer):
        return Verdict(*read_grade(result.content, max_grade))
    if isinstance(result, Verdict):
        return Verdict(_grade(result.grade, max_grade), result.reason)
    if isinstance(result, Mapping):
        return Verdict(_grade(result.get("grade"), max_grade), _reason(result.get("reason")))
    if isinstance(result, tuple) and len(result) == 2:
        return Verdict(_grade(result[0], max_grade), _reason(result[1]))
    return Verdict(_grade(result, max_grade))


def verdicts_of(results: Any, count: int, max_grade: int) -> list[Verdict]:
    """The verdicts of a batch, one for each text."""
    if not isinstance(results, Sequence) or isinstance(results, (str, bytes)) or len(results) != count:
        found = f"{len(results)} results" if isinstance(results, Sequence) else type(results).__name__
        raise NoAnswer(f"returned {found}, expected a list of {count} grades, one for each text")
    return [verdict_of(result, max_grade) for result in results]


def tokens_of(result: Any) -> dict[str, int]:
    """The tokens that a result reports, also if it is not an answer; raise NoAnswer for an impossible number."""
    reported = result if isinstance(result, Mapping) else getattr(result, "tokens", None)
    tokens: dict[str, int] = {}
    for key in TOKEN_KEYS:
        value = reported.get(key) if isinstance(reported, Mapping) else None
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_TOKENS_OF_A_CALL:
            found = shown(printable(repr(value)))
            raise NoAnswer(f"reported an impossible number of {key}: expected 0 or more, found {found}", is_final=True)
        tokens[key] = int(value)
    return tokens


def _grade(value: Any, max_grade: int) -> float:
    try:
        if isinstance(value, (str, bytes, bool)) or value is None:
            raise TypeError
        grade = float(value)
    except (TypeError, ValueError, OverflowError):
        raise NoAnswer(f"returned {printable(repr(value))}, expected a grade from 0 to {max_grade}") from None
    if not 0 <= grade <= max_grade:
        raise NoAnswer(f"returned the grade {grade:g}, expected one from 0 to {max_grade}")
    return grade


def _reason(value: Any) -> str | None:
    return None if value is None else mask_secrets(str(value))
