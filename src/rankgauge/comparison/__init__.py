"""Systems on the same queries: what differs, how sure that is, and which queries and documents moved."""
