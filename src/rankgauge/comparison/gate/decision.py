"""Did any measure drop significantly and by at least the margin? Values in, one decision per measure out.

A drop fails if it is significant and at least the margin. Significant means: one-sided unless asked otherwise, and
corrected over all gated measures together, so that at most a share alpha of the builds in which nothing changed fail,
however many measures are gated. Measures for which lower is better are corrected by themselves, with an alpha of their
own: guarding against leaks or false answers costs recall no power. What does not fail is either shown to be no worse
than the margin, over all measures of its family too, or it is inconclusive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.comparison.gate.requirements import ROUNDING, GateRule
from rankgauge.comparison.significance import PairedColumns, TestedDifference, UnseenLosses, family_tests
from rankgauge.comparison.statistics_options import is_significant
from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ints
from rankgauge.core.verdicts import Claim, Comparative, DifferenceOutcome, difference_outcome
from rankgauge.stats.detectable import POWER
from rankgauge.stats.distributions import t_quantile
from rankgauge.stats.results import Alternative, Interval
from rankgauge.stats.samples import Sample, sample


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome for one measure. Differences are now − before, positive if it got better."""

    outcome: DifferenceOutcome
    difference: float
    interval: Interval  # both one-sided bounds, or the interval of a two-sided test; over all gated measures
    p: float | None  # of the drop, corrected over all gated measures
    smallest_drop: float | None  # the true drop that would fail with 80% power; None if it is unknown
    changes_needed: int | None  # queries that would have to get worse, if few changed
    caveat: str | None  # what the test cannot see, if the drop is significant
    queries_needed: int | None  # to show that nothing got worse by the margin, if these queries cannot
    n: int
    units: int  # the number of independent ones
    margin: float = 0.0
    unseen: UnseenLosses | None = None  # the losses that these queries cannot rule out; None if nothing was tested

    @property
    def overlooks_losses(self) -> bool:
        """Whether the bound is above −margin, but the queries are too few to claim that nothing got worse by it."""
        if self.outcome not in ("inconclusive", "undecided") or self.unseen is None or self.interval.low is None:
            return False
        return self.interval.low > -self.margin and not self.unseen.allow(self.margin)


def family_members(families: Sequence[object]) -> list[list[int]]:
    """The columns that have the same label, for each label."""
    return [[index for index, other in enumerate(families) if other == label] for label in dict.fromkeys(families)]


def decide(
    columns: PairedColumns,
    rule: GateRule | None = None,
    families: Sequence[object] | None = None,
    *,
    sensitivity: bool = True,
) -> tuple[Decision, ...]:
    """One decision per column of this run's and the baseline's values, turned so that higher is better.

    ``families`` has a label for each column: those with the same label are corrected together; without it, all are.
    Without ``sensitivity``, no drop is known to be detectable, which saves most of the time.
    """
    rule = rule or GateRule()
    if families is not None and len(set(families)) > 1:
        decisions: dict[int, Decision] = {}
        for members in family_members(families):
            decisions |= zip(members, decide(columns.only(members), rule, sensitivity=sensitivity), strict=True)
        return tuple(decisions[index] for index in range(len(families)))
    statistics = rule.statistics
    if rule.two_sided:
        tests = family_tests(columns, statistics, sensitivity=sensitivity)
        return tuple(_decision(columns, index, rule, test, None) for index, test in enumerate(tests))
    falling, rising = (replace(statistics, alternative=side) for side in ("less", "greater"))
    drops, rises = (family_tests(columns, side, sensitivity=sensitivity) for side in (falling, rising))
    return tuple(
        _decision(columns, index, rule, drop, rise) for index, (drop, rise) in enumerate(zip(drops, rises, strict=True))
    )


def _decision(
    columns: PairedColumns, index: int, rule: GateRule, drop: TestedDifference, rise: TestedDifference | None
) -> Decision:
    """The decision on one column; ``rise`` is the test in the other direction, if they are one-sided."""
    system, baseline, units = columns.at(index)
    values = sample(system - baseline, units)
    interval = drop.interval if rise is None else _bounds(drop.interval, rise.interval)
    unseen = UnseenLosses(values.units, rule.alpha, max(map(abs, columns.ranges[index])), of_units=units is not None)
    return Decision(
        outcome=_outcome(values, rule, _significant(values, rule, drop, rise), _claim(rule, interval, unseen)),
        difference=values.mean if len(values) else 0.0,
        interval=interval,
        p=drop.p_corrected,
        smallest_drop=None if drop.detectable is None else max(drop.detectable, _drop_past_margin(values, rule)),
        changes_needed=drop.changes_needed,
        caveat=drop.caveat,
        queries_needed=_queries_needed(values, rule, rise, interval, unseen),
        n=len(values),
        units=values.units,
        margin=rule.margin,
        unseen=unseen,
    )


def _bounds(upper: Interval, lower: Interval) -> Interval:
    """The upper bound of one test and the lower bound of the other."""
    return replace(upper, low=lower.low, alternative="two-sided", method=f"one-sided {upper.method}")


def _outcome(values: Sample, rule: GateRule, significant: Comparative | None, claim: Claim | None) -> DifferenceOutcome:
    if significant == "worse" and -values.mean >= rule.margin - ROUNDING:
        claim = None
    elif significant == "worse" and claim is None:  # by how much, compared with the margin, is open
        significant = None
    elif significant == "better" and claim == "no worse":  # better says more
        claim = None
    return difference_outcome(significant, claim, is_unchanged=bool(len(values)) and not values.whole.any())


