"""Results as text: a table for people, JSON and CSV for programs, trec_eval's three columns for scripts."""
