"""Tables and data frames for notebooks."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from rankgauge import Qrels, Run, evaluate
from rankgauge.errors import MissingExtraError
from rankgauge.evaluation.notebook import NotebookTable, Tabular, html_table, score_columns, score_table


class Small(Tabular):
    def summary_table(self) -> NotebookTable:
        return NotebookTable(
            ["name", "value"], [["<script>", 0.5], ["b", None], ["c", float("nan")], ["d", 3], ["e", -0.25]], "a & b"
        )

    def frame_columns(self) -> dict[str, list[Any]]:
        return {"name": ["a", "b"], "value": [None, 0.5]}


def test_text_from_data_is_escaped_and_numbers_are_rounded() -> None:
    table = Small()._repr_html_()
    assert "<td>&lt;script&gt;</td><td>0.5000</td>" in table
    assert "<caption>a &amp; b</caption>" in table
    assert table.count("<td>–</td>") == 2
    assert "<td>3</td>" in table
    assert "<td>−0.2500</td>" in table
    assert "style" not in table


def test_control_characters_do_not_get_through() -> None:
    assert "\x1b" not in html_table(NotebookTable(["a"], [["\x1b[31m"]]))


def test_frames_hold_the_columns() -> None:
    assert Small().to_pandas()["value"].tolist()[1] == 0.5
    assert Small().to_polars()["value"].to_list() == [None, 0.5]


def test_scores_show_as_a_table_and_turn_into_frames() -> None:
    qrels = Qrels.from_dict({"q1": {"a": 1}, "q2": {"a": 1}}, columns={"category": {"q1": "x"}})
    scores = evaluate(qrels, Run.from_lists({"q1": ["a"]}, name="<r>", failed=["q2"]), "RR")
    assert html_table(score_table(scores)) == (
        "<table><caption>&lt;r&gt; on qrels</caption><thead><tr><th>measure</th><th>value</th><th>n</th></tr></thead>"
        "<tbody><tr><td>RR</td><td>1.0000</td><td>1</td></tr></tbody></table>"
    )
    assert score_columns(scores) == {"query": ["q1", "q2"], "RR": [1.0, None], "category": ["x", None]}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_error_names_the_missing_library(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == library:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=f"pip install {library}"):
        getattr(Small(), f"to_{library}")()
