"""A gate that runs on every build: errors are controlled over the sequence of builds, not for each alone.

Each build gets a level from its sequence (see ``stats.online``), which belongs to a branch and a collection and is kept
by whoever keeps it: a history. At such small levels the bootstrap alone errs too often if few queries changed, and
flips of signs alone if differences are skewed; so a drop must be significant by the chosen test and by joint sign
flips. Control of false alarms under any dependence (``e-lond``) has e-values of sign flips instead.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.statistics import Statistics
from rankgauge.comparison.testing import PairedColumns, TestedDifference, sign_flip_p
from rankgauge.core.formatting import percent
from rankgauge.errors import InputError, UsageError
from rankgauge.evaluation.scores import Scores
from rankgauge.stats.online import OnlineControl, draws_for_level, sign_flip_e_value

CONTROL_LABELS: dict[OnlineControl, str] = {
    "any": "P(any false alarm within {builds:,} builds) is at most {alpha}",
    "lond": "the expected share of false alarms among alarms within {builds:,} builds is at most {alpha} (LOND)",
    "e-lond": "the expected share of false alarms among alarms within {builds:,} builds is at most {alpha} (e-LOND)",
}


@dataclass(frozen=True)
class OnlineBuild:
    """One build of a sequence, and the level that its test has."""

    branch: str
    collection: str
    number: int  # within its period, from 1
    period: int  # from 1
    builds: int  # of a period
    alpha: float  # of a period
    control: OnlineControl
    level: float
    alarms: int  # before it, in the period
    repeated: bool = False  # whether the same test was made before, so that this one spends nothing
    key: str = ""

    def describe(self) -> str:
        """The promise, and where in the sequence this build is."""
        promise = CONTROL_LABELS[self.control].format(builds=self.builds, alpha=percent(self.alpha))
        period = f" of period {self.period}" if self.period > 1 else ""
        again = ", tested before and not counted again" if self.repeated else ""
        return f"online: build {self.number:,} of {self.builds:,}{period}{again}: {promise}; level {self.level:.3g}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: value for name, value in asdict(self).items() if name != "key"}


class OnlineSequence(Protocol):
    """The builds of a branch and a collection, which several processes may add to at the same time."""

    def claim(self, key: str, alpha: float) -> OnlineBuild:
        """The next build; the same one as before if the key is known. ``alpha`` is that of the whole period."""

    def record(self, build: OnlineBuild, *, failed: bool) -> None:
        """What became of it."""


def test_key(scores: Scores, stored: Baseline, statistics: Statistics, **options: Any) -> str:
    """A hash of all that a test depends on: the same run, judgments, baseline and settings have the same key."""
    digest = hashlib.sha256()
    facts = {
        "run": scores.run_sha256,
        "qrels": scores.qrels_sha256,
        "measures": [measure.name for measure in scores.measures],
        "statistics": asdict(statistics),
        **options,
    }
    digest.update(json.dumps(facts, sort_keys=True, default=str).encode())
    for baseline in (stored, stored.anchor):
        if baseline is not None:
            digest.update(json.dumps([baseline.queries, baseline.measures, baseline.qrels_sha256]).encode())
            digest.update(baseline.values.tobytes())
    digest.update(scores.values.tobytes())
    return digest.hexdigest()


test_key.__test__ = False  # type: ignore[attr-defined]  # pytest collects any function whose name begins with test


def at_level(statistics: Statistics, level: float) -> Statistics:
    """The same test at the level of a build, with enough draws for it; raises if it has too few by request."""
    strict = replace(statistics, confidence=1 - level)
    if strict.draws is None:
        return strict
    if statistics.resamples is None:
        return replace(strict, resamples=max(strict.draws, draws_for_level(level)))
    if (statistics.resamples + 1) * level < 1:
        raise UsageError(
            f"{statistics.resamples:,} draws cannot show a p of {level:.2g}, the level of this build",
            hint="leave out --resamples: as many are drawn as the level needs",
        )
    return strict


def online_tests(
    drops: Sequence[TestedDifference], columns: PairedColumns, statistics: Statistics, build: OnlineBuild
) -> list[TestedDifference]:
    """The tests of drops, with what the level of a sequence requires besides."""
    if build.control == "e-lond":
        p_values = _e_value_p(columns, statistics, build)
        tests = [replace(test, p=p, p_corrected=p) for test, p in zip(drops, p_values, strict=True)]
    else:
        flips = sign_flip_p(columns, statistics)
        tests = [
            replace(test, p_corrected=None if test.p_corrected is None or p is None else max(test.p_corrected, p))
            for test, p in zip(drops, flips, strict=True)
        ]
    return [_agreeing(test, statistics.alpha) for test in tests]


def _agreeing(test: TestedDifference, alpha: float) -> TestedDifference:
    """The test with an interval that has 0 in it unless p is significant."""
    interval, p = test.interval, test.p_corrected
    if interval.low is None or interval.high is None or (p is not None and p <= alpha):
        return test
    return replace(test, interval=replace(interval, low=min(interval.low, 0.0), high=max(interval.high, 0.0)))


def _e_value_p(columns: PairedColumns, statistics: Statistics, build: OnlineBuild) -> list[float]:
    """1 / e, times the number of measures: at most the level exactly if the e-value is large enough."""
    family = len(columns.ranges)
    if any(columns.noise_at(index) is not None for index in range(family)):
        raise InputError(
            "the runs of the baseline differ as a whole, which e-values of single queries do not allow for",
            hint="use --online-control lond, or any",
        )
    p_values = []
    for index in range(family):
        system, baseline, units = columns.at(index)
        value = sign_flip_e_value(
            system - baseline,
            level=build.alpha / build.builds / family,
            alternative=statistics.alternative,
            units=units,
        )
        p_values.append(min(1.0, family / value) if value else 1.0)
    return p_values
