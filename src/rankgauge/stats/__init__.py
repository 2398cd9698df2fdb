"""How sure is it: arrays in, named results out. Nothing here knows of queries, runs or measures.

    intervals        mean_interval  difference_interval  median_interval  median_difference_interval
                     geometric_mean_interval  ratio_interval
    proportions      wilson_interval  newcombe_interval
    bootstrap        bootstrap_test; what the resampled intervals are made of
    tests            paired_test (any of them by name)  paired_t  sign_test  welch  student_t
                     equivalence
    wilcoxon         wilcoxon
    randomization    randomization_test
    correction       correct (any of them by name)  bonferroni  holm  benjamini_hochberg  benjamini_yekutieli
    maxt             maxt: systems × measures against a baseline, by joint sign flips
    tukey            tukey: all pairs of systems, by joint permutations
    interaction      interaction: whether a difference differs between groups, by shuffling them
    effect           effect: d_z, Hedges' g, wins, ties, losses
    power            power  detectable_difference  queries_needed
    agreement        kendall_tau  tau_ap  rbo

    results          Interval  TestResult: what comes out, and why where nothing does
    samples          Sample: values as whole numbers of a small quantum, so that sums are exact
    seeds            RandomStream: the same random bits everywhere
    distributions    normal, t, binomial and noncentral t

Differences are always first minus second. Modules are imported one by one; scipy only inside the functions that
need one of its distributions.
"""
