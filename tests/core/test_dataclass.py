"""A frozen class that is made quickly does all that the standard library's does."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from functools import cached_property
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.comparison.statistics_options import Statistics
from rankgauge.core import dataclass as fast_module
from rankgauge.evaluation.conventions import Conventions

fast_dataclass: Callable[..., Callable[[type], Any]] = fast_module.dataclass  # not as a type checker sees it


def make(decorator: Callable[..., Callable[[type], Any]], **options: Any) -> Any:
    """The same class by either decorator."""

    class Point:
        """A point."""

        x: int
        y: float = 0.0
        tags: list[str] = dataclasses.field(default_factory=list)
        note: str = dataclasses.field(default="", compare=False, repr=False)

        def __post_init__(self) -> None:
            if self.x == 99:
                raise ValueError("99 is not allowed")

        @cached_property
        def double(self) -> int:
            return 2 * self.x

    return decorator(frozen=True, **options)(Point)


Fast, Standard = make(fast_dataclass), make(dataclasses.dataclass)
NAMES = ("x", "y", "tags", "note", "other")
calls = st.tuples(
    st.lists(st.integers(0, 3) | st.just(99), max_size=5), st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3))
)


def outcome(cls: Any, call: tuple[list[Any], dict[str, Any]]) -> tuple[str, Any]:
    try:
        made = cls(*call[0], **call[1])
    except (TypeError, ValueError) as error:
        return type(error).__name__, None
    return repr(made), dataclasses.asdict(made)


@given(calls)
def test_any_call_has_the_same_result(call: tuple[list[Any], dict[str, Any]]) -> None:
    assert outcome(Fast, call) == outcome(Standard, call)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.text("ab", max_size=1)), min_size=2, max_size=2))
def test_equality_is_the_same(rows: list[tuple[int, int, str]]) -> None:
    def is_equal(cls: Any) -> bool:
        one, other = (cls(x, y, note=note) for x, y, note in rows)
        return bool(one == other)

    assert is_equal(Fast) == is_equal(Standard)


def test_equal_objects_have_equal_hashes() -> None:
    cls = make(fast_dataclass)
    assert hash(cls(1, tags=())) == hash(cls(1, tags=(), note="ignored"))
    assert cls(1) != Standard(1)
    identical = make(fast_dataclass, eq=False)
    assert identical(1) != identical(1)


def test_nothing_can_be_assigned_or_deleted() -> None:
    made = Fast(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        made.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'y'"):
        del made.y
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.unknown = 1
    assert made.double == 2  # a cached property is not an assignment


def test_a_call_that_does_not_fit_says_why() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        Fast()
    with pytest.raises(TypeError, match=r"Point\(\) got an unexpected keyword argument 'other'"):
        Fast(1, other=2)
    with pytest.raises(TypeError, match="multiple values for argument 'x'"):
        Fast(1, x=2)


def test_each_object_has_its_own_default() -> None:
    assert Fast(1).tags is not Fast(1).tags


def test_it_is_a_dataclass_to_others() -> None:
    made = Fast(1, 2.0)
    assert dataclasses.replace(made, x=3) == Fast(3, 2.0)
    assert [field.name for field in dataclasses.fields(made)] == list(NAMES[:4])
    assert copy.copy(made) == made
    match made:
        case Fast(x, y):
            assert (x, y) == (1, 2.0)
    assert str(inspect.signature(Fast)) == str(inspect.signature(Standard))


@pytest.mark.parametrize("made", [Statistics(confidence=0.9), Conventions()])
def test_objects_travel_between_processes(made: object) -> None:
    assert pickle.loads(pickle.dumps(made)) == made
