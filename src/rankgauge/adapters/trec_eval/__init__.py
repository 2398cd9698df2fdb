"""The drop-in for trec_eval: its flags, its leniency, its text to the byte, its exit codes.

command_line   its flags, the measures asked for, formats of judgments, exit codes
lenient_files  judgments, runs and the file of -Z as it reads them
query_values   the values of each query, also with gains from the command line
report         the evaluation; group_report: the same for preference judgments and judgments by group
printed_lines  the text that it prints
"""
