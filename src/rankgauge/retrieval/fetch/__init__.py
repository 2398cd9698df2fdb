"""Ask a retriever every query and write the run: batched, resumable, with latency."""
