"""From judgments and runs to scores: one value per query and measure, their means, groups, intervals and caveats."""
