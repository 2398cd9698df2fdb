"""Measures: their definition, their registry and their names in every notation; importing this registers them."""

from rankgauge.core.public_names import attach
from rankgauge.measures import families as families

__getattr__, __dir__ = attach(__name__, __file__)
