"""Reading and writing: files of every supported format, queries, corpora and collections."""

from rankgauge.core.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
