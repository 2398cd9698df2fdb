"""Interpolated precision at points of recall."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.core.hits import Hits
from rankgauge.evaluation.audit.values import Values
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.families.iprec import ELEVEN
from rankgauge.measures.parse import parse_measure
from rankgauge.render.html.figures.lines import Curve, lines
from rankgauge.render.html.figures.svg import Figure
from rankgauge.render.html.figures.systems import System


def recall(scores: Sequence[Scores], hits: Sequence[Hits], systems: Sequence[System]) -> Figure:
    """The picture, for the grade from which the first measure takes a document for relevant."""
    rel = dict(scores[0].measures[0].parameters).get("rel")
    points = [parse_measure(f"IPrec@{at:g}", compat=scores[0].conventions.compat) for at in ELEVEN]
    points = [point.but(rel=rel) if isinstance(rel, (int, float)) else point for point in points]
    curves = []
    for one, joined, system in zip(scores, hits, systems, strict=True):
        found = [Values(point(joined), one.averaged, "mean").over_queries for point in points]
        curves.append(Curve(system, [(x, y) for x, y in zip(ELEVEN, found, strict=True) if y is not None]))
    svg = lines(curves, "precision", "recall", (0.0, 1.0), log=False)
    return Figure("Precision at points of recall", svg, "Interpolated: the best precision at or beyond each point.")
