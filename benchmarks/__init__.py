"""What rankgauge costs beside its peers: ``python -m benchmarks`` from the root of the repository."""
