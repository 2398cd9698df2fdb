"""From any source of results to the join: batches, grouping, checks, builder; and the shortcuts around it."""
