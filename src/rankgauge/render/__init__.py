"""Results as text: tables for terminals, Markdown and LaTeX, rows for programs, trec_eval's columns for scripts."""
