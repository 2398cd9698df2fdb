"""The data: ids, judgments, runs, the order rule, and the join that feeds every measure."""
