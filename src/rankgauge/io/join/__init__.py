"""From files to the join without a run in memory."""
