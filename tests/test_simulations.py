"""The simulations run, and test what ``compare``, ``gate`` and every interval of a mean do."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from benchmarks.simulations import __main__, _families, _populations, _single_tests, coverage, online

SHORT = {
    "DRAWS": 2,
    "MORE_DRAWS": 2,
    "PILOTS": 3,
    "SAMPLES": 1,
    "BASELINES": 3,
    "BUILDS": 1,
    "PERIOD": 100,
    "NIGHTS": 20,
    "RESAMPLES": 99,
}


def test_simulations_use_the_numbers_of_the_public_calls() -> None:
    _families.check()
    coverage.check(_populations.load(None))


@pytest.mark.slow
@pytest.mark.parametrize("name", __main__.names())
def test_every_simulation_prints_its_tables(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (importlib.import_module(f"benchmarks.simulations.{name}"), _families, _single_tests):
        for constant, value in SHORT.items():
            if hasattr(module, constant):
                monkeypatch.setattr(module, constant, value)
    __main__.main([name])
    out = capsys.readouterr().out
    assert "---" in out
    assert "nan" not in out
    if name in ("coverage", "errors", "power"):  # the others draw from no collection
        assert "Queries of the bundled collection: 48; runs, the strongest first: vector, lexical." in out


@pytest.mark.slow
def test_a_sequence_of_builds_keeps_its_promise_and_still_finds_drops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 60 sequences of 100 builds, 5% may have a false alarm, and 1.96 standard errors are 5.5%."""
    monkeypatch.setattr(online, "PERIOD", 100)
    rng = np.random.default_rng(1)
    alarms = [online.sequence(rng, online.normal, "any", 0.0)[0].any() for _ in range(60)]
    plain = [online.sequence(rng, online.normal, None, 0.0)[0].any() for _ in range(60)]
    assert np.mean(alarms) < 0.11
    assert np.mean(plain) > 0.3
    found = [(failed[worse].mean(), failed[~worse].mean()) for failed, worse in _dropping(rng)]
    assert np.mean([power for power, _ in found]) > 0.4
    assert np.mean([wrong for _, wrong in found]) < 0.01


def _dropping(rng: np.random.Generator) -> list[tuple[online.Flags, online.Flags]]:
    return [online.sequence(rng, online.normal, "lond", 0.1) for _ in range(20)]
