"""The drop-in for trec_eval: its flags, its leniency, its text to the byte, its exit codes."""
