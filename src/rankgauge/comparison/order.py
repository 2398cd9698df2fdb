"""A comparison with its systems in another order; nothing else changes."""

from __future__ import annotations

from dataclasses import replace

from rankgauge.comparison.result import Comparison
from rankgauge.evaluation.order import sorted_runs


def sort_systems(comparison: Comparison, sort: str | None = None) -> Comparison:
    """The systems as ``sorted_runs`` sorts them, the baseline in its place."""
    scores = tuple(sorted_runs(comparison.scores, sort))
    place = {run.run: number for number, run in enumerate(scores)}
    groups = list(dict.fromkeys((row.by, row.label, row.difference.measure) for row in comparison.groups))
    return replace(
        comparison,
        scores=scores,
        names=tuple(place),
        differences=tuple(sorted(comparison.differences, key=lambda row: place[row.system])),
        groups=tuple(
            sorted(
                comparison.groups,
                key=lambda row: (
                    groups.index((row.by, row.label, row.difference.measure)),
                    place[row.difference.system],
                ),
            )
        ),
        changes={system: comparison.changes[system] for system in place if system in comparison.changes},
    )
