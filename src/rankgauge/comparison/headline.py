"""A comparison of several systems in a few sentences, on its first measure."""

from __future__ import annotations

from rankgauge.comparison.answer import improves, p_text
from rankgauge.comparison.compare import SAID
from rankgauge.comparison.result import Comparison, Difference


def headline(found: Comparison) -> list[str]:
    """A sentence for each system against the baseline, and what the queries could have shown."""
    measure = found.scores[0].measures[0].name
    rows = [row for row in found.differences if row.measure == measure]
    seen = [row.detectable for row in rows if row.detectable is not None]
    lines = [_sentence(found, row) for row in rows]
    elsewhere = [row for row in found.differences if row.measure != measure and row.significant(found.alpha)]
    if elsewhere:
        said = (f"{row.system} on {row.measure} ({row.text(row.difference or 0.0)})" for row in elsewhere)
        lines.append(f"More than luck elsewhere, against {found.baseline}: {', '.join(said)}.")
    if seen:
        lines.append(
            f"{rows[0].n} queries could have shown a difference of {max(seen):.2g} or more on {measure} (80 % power)."
        )
    return lines


def challenger(found: Comparison) -> str:
    """The best system beside the baseline, on the first measure."""
    measure = found.scores[0].measures[0]
    sign = -1 if measure.definition.better == "lower" else 1
    others = [one for one in found.scores if one.run != found.baseline]
    return max(others, key=lambda one: sign * (one[measure] or 0.0)).run


def _sentence(found: Comparison, row: Difference) -> str:
    difference = row.difference or 0.0
    if not (difference or row.effect.wins or row.effect.losses):
        return f"{row.system} and {found.baseline} are the same on {row.measure}."
    ends = None if row.interval.low is None or row.interval.high is None else (row.interval.low, row.interval.high)
    if not row.significant(found.alpha):
        span = "" if ends is None else f", {row.text(ends[0])} to {row.text(ends[1])}"
        unsure = f"nobody can tell ({row.text(difference)}{span})"
        return f"{row.system} against {found.baseline} on {row.measure}: {unsure}."
    verb = "beats" if improves(found, row) else "loses to"
    between = ""
    if ends is not None:
        # By how much, whichever way: a loss of 0.1 to 0.2, not one of −0.2 to −0.1.
        low, high = ends if difference > 0 or row.ratio else (-ends[1], -ends[0])
        between = f" ({found.level * 100:g} % {_plain(row, low)} to {_plain(row, high)})"
    after = "" if found.correction == "none" or len(found.differences) == 1 else f" after {SAID[found.correction]}"
    by, p = _plain(row, difference if row.ratio else abs(difference)), p_text(row.p_corrected or 0.0, "=")
    return f"{row.system} {verb} {found.baseline} on {row.measure} by {by}{between}, p {p}{after}."


def _plain(row: Difference, value: float) -> str:
    return row.text(value).removeprefix("+")
