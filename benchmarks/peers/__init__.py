"""The test inputs of other tools, run through rankgauge: which of their numbers agree, which differ, and why."""
