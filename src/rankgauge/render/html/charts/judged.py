"""How much was judged, and what ties and unjudged documents could make of the first measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.core.hits import Hits
from rankgauge.evaluation.audit.ties import TieAudit
from rankgauge.evaluation.audit.unjudged import UnjudgedAudit
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.families.judged import judged
from rankgauge.render.html.figures.depth import over_k
from rankgauge.render.html.figures.ranges import Row, ranges
from rankgauge.render.html.figures.svg import Figure
from rankgauge.render.html.figures.systems import System
from rankgauge.render.html.text import value_of


def judgments(
    scores: Sequence[Scores],
    hits: Sequence[Hits],
    unjudged: Sequence[UnjudgedAudit],
    ties: Sequence[TieAudit],
    systems: Sequence[System],
) -> Iterator[Figure]:
    """Judged@k; then the spans of the first measure."""
    yield over_k(judged(cutoff=10), "Judged@k", scores, hits, systems, judged.summary)
    measure = scores[0].measures[0]
    rows = []
    for audit, system in zip(unjudged, systems, strict=True):
        one = audit.measures[0]
        ends = [one.irrelevant.over_queries, one.relevant.over_queries]
        shown = [value_of(measure, end) for end in ends]
        said = f"{system.name}: {shown[0]} where the unjudged are all irrelevant, {shown[1]} where all are relevant"
        rows.append(_span(system, ends[0], ends, shown[0], said))
    yield Figure(
        f"{measure.name} and the unjudged",
        ranges(rows, measure.definition.range),
        "From all unjudged documents irrelevant (dot) to all of them relevant with the top grade.",
    )
    if not any(audit.measures[0].moved for audit in ties):
        return
    rows = []
    for tied, system in zip(ties, systems, strict=True):
        found = tied.measures[0]
        ends = [found.worst.over_queries, found.best.over_queries]
        shown = [value_of(measure, end) for end in ends]
        value = found.reported.over_queries
        said = f"{system.name}: {shown[0]} with the worst order of ties, {shown[1]} with the best"
        rows.append(_span(system, value, ends, value_of(measure, value), said))
    yield Figure(
        f"{measure.name} and ties",
        ranges(rows, measure.definition.range),
        "From the worst to the best order of documents with equal scores; the dot is the order reported.",
    )


def _span(system: System, value: float | None, ends: Sequence[float | None], shown: str, said: str) -> Row:
    known = [end for end in ends if end is not None]
    return Row(system, value, min(known, default=None), max(known, default=None), shown, said)
