"""Several retrievers on the same queries and judgments, in one folder that can be verified."""

from rankgauge.core.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
