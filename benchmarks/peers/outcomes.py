"""Each check of a peer, made with rankgauge's values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from benchmarks.peers.checks import ALL_QUERIES, ANY_QUERY, Check, Input, NameCheck, Value
from rankgauge import Conventions, Qrels, Scores, evaluate, parse_measure
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.measures import parse_measures

Kind = Literal["agree", "differ", "unsupported", "error"]
TEXTS = {"runid", "relstring"}  # of trec_eval: not numbers, so not in any set here


@dataclass(frozen=True)
class Outcome:
    """What came of a check: rankgauge's value, or why there is none."""

    check: Check | NameCheck
    kind: Kind
    value: float | None = None
    message: str = ""
    hint: str | None = None


class Evaluator:
    """Values of rankgauge on the inputs of a peer."""

    def __init__(self, inputs: list[Input], conventions: Conventions) -> None:
        self.inputs, self.conventions = inputs, conventions
        self._scores: dict[tuple[str, int, Conventions], Scores] = {}

    def outcome(self, check: Check) -> Outcome:
        """Whether rankgauge's value is the one that is expected."""
        try:
            value = self.value(check.value)
            expected = self.value(check.expected) if isinstance(check.expected, Value) else check.expected
        except MeasureError as error:
            return Outcome(check, "unsupported", message=error.args[0], hint=error.hint)
        except RankgaugeError as error:
            return Outcome(check, "error", message=error.args[0], hint=error.hint)
        same = is_same(value, expected, check.tolerance)
        return Outcome(check, "agree" if same == check.equal else "differ", value)

    def value(self, value: Value, conventions: Conventions | None = None) -> float | None:
        """The value of a query or over all of them; None if there is none."""
        scores = self._evaluated(value, conventions or self.conventions)
        measure = scores.measures[0]  # with the grade of relevance of the conventions
        if value.query is ALL_QUERIES:
            return scores[measure]
        numbers = scores.per_query(measure)
        if value.query == ANY_QUERY:
            return next((number for number in numbers.values() if number is not None), None)
        return numbers.get(value.query)

    def _evaluated(self, value: Value, conventions: Conventions) -> Scores:
        data = self.inputs[value.input]
        key = value.measure, value.input, replace(conventions, rel=data.rel)
        if key not in self._scores:
            is_over_subtopics = parse_measure(value.measure).definition.judgments == "subtopics"
            qrels = _by_subtopic(data) if is_over_subtopics and data.by_subtopic else data.qrels
            self._scores[key] = evaluate(qrels, data.run, value.measure, conventions=key[2])
        return self._scores[key]


def _by_subtopic(data: Input) -> Qrels:
    query, subtopic, doc, grade = zip(*data.by_subtopic, strict=True)
    return Qrels.from_columns(query, doc, grade, iters=subtopic, by_subtopic=True)


def name_outcome(check: NameCheck) -> Outcome:
    """Whether a request names the same measures here, in any order."""
    try:
        requested = parse_measures(check.requested)
        expected = parse_measures([name for name in check.expected if name not in TEXTS])
    except MeasureError as error:
        return Outcome(check, "unsupported", message=error.args[0], hint=error.hint)
    return Outcome(check, "agree" if set(requested) == set(expected) else "differ")


def is_same(value: float | None, expected: float | None, tolerance: float) -> bool:
    """Equal up to the tolerance; NaN, as the peers have it for nothing to average, is no value."""
    if expected is None or expected != expected:
        return value is None
    return value is not None and abs(value - expected) <= tolerance
