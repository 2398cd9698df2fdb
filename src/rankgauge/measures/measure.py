"""What a measure is: a declaration around one kernel, and a canonical name for each choice of parameters."""

from __future__ import annotations

import math
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from rankgauge.core.dataclass import dataclass
from rankgauge.core.hits import Hits, PerQuery
from rankgauge.core.qrels import JudgmentKind, Qrels
from rankgauge.errors import MeasureError, nearest, shown

Kernel = Callable[..., PerQuery]
Aggregate = Literal["mean", "sum", "gmean"]
Freeze = Callable[[dict[str, Any], Qrels], dict[str, Any]]

LARGEST_CUTOFF = 10**9
REQUIRED = object()
ONE_GRADE: tuple[JudgmentKind, ...] = ("grades", "subtopics", "labels")  # a document has its largest grade
JUDGMENT_DESCRIPTIONS: dict[JudgmentKind, str] = {
    "grades": "one grade per document",
    "subtopics": "grades by subtopic (ndeval)",
    "evidence": "lists of evidence",
    "passages": "gold passages",
    "labels": "labels that results are matched with (--match)",
}
TO_READ: dict[JudgmentKind, str] = {
    "evidence": 'list it in test cases or a log: "evidence": [["a", "b"], ["c"]] needs a or b, and c',
    "subtopics": "--set reading.qrels_format=ndeval reads the second column as the subtopic",
}
DOCUMENTED_FIELD = re.compile(r"^(Formula|Reference): ", re.MULTILINE)  # begins a field of a kernel's docstring


Direction = Literal[1, -1, 0]
# The queries that have an answer, have none, or forbid documents; or all, if a column has the values.
Over = Literal["answerable", "unanswerable", "guarded", "all"]
DIRECTIONS: dict[str | None, Direction] = {"higher": 1, "lower": -1, None: 0}


@dataclass(frozen=True)
class MeasureScale:
    """The smallest and the largest possible value, and which end is better."""

    low: float = 0.0
    high: float = 1.0
    better: Literal["higher", "lower"] | None = "higher"


