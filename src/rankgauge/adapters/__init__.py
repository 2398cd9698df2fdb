"""Other ways into evaluation: pipeline logs, story search, trec_eval's command line."""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
