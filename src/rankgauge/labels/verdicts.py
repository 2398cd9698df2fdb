"""What a machine that judges answered: a grade, why, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import printable
from rankgauge.retrieval.asking.failures import NoAnswer
from rankgauge.secrets import mask_secrets

TOKEN_KEYS = ("prompt_tokens", "completion_tokens")


@dataclass(frozen=True)
class Verdict:
    """The grade of one text, its reason, and the tokens that it cost, if they are known."""

    grade: float
    reason: str | None = None
    tokens: Mapping[str, int] | None = None


def verdict_of(result: Any, max_grade: int) -> Verdict:
    """A verdict from a grade, ``(grade, reason)`` or ``{"grade": …, "reason": …}``; raise NoAnswer if it is none."""
    if isinstance(result, Verdict):
        return Verdict(_grade(result.grade, max_grade), result.reason, result.tokens)
    if isinstance(result, Mapping):
        tokens = {key: int(value) for key in TOKEN_KEYS if isinstance(value := result.get(key), int)}
        return Verdict(_grade(result.get("grade"), max_grade), _reason(result.get("reason")), tokens or None)
    if isinstance(result, tuple) and len(result) == 2:
        return Verdict(_grade(result[0], max_grade), _reason(result[1]))
    return Verdict(_grade(result, max_grade))


def verdicts_of(results: Any, count: int, max_grade: int) -> list[Verdict]:
    """The verdicts of a batch, one for each text."""
    if not isinstance(results, Sequence) or isinstance(results, (str, bytes)) or len(results) != count:
        found = f"{len(results)} results" if isinstance(results, Sequence) else type(results).__name__
        raise NoAnswer(f"returned {found}, expected a list of {count} grades, one for each text")
    return [verdict_of(result, max_grade) for result in results]


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
