"""How the defaults of retrieval are chosen: ``python -m benchmarks.defaults``."""
