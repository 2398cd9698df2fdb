"""The drop-in for trec_eval: its flags, its leniency, its text to the byte, its exit codes.

families       its families of measures and formats of judgments, those of judgments by groups too
command_line   its flags, the measures asked for, exit codes
lenient_files  judgments, runs and the file of -Z as it reads them
query_values   the values of each query, also with gains from the command line
report         the evaluation
preferences    the same for preference judgments and judgments by group, which nothing else reads
judge_groups   the rows of such judgments, and the mean over groups
printed_lines  the text that it prints
"""
