"""Reading and writing: files of every supported format, queries, corpora and collections."""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
