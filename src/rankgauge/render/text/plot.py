"""Text charts for a terminal: means with their intervals, and what each query gained or lost."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankgauge.comparison.result import Comparison
from rankgauge.core.formatting import percent
from rankgauge.errors import printable
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Measure
from rankgauge.render.text.groups import interval_span
from rankgauge.render.text.scores import value_text
from rankgauge.render.text.terminal import Layout, display_width
from rankgauge.render.text.wrapping import excerpt, shortened
from rankgauge.stats.results import Interval
from rankgauge.stats.samples import paired

BAR, LOW, WHISKER, MEAN, HIGH = "█├─●┤"
LEVELS = "▁▂▃▄▅▆▇"
TIE, BETWEEN = "·", "│"
ASCII = str.maketrans(f"{BAR}{LOW}{WHISKER}{MEAN}{HIGH}{LEVELS}{TIE}{BETWEEN}…−–", "=[-o]1234567.|~--")
MIN_WIDTH, MAX_WIDTH = 12, 60
READABLE_WIDTH = 30  # of a chart, if names are shortened for it
MIN_LABEL, MAX_LABEL = 10, 40


def of_scores(scores: Sequence[Scores], layout: Layout, *, confidence: float = 0.95) -> str:
    """One bar per run and measure, ending in the interval of its mean."""
    parts = [_bars(scores, measure, layout.chart_width, confidence) for measure in scores[0].measures]
    legend = f"{LOW}{WHISKER}{MEAN}{WHISKER}{HIGH} the mean and its {percent(confidence)} CI"
    return drawn([legend, *parts], layout)


def of_comparison(comparison: Comparison, layout: Layout) -> str:
    """The bars, then one strip of differences per measure and system, from the largest gain to the largest loss."""
    strips = [_strips(comparison, measure, layout.chart_width) for measure in comparison.scores[0].measures]
    return f"{of_scores(comparison.scores, layout, confidence=comparison.confidence)}\n{drawn(strips, layout)}"


def drawn(parts: Sequence[str], layout: Layout) -> str:
    """Parts of a chart as text, with plain characters if others cannot be shown."""
    text = "\n\n".join(parts) + "\n"
    return text.translate(ASCII) if layout.ascii else text


def _bars(scores: Sequence[Scores], measure: Measure, width: int, confidence: float) -> str:
    rows = [(run[measure], run.interval(measure, confidence=confidence)) for run in scores]
    ends = [end for value, interval in rows for end in (value, interval.low, interval.high) if end is not None]
    least, most = min([0.0, *ends]), max([0.0, *ends])
    values = [value_text(measure, value) for value, _ in rows]
    spans = [interval_span(interval) for _, interval in rows]
    taken = max(map(len, values)) + max(map(len, spans)) + 6
    labels = labels_within(scores, width - taken - READABLE_WIDTH)
    size = room(width, taken + display_width(labels[0]))
    lines = [f"{measure.name}, from {short_number(least)} to {short_number(most)}"]
    for label, value, between, (mean, interval) in zip(labels, values, spans, rows, strict=True):
        bar = "" if mean is None else _bar(mean, interval, least, (size - 1) / ((most - least) or 1.0))
        lines.append(f"{label}  {bar:<{size}}  {value:>{max(map(len, values))}}  {between:>{max(map(len, spans))}}")
    return "\n".join(lines)


def labels_within(scores: Sequence[Scores], width: int) -> list[str]:
    """The names of runs, shortened to leave room for a chart, all of the same width."""
    names = shortened([printable(run.run, None) for run in scores], max(MIN_LABEL, min(width, MAX_LABEL)))
    widest = max(map(display_width, names))
    return [name + " " * (widest - display_width(name)) for name in names]


def short_number(value: float) -> str:
    """A number of an axis."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _bar(mean: float, interval: Interval, least: float, scale: float) -> str:
    """Full up to the low end of the interval, a line through it, and a dot at the mean."""
    at = round((mean - least) * scale)
    low, high = (at if end is None else round((end - least) * scale) for end in (interval.low, interval.high))
    low, high = min(low, at), max(high, at)
    characters = [BAR] * low + [WHISKER] * (high + 1 - low)
    characters[low], characters[high], characters[at] = LOW, HIGH, MEAN
    return "".join(characters)


def whisker(value: float, ends: tuple[float | None, float | None], limits: tuple[float, float], size: int) -> str:
    """A dot at a value and a line through its interval, on a scale from one limit to the other."""
    scale = (size - 1) / ((limits[1] - limits[0]) or 1.0)
    at = round((value - limits[0]) * scale)
    low, high = (at if end is None else round((end - limits[0]) * scale) for end in ends)
    low, high = min(low, at), max(high, at)
    characters = [" "] * low + [WHISKER] * (high + 1 - low)
    characters[low], characters[high], characters[at] = LOW, HIGH, MEAN
    return "".join(characters)


def _strips(comparison: Comparison, measure: Measure, width: int) -> str:
    systems = [run for run in comparison.scores if run.run != comparison.baseline]
    rows = []
    for system in systems:
        _, system_values, baseline_values = comparison.paired(system.run, measure.name)
        rows.append(sorted(paired(system_values, baseline_values).values.tolist(), reverse=True))
    tallest = max((abs(gap) for gaps in rows for gap in gaps), default=0.0)
    counts = [_counts(gaps) for gaps in rows]
    ups, downs = (max(len(count[side]) for count in counts) for side in (0, 1))
    taken = ups + downs + 8
    labels = labels_within(systems, width - taken - READABLE_WIDTH)
    most = max(map(len, rows))
    queries_per_character = max(1, math.ceil(most / room(width, taken + display_width(labels[0]))))
    per_character = "one query" if queries_per_character == 1 else f"{queries_per_character} queries"
    rest = f": {per_character} per character, tallest {tallest:.3f}"
    baseline = printable(comparison.baseline, None)
    available = max(MIN_LABEL, width - len(measure.name + rest) - len(" vs. "))
    title = f"{measure.name} vs. {excerpt(baseline, available)}{rest}"
    return "\n".join(
        [
            title,
            *(
                f"{label}  {up:>{ups}} {_strip(gaps, tallest, queries_per_character)} {down}"
                for label, gaps, (up, down) in zip(labels, rows, counts, strict=True)
            ),
        ]
    )


def _counts(gaps: Sequence[float]) -> tuple[str, str]:
    up, down = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
    return f"{up} up", f"{down} down, {len(gaps) - up - down} tied"


def _strip(gaps: Sequence[float], tallest: float, queries_per_character: int) -> str:
    """Gains, ties and losses, sorted and separated; the height is the mean of the queries behind a character."""
    groups = [gap for gap in gaps if gap > 0], [gap for gap in gaps if gap == 0], [gap for gap in gaps if gap < 0]
    return BETWEEN.join(
        "".join(
            _height(group[start : start + queries_per_character], tallest)
            for start in range(0, len(group), queries_per_character)
        )
        for group in groups
    )


def _height(gaps: Sequence[float], tallest: float) -> str:
    mean = abs(math.fsum(gaps)) / len(gaps)  # exact: the mean of equal gaps is not above the tallest
    return LEVELS[min(math.ceil(mean / tallest * len(LEVELS)), len(LEVELS)) - 1] if mean else TIE


def room(width: int, taken: int) -> int:
    """The width of a chart beside text."""
    return min(max(width - taken, MIN_WIDTH), MAX_WIDTH)
