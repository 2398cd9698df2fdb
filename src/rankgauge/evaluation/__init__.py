"""From judgments and runs to scores: one value per query and measure, their means, groups, intervals and caveats."""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
