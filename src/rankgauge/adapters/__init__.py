"""Other front doors, thin over evaluation: pipeline logs, story search, trec_eval's command line."""

from rankgauge.core.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
