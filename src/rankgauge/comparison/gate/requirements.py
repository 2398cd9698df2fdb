"""What a gate requires of a run: values that measures must reach, as in ``nDCG@10 >= 0.35``, and when a drop fails."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal, NamedTuple

from rankgauge.comparison.statistics_options import Statistics
from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import given
from rankgauge.core.run import FIGURES
from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.errors import UsageError, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.measures.measure import Measure

ROUNDING = 1e-12  # a mean of 0.7 may come out as 0.7 − 1e-16, and is 0.7
SIGN = re.compile(r">=|<=|≥|≤|>|<")
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda value, bound: value >= bound - ROUNDING,
    "<=": lambda value, bound: value <= bound + ROUNDING,
    ">": lambda value, bound: value > bound + ROUNDING,
    "<": lambda value, bound: value < bound - ROUNDING,
}
ASCII_SIGNS = {"≥": ">=", "≤": "<="}
EXAMPLE = "write nDCG@10>=0.35"
LEAK = "Leak"  # the measure that counts forbidden documents
NO_LEAKS = f"{LEAK}<=0"
GATE_STATISTICS = Statistics()
SHOWN_CHANGES = 5  # queries behind a check that are listed
Undecided = Literal["pass", "fail"]
ScoredElsewhere = Literal["refuse", "accept"]
AnyAllowed = str | Path | Mapping[str, str]


@dataclass(frozen=True)
class GateRule:
    """When a drop fails, which groups are held to what, which misses are allowed, and what too few queries mean.

    If more queries failed or were lost than ``max_failures`` (None: any number), the run fails; if nothing forbidden
    may be returned, leaks are unknown. ``by`` names columns of the queries: every group is held to what is required,
    or to its own in ``requirements``, by its label. ``allow`` is a file or a dict of queries that may miss what every
    query must reach, each with a reason.
    """

    margin: float = setting(
        0.0, "Never fail on a drop smaller than DROP.", Section.GATE, flag="--margin DROP", limits=">=0", common=True
    )
    statistics: Statistics = GATE_STATISTICS
    two_sided: bool = setting(
        False,
        "Test both ways, as `rankgauge compare` does, instead of for drops only.",
        Section.GATE,
        flag="gate.two_sided",
    )
    undecided: Undecided = setting(
        "pass",
        "Pass or fail if queries got worse, and are too few for any drop to be significant.",
        Section.GATE,
        choices=("pass", "fail"),
        flag="gate.undecided",
    )
    scored_elsewhere: ScoredElsewhere = setting(
        "refuse",
        "Refuse or accept scores beside rankings if they may have been made in another way.",
        Section.GATE,
        choices=("refuse", "accept"),
        flag="gate.scored_elsewhere",
    )
    max_failures: int | None = 0
    by: str | Iterable[str] = ()
    requirements: Mapping[str, str | Iterable[str]] | None = None
    allow: AnyAllowed | None = None

    def __post_init__(self) -> None:
        check_settings(self)
        allowed = self.max_failures
        if allowed is not None and (not isinstance(allowed, int) or isinstance(allowed, bool) or allowed < 0):
            raise UsageError(f"max_failures: expected a whole number of at least 0, found {shown(repr(allowed))}")
        if self.statistics.alternative != "two-sided":
            raise UsageError("a gate tests for drops, whatever the alternative is: leave it out")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to group by."""
        return (self.by,) if isinstance(self.by, str) else tuple(self.by)

    @property
    def alpha(self) -> float:
        """The share of builds that may fail although nothing changed."""
        return self.statistics.alpha


DEFAULT_RULE = GateRule()


class QueryGroup(NamedTuple):
    """Queries that have the same label in a column."""

    by: str
    label: str

    def __str__(self) -> str:
        return f"{self.by}={self.label}"


