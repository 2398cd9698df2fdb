"""Fusion: combine runs into one, and tune the combination on development queries."""
