"""Intervals, tests, a correction, effect sizes and power: arrays in, named results out.

Nothing here knows about queries, runs or measures. Every public function is importable from ``rankgauge.stats``:

    intervals           mean_interval  difference_interval  geometric_mean_interval
    proportions         wilson_interval  newcombe_interval: of measures that are 0 or 1;  auroc
    bootstrap           bootstrap_test; BCa quantiles, of any resampled statistic
    randomization       randomization_test
    paired_tests        paired_test (any by name)  paired_t  sign_test  wilcoxon  student_t  equivalence
    corrections         holm
    joint_tests         joint_test: systems × measures, p values and simultaneous intervals from the same draws
    sparse_rows         the exact test of a row of differences that hardly varies, and its interval
    detectable          the smallest true difference that a new sample like the present one would show
    group_interaction   interaction: whether a difference varies between groups of queries, by permuting the groups
    effects             effect: d_z, Hedges' g, wins, ties, losses;  power  detectable_difference  queries_needed
    change_detection    change_points: when the mean of many series changed, by joint sign flips of whole series
    rank_correlation    kendall_tau  tau_ap  rbo;  spearman, with its interval
    rater_agreement     cohen_kappa  krippendorff_alpha  agreement_intervals: of assessors, with queries resampled
    prediction_powered  prediction_powered_mean: a few true values and many predicted ones

    results             Interval  TestResult: each result, or the reason why there is none
    samples             Sample: values as whole numbers of a small quantum, so that sums are exact
    draws               Resampling  RandomStream: the same random bits on every machine; draws of several rows at once
    distributions       normal, t, binomial and noncentral t

Differences are always first minus second. Names are imported when they are first used, and scipy only inside the
functions that need one of its distributions.
"""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
