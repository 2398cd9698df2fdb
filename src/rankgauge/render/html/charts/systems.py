"""How systems are told apart: each has a colour and a name beside its mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

COLOURS = 7  # the baseline's, and six more


@dataclass(frozen=True)
class System:
    """One system in a picture."""

    name: str
    colour: str  # a class


def systems_of(names: Sequence[str], baseline: int) -> list[System]:
    """The systems in their order; the baseline is grey, and colours come again where there are many."""
    others = [place for place in range(len(names)) if place != baseline]
    colours = {place: 1 + order % (COLOURS - 1) for order, place in enumerate(others)} | {baseline: 0}
    return [System(name, f"c{colours[place]}") for place, name in enumerate(names)]
