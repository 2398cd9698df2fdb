"""Every way in gives the same bits, or fails with the same words."""

from __future__ import annotations

import time

import pytest

from tests.io.differential.checking import disagreements

pytest.importorskip("pyarrow")
CPU_SECONDS = 11  # of each of the four tests


@pytest.mark.parametrize("first", [0, 100_000, 200_000, 300_000])
def test_every_way_in_gives_the_same(first: int) -> None:
    end, seed = time.process_time() + CPU_SECONDS, first
    while time.process_time() < end:
        found = next(disagreements(seed), None)
        assert found is None, found
        seed += 1
    assert seed > first
