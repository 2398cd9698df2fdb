"""A quality gate: required values, and no significant drop against a baseline.

gate               gate: judgments, a run and what is required of it in, the verdict out
requirements       GateRule; Requirement: "nDCG@10 >= 0.35"; what is required of all, of each and of groups
golden             requirements of every query, with known and allowed misses
baseline           Baseline: the values of one or several runs query by query, and when it must not be compared
baseline_file      write_baseline, read_baseline: its JSON
compared_measures  one row per measure and group, over the queries that both sides have
decision           decide: worse, no worse, inconclusive, unchanged; and whether anything can be decided
changed_queries    the queries behind each check, with the documents that they lost
causes             what a drop has to do with lost documents, labels that grew, labels that rotted
gate_result        GateResult: the verdict and all that led to it
"""
