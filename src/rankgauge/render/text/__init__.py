"""Results as text: tables for terminals, Markdown and LaTeX, rows for programs."""
