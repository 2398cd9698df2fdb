"""A join with small ties, and every order of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.measures.measure import Measure
from tests.measures.definitions import DEFINITIONS

GRADES = (None, None, -1, 0, 1, 2, 3)
SIZES = ([1], [3], [4], [2, 3], [1, 4, 1], [2, 1, 3], [3, 3], [5], [1, 5], [2, 4], [2, 2, 2], [6])
Labels = tuple[float | None, ...]


@dataclass
class Tied:
    """One query: its ties from the first rank on, each a list of labels, and grades of what was not retrieved."""

    ties: list[list[float | None]]
    missed: list[float]

    @property
    def labels(self) -> list[float | None]:
        return [label for tie in self.ties for label in tie]

    @property
    def judged(self) -> list[float]:
        return [label for label in self.labels if label is not None] + self.missed

    @property
    def qrels(self) -> Qrels:
        named = {f"d{place}": label for place, label in enumerate(self.labels) if label is not None}
        return Qrels.from_dict({"q": {**named, **{f"m{place}": grade for place, grade in enumerate(self.missed)}}})

    @property
    def run(self) -> Run:
        scores = [float(-place) for place, tie in enumerate(self.ties) for _ in tie]
        return Run.from_dict({"q": {f"d{place}": score for place, score in enumerate(scores)}})

    @property
    def hits(self) -> Hits:
        return join(self.qrels, self.run)

    def orders(self) -> Iterator[list[float | None]]:
        """Every ranking that breaks the ties somehow; all are equally likely."""
        for choice in itertools.product(*(itertools.permutations(tie) for tie in self.ties)):
            yield [label for tie in choice for label in tie]

    def values(self, measure: Measure) -> list[float]:
        """A measure, by its plain definition, in each order; those in which it has no value left out."""
        parameters = dict(measure.parameters)
        condensed = parameters.pop("judged_only", False)
        define = DEFINITIONS[measure.definition.name]
        seen: dict[Labels, float | None] = {}
        out = []
        for order in self.orders():
            labels = tuple(label for label in order if not condensed or (label is not None and label >= 0))
            if labels not in seen:
                seen[labels] = define(list(labels), self.judged, **parameters)
            value = seen[labels]
            if value is not None and not math.isnan(value):
                out.append(value)
        return out


@st.composite
def tied(draw: st.DrawFn) -> Tied:
    """A few ties of at most 720 orders together."""
    sizes = draw(st.sampled_from(SIZES))
    label = st.sampled_from(GRADES)
    ties = [draw(st.lists(label, min_size=size, max_size=size)) for size in sizes]
    missed = draw(st.lists(st.sampled_from((0.0, 1.0, 2.0)), max_size=2))
    return Tied([[None if one is None else float(one) for one in tie] for tie in ties], missed)


def close(found: float, wanted: float) -> bool:
    return bool(np.isclose(found, wanted, rtol=1e-12, atol=1e-12))
