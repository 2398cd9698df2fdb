"""Rows of differences of which only a few differ from the rest: an exact test, and an interval of positive width.

The interval is Bonett and Price's adjusted Wald interval of a paired difference of proportions: one query of +1 and
one of −1 are added before the mean and its error are computed. Here they are as large as the largest difference,
which covers graded measures and equal differences too, or as the possible range if nothing changed at all. If units
differ in size, the difference counts as in a unit of typical size, because the next change may be in a larger one.
Student's t takes the place of the normal distribution, which covers too little if a change is seen only once.

Bonett and Price, Adjusted Wald confidence interval for a difference of binomial proportions based on paired data,
Journal of Educational and Behavioral Statistics 2012.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.stats.distributions import t_quantile, t_tail
from rankgauge.stats.draws import Resampling
from rankgauge.stats.randomization import MAX_EXACT_DIFFERENCES, exact_p, flip_test
from rankgauge.stats.results import Alternative
from rankgauge.stats.samples import Floats, Sample

Side = Literal["less", "greater"]
Range = tuple[float, float]
FEWEST_VARYING = 10  # units that differ from the value of most units, or from 0; with fewer, a row leaves the draws


def toward(side: Side, values: Floats) -> Floats:
    """How far values lie in the direction that is tested."""
    return -values if side == "less" else values


def adjusted_mean(data: Sample, widest: float, *, all_of_range: bool = False) -> tuple[float, float]:
    """The mean of the units' differences and its standard error, after adding one at each end.

    The ends are the largest difference, or those of the range if nothing changed, or if asked for.
    """
    values = data.contributions
    largest = float(np.abs(data.totals / data.sizes).max()) / data.scale
    largest = widest if all_of_range else largest or widest
    typical = math.sqrt(data.units / data.effective_units)  # the root mean square of the sizes, relative to their mean
    end = max(float(np.abs(values).max()), largest * typical)
    n = data.units + 2
    mean = float(values.sum()) / n
    variance = (float(np.square(values).sum()) + 2 * end * end) / n - mean * mean
    return mean, math.sqrt(variance / n)


def sparse_interval(
    data: Sample, alternative: Alternative, outside: float, widest: float
) -> tuple[float, float] | None:
    """Both ends, with the probability ``outside`` beyond each; None if the range is unknown and nothing differs."""
    mean, error = adjusted_mean(data, widest)
    if math.isinf(error):
        return None
    half = t_quantile(1 - outside, data.units - 1) * error
    low = -math.inf if alternative == "less" else mean - half
    return low, math.inf if alternative == "greater" else mean + half


def sparse_p(data: Sample, side: Side, widest: float, resampling: Resampling) -> float:
    """The larger of the p of sign flips and the p that belongs to the interval."""
    if not data.whole.any():
        return 1.0
    mean, error = adjusted_mean(data, widest)
    flipped = flipped_alone(data, side) if flips_exactly(data) else flip_test(data, side, resampling).p or 1.0
    return max(flipped, t_tail(mean / error, data.units - 1, side))


def one_way_significant(
    total: Floats, squares: Floats, largest: Floats, units: int, outside: float
) -> NDArray[np.bool_]:
    """Whether 1, 2, 3 … changes in the same direction (columns) are significant, as ``sparse_p`` defines it.

    Given are their total, the sum of their squares and the largest. Random signs make k changes all positive with the
    probability 2⁻ᵏ.
    """
    n, count = units + 2, np.arange(1, total.shape[1] + 1)
    mean = total / n
    error = np.sqrt(((squares + 2 * np.square(largest)) / n - np.square(mean)) / n)
    significant: NDArray[np.bool_] = (mean >= t_quantile(1 - outside, units - 1) * error) & (0.5**count <= outside)
    return significant


def flips_exactly(data: Sample) -> bool:
    """Whether all patterns of signs can be counted."""
    changes = data.totals[data.totals != 0]
    return len(changes) <= MAX_EXACT_DIFFERENCES or bool((changes > 0).all() or (changes < 0).all())


def flipped_alone(data: Sample, side: Side) -> float:
    """The exact p of sign flips of one row; 2⁻ᵏ if k changes all have the direction that is tested."""
    changes = data.totals[data.totals != 0]
    if len(changes) > MAX_EXACT_DIFFERENCES:
        return 0.5 ** len(changes) if toward(side, changes)[0] > 0 else 1.0
    return exact_p(changes, data.total, data.slack, side)
