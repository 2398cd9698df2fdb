"""From values to positions, and the ticks of an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rankgauge.core.formatting import MINUS, given, text_of


@dataclass(frozen=True)
class Scale:
    """Values from ``low`` to ``high`` at positions from ``begin`` to ``end``, linear or logarithmic."""

    low: float
    high: float
    begin: float
    end: float
    log: bool = False
    tick_count: int = 4  # approximately

    def __call__(self, value: float) -> float:
        """The position of a value; a value outside is put at the border."""
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        scaled = math.log(value) if self.log else value
        share = 0.5 if high == low else (min(max(scaled, low), high) - low) / (high - low)
        return self.begin + share * (self.end - self.begin)

    @property
    def ticks(self) -> list[float]:
        """Round values for a linear axis."""
        return ticks(self.low, self.high, self.tick_count)


def ticks(low: float, high: float, count: int) -> list[float]:
    """About ``count`` round values in a range: multiples of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    step = tick_step(low, high, count)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(multiple * step, 12) for multiple in range(first, last + 1)]


def tick_step(low: float, high: float, count: int) -> float:
    """1, 2 or 5 times a power of ten, so that about ``count`` of it make the range."""
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)


def log_ticks(low: float, high: float, factors: Sequence[int] = (1, 2, 5)) -> list[float]:
    """These multiples of each power of ten."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    candidates = [round(factor * 10.0**power, 12) for power in powers for factor in factors]
    return [value for value in candidates if low * 0.999 <= value <= high * 1.001]


def covering_ticks(values: Iterable[float], count: int) -> list[float]:
    """About ``count`` round values, the first of which is not above any value and the last not below any."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    if high - low < 1e-9:
        low, high = min(low, 0.0), max(high, 0.0)
        high = high if high - low > 1e-9 else low + 1.0
    step = tick_step(low, high, count)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(multiple * step, 12) for multiple in range(first, last + 1)]


def padded_range(values: Iterable[float | None], possible: tuple[float, float]) -> tuple[float, float]:
    """From the lowest to the highest value with some padding, but not beyond the possible values."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if not finite:
        return (0.0, 1.0)
    low, high = min(finite), max(finite)
    padding = 0.08 * (high - low) or 0.05 * abs(high) or 0.05
    return max(low - padding, min(possible[0], low)), min(high + padding, max(possible[1], high))


def tick_label(value: float) -> str:
    """A tick as text, without digits that carry no information."""
    return text_of(value, "count") if abs(value) >= 1_000 else given(value).replace("-", MINUS)


def tick_labels(values: Sequence[float], *, log: bool = False) -> list[str]:
    """The ticks of one axis: all with the same number of decimals, unless it is logarithmic."""
    labels = [tick_label(value) for value in values]
    decimals = max((len(label.partition(".")[2]) for label in labels), default=0)
    if log or not decimals or any("e" in label for label in labels):
        return labels
    return [f"{value:.{decimals}f}".replace("-", MINUS) for value in values]
