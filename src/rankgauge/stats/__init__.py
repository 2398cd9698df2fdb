"""Intervals, tests, corrections, effect sizes and power: arrays in, named results out.

Nothing here knows about queries, runs or measures. Every public function is importable from ``rankgauge.stats``:

    intervals          mean_interval  difference_interval  geometric_mean_interval
    proportions        wilson_interval  newcombe_interval
    bootstrap          bootstrap_test; the resampled means behind the bootstrap intervals
    tests              paired_test (any paired test by name)  paired_t  sign_test  welch  student_t  equivalence
    signed_rank        wilcoxon
    randomization      randomization_test
    correction         correct (any correction by name)  bonferroni  holm  benjamini_hochberg
    joint              joint_test: systems × measures, p values and simultaneous intervals from the same bootstrap draws
    draws              the bootstrap draws of several rows at once
    sparse_rows        an exact test and an interval for a row that hardly varies
    between_runs       run_noise  pooled_noise  family_noise: how much runs of the same system differ as a whole
    false_alarms       false_alarm_quantile: how often an unchanged system fails against the mean of a few runs
    change_detection   change_points: when the mean of many series changed, by joint sign flips of whole series
    contrasts          the means before and after the splits of a sequence
    detectable         the smallest difference that a new sample would show
    max_t              maxt: systems × measures against a baseline, by joint sign flips
    tukey_hsd          tukey: all pairs of systems, by joint permutations
    group_interaction  interaction: whether a difference varies between groups of queries, by permuting the groups
    effect_size        effect: d_z, Hedges' g, wins, ties, losses
    power_analysis     power  detectable_difference  queries_needed
    agreement          kendall_tau  tau_ap  rbo
    rater_agreement    cohen_kappa  krippendorff_alpha  agreement_intervals: of assessors, with queries resampled
    prediction_powered  prediction_powered_mean: a few true values and many predicted ones

    results            Interval  TestResult  FamilyResult: each result, or the reason why there is none
    samples            Sample: values as whole numbers of a small quantum, so that sums are exact
    seeds              Resampling  RandomStream: the same random bits on every machine
    distributions      normal, t, binomial and noncentral t

Differences are always first minus second. Names are imported when they are first used, and scipy only inside the
functions that need one of its distributions.
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
