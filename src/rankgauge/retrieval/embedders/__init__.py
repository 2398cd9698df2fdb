"""Texts in, vectors out: one file an embedder."""
