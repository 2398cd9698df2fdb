"""Several runs combined into one, and the weights of that combination tuned on held-out queries."""
