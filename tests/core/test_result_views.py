"""Results as data frames."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from rankgauge import Qrels, Run, evaluate
from rankgauge.core.result_views import Tabular
from rankgauge.errors import MissingExtraError


class Small(Tabular):
    def frame_columns(self) -> dict[str, list[Any]]:
        return {"name": ["a", "b"], "value": [None, 0.5]}


def test_frames_hold_the_columns() -> None:
    assert Small().to_pandas()["value"].tolist()[1] == 0.5
    assert Small().to_polars()["value"].to_list() == [None, 0.5]


def test_scores_turn_into_frames() -> None:
    qrels = Qrels.from_dict({"q1": {"a": 1}, "q2": {"a": 1}}, columns={"category": {"q1": "x"}})
    scores = evaluate(qrels, Run.from_lists({"q1": ["a"]}, name="<r>", failed=["q2"]), "RR")
    assert scores.frame_columns() == {"query": ["q1", "q2"], "RR": [1.0, None], "category": ["x", None]}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_error_names_the_missing_library(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == library:
            raise ModuleNotFoundError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=f"pip install {library}"):
        getattr(Small(), f"to_{library}")()
