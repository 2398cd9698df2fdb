import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import InputError
from rankgauge.stats.corrections import holm
from tests.stats import definitions

p_values = st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.01, 0.02, 0.04, 0.3, 0.5, 1.0]), min_size=1, max_size=8)


@given(p_values)
def test_holms_correction_is_its_definition(p: list[float]) -> None:
    found = holm(p)
    assert list(found.p) == pytest.approx(definitions.holm(p))
    assert found.family == len(p)


@given(p_values)
def test_corrected_values_keep_their_order_and_never_shrink(p: list[float]) -> None:
    found = [value for value in holm(p).p if value is not None]
    assert all(after >= before - 1e-15 for before, after in zip(p, found, strict=True))
    ranked = [after for _, after in sorted(zip(p, found, strict=True))]
    assert ranked == sorted(ranked)
    assert max(found) <= 1


def test_none_stays_none_and_does_not_count() -> None:
    found = holm([0.01, None, 0.04])
    assert found.p == (0.02, None, 0.04)
    assert found.family == 2
    assert holm([None]).p == (None,)
    assert holm([]).p == ()


def test_bad_p_values_are_refused() -> None:
    for value in (-0.1, 1.1, math.nan):
        with pytest.raises(InputError, match="between 0 and 1"):
            holm([0.5, value])
