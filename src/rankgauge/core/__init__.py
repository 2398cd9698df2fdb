"""The data model: ids, judgments, runs, the order rule, and the join behind every measure."""
