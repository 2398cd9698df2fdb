"""Systems on the same queries: what differs, with what confidence, which queries changed; and the gate.

compare              compare: systems against a baseline, over the queries that they share
comparability        whether two sets of results can be compared on a measure: depth, judged share, queries
statistics_options   Statistics: test, correction and confidence, declared once
differences          Difference: a system against the baseline on a measure; Pair: the values behind it
significance         every p, interval and detectable difference
difference_families  differences that are corrected together: over all queries, in groups
comparison_result    Comparison: all of it, also as plain data
answer_sentences     which system is better, in sentences
system_ranking       three or more systems, and which of them can be distinguished
order_agreement      whether two sets of judgments order the systems alike
document_changes     which documents changed a value
run_difference       how much two runs differ, without judgments
gate/                required values, and no significant drop against a baseline
"""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
