"""Embedders: texts in, vectors out. One file per kind; ``open_embedder`` finds them by name."""
