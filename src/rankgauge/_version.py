"""The version, the first leaf of the tree: anything may import it."""

__version__ = "0.2.0"
