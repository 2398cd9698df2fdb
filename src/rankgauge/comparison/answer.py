"""A comparison in one sentence, and as plain data."""

from __future__ import annotations

import math
from typing import Any

from rankgauge.comparison.result import Comparison, Difference, SliceDifference
from rankgauge.stats.interaction import EXCHANGEABLE
from rankgauge.stats.results import Interval


def answer(found: Comparison) -> str:
    """Who is better, by how much, how surely; and where nobody can tell."""
    systems = [name for name in found.names if name != found.baseline]
    return " ".join(_of_system(found, system) for system in systems)


def _of_system(found: Comparison, system: str) -> str:
    rows = [row for row in found.differences if row.system == system]
    sure = [row for row in rows if row.significant(found.alpha)]
    unsure = [row for row in rows if not row.significant(found.alpha)]
    parts = []
    for row in sure:
        word = "better" if improves(found, row) else "worse"
        parts.append(f"{system} is {word} than {found.baseline} on {row.measure}: {said(row)}")
    if all(row.difference == 0 for row in rows):
        return f"{system} and {found.baseline} are the same on every measure."
    if unsure:
        listed = ", ".join(row.measure for row in unsure)
        text = (
            f"on {listed} nobody can tell"
            if sure
            else f"{system} against {found.baseline}: nobody can tell on {listed}"
        )
        first = unsure[0]
        if not sure and first.difference is not None:
            span = _between(first).strip(" ()")
            text += f" ({first.measure} {first.text(first.difference)}, {span})" if span else ""
        if first.detectable is not None:
            seen = first.text(first.detectable) if first.ratio else f"{first.detectable:.2g}"
            text += f"; {first.n} queries could have shown {seen} on {first.measure}"
        parts.append(text)
    return "; ".join(parts) + "."


def said(row: Difference) -> str:
    """A difference with its interval and p."""
    p = "" if row.p_corrected is None else f", p {p_text(row.p_corrected, ' = ')}"
    return f"{row.text(row.difference or 0.0)}{_between(row)}{p}"


def _between(row: Difference) -> str:
    low, high = row.interval.low, row.interval.high
    if low is None or high is None:
        return ""
    return f" ({row.interval.level * 100:g} % {row.text(low)} to {row.text(high)})"


def improves(found: Comparison, row: Difference) -> bool:
    """Whether a difference is one to the better."""
    measure = next(m for m in found.scores[0].measures if m.name == row.measure)
    higher = (row.difference or 0.0) > 0
    return higher if measure.definition.better != "lower" else not higher


def signed(value: float) -> str:
    """A number with its sign."""
    return f"{value:+.3f}".replace("-", "−")


def p_text(p: float, equals: str = "") -> str:
    """A p value as it is printed: three digits, never 0."""
    return "< 0.001" if p < 0.001 else f"{equals.strip() + ' ' if equals else ''}{p:.3f}"


def as_dict(found: Comparison) -> dict[str, Any]:
    """The whole comparison; the scores stand in the schema of ``evaluate``."""
    return {
        "baseline": found.baseline,
        "answer": found.answer(),
        "test": found.test,
        "correction": found.correction,
        "family": found.family,
        "level": found.level,
        "differences": [_difference(row) for row in found.differences],
        "margin": found.margin,
        "wanted": found.wanted,
        "agreement": [
            {"measures": list(one.measures), "tau": one.tau, "systems": one.systems, "reason": one.reason}
            for one in found.agreement
        ],
        "slices": [_slice(row) for row in found.slices],
        "interactions": [
            {
                "by": i.by,
                "system": i.system,
                "measure": i.measure,
                "p": i.p,
                "reason": i.reason,
                "assumes": EXCHANGEABLE,
            }
            for i in found.interactions
        ],
        "moved": {
            system: [
                {
                    "query": moves.query,
                    "text": found.texts.get(moves.query),
                    "difference": moves.difference,
                    "rest": moves.rest,
                    "documents": [
                        {"doc": m.doc, "grade": m.grade, "before": m.before, "after": m.after, "share": m.share}
                        for m in moves.documents
                    ],
                }
                for moves in listed
            ]
            for system, listed in found.moved.items()
        },
    }


def _difference(row: Difference) -> dict[str, Any]:
    return {
        "system": row.system,
        "measure": row.measure,
        "n": row.n,
        "value": row.value,
        "baseline": row.baseline,
        "difference": row.difference,
        "ratio": math.exp(row.difference) if row.ratio and row.difference is not None else None,
        "ci": _interval(row.interval),
        "p": row.p,
        "p_corrected": row.p_corrected,
        "reason": row.reason,
        "d_z": row.effect.d_z,
        "hedges_g": row.effect.hedges_g,
        "wins": row.effect.wins,
        "ties": row.effect.ties,
        "losses": row.effect.losses,
        "detectable": row.detectable,
        "needed": row.needed,
        "p_equivalent": row.p_equivalent,
        "p_equivalent_corrected": row.p_equivalent_corrected,
    }


def _slice(row: SliceDifference) -> dict[str, Any]:
    return {"by": row.by, "label": row.label, "against": row.against, **_difference(row.difference)}


def _interval(interval: Interval) -> dict[str, Any]:
    """An interval; an end that is open is null."""
    low, high = (None if end is None or math.isinf(end) else end for end in (interval.low, interval.high))
    return {"low": low, "high": high, "level": interval.level, "method": interval.method, "reason": interval.reason}
