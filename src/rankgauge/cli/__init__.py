"""The command line: one file per noun, each imported only when one of its commands runs."""