@dataclass(frozen=True, eq=False)
class Definition:
    """A declared measure. Its help, documentation and tests are made from this."""

    name: str
    kernel: Kernel
    parameters: Mapping[str, Any]
    at: str | None
    aliases: tuple[str, ...]
    variants: Mapping[str, Mapping[str, Any]]  # names that set parameters
    scale: MeasureScale
    aggregate: Aggregate
    missing: float | None
    monotone: bool
    freeze: Freeze | None

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        return self.scale.low, self.scale.high

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """Which end of the range is better; None if neither is."""
        return self.scale.better

    @property
    def direction(self) -> Direction:
        """The sign of an improvement: 1 if higher is better, −1 if lower is, 0 if neither is."""
        return DIRECTIONS[self.scale.better]

    @property
    def judgments(self) -> JudgmentKind | None:
        """The kind of judgments that the measure needs; None if any will do."""
        return self._usable_judgments[0]

    @property
    def _usable_judgments(self) -> tuple[JudgmentKind | None, ...]:
        usable: tuple[JudgmentKind | None, ...] = self.kernel.__dict__.get("judgments", ONE_GRADE)
        return usable

    @property
    def needs_answers(self) -> bool:
        """Whether it needs what a run did with each query besides its ranking: ``Hits.answers``."""
        return "over" in self.kernel.__dict__ and self.over != "all"

    @property
    def over(self) -> Over:
        """Which queries it has values of: those that have an answer, unless it says otherwise."""
        queries: Over = self.kernel.__dict__.get("over", "answerable")
        return queries

    def accepts(self, judgments: JudgmentKind) -> bool:
        """Whether the measure can be computed from this kind of judgments."""
        return judgments in self._usable_judgments or None in self._usable_judgments

    @cached_property
    def _documentation(self) -> dict[str, str]:
        """The docstring of the kernel, split into the explanation and its fields."""
        text = "\n".join(line.strip() for line in (self.kernel.__doc__ or "").strip().split("\n"))
        explanation, *fields = DOCUMENTED_FIELD.split(text)
        values = (" ".join(value.split()) for value in fields[1::2])
        return {"explanation": explanation.strip(), **dict(zip(fields[::2], values, strict=True))}

    @property
    def explanation(self) -> str:
        """The kernel's docstring without its fields."""
        return self._documentation["explanation"]

    @property
    def summary(self) -> str:
        """The first line of the explanation."""
        return self.explanation.split("\n")[0]

    @property
    def formula(self) -> str:
        """The formula; empty if the docstring has none."""
        return self._documentation.get("Formula", "")

    @property
    def reference(self) -> str:
        """Where the measure is defined; empty if the docstring does not say."""
        return self._documentation.get("Reference", "")

    @cached_property
    def choices(self) -> dict[str, tuple[Any, ...]]:
        """The allowed values of each parameter that has a fixed list of them."""
        hints: dict[str, Any] = typing.get_type_hints(self.kernel)
        choices = {}
        for name in self.parameters:
            kinds = (hints.get(name), *typing.get_args(hints.get(name)))
            literals = [typing.get_args(kind) for kind in kinds if typing.get_origin(kind) is Literal]
            if literals:
                choices[name] = tuple(value for values in literals for value in values)
        return choices

    def __call__(self, **parameters: Any) -> Measure:
        """The measure with these parameters."""
        return Measure(self, self._checked(parameters))

    def _checked(self, parameters: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        for name in parameters:
            if name not in self.parameters:
                close = nearest(name, list(self.parameters))
                raise MeasureError(
                    f"{self.name} has no parameter {shown(name)}; it has {', '.join(self.parameters) or 'none'}",
                    hint=f"did you mean {close}?" if close else None,
                )
        values = {**self.parameters, **parameters}
        for name, value in values.items():
            if value is REQUIRED:
                example = f"{self.name}@{'0.5' if name == 'recall' else '10'}"
                raise MeasureError(f"{self.name} needs a {name}", hint=f"write {example}")
        return tuple((name, self._checked_value(name, value)) for name, value in values.items())

    def _checked_value(self, name: str, value: Any) -> Any:
        if value is None or value is self.parameters.get(name):
            return value
        check = _CHECKS.get(name)
        if name in self.choices and (check is None or isinstance(value, str)):
            if value not in self.choices[name]:
                choices = ", ".join(repr(choice) for choice in self.choices[name])
                raise MeasureError(f"{name} of {self.name} must be one of {choices}, found {value!r}")
            return value
        if check is None:
            return value
        expected, convert = check
        converted = convert(value)
        if converted is None:
            raise MeasureError(f"{name} of {self.name} must be {expected}, found {value!r}")
        return converted


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure with all its parameters; two are equal if their canonical names are."""

    definition: Definition
    parameters: tuple[tuple[str, Any], ...] = field(repr=False)
    spelling: str = field(default="", repr=False)  # another name that it was asked for by

    @cached_property
    def name(self) -> str:
        """The canonical name: it includes only parameters that differ from their defaults."""
        base, values = self.definition.name, dict(self.parameters)
        for variant, fixed in self.definition.variants.items():
            if all(values[key] == value for key, value in fixed.items()):
                base = variant
                values = {key: value for key, value in values.items() if key not in fixed}
                break
        at = values.pop(self.definition.at, None) if self.definition.at else None
        named = [
            f"{key}={_text(value)}"
            for key, value in values.items()
            if value != self.definition.parameters[key] and value is not None
        ]
        return base + (f"({','.join(named)})" if named else "") + (f"@{at}" if at is not None else "")

    @property
    def shown(self) -> str:
        """The name in tables, sentences and pages: as it was asked for, or the canonical one."""
        return self.spelling or self.name

    def spelled(self, spelling: str) -> Measure:
        """The measure, shown by another name."""
        return replace(self, spelling="" if spelling == self.name else spelling)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __getitem__(self, parameter: str) -> Any:
        return dict(self.parameters)[parameter]

    @property
    def cutoff(self) -> int | str | None:
        """The cutoff: a number, or the name of the query column that holds it; None for the whole ranking."""
        cutoff: int | str | None = dict(self.parameters).get("cutoff")
        return cutoff

    def but(self, **parameters: Any) -> Measure:
        """The measure with some parameters changed; parameters that it does not have are ignored."""
        changed = {key: value for key, value in parameters.items() if key in self.definition.parameters}
        return self.definition(**{**dict(self.parameters), **changed})

    def frozen(self, qrels: Qrels) -> Measure:
        """The measure with the parameters that come from the whole collection set, and so part of its name."""
        if self.definition.freeze is None:
            return self
        changed = self.definition.freeze(dict(self.parameters), qrels)
        return self.but(**changed).spelled(self.spelling) if changed else self

    def __call__(self, hits: Hits) -> PerQuery:
        """The value of each query; NaN if it has none."""
        self.check_judgments(hits.judgments)
        hits, values = self.applied(hits)
        return self.definition.kernel(hits, **values)

    def check_judgments(self, judgments: JudgmentKind) -> None:
        """Raise if the measure cannot be computed from this kind of judgments."""
        if not self.definition.accepts(judgments):
            raise _unsuitable_judgments(self, judgments)

    def applied(self, hits: Hits) -> tuple[Hits, dict[str, Any]]:
        """The arguments of the kernel: the join, condensed if the measure is judged-only, and the parameters.

        If results are matched with labels, the kernel sees the labels, each at the first result that matches it.
        """
        values = dict(self.parameters)
        if values.pop("judged_only", False):
            hits = hits.judged_only()
        hits = hits.by_label
        if isinstance(values.get("cutoff"), str):
            values["cutoff"] = _cutoff_column(hits, values["cutoff"])
        return hits, values


DEFINITIONS: dict[str, Definition] = {}  # all measures by name, filled by the registry


def _unsuitable_judgments(measure: Measure, judgments: JudgmentKind) -> MeasureError:
    """The error for a measure that cannot be computed from this kind of judgments."""
    needed = measure.definition.judgments
    assert needed is not None
    if judgments == "evidence" and needed == "grades":
        at = f"@{measure.cutoff or 10}"
        hint = (
            f'list the relevant documents too: "relevant": […]; StRecall{at} is the share of the evidence that was '
            f"found, EvidenceAll{at} whether all of it was"
        )
    elif needed == "passages":
        hint = "gold passages are quotes or spans, found in the texts of chunks"
    elif judgments == "grades":
        hint = TO_READ[needed]
    else:
        specific = (each for each in DEFINITIONS.values() if each.judgments not in (None, "grades"))
        suitable = ", ".join(definition.name for definition in specific if definition.accepts(judgments))
        hint = f"these judgments have: {suitable}"
    return MeasureError(
        f"{measure.name} needs {JUDGMENT_DESCRIPTIONS[needed]}, but these judgments are "
        f"{JUDGMENT_DESCRIPTIONS[judgments]}",
        hint=hint,
    )


def _cutoff_column(hits: Hits, name: str) -> Any:
    """The cutoff of each query, from a query column."""
    if name not in hits.columns:
        columns = ", ".join(hits.columns) or "none"
        raise MeasureError(
            f"cutoff '{name}' is neither a number nor a column of the queries (columns: {columns})",
            hint="write a number after the @, as in P@10",
        )
    cutoffs = np.asarray(hits.columns[name])
    if not np.issubdtype(cutoffs.dtype, np.integer) or (cutoffs < 1).any():
        raise MeasureError(f"column '{name}' must contain a whole number of at least 1 for every query")
    return cutoffs


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{_text(key)}:{_text(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    return repr(value)


def _number(value: Any, low: float, high: float, *, open_low: bool = False) -> float | int | None:
    """The number if it is within its bounds; whole floats become ints, so that names are canonical."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    if not low <= value <= high or (open_low and value == low):
        return None
    return int(value) if value == int(value) else value


def _cutoff(value: Any) -> int | str | None:
    if isinstance(value, str) and value.isidentifier():
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST_CUTOFF:
        return value
    return None


def _probability(value: Any) -> float | None:
    number = _number(value, 0, 1, open_low=True)
    return None if number is None or number == 1 else float(number)


def _gains(value: Any) -> dict[float, float] | None:
    if not isinstance(value, dict) or not value:
        return None
    pairs = [(_number(k, 0, math.inf), _number(v, -math.inf, math.inf)) for k, v in value.items()]
    return None if any(None in pair for pair in pairs) else dict(pairs)  # type: ignore[arg-type]  # just checked


def _recalls(value: Any) -> tuple[float, ...] | None:
    points = [_number(point, 0, 1) for point in value] if isinstance(value, (list, tuple)) else []
    return None if not points or None in points else tuple(sorted(float(p) for p in points if p is not None))


def _any_number(value: Any) -> float | None:
    return _number(value, -math.inf, math.inf)


def _positive(value: Any) -> float | None:
    return _number(value, 0, math.inf, open_low=True)


_CHECKS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "cutoff": (f"a whole number from 1 to {LARGEST_CUTOFF}", _cutoff),
    "rel": ("a grade of at least 0", lambda value: _number(value, 0, math.inf)),
    "recall": ("a number from 0 to 1", lambda value: _number(value, 0, 1)),
    "recalls": ("a list of numbers from 0 to 1", _recalls),
    "p": ("a number between 0 and 1", _probability),
    "alpha": ("a number from 0 to 1", lambda value: _number(value, 0, 1)),
    "beta": ("a number above 0", _positive),
    "weight": ("a number of at least 0", lambda value: _number(value, 0, math.inf)),
    "mult": ("a number above 0", _positive),
    "max_rel": ("a grade above 0", _positive),
    "gains": ("gains for grades of at least 0, as in {1: 3, 2: 9}", _gains),
    "judged_only": ("True or False", lambda value: value if isinstance(value, bool) else None),
    "collection": ("a whole number", lambda value: value if isinstance(value, int) and value >= 0 else None),
    **dict.fromkeys(("relevant", "nonrelevant", "missed", "rest"), ("a number", _any_number)),
}
