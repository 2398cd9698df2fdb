"""Corpora and collections on disk. A corpus is streamed: it is never held in memory."""
