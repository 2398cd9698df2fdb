"""A quality gate: required values, and no significant drop against a baseline.

gate             gate: judgments, a run and what is required of it in, the verdict out
requirements     Requirement: "nDCG@10 >= 0.35"
baseline         Baseline: the values of one or several runs query by query, and when it must not be compared
baseline_file    write_baseline, read_baseline: its JSON
decision         decide: one decision per measure: worse, no worse, inconclusive or unchanged
causes           why it dropped: lost documents, labels that grew, labels that rotted
gate_result      GateResult: the verdict and all that led to it
"""
