"""Runs made by asking a retriever every query: batched, resumable, with latency."""
