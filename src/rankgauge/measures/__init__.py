"""What a measure is, the registry of all of them, and their names in every notation; importing this registers them."""

from rankgauge.measures import families

__all__ = ["families"]
