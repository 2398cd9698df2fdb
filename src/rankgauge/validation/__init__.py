"""What is wrong with a run or with judgments: every fault with its code, its place and what to do about it."""
