"""An experiment as one report, and the manifest that makes it reproducible."""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
