"""Simulations with known truth: how often tests err and intervals cover. Each module has ``tables(population)``."""