def _significant(
    values: Sample, rule: GateRule, drop: TestedDifference, rise: TestedDifference | None
) -> Comparative | None:
    """The direction of a change that is significant; None if neither is."""
    if not len(values):
        return None
    if is_significant(drop.p_corrected, rule.alpha) and values.mean < 0:
        return "worse"
    rising = drop if rise is None else rise
    return "better" if is_significant(rising.p_corrected, rule.alpha) and values.mean > 0 else None


def _claim(rule: GateRule, interval: Interval, unseen: UnseenLosses) -> Claim | None:
    """What the bounds show about the margin; nothing if the queries are too few to rule out rare total losses."""
    low, high = interval.low, interval.high
    if not rule.margin or low is None or high is None or low <= -rule.margin or not unseen.allow(rule.margin):
        return None
    return "equivalent" if rule.two_sided and high < rule.margin else "no worse"


def _queries_needed(
    values: Sample, rule: GateRule, rise: TestedDifference | None, interval: Interval, unseen: UnseenLosses
) -> int | None:
    """The number of queries that would show no drop of the margin, with 80% power, if there is none.

    If few queries changed, the distance of the lower bound counts instead of a detectable difference. None if these
    queries are enough.
    """
    if rise is None or not rule.margin or interval.low is None or not values.whole.any():
        return None
    reach = values.mean - interval.low if rise.detectable is None else rise.detectable
    needed = max(1.0, (reach / rule.margin) ** 2)
    if not unseen.allow(rule.margin):
        needed = max(needed, (unseen.queries_needed(rule.margin) or 0) / values.units)
    return math.ceil(len(values) * needed - 1e-9) if needed > 1 else None


def _drop_past_margin(values: Sample, rule: GateRule) -> float:
    """The true drop whose measured value is at least the margin with 80% power."""
    if not rule.margin:
        return 0.0
    return rule.margin + t_quantile(POWER, values.units - 1.0) * values.standard_error


# Whether the queries could show any drop: the same test, as if every query had fallen to the worst value. If that would
# not be significant either, nothing is decided: three queries that all fell from 1 to 0 are not evidence that nothing
# got worse. The same test says how many queries like these would be enough. A measure without a worst value, such as
# the rank of the first relevant document, can fall so far that the differences between queries no longer matter: as if
# all had fallen by the same amount.

MOST_QUERIES = 2_000  # up to which the number of queries that would be enough is looked for
NEARLY_EQUAL = 1e-6  # added to differences, so that tests that need a variance have one


def undecided_columns(
    columns: PairedColumns,
    worst: Floats,
    candidates: Sequence[int],
    rule: GateRule,
    families: Sequence[object] | None = None,
) -> dict[int, int | None]:
    """Which of the columns can show no drop at all, each with the number of queries that could; None if unknown.

    Values are turned so that higher is better, and ``worst`` has the lowest of each column, or minus infinity.
    """
    if not candidates:
        return {}
    if families is not None and len(set(families)) > 1:
        found: dict[int, int | None] = {}
        for members in family_members(families):
            own = [place for place, column in enumerate(members) if column in candidates]
            open_columns = undecided_columns(columns.only(members), worst[members], own, rule)
            found |= {members[place]: needed for place, needed in open_columns.items()}
        return found
    every = np.arange(len(columns.system))
    significant = _falls(columns, worst, every, rule)
    return {column: _deciding_queries(columns, worst, column, rule) for column in candidates if not significant[column]}


def _falls(columns: PairedColumns, worst: Floats, rows: Ints, rule: GateRule) -> list[bool]:
    """Whether each column would be significantly worse if all of these rows, which may be repeated, fell."""
    copies = np.arange(len(rows)) // len(columns.system)
    baseline = columns.baseline[rows]
    fallen_to = np.where(np.isinf(worst), baseline - 1.0, worst)
    system = np.where(np.isnan(columns.system[rows]), np.nan, fallen_to)
    units = None
    if columns.units is not None:
        units = np.array(
            [f"{copy} {unit}" for copy, unit in zip(copies, columns.units[rows], strict=True)], dtype=object
        )
    fallen = replace(columns, system=system, baseline=baseline, units=units)
    alternative: Alternative = "two-sided" if rule.two_sided else "less"
    statistics = replace(rule.statistics, alternative=alternative)
    tests = family_tests(fallen, statistics, sensitivity=False)
    if any(test.p_corrected is None for test in tests):  # some tests have no p if all differences are equal
        shifted = replace(fallen, system=system - NEARLY_EQUAL * (np.arange(len(rows)) % 2)[:, np.newaxis])
        again = family_tests(shifted, statistics, sensitivity=False)
        tests = [one if one.p_corrected is not None else other for one, other in zip(tests, again, strict=True)]
    return [is_significant(test.p_corrected, rule.alpha) for test in tests]


def _deciding_queries(columns: PairedColumns, worst: Floats, column: int, rule: GateRule) -> int | None:
    """The smallest number of queries like these that could show a drop."""
    present = ~np.isnan(columns.differences[:, column])
    n, total = int(present.sum()), len(present)
    target = n
    while target < MOST_QUERIES:
        target = target + 1 if target < n + 20 else math.ceil(target * 1.25)
        rows = np.resize(np.arange(total), math.ceil(total * target / n))
        if _falls(columns, worst, rows, rule)[column]:
            return int(present[rows].sum())
    return None
