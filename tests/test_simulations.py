"""The simulations run, and test what ``compare``, ``gate`` and every interval of a mean do."""

from __future__ import annotations

import importlib

import pytest
from benchmarks.simulations import __main__, _families, _populations, _single_tests, coverage

SHORT = {
    "DRAWS": 2,
    "MORE_DRAWS": 2,
    "PILOTS": 3,
    "SAMPLES": 1,
    "BUILDS": 1,
    "NIGHTS": 20,
    "SEQUENCES": 2,
    "HISTORIES": 1,
    "DROP_SEQUENCES": 2,
    "LATEST": 2,
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
