"""Random judgments and runs, with what makes evaluation hard: ties, negative grades, missing and empty queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run

WHOLE = (-2, -1, 0, 0, 1, 1, 2, 3)
FLOAT = (-1.0, 0.0, 0.3, 0.9, 1.0, 1.5, 2.0)
TIED = (0.0, 0.5, 1.0, 1.0 + 1e-9, 2.0, -0.0)


@dataclass
class Case:
    """Judgments and a run as plain dicts, and as the objects."""

    judged: dict[str, dict[str, float]]
    results: dict[str, list[tuple[str, float]]]

    @property
    def qrels(self) -> Qrels:
        return Qrels.from_dict(self.judged)

    @property
    def run(self) -> Run:
        return Run.from_dict({query: dict(found) for query, found in self.results.items()})


@st.composite
def cases(draw: st.DrawFn, *, grades: tuple[float, ...] = WHOLE, tied: bool = True, queries: int = 4) -> Case:
    """A few queries; each is judged, and retrieved or not."""
    names = draw(
        st.lists(st.sampled_from(["1", "2", "10", "q-1", "Q1", "é", "all"]), min_size=1, max_size=queries, unique=True)
    )
    judged: dict[str, dict[str, float]] = {}
    results: dict[str, list[tuple[str, float]]] = {}
    for name in names:
        pool = draw(st.lists(st.integers(0, 25), max_size=14, unique=True))
        judged[name] = {f"d{number}": draw(st.sampled_from(grades)) for number in pool}
        if draw(st.integers(0, 5)):
            found = draw(st.lists(st.integers(0, 25), max_size=16, unique=True))
            scores: list[Any]
            if tied:
                scores = draw(st.lists(st.sampled_from(TIED), min_size=len(found), max_size=len(found)))
            else:
                scores = list(range(len(found), 0, -1))
            results[name] = [(f"d{number}", float(score)) for number, score in zip(found, scores, strict=True)]
    return Case(judged, results)
