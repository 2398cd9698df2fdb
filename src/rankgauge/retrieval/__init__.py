"""Retrievers: queries in, a run out. They see ids and texts, never judgments."""
