"""Documents, queries and judgments: what a retriever is pointed at. Corpora stream."""
