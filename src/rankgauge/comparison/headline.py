"""A comparison of several systems in a few sentences, on its first measure."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from rankgauge.comparison.answer import between, hardest, improves, p_text, size
from rankgauge.comparison.result import Comparison, Difference
from rankgauge.stats.results import Alternative, Interval


def headline(found: Comparison) -> list[str]:
    """A sentence for each system against the baseline, and what the queries could have shown."""
    measure = found.scores[0].measures[0].name
    rows = [row for row in found.differences if row.measure == measure]
    lines = [_sentence(found, row) for row in rows]
    elsewhere = [row for row in found.differences if row.measure != measure and row.significant(found.alpha)]
    if elsewhere:
        said = (f"{row.system} on {row.measure} ({row.text(row.difference or 0.0)})" for row in elsewhere)
        lines.append(f"More than luck elsewhere, against {found.baseline}: {', '.join(said)}.")
    seen = hardest(rows)
    if seen is not None:
        least = size(seen, seen.detectable or 0.0)
        lines.append(f"{seen.n} queries could have shown a difference of {least} or more on {measure} (80 % power).")
    hopeless = next((row for row in rows if row.too_few), None)
    if hopeless is not None:
        lines.append(f"{hopeless.n} queries are too few for the {found.test} test, whatever they show.")
    return lines


def challenger(found: Comparison) -> str:
    """The best system beside the baseline, on the first measure."""
    measure = found.scores[0].measures[0]
    sign = -1 if measure.definition.better == "lower" else 1
    others = [one for one in found.scores if one.run != found.baseline]
    return max(others, key=lambda one: sign * (one[measure] or 0.0)).run


def _sentence(found: Comparison, row: Difference) -> str:
    difference = row.difference or 0.0
    if row.same:
        return f"{row.system} and {found.baseline} are the same on {row.measure}."
    if not row.significant(found.alpha):
        span = between(row.interval, row.text)
        unsure = f"nobody can tell ({row.text(difference)}{f', {span}' if span else ''})"
        return f"{row.system} against {found.baseline} on {row.measure}: {unsure}."
    # By how much, whichever way: a loss of 0.1 to 0.2, not one of −0.2 to −0.1.
    turned = difference < 0 and not row.ratio
    span = between(_turned(row.interval) if turned else row.interval, partial(_plain, row))
    verb = "beats" if improves(found, row) else "loses to"
    sure = f" ({found.confidence * 100:g} % {span})" if span else ""
    after = f" after {found.corrected}" if found.corrected else ""
    by, p = _plain(row, -difference if turned else difference), p_text(row.p_corrected or 0.0, "=")
    return f"{row.system} {verb} {found.baseline} on {row.measure} by {by}{sure}, p {p}{after}."


def _turned(interval: Interval) -> Interval:
    """The interval of the same difference, the other way round."""
    low, high = (None if end is None else -end for end in (interval.high, interval.low))
    sides: dict[Alternative, Alternative] = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
    return replace(interval, low=low, high=high, alternative=sides[interval.alternative])


def _plain(row: Difference, value: float) -> str:
    return row.text(value).removeprefix("+")
