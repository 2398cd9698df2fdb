"""What a peer's tests expect: inputs, and values of measures on them.

Nothing of rankgauge here: the Python that has the peer imports this.
"""

from __future__ import annotations

from dataclasses import dataclass

Numbers = dict[str, dict[str, float]]

ALL_QUERIES = None  # the value over all queries
ANY_QUERY = "*"  # whether there is a value for any query


@dataclass(frozen=True)
class Input:
    """Judgments and a run of a test, and the peer's settings that are not part of the name of a measure.

    ``by_subtopic`` has the same judgments as rows of query, subtopic, document and grade, if the peer has subtopics.
    """

    qrels: Numbers
    run: Numbers
    rel: int = 1
    by_subtopic: tuple[tuple[str, str, str, float], ...] = ()


@dataclass(frozen=True)
class Value:
    """What a test asks for: a measure, by the name that the peer prints, on the input with this number."""

    provider: str
    measure: str
    input: int
    query: str | None


@dataclass(frozen=True)
class Check:
    """What a value must be: a number, the same as another value, or absent."""

    value: Value
    expected: float | Value | None
    tolerance: float
    equal: bool = True
    asserted: bool = True  # by a number in the test; otherwise the peer computed it when the test ran


@dataclass(frozen=True)
class NameCheck:
    """Which measures a request names."""

    requested: tuple[str, ...]
    expected: tuple[str, ...]


@dataclass(frozen=True)
class Recording:
    """All that was recorded of a peer's tests."""

    version: str
    inputs: list[Input]
    checks: list[Check]
    names: list[NameCheck]
    without_number: int  # values that no assertion reads and that the peer could not compute
