"""From values to places, and the ticks of an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Values from ``low`` to ``high`` at places from ``begin`` to ``end``, evenly or by their logarithm."""

    low: float
    high: float
    begin: float
    end: float
    log: bool = False
    about: int = 4  # so many ticks

    def __call__(self, value: float) -> float:
        """The place of a value; one that lies outside is put at the border."""
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        at = math.log(value) if self.log else value
        share = 0.5 if high == low else (min(max(at, low), high) - low) / (high - low)
        return self.begin + share * (self.end - self.begin)

    @property
    def ticks(self) -> list[float]:
        """Round values for the axis."""
        return log_ticks(self.low, self.high) if self.log else ticks(self.low, self.high, self.about)


def ticks(low: float, high: float, about: int) -> list[float]:
    """Round values between two others: multiples of 1, 2 or 5 of some power of ten."""
    if not high > low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each power of ten; only the powers where these would be too many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1,)):
        found = [round(factor * 10.0**power, 12) for power in powers for factor in factors]
        found = [value for value in found if low * 0.999 <= value <= high * 1.001]
        if len(found) <= 8:
            break
    return found


def spread(values: Iterable[float | None], within: tuple[float, float]) -> tuple[float, float]:
    """From the lowest to the highest of some values with room around them, inside of the possible."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return (0.0, 1.0)
    low, high = min(known), max(known)
    room = 0.08 * (high - low) or 0.05 * abs(high) or 0.05
    return max(low - room, min(within[0], low)), min(high + room, max(within[1], high))


def label(value: float) -> str:
    """A tick as it is written: no digit that says nothing."""
    if abs(value) >= 10_000:
        return f"{value:,.0f}".replace("-", "−")
    return f"{value:.6g}".replace("-", "−")
