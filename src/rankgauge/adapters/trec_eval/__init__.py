"""The drop-in for trec_eval: its flags, its leniency, its text to the byte, its exit codes.

options   its command line
files     judgments and results as it reads them
zscores   the file of -Z
report    the evaluation
lines     the text that it prints
errors    its exit codes
"""
