"""Measures over the cutoff k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.core.hits import Hits
from rankgauge.core.qrels import Qrels
from rankgauge.evaluation.audit.values import Values
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.spec import Measure
from rankgauge.render.html.figures.lines import Curve, lines
from rankgauge.render.html.figures.svg import Figure
from rankgauge.render.html.figures.systems import System

CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 500, 1000)
FAMILIES = ("nDCG", "R", "P")
MOST = 4


def depths(qrels: Qrels, scores: Sequence[Scores], hits: Sequence[Hits], systems: Sequence[System]) -> Iterator[Figure]:
    """One picture for each family: nDCG, R and P, and that of the first measure where it has a cutoff."""
    for family in _families(scores[0]):
        measure = family.frozen(qrels)
        title = f"{measure.but(cutoff=None).name if _may_be_uncut(measure) else measure.definition.name}@k"
        yield over_k(measure, title, scores, hits, systems)


def over_k(
    measure: Measure,
    title: str,
    scores: Sequence[Scores],
    hits: Sequence[Hits],
    systems: Sequence[System],
    caption: str = "",
) -> Figure:
    """One measure at each cutoff that the rankings reach."""
    deepest = max(int(one.retrieved.max(initial=1)) for one in hits)
    cutoffs = [k for k in CUTOFFS if k <= max(deepest, 2)]
    at = [measure.but(cutoff=k) for k in cutoffs]
    curves = []
    for one, joined, system in zip(scores, hits, systems, strict=True):
        found = [Values(each(joined), one.averaged, "mean").over_queries for each in at]
        curves.append(Curve(system, [(float(k), y) for k, y in zip(cutoffs, found, strict=True) if y is not None]))
    svg = lines(curves, title, "k", (1.0, float(cutoffs[-1])), log=True)
    return Figure(title, svg, caption)


def _families(scores: Scores) -> list[Measure]:
    """The first measure that was asked for of each family, or else the family's usual one."""
    asked = [measure for measure in scores.measures if "cutoff" in measure.definition.parameters]
    names = dict.fromkeys([*(m.definition.name for m in asked[:1] if m is scores.measures[0]), *FAMILIES])
    known = {measure.definition.name: measure for measure in reversed(asked)}
    return [known.get(name) or parse_measure(f"{name}@10") for name in names][:MOST]


def _may_be_uncut(measure: Measure) -> bool:
    return measure.definition.parameters["cutoff"] is None
