"""Percentiles of latency are listed once."""

from __future__ import annotations

from dataclasses import asdict

from rankgauge.core.formatting import milliseconds
from rankgauge.core.run import latency_percentiles
from rankgauge.retrieval.latency import PERCENTILE_NAMES, Cost, Latency


def test_each_percentile_is_a_field_of_latency_and_of_cost() -> None:
    """Tables, sentences, the history and OpenMetrics follow from the list of percentiles."""
    times = latency_percentiles([3.0, 1.0, 2.0])
    assert set(times) == {*PERCENTILE_NAMES, "max"}
    latency = Latency(3, **times)
    assert all(f"{name} {milliseconds(time)}" in str(latency) for name, time in times.items())
    assert {**Cost(**asdict(latency)).percentiles, "max": latency.max} == times
