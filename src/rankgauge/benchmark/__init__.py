"""Several retrievers on the same queries and judgments, in one folder that can be checked afterwards."""
