"""A quality gate: required values, and no significant drop against a baseline.

gate               gate: judgments, a run and what is required of it in, the verdict out
requirements       GateRule; Requirement: "nDCG@10 >= 0.35"; what is required of all, of each and of groups
golden             requirements of every query, with known and allowed misses
baseline           Baseline: the scores of one run, or the mean of several of one system
compared_measures  one row per measure and group, over the queries that both sides have
decision           decide: worse, no worse, inconclusive, unchanged; and whether anything can be decided
changed_queries    the queries behind each check, with the documents that they lost
lost_documents     relevant documents that the baseline retrieved, and that a run has nowhere
gate_result        GateResult: the verdict and all that led to it
"""
