"""Hypothesis strategies for scores and differences, with the ties and zeros that retrieval measures have."""

from hypothesis import strategies as st

GRID = [0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 1 / 3, 2 / 3, 0.25, 1.0]
scores = st.sampled_from(GRID)
alternatives = st.sampled_from(["two-sided", "less", "greater"])
differences = st.sampled_from([a - b for a in GRID for b in GRID])


def pairs(smallest: int = 2, largest: int = 9) -> st.SearchStrategy[list[tuple[float, float]]]:
    return st.lists(st.tuples(scores, scores), min_size=smallest, max_size=largest)


def lists_of_differences(smallest: int = 2, largest: int = 9) -> st.SearchStrategy[list[float]]:
    return st.lists(differences, min_size=smallest, max_size=largest)
