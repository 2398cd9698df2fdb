import hashlib

import numpy as np
import pytest

from rankgauge.errors import UsageError
from rankgauge.stats.draws import RESAMPLES_PER_BLOCK, RandomStream, Resampling, _product, blocks
from tests.stats import definitions


def test_the_bits_are_those_of_philox_by_its_definition() -> None:
    stream = RandomStream(7, ("randomization", "a", "b", "nDCG@10"))
    words = stream.bits().bytes(1, 8 * 41).view(np.dtype("<u8"))[0]
    assert words.tolist() == definitions.philox(stream.key, 41)


def test_the_key_is_a_hash_of_seed_and_labels() -> None:
    data = b"".join(len(part).to_bytes(8, "little") + part for part in (b"7", b"RR@10", "é".encode()))
    assert RandomStream(7, ("RR@10", "é")).key == int.from_bytes(hashlib.sha256(data).digest()[:16], "little")


def test_different_labels_never_share_a_stream() -> None:
    keys = [RandomStream(1, labels).key for labels in [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ()]]
    assert len({*keys, RandomStream(11).key, RandomStream(2, ("abc",)).key}) == 7


def test_numbers_below_a_bound_are_spread_evenly() -> None:
    drawn = RandomStream(3).bits().below(7, 100, 1000)
    counts = np.bincount(drawn.reshape(-1), minlength=7)
    assert len(counts) == 7
    assert np.abs(counts - 100_000 / 7).max() < 5 * (100_000 / 7) ** 0.5


def test_blocks_add_up() -> None:
    assert list(blocks(RESAMPLES_PER_BLOCK)) == [(0, RESAMPLES_PER_BLOCK)]
    assert [size for _, size in blocks(2 * RESAMPLES_PER_BLOCK + 5)] == [RESAMPLES_PER_BLOCK, RESAMPLES_PER_BLOCK, 5]


@pytest.mark.parametrize("seed", [1.5, "1", True, None])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(UsageError, match="whole number"):
        _ = RandomStream(seed).key  # type: ignore[arg-type]  # refused at run time


def test_resampling_names_a_stream_and_a_number_with_a_default() -> None:
    assert Resampling(seed=3, labels=("a",)).stream == RandomStream(3, ("a",))
    assert (Resampling().count(7), Resampling(9).count(7)) == (7, 9)
    with pytest.raises(UsageError, match="resamples must be at least 1, found 0"):
        Resampling(0)


@pytest.mark.parametrize(("draws", "units", "columns"), [(4369, 60, 48), (130, 700, 9), (3, 70_000, 5), (1, 1, 1)])
def test_sums_over_draws_are_the_same_in_parts_as_in_whole_numbers(draws: int, units: int, columns: int) -> None:
    bits = np.random.default_rng(5)
    counts, whole = bits.integers(0, 5, (draws, units)), bits.integers(-(2**20), 2**20, (units, columns))
    expected = counts @ whole
    assert np.array_equal(_product(counts.astype(np.float64), whole.astype(np.float64)), expected)
