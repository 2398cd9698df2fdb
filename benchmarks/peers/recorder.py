"""Record what tests assert: numbers that know what they are the value of, and assertions that record and never fail."""

from __future__ import annotations

import math
import unittest
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from benchmarks.peers.checks import ANY_QUERY, Check, Input, NameCheck, Recording, Value

EXACT = 1e-9  # a sum in another order
PRINTED = {"gdeval": 5.1e-6}  # providers that read printed numbers, here of five digits
Parts = dict[tuple[str, ...], Any]


class Number(float):
    """A number that a peer computed, and what it is the value of."""

    value: Value

    def __new__(cls, number: float, value: Value) -> Number:
        made = super().__new__(cls, number)
        made.value = value
        return made


class Recorder:
    """Collects inputs, computed values, and checks of them."""

    def __init__(self) -> None:
        self.inputs: list[Input] = []
        self.computed: dict[Value, float | None] = {}
        self.checks: dict[Check, None] = {}
        self.names: dict[NameCheck, None] = {}
        self.asserted: set[Value] = set()
        self.last_call: list[Value] = []
        self.last_names: tuple[str, ...] = ()

    def add_input(self, data: Input) -> int:
        """The number of an input; the same for the same data."""
        if data not in self.inputs:
            self.inputs.append(data)
        return self.inputs.index(data)

    def begin_call(self, provider: str, measures: Iterable[str], data: int) -> None:
        """A call for these measures: what an assertion on an empty result is about."""
        self.last_names = tuple(measures)
        self.last_call = [Value(provider, measure, data, ANY_QUERY) for measure in self.last_names]

    def number(self, value: Value, computed: float | None) -> Number:
        """The number to hand to the test; None if the peer could not compute it."""
        self.computed[value] = computed
        return Number(math.nan if computed is None else computed, value)

    def compare(self, found: Any, expected: Any, tolerance: float, *, equal: bool = True) -> bool:
        """Record an assertion; False if it is not about the value of a measure."""
        one, other = _parts(found), _parts(expected)
        call, names, self.last_call, self.last_names = self.last_call, self.last_names, [], ()
        if not any(isinstance(number, Number) for number in (*one.values(), *other.values())):
            empty = isinstance(found, Collection) and not len(found) and not len(expected)
            measures = _measure_names(expected)
            for value in call if empty else ():
                self._add(value, None, tolerance, equal=equal)
            if names and measures:
                self.names[NameCheck(names, measures)] = None
            return bool(call if empty else names and measures)
        for key in one | other:
            left: Any = one.get(key)
            right: Any = other.get(key)
            if not isinstance(left, Number):
                left, right = right, left
            if isinstance(right, Number):
                self._add(left.value, right.value, tolerance, equal=equal)
            elif isinstance(left, Number):
                self._add(left.value, None if right is None else float(right), tolerance, equal=equal)
        return True

    def _add(self, value: Value, expected: float | Value | None, tolerance: float, *, equal: bool) -> None:
        if isinstance(expected, Value):
            if (expected.measure, expected.input) == (value.measure, value.input):
                return  # two providers compared with each other: what each computed is a check
            self.asserted.add(expected)
        self.asserted.add(value)
        self.checks[Check(value, expected, max(tolerance, PRINTED.get(value.provider, 0)), equal)] = None

    def recording(self, version: str) -> Recording:
        """Everything, with what was computed and is in no assertion."""
        rest = {value: number for value, number in self.computed.items() if value not in self.asserted}
        computed = [
            Check(value, number, max(EXACT, PRINTED.get(value.provider, 0)), asserted=False)
            for value, number in rest.items()
            if number is not None
        ]
        return Recording(version, self.inputs, [*self.checks, *computed], list(self.names), len(rest) - len(computed))


def patch_assertions(recorder: Recorder) -> None:
    """Let unittest's comparisons of values record instead of compare; all others stay as they are."""
    equal, almost, different = (
        unittest.TestCase.assertEqual,
        unittest.TestCase.assertAlmostEqual,
        unittest.TestCase.assertNotAlmostEqual,
    )

    def assert_equal(self: unittest.TestCase, first: Any, second: Any, msg: Any = None) -> None:
        if not recorder.compare(first, second, EXACT):
            equal(self, first, second, msg)

    def assert_almost(
        self: unittest.TestCase, first: Any, second: Any, places: int = 7, msg: Any = None, delta: Any = None
    ) -> None:
        if not recorder.compare(first, second, delta or 0.5 * 10**-places):
            almost(self, first, second, places, msg, delta)

    def assert_different(
        self: unittest.TestCase, first: Any, second: Any, places: int = 7, msg: Any = None, delta: Any = None
    ) -> None:
        if not recorder.compare(first, second, delta or 0.5 * 10**-places, equal=False):
            different(self, first, second, places, msg, delta)

    for name, patched in (
        ("assertEqual", assert_equal),
        ("assertAlmostEqual", assert_almost),
        ("assertNotAlmostEqual", assert_different),
    ):
        setattr(unittest.TestCase, name, patched)


def _parts(found: Any) -> Parts:
    """The numbers in a result: one, a dict (of dicts), or named tuples with query, measure and value."""
    if isinstance(found, Mapping):
        return {(str(key), *rest): part for key, value in found.items() for rest, part in _parts(value).items()}
    if hasattr(found, "query_id") and hasattr(found, "value"):
        return {(str(found.query_id), str(found.measure)): found.value}
    if isinstance(found, (list, tuple, set, frozenset)):
        return {key: part for one in found for key, part in _parts(one).items() if key}
    return {(): found}


def _measure_names(expected: Any) -> tuple[str, ...]:
    """The names in an assertion about names: a set of texts, a measure, or a list of measures."""
    if isinstance(expected, set) and all(isinstance(name, str) for name in expected):
        return tuple(sorted(expected))
    members = expected if isinstance(expected, list) else [expected]
    return tuple(map(str, members)) if all(hasattr(member, "SUPPORTED_PARAMS") for member in members) else ()
