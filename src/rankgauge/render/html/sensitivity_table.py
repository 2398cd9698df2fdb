"""How unjudged documents and ties could change each value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rankgauge.core.formatting import compact_number
from rankgauge.evaluation.audit.ties import TieAudit
from rankgauge.evaluation.audit.unjudged import UnjudgedAudit
from rankgauge.render.html.page_systems import PageSystem
from rankgauge.render.html.text import measure_text


@dataclass(frozen=True)
class SensitivityRow:
    """What one value would be if unjudged documents were judged, or if ties were broken differently."""

    measure: str
    system: PageSystem
    value: str
    judged: str
    if_irrelevant: str
    if_relevant: str
    if_removed: str
    bounds: bool  # whether the two values above are bounds
    worst_order: str
    best_order: str


def sensitivity(
    unjudged: Sequence[UnjudgedAudit], ties: Sequence[TieAudit], systems: Sequence[PageSystem]
) -> Iterator[SensitivityRow]:
    """The table of both audits, by measure; empty without an audit of unjudged documents."""
    if not unjudged:
        return
    for index, measure in enumerate(ties[0].scores.measures):
        for unjudged_audit, tie_audit, system in zip(unjudged, ties, systems, strict=True):
            scenario, order = unjudged_audit.measures[index], tie_audit.measures[index]
            yield SensitivityRow(
                measure=measure.name,
                system=system,
                value=measure_text(measure, order.reported.over_queries),
                judged=compact_number(scenario.judged.over_queries),
                if_irrelevant=measure_text(measure, scenario.irrelevant.over_queries),
                if_relevant=measure_text(measure, scenario.relevant.over_queries),
                if_removed=measure_text(measure, scenario.condensed.over_queries),
                bounds=scenario.bounds,
                worst_order=measure_text(measure, order.worst.over_queries),
                best_order=measure_text(measure, order.best.over_queries),
            )
