"""A comparison in one sentence, and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rankgauge.comparison.result import Comparison, Difference, SliceDifference
from rankgauge.stats.interaction import EXCHANGEABLE
from rankgauge.stats.intervals import exponential
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
    if all(row.same for row in rows):
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
            span = _interval_said(first)
            text += f" ({first.measure} {first.text(first.difference)}, {span})" if span else ""
        if first.too_few:
            text += f"; {first.n} queries are too few for the {found.test} test, whatever they show"
        if first.detectable is not None:
            text += f"; {first.n} queries could have shown {size(first, first.detectable)} on {first.measure}"
        parts.append(text)
    return "; ".join(parts) + "."


def said(row: Difference) -> str:
    """A difference with its interval and p."""
    span = _interval_said(row)
    p = "" if row.p_corrected is None else f", p {p_text(row.p_corrected, ' = ')}"
    return f"{row.text(row.difference or 0.0)}{f' ({span})' if span else ''}{p}"


def _interval_said(row: Difference) -> str:
    span = between(row.interval, row.text)
    return f"{row.interval.confidence * 100:g} % {span}" if span else ""


def between(interval: Interval, text: Callable[[float], str], to: str = " to ") -> str:
    """From where to where an interval goes, or the one end that a one-sided one has; empty where there is none."""
    if interval.low is None or interval.high is None:
        return ""
    if interval.alternative == "greater":
        return f"at least {text(interval.low)}"
    if interval.alternative == "less":
        return f"at most {text(interval.high)}"
    return f"{text(interval.low)}{to}{text(interval.high)}"


def hardest(rows: Sequence[Difference]) -> Difference | None:
    """The difference that needs to be largest to be seen; None where that is known of none."""
    known = [row for row in rows if row.detectable]
    return max(known, key=lambda row: row.detectable or 0.0, default=None)


def size(row: Difference, difference: float) -> str:
    """How large a difference is: two digits, or a ratio."""
    if row.ratio:
        return row.text(difference)
    return f"{difference:.2g}" if difference < 10 else f"{difference:,.0f}"


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
        "family_size": found.family_size,
        "confidence": found.confidence,
        "differences": [_difference(row) for row in found.differences],
        "margin": found.margin,
        "wanted": found.wanted,
        "agreement": [
            {"measures": list(one.measures), "tau": one.tau, "systems": one.systems, "reason": one.reason}
            for one in found.agreement
        ],
        "slices": [_slice(row) for row in found.slices],
        "slice_families": found.slice_families,
        "interactions": [
            {
                "by": i.by,
                "system": i.system,
                "measure": i.measure,
                "p": i.p,
                "p_corrected": i.p_corrected,
                "reason": i.reason,
                "assumes": EXCHANGEABLE,
            }
            for i in found.interactions
        ],
        "interaction_family": found.interaction_family,
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
        "ratio": exponential(row.difference) if row.ratio and row.difference is not None else None,
        "ci": row.interval.to_dict(),
        "p": row.p,
        "p_corrected": row.p_corrected,
        "reason": row.reason,
        "d_z": row.effect.d_z,
        "hedges_g": row.effect.hedges_g,
        "wins": row.effect.wins,
        "ties": row.effect.ties,
        "losses": row.effect.losses,
        "too_few": row.too_few,
        "detectable": row.detectable,
        "needed": row.needed,
        "p_equivalent": row.p_equivalent,
        "p_equivalent_corrected": row.p_equivalent_corrected,
    }


def _slice(row: SliceDifference) -> dict[str, Any]:
    return {"by": row.by, "label": row.label, "against": row.against, **_difference(row.difference)}
