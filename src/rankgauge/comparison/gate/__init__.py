"""A quality gate: required values, and no significant drop against a baseline.

gate             gate: the function to call
storing          write_baseline: store a run, or one more run of the same system
requirements     Requirement: "nDCG@10 >= 0.35"
inputs           judgments that may be empty, and a baseline that may be a run
baseline         Baseline: the values of one or several runs query by query, and when it must not be compared
runs             BaselineRun: one run of a baseline, and the mean of several
stored           read_baseline: read its JSON
kept             judgments and runs in that JSON
growth           LabelGrowth: a stored baseline whose labels have changed since
pairing          a run and a baseline over the queries that both have
comparing        compare_with_baselines: a run beside a baseline, and beside its anchor
decide           decide: one decision per measure: worse, no worse, inconclusive or unchanged
blame            blame: lost documents, and the part of a drop in the queries that lost them
rotted           the part of an evaluation whose labels still fit the corpus
result           GateResult: the verdict and the evidence
"""
