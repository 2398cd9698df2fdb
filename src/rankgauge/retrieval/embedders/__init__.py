"""Embedders: texts in, vectors out. One file per kind."""
