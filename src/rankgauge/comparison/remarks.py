"""What a comparison says beside its table: equivalence, how many queries it would take, and whether measures agree."""

from __future__ import annotations

import math

from rankgauge.comparison.agreement import LITTLE
from rankgauge.comparison.answer import p_text
from rankgauge.comparison.result import Comparison, Difference
from rankgauge.comparison.statistics import SAID, one_by_one

LISTED = 6  # pairs of measures; JSON has all of them


def remarks(found: Comparison) -> list[str]:
    """A sentence each; none where nothing was asked for."""
    systems = [name for name in found.names if name != found.baseline]
    out = [_equivalence(found, system) for system in systems] if found.margin is not None else []
    out += [_needed(found, system) for system in systems] if found.wanted is not None else []
    return out + ([_agreement(found)] if found.agreement else [])


def _rows(found: Comparison, system: str) -> list[Difference]:
    return [row for row in found.differences if row.system == system]


def group_remarks(found: Comparison, by: str, measure: str | None = None) -> list[str]:
    """Over what p is corrected in the groups of a column, and which differences differ between them."""
    differ = [
        f"the difference of {test.system} on {test.measure} is not the same in every {by}: "
        f"p {p_text(test.p_corrected, '=')}, groups shuffled, {found.interaction_family}"
        for test in found.interactions
        if test.by == by and measure in (None, test.measure)
        if test.p_corrected is not None and test.p_corrected < found.alpha
    ]
    family = found.slice_families.get(by)
    return ([] if family is None else [f"p by {by}: {family}"]) + differ


def _equivalence(found: Comparison, system: str) -> str:
    rows = [row for row in _rows(found, system) if row.aggregate == "mean"]
    others = [row.measure for row in _rows(found, system) if row.aggregate != "mean"]
    shown = [row for row in rows if row.equivalent(found.alpha)]
    rest = [row for row in rows if not row.equivalent(found.alpha)]
    within = f"equivalent within ±{found.margin:g}"
    said = []
    if shown:
        said.append(f"{system} and {found.baseline} are {within} on {_with_p(shown)}")
    if rest:
        subject = "" if shown else f"{system} and {found.baseline} are "
        said.append(f"{subject}not shown to be {within} on {_with_p(rest)}")
    if rows:
        tested = sum(row.p_equivalent is not None for row in found.differences)
        said[-1] += f" (two one-sided t tests, {SAID[one_by_one(found.correction) if tested > 1 else 'none']})"
    if others:
        said.append(f"of {system} and {found.baseline} on {', '.join(others)} no equivalence is defined: no means")
    return "; ".join(said)


def _with_p(rows: list[Difference]) -> str:
    listed = []
    for row in rows:
        p = row.p_equivalent_corrected
        listed.append(f"{row.measure} (p {'unknown' if p is None else p_text(p, '=')})")
    return ", ".join(listed)


def _needed(found: Comparison, system: str) -> str:
    needed = ((row.measure, row.needed) for row in _rows(found, system))
    listed = [f"{measure} {'unknown' if queries is None else f'{queries:,}'}" for measure, queries in needed]
    corrected = f", corrected over {found.family_size} comparisons" if found.corrected else ""
    return (
        f"queries that would show a true difference of {found.wanted:g} between {system} and {found.baseline} in four "
        f"of five cases{corrected}: {', '.join(listed)}"
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
