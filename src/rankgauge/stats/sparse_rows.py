"""Rows of differences of which only a few differ from the rest: an exact test, and an interval of positive width.

The interval is Bonett and Price's adjusted Wald interval of a paired difference of proportions: one query of +1 and one
of −1 are added before the mean and its error are computed. Here they are as large as the largest difference, which
covers graded measures and equal differences too, or as the possible range if nothing changed at all. If units differ in
size, the difference counts as in a unit of typical size, because the next change may be in a larger one. Student's t
takes the place of the normal distribution, which covers too little if a change is seen only once. Bonett and Price,
Adjusted Wald confidence interval for a difference of binomial proportions based on paired data, Journal of Educational
and Behavioral Statistics 2012.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankgauge.stats.distributions import t_quantile, t_tail
from rankgauge.stats.randomization import flip_test
from rankgauge.stats.results import Alternative
from rankgauge.stats.samples import Floats, Sample
from rankgauge.stats.seeds import Resampling

FEWEST_VARYING = 10  # units that differ from the most common value; with fewer, a row leaves the draws


def adjusted_mean(data: Sample, widest: float) -> tuple[float, float]:
    """The mean of the units' differences and its standard error, after adding one at each end."""
    values = data.contributions
    largest = float(np.abs(data.totals / data.sizes).max()) / data.scale or widest
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


def sparse_p(data: Sample, alternative: Alternative, widest: float, resampling: Resampling) -> float:
    """The larger of the p of sign flips and the p that belongs to the interval."""
    if not data.whole.any():
        return 1.0
    mean, error = adjusted_mean(data, widest)
    exact = flip_test(data, alternative, resampling).p
    return max(1.0 if exact is None else exact, t_tail(mean / error, data.units - 1, alternative))


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
