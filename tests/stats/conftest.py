"""What only the tests of the statistics need."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "simulation: coverage and false positive rates, seeded, within a minute")