@dataclass(frozen=True)
class RunFigure:
    """What a run costs, by its name: ``p95_latency``, ``mean_tokens``, ``total_cost``."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Requirement:
    """A measure or a figure of the whole run, a sign and a bound."""

    measure: Measure | RunFigure
    sign: str
    bound: float

    def __str__(self) -> str:
        return f"{self.measure} {self.sign} {given(self.bound)}"

    @property
    def of_queries(self) -> Measure:
        """The measure; raises if it is a figure of the whole run, which no query and no group has by itself."""
        if not isinstance(self.measure, Measure):
            raise UsageError(
                f"{self.measure} is a figure of the whole run, and cannot be required of single queries or groups",
                hint=f"require it of the run: --require '{self.measure}{self.sign}{given(self.bound)}'",
            )
        return self.measure

    def is_met(self, value: float | None) -> bool:
        """Whether a value meets the bound; no value does not."""
        return value is not None and COMPARISONS[self.sign](value, self.bound)


@dataclass(frozen=True)
class Demands:
    """What is required: of all queries, of every single one, and of groups by their labels."""

    overall: tuple[Requirement, ...] = ()
    each: tuple[Requirement, ...] = ()
    groups: Mapping[str, tuple[Requirement, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.overall or self.each or self.groups)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Every measure that is required to have a value."""
        of_groups = [requirement for group in self.groups.values() for requirement in group]
        of_queries = [requirement.of_queries for requirement in (*self.each, *of_groups)]
        return tuple(dict.fromkeys([*required_measures(self.overall), *of_queries]))

    def of_group(self, label: str) -> tuple[Requirement, ...]:
        """What is required of a group: its own requirements, else those of all queries."""
        return self.groups.get(label, self.overall)


def parse_demands(
    require: str | Iterable[str],
    require_each: str | Iterable[str],
    requirements: Mapping[str, str | Iterable[str]] | None,
    conventions: Conventions | None = None,
) -> Demands:
    """Parse everything that is required."""
    return Demands(
        parse_requirements(require, conventions),
        parse_requirements(require_each, conventions),
        {str(label): parse_requirements(texts, conventions) for label, texts in (requirements or {}).items()},
    )


def parse_requirements(
    requirements: str | Iterable[str], conventions: Conventions | None = None
) -> tuple[Requirement, ...]:
    """Parse requirements, each once."""
    texts = [requirements] if isinstance(requirements, str) else list(requirements)
    return tuple(dict.fromkeys(parse_requirement(text, conventions) for text in texts))


def parse_requirement(text: str, conventions: Conventions | None = None) -> Requirement:
    """Parse a requirement, whose measure may be in any notation."""
    if not isinstance(text, str):
        raise UsageError(f"a requirement must be a text, found {type(text).__name__}", hint=EXAMPLE)
    parts = _split(text)
    if parts is None or not parts.measure or not parts.bound or "=" in parts.bound:
        raise UsageError(
            f"a requirement must be a measure, one of >=, >, <=, <, and a number, found {shown(text)}", hint=EXAMPLE
        )
    bound = _number(parts.bound, text)
    if parts.measure in FIGURES:
        return Requirement(RunFigure(parts.measure), parts.sign, bound)
    measure = (conventions or Conventions()).measure(parts.measure)
    _check_reachable(measure, parts.sign, bound, text)
    return Requirement(measure, parts.sign, bound)


def required_measures(requirements: Iterable[Requirement]) -> list[Measure]:
    """The measures that are required; figures of the whole run are not computed from queries' values."""
    return [requirement.measure for requirement in requirements if isinstance(requirement.measure, Measure)]


class _RequirementParts(NamedTuple):
    """The texts before and after a sign, and the sign."""

    measure: str
    sign: str
    bound: str


def _split(text: str) -> _RequirementParts | None:
    """The parts at the last sign; None if there is none."""
    signs = list(SIGN.finditer(text))
    if not signs:
        return None
    sign = signs[-1]
    word = ASCII_SIGNS.get(sign.group(), sign.group())
    return _RequirementParts(text[: sign.start()].strip(), word, text[sign.end() :].strip())


def _check_reachable(measure: Measure, sign: str, bound: float, text: str) -> None:
    """Refuse a bound outside the measure's range, which is always or never met and a mistake: 60 for 0.6."""
    low, high = measure.definition.range
    never = bound >= high if sign == ">" else bound <= low if sign == "<" else False
    if low <= bound <= high and not never:
        return
    how = "always" if (bound < low) == (sign in (">", ">=")) and not never else "never"
    raise UsageError(
        f"{shown(text)} is {how} met: {measure} lies between {low:g} and {high:g}",
        hint="write a share as a fraction, 0.6 for 60%" if high == 1 < bound <= 100 else None,
    )


def _number(text: str, requirement: str) -> float:
    try:
        bound = float(text)
    except ValueError:
        bound = math.nan
    if not math.isfinite(bound):
        raise UsageError(f"the bound of {shown(requirement)} must be a number, found {shown(text)}", hint=EXAMPLE)
    return bound
