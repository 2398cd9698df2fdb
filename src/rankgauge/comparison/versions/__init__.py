"""Two results whose judgments may differ, since labels grow: what changed, and whose change it is.

changes     JudgmentChanges: the queries and judgments that were added, changed or removed
crossing    CrossedScores: two runs scored with two versions of the judgments, as far as they are known
parts       ChangeParts: the parts of a change that are due to the system, the labels and the queries
pairing     VersionPair: the scores whose difference is due to the system alone, and the parts
compare     compare_versions: the same with the test of the system's part
sentences   all of this in words
"""
