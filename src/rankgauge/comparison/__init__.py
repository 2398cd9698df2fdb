"""Systems on the same queries: what differs, with what confidence, which queries changed; and the gate."""

from rankgauge.core.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
