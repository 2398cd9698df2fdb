"""The drop-in for trec_eval: its flags, its leniency, its text to the byte, its exit codes.

options   its command line
requests  the measures and their parameters as it reads them
files     judgments and results as it reads them
results   the join, by the scanner if nothing in the run is odd
zscores   the file of -Z
values    the values of each query
gains     those of measures with gains from the command line
report    the evaluation
group_files, group_report: the same for preference judgments and judgments by group
lines     the text that it prints
errors    its exit codes
"""
