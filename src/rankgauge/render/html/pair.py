"""The pair of systems that the per-query charts show first: the baseline and the best other system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from rankgauge.core.formatting import plural
from rankgauge.render.html.charts.differences import averaged_values, axes_of, points_text, scatter, waterfall
from rankgauge.render.html.direction import comparatives, extremes
from rankgauge.render.html.page_systems import PageSystems


@dataclass(frozen=True)
class SystemPair:
    """Two systems, query by query, on the first measure."""

    before: str
    after: str
    after_index: int
    measure: str
    order: str  # from which to which extreme the differences are sorted
    points: str  # what the points of the chart of scores are
    diagonal: str  # which side of the diagonal is which
    tally: str  # on how many queries the second is better
    axes: dict[str, Any]
    waterfall: Markup
    scatter: Markup


def system_pair(page_systems: PageSystems) -> SystemPair | None:
    """The charts of the baseline and the best other system; None if there is one system."""
    if len(page_systems.systems) < 2:
        return None
    scores, systems = page_systems.scores, (page_systems.baseline, page_systems.best)
    before, after = (page_systems.systems[index] for index in systems)
    values = (averaged_values(scores[systems[0]], 0), averaged_values(scores[systems[1]], 0))
    axes, measure, gaps = axes_of(scores, 0), scores[0].measures[0], values[1] - values[0]
    direction = measure.definition.direction
    improvements = gaps * (direction or 1)
    better, worse = comparatives(measure)
    counts = [int(np.sum(chosen)) for chosen in (improvements > 0, improvements < 0, improvements == 0)]
    tally = (
        f"{after.name} is {better} than {before.name} on {plural(counts[0], 'query')}, "
        f"{worse} on {counts[1]}, equal on {counts[2]}"
    )
    gain, loss = extremes(measure)
    return SystemPair(
        before=before.name,
        after=after.name,
        after_index=page_systems.best,
        measure=measure.name,
        order=f"from the largest {gain} to the largest {loss}",
        points=points_text(int(np.sum(~np.isnan(gaps)))),
        diagonal=f"{'below' if direction < 0 else 'above'} the diagonal, {after.name} is {better}",
        tally=tally,
        axes=axes.to_dict(),
        waterfall=waterfall(gaps, direction, axes, f"{measure.name}: {tally}"),
        scatter=scatter(values, (before, after), axes, f"{measure.name}: {tally}"),
    )
