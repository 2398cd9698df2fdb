"""Random rows mean the same by a plain loop and through every way in: see ``tests.io.meanings``."""

from __future__ import annotations

import pytest

from tests.io.meanings.checking import disagreements
from tests.io.meanings.plain_loop import draw

SETS = 60


@pytest.mark.parametrize("first", [0, 1000, 2000, 3000])
def test_random_rows_mean_what_a_plain_loop_says(first: int) -> None:
    shapes = set()
    for seed in range(first, first + SETS):
        data = draw(seed)
        shapes.add(data.shape)
        assert not [*disagreements(data)], seed
    assert len(shapes) > SETS // 2
