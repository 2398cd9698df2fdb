"""Validation of runs and judgments: every fault with its code, its line and what to do about it."""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
