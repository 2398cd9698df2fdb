"""Generated cases with the outputs of the two binaries: ties, notations, missing queries, bad files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "data" / "trec_eval-cases"
VERSIONS = {"9.0.8": "trec_eval-9", "10.0": "trec_eval-10"}
# trec_eval stops at a query with nothing but negative grades; ours evaluates it as having no relevant documents.
ALL_NEGATIVE = {15, 16, 23, 28, 49, 57}
CASES = json.loads((FOLDER / "index.json").read_text())


def arguments(case: dict[str, Any], version: str) -> list[str]:
    folder = FOLDER / f"{case['case']:03d}"
    return ["trec_eval", "--compat", VERSIONS[version], *case["args"], str(folder / "qrels"), str(folder / "run")]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['case']:03d}")
def test_same_bytes_or_same_exit_code(command: Callable[..., Any], case: dict[str, Any], version: str) -> None:
    outcome = command(*arguments(case, version))
    expected = case[f"exit {version}"]
    if expected == 0:
        text = (FOLDER / f"{case['case']:03d}" / f"expected-{version}.out").read_bytes()
        assert outcome.code == 0, outcome.err
        assert outcome.out == text.decode("utf-8", "surrogateescape")
    elif case["case"] in ALL_NEGATIVE:
        assert (expected, outcome.code) == (4, 0)
        assert "are negative" in outcome.err
    else:
        assert outcome.code == expected
        assert outcome.err.startswith("trec_eval: ")


def test_some_cases_of_each_kind_are_there() -> None:
    codes = {(case["exit 9.0.8"], case["exit 10.0"]) for case in CASES}
    assert codes == {(0, 0), (0, 4), (4, 4), (2, 2)}


def test_queries_with_only_negative_grades_score_zero_and_are_named(
    command: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "q").write_text("1 0 a -1\n2 0 b -2\n3 0 c 1\n")
    (tmp_path / "r").write_text("".join(f"{q} Q0 {d} 1 1 x\n" for q, d in ("1a", "2b", "3c")))
    outcome = command("trec_eval", "-q", "-m", "map", "-m", "bpref", tmp_path / "q", tmp_path / "r")
    assert outcome.code == 0
    rows = [line.split() for line in outcome.out.splitlines()]
    assert [row for row in rows if row[1] in "12"] == [
        ["map", "1", "0.0000"], ["bpref", "1", "0.0000"], ["map", "2", "0.0000"], ["bpref", "2", "0.0000"],
    ]  # fmt: skip
    assert "query '1'" in outcome.err
    assert "query '2'" in outcome.err
