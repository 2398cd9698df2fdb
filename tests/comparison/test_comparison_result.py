"""The order of runs: by a measure, the best first, by name, or as given."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import compare
from rankgauge.comparison.comparison_result import sort_systems
from rankgauge.errors import UsageError
from rankgauge.evaluation.scores import sorted_runs

Command = Callable[..., Any]
JUDGED = {f"q{number}": {"good": 1} for number in range(6)}
RANKS = {"middle": 2, "best": 1, "worst": 4}
RUNS = {name: {query: [*(f"x{n}" for n in range(1, rank)), "good"] for query in JUDGED} for name, rank in RANKS.items()}


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        (None, ["best", "middle", "worst"]),
        ("RR", ["best", "middle", "worst"]),
        ("recip_rank", ["best", "middle", "worst"]),
        ("FirstRel", ["best", "middle", "worst"]),  # lower is better
        ("NumRet", ["worst", "middle", "best"]),  # neither is better: the highest first
        ("name", ["best", "middle", "worst"]),
        ("given", ["middle", "best", "worst"]),
    ],
)
def test_runs_are_sorted_by_what_is_asked_for(sort: str | None, names: list[str]) -> None:
    comparison = compare(JUDGED, RUNS, "RR FirstRel NumRet", changes=1)
    assert [run.run for run in sorted_runs(comparison.scores, sort)] == names
    ordered = sort_systems(comparison, sort)
    assert list(ordered.names) == [run.run for run in ordered.scores] == names
    assert ordered.baseline == comparison.baseline == "middle"
    assert {(row.system, row.measure): row for row in ordered.differences} == {
        (row.system, row.measure): row for row in comparison.differences
    }
    assert ordered.answer() == comparison.answer()


def test_equal_runs_stay_as_given_and_an_unknown_name_is_refused() -> None:
    comparison = compare(JUDGED, {"b": RUNS["best"], "a": RUNS["best"]}, "RR")
    assert [run.run for run in sorted_runs(comparison.scores)] == ["b", "a"]
    with pytest.raises(UsageError, match="cannot sort by 'AP'") as caught:
        sorted_runs(comparison.scores, "AP")
    assert caught.value.hint == "output.sort takes one of: RR, name, given"


@pytest.mark.parametrize("format", ["table", "csv", "markdown", "latex"])
@pytest.mark.parametrize("name", ["evaluate", "compare"])
def test_every_format_but_json_obeys_sort(name: str, format: str, command: Command, workshop: Path) -> None:
    for run, rankings in RUNS.items():
        (workshop / run).write_text(json.dumps(rankings))
    (workshop / "judged.json").write_text(json.dumps(JUDGED))
    files = [workshop / "judged.json", *(workshop / run for run in RUNS), "-m", "RR", "--format", format]

    def order(*sort: str) -> list[str]:
        out = command(name, *files, *sort).out
        rows = [re.search(r"\b(middle|best|worst)\b(?=  | ?[,|&])[^.:]*\d", line) for line in out.splitlines()]
        return list(dict.fromkeys(row[1] for row in rows if row))

    expected = [run for run in ("best", "middle", "worst") if (name, format, run) != ("compare", "csv", "middle")]
    assert order() == expected
    assert order("--set", "output.sort=given") == [run for run in RUNS if run in expected]


def test_json_has_the_runs_as_given(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    for name in ("evaluate", "compare"):
        data = json.loads(command(name, *files, "--format", "json", "--set", "output.sort=nDCG@10").out)
        assert [run["name"] for run in data["runs"]] == ["lexical", "vector"]
    refused = command("evaluate", *files, "--set", "output.sort=XYZ")
    assert refused.code == 64
    assert "cannot sort by 'XYZ'" in refused.err
