from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rankgauge.stats import joint_tests

Dicts = dict[str, dict[str, float]]


@pytest.fixture
def judged() -> Dicts:
    """Thirty queries with two relevant documents each."""
    return {f"q{n:02}": {f"d{n}": 2, f"e{n}": 1, f"x{n}": 0} for n in range(30)}


@pytest.fixture
def ranked() -> Callable[..., dict[str, dict[str, float]]]:
    """A run with the relevant documents on top, or behind two unjudged documents in the queries named."""

    def make(bad: Any = (), rename: Any = ()) -> Dicts:
        run = {}
        for n in range(30):
            mark = "new-" if n in rename else ""
            docs = [f"{mark}d{n}", f"{mark}e{n}", f"x{n}", "s", "t"]
            if n in bad:
                docs = ["s", "t", *docs[2::-1]]
            run[f"q{n:02}"] = {doc: float(len(docs) - rank) for rank, doc in enumerate(docs)}
        return run

    return make


@pytest.fixture
def only_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decide without detectable drops: no outcome depends on them, and they take most of the time."""
    monkeypatch.setattr(joint_tests, "detectable_difference_of", lambda *_: None)
