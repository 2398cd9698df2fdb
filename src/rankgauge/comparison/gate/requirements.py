"""A value that a measure must have: ``nDCG@10 >= 0.35``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rankgauge.core.ranking import Compat
from rankgauge.errors import UsageError, shown
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.spec import Measure

ROUNDING = 1e-12  # a mean of 0.7 may come out as 0.7 − 1e-16, and is 0.7
SHAPE = re.compile(r"\s*(?P<measure>.+?)\s*(?P<sign>>=|<=|≥|≤|>|<)\s*(?P<bound>[^<>=≥≤]+?)\s*", re.DOTALL)
SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda value, bound: value >= bound - ROUNDING,
    "<=": lambda value, bound: value <= bound + ROUNDING,
    ">": lambda value, bound: value > bound + ROUNDING,
    "<": lambda value, bound: value < bound - ROUNDING,
}
SPELLED = {"≥": ">=", "≤": "<="}
EXAMPLE = "write nDCG@10>=0.35"


@dataclass(frozen=True)
class Requirement:
    """A measure, a sign and a bound."""

    measure: Measure
    sign: str
    bound: float

    def __str__(self) -> str:
        return f"{self.measure} {self.sign} {self.bound:g}"

    def met(self, value: float | None) -> bool:
        """Whether a value will do; none at all will not."""
        return value is not None and SIGNS[self.sign](value, self.bound)


def parse_requirements(given: str | Iterable[str], *, compat: Compat = "trec_eval-9") -> tuple[Requirement, ...]:
    """The requirements behind texts, each once."""
    texts = [given] if isinstance(given, str) else list(given)
    return tuple(dict.fromkeys(parse_requirement(text, compat=compat) for text in texts))


def parse_requirement(text: str, *, compat: Compat = "trec_eval-9") -> Requirement:
    """The requirement behind a text, whose measure may be in any notation."""
    if not isinstance(text, str):
        raise UsageError(f"a requirement must be a text, found {type(text).__name__}", hint=EXAMPLE)
    match = SHAPE.fullmatch(text)
    if match is None:
        raise UsageError(
            f"a requirement must be a measure, one of >=, >, <=, <, and a number, found {shown(text)}", hint=EXAMPLE
        )
    measure = parse_measure(match["measure"], compat=compat)
    bound = _number(match["bound"], text)
    sign = SPELLED.get(match["sign"], match["sign"])
    _refuse_idle(Requirement(measure, sign, bound), text)
    return Requirement(measure, sign, bound)


def _refuse_idle(found: Requirement, text: str) -> None:
    """A bound beyond the measure's range is met always or never, and was meant otherwise: 60 for 0.6."""
    low, high = found.measure.definition.range
    upwards = found.sign in (">", ">=")
    never = found.bound >= high if found.sign == ">" else found.bound <= low if found.sign == "<" else False
    if low <= found.bound <= high and not never:
        return
    how = "always" if (found.bound < low) == upwards and not never else "never"
    raise UsageError(
        f"{shown(text)} is {how} met: {found.measure} lies between {low:g} and {high:g}",
        hint="write a share as a fraction, 0.6 for 60%" if high == 1 < found.bound <= 100 else None,
    )


def _number(text: str, whole: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise UsageError(f"the bound of {shown(whole)} must be a number, found {shown(text)}", hint=EXAMPLE)
    return found
