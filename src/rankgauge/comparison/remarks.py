"""What a comparison says beside its table: equivalence, how many queries it would take, and whether measures agree."""

from __future__ import annotations

import math

from rankgauge.comparison.agreement import LITTLE
from rankgauge.comparison.answer import p_text
from rankgauge.comparison.compare import JOINT, SAID
from rankgauge.comparison.result import Comparison, Difference

LISTED = 6  # pairs of measures; JSON has all of them


def remarks(found: Comparison) -> list[str]:
    """A sentence each; none where nothing was asked for."""
    systems = [name for name in found.names if name != found.baseline]
    out = [_equivalence(found, system) for system in systems] if found.margin is not None else []
    out += [_needed(found, system) for system in systems] if found.wanted is not None else []
    return out + ([_agreement(found)] if found.agreement else [])


def _rows(found: Comparison, system: str) -> list[Difference]:
    return [row for row in found.differences if row.system == system]


def _equivalence(found: Comparison, system: str) -> str:
    shown = [row for row in _rows(found, system) if row.equivalent(found.alpha)]
    rest = [row for row in _rows(found, system) if not row.equivalent(found.alpha)]
    within = f"equivalent within ±{found.margin:g}"
    said = []
    if shown:
        said.append(f"{system} and {found.baseline} are {within} on {_with_p(shown)}")
    if rest:
        said.append(f"not shown to be {within} on {_with_p(rest)}")
        if not shown:
            said = [f"{system} and {found.baseline} are {said[0]}"]
    corrected = "none" if len(found.differences) == 1 else "holm" if found.correction in JOINT else found.correction
    return f"{'; '.join(said)} (two one-sided t tests, {SAID[corrected]})"


def _with_p(rows: list[Difference]) -> str:
    listed = []
    for row in rows:
        p = row.p_equivalent_corrected
        listed.append(f"{row.measure} (p {'unknown' if p is None else p_text(p, '=')})")
    return ", ".join(listed)


def _needed(found: Comparison, system: str) -> str:
    needed = ((row.measure, row.needed) for row in _rows(found, system))
    listed = [f"{measure} {'unknown' if queries is None else f'{queries:,}'}" for measure, queries in needed]
    return (
        f"queries that would show a true difference of {found.wanted:g} between {system} and {found.baseline} in four "
        f"of five cases, each measure by itself: {', '.join(listed)}"
    )


def _agreement(found: Comparison) -> str:
    count = found.agreement[0].systems
    pairs = sorted(found.agreement, key=lambda one: 2.0 if one.tau is None else one.tau)
    listed = [
        f"{' and '.join(one.measures)} {'–' if one.tau is None else f'{one.tau:.2f}'.replace('-', '−')}"
        for one in pairs[:LISTED]
    ]
    more = f", {len(pairs) - LISTED} pairs more" if len(pairs) > LISTED else ""
    little = ""
    if count < LITTLE:
        little = f"; of {count} systems that means little: 1 of {math.factorial(count)} orders agrees fully by chance"
    return f"how measures agree on the order of {count} systems (Kendall's tau): {', '.join(listed)}{more}{little}"
