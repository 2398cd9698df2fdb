"""A quality gate: required values, and no drop against a baseline that is more than luck.

    gate             gate, write_baseline: what a caller calls
    requirements     Requirement: "nDCG@10 >= 0.35"
    sides            what a caller gives, opened
    baseline         Baseline: a run's values query by query, and when it may not be compared with
    stored           read_baseline: its JSON read back
    pairing          both sides over the queries that they share
    decide           decide: for each measure worse, no worse, inconclusive or unchanged
    blame            blame: documents that are gone, and how much of a drop sits where they were
    result           GateResult: the verdict and all that led to it

The package is not called gate, because that is the function.
"""
