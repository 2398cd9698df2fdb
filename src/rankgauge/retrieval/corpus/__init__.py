"""Corpora and collections on disk; corpora stream."""
