"""An experiment: what was asked, what came out, and how it can be made again."""
