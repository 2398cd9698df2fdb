"""Intervals, tests, corrections, effect sizes and power: arrays in, named results out.

Nothing here knows about queries, runs or measures. Every public function is importable from ``rankgauge.stats``:

    intervals          mean_interval  difference_interval  median_interval  median_difference_interval
                       geometric_mean_interval  ratio_interval
    proportions        wilson_interval  newcombe_interval
    bootstrap          bootstrap_test; the resampled means behind the bootstrap intervals
    tests              paired_test (any paired test by name)  paired_t  sign_test  welch  student_t  equivalence
    signed_rank        wilcoxon
    randomization      randomization_test
    correction         correct (any correction by name)  bonferroni  holm  benjamini_hochberg  benjamini_yekutieli
    max_t              maxt: systems × measures against a baseline, by joint sign flips
    tukey_hsd          tukey: all pairs of systems, by joint permutations
    group_interaction  interaction: whether a difference varies between groups of queries, by permuting the groups
    effect_size        effect: d_z, Hedges' g, wins, ties, losses
    power_analysis     power  detectable_difference  queries_needed
    agreement          kendall_tau  tau_ap  rbo

    results            Interval  TestResult  FamilyResult: each result, or the reason why there is none
    samples            Sample: values as whole numbers of a small quantum, so that sums are exact
    seeds              Resampling  RandomStream: the same random bits on every machine
    distributions      normal, t, binomial and noncentral t

Differences are always first minus second. Names are imported when they are first used, and scipy only inside the
functions that need one of its distributions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.stats.agreement import Agreement, kendall_tau, rbo, tau_ap
    from rankgauge.stats.bootstrap import bootstrap_test
    from rankgauge.stats.correction import benjamini_hochberg, benjamini_yekutieli, bonferroni, correct, holm
    from rankgauge.stats.effect_size import Effect, effect
    from rankgauge.stats.group_interaction import interaction
    from rankgauge.stats.intervals import (
        difference_interval,
        geometric_mean_interval,
        mean_interval,
        median_difference_interval,
        median_interval,
        ratio_interval,
    )
    from rankgauge.stats.max_t import maxt
    from rankgauge.stats.power_analysis import Power, detectable_difference, power, queries_needed
    from rankgauge.stats.proportions import newcombe_interval, wilson_interval
    from rankgauge.stats.randomization import randomization_test
    from rankgauge.stats.results import FamilyResult, Interval, TestResult
    from rankgauge.stats.seeds import Resampling
    from rankgauge.stats.signed_rank import wilcoxon
    from rankgauge.stats.tests import equivalence, paired_t, paired_test, sign_test, student_t, welch
    from rankgauge.stats.tukey_hsd import tukey

_MODULES = {
    "Agreement": "agreement",
    "Effect": "effect_size",
    "FamilyResult": "results",
    "Interval": "results",
    "Power": "power_analysis",
    "Resampling": "seeds",
    "TestResult": "results",
    "benjamini_hochberg": "correction",
    "benjamini_yekutieli": "correction",
    "bonferroni": "correction",
    "bootstrap_test": "bootstrap",
    "correct": "correction",
    "detectable_difference": "power_analysis",
    "difference_interval": "intervals",
    "effect": "effect_size",
    "equivalence": "tests",
    "geometric_mean_interval": "intervals",
    "holm": "correction",
    "interaction": "group_interaction",
    "kendall_tau": "agreement",
    "maxt": "max_t",
    "mean_interval": "intervals",
    "median_difference_interval": "intervals",
    "median_interval": "intervals",
    "newcombe_interval": "proportions",
    "paired_t": "tests",
    "paired_test": "tests",
    "power": "power_analysis",
    "queries_needed": "power_analysis",
    "randomization_test": "randomization",
    "ratio_interval": "intervals",
    "rbo": "agreement",
    "sign_test": "tests",
    "student_t": "tests",
    "tau_ap": "agreement",
    "tukey": "tukey_hsd",
    "welch": "tests",
    "wilcoxon": "signed_rank",
    "wilson_interval": "proportions",
}

__all__ = [
    "Agreement",
    "Effect",
    "FamilyResult",
    "Interval",
    "Power",
    "Resampling",
    "TestResult",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "bonferroni",
    "bootstrap_test",
    "correct",
    "detectable_difference",
    "difference_interval",
    "effect",
    "equivalence",
    "geometric_mean_interval",
    "holm",
    "interaction",
    "kendall_tau",
    "maxt",
    "mean_interval",
    "median_difference_interval",
    "median_interval",
    "newcombe_interval",
    "paired_t",
    "paired_test",
    "power",
    "queries_needed",
    "randomization_test",
    "ratio_interval",
    "rbo",
    "sign_test",
    "student_t",
    "tau_ap",
    "tukey",
    "welch",
    "wilcoxon",
    "wilson_interval",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'rankgauge.stats' has no attribute {name!r}")
    return getattr(import_module(f"rankgauge.stats.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
