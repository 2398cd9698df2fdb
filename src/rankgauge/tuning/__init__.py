"""Weights of a fusion, found on some queries and reported on others."""
