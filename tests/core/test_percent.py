from __future__ import annotations

from rankgauge.core.formatting import percent


def test_a_share_in_percent_has_the_requested_number_of_decimals() -> None:
    assert (percent(0.95), percent(0.999)) == ("95%", "99.9%")
    assert (percent(2 / 3, 1), percent(-0.125, 1), percent(1, 1)) == ("66.7%", "−12.5%", "100.0%")
