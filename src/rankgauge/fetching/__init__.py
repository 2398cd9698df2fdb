"""Runs made by a retriever: batch by batch, resumable, with what it took."""
