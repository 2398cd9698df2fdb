"""Two runs without judgments: the values against their definitions, and what each format shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Run
from rankgauge.cli.main import run as run_command
from rankgauge.comparison import diff_runs
from rankgauge.errors import InputError, UsageError
from rankgauge.stats import rbo
from tests.render.html.unpacking import data_of

rankings = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10)


@given(rankings, rankings, st.integers(1, 6))
def test_values_are_those_of_their_definitions(first: list[str], second: list[str], k: int) -> None:
    difference = diff_runs(Run.from_lists({"q": first}), Run.from_lists({"q": second}), k=k, p=0.8)
    (query,) = difference.queries
    a, b = set(first[:k]), set(second[:k])
    if not a and not b:
        assert (query.overlap, query.jaccard, query.rbo) == (None, None, None)
        return
    assert query.overlap == len(a & b) / max(len(a), len(b))
    assert query.jaccard == len(a & b) / len(a | b)
    assert query.rbo == (rbo(first, second, p=0.8).value if first and second else 0)
    assert query.is_same == (first[:k] == second[:k])
    assert query.is_reordered == (first[:k] != second[:k] and a == b)


@given(st.dictionaries(st.sampled_from(["1", "2", "3"]), rankings, min_size=1))
def test_a_run_does_not_differ_from_itself(results: dict[str, list[str]]) -> None:
    run = Run.from_lists(results)
    difference = diff_runs(run, run)
    assert difference.same == len(difference.queries)
    assert all(value is None or value == pytest.approx(1) for value in difference.means.values())


@given(rankings, rankings)
def test_the_order_of_the_runs_does_not_matter(first: list[str], second: list[str]) -> None:
    one, other = Run.from_lists({"q": first}), Run.from_lists({"q": second})
    assert diff_runs(one, other).means == pytest.approx(diff_runs(other, one).means)


def test_queries_that_changed_most_come_first_and_those_of_one_run_are_named() -> None:
    first = Run.from_lists({"same": ["a", "b"], "gone": ["a", "b"], "swapped": ["a", "b"], "only": ["a"]}, name="one")
    second = Run.from_lists({"swapped": ["b", "a"], "gone": ["x", "y"], "same": ["a", "b"]}, name="two", failed=["new"])
    difference = diff_runs(first, second)
    assert [query.query for query in difference.queries] == ["gone", "swapped", "same"]
    assert difference.missing == (("new",), ("only",))
    assert (difference.same, difference.reordered) == (1, 1)


def test_a_query_that_failed_is_left_out() -> None:
    first = Run.from_lists({"a": ["x"], "b": ["x"]})
    second = Run.from_lists({"a": ["x"]}, failed=["b"])
    difference = diff_runs(first, second)
    assert [query.query for query in difference.queries] == ["a"]
    assert difference.failed == ("b",)


def test_runs_without_a_common_query_and_bad_options_are_errors() -> None:
    with pytest.raises(InputError, match="no query in common: 'a' and 'b'"):
        diff_runs(Run.from_lists({"a": ["x"]}), Run.from_lists({"b": ["x"]}))
    run = Run.from_lists({"a": ["x"]})
    with pytest.raises(UsageError, match="k: expected a whole number of at least 1"):
        diff_runs(run, run, k=0)
    with pytest.raises(UsageError, match="p: expected a number between 0 and 1"):
        diff_runs(run, run, p=1)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("old.run").write_text("1 Q0 a 1 3 old\n1 Q0 b 2 2 old\n2 Q0 c 1 1 old\n")
    Path("new.run").write_text("1 Q0 b 1 3 new\n1 Q0 d\x1b 2 2 new\n2 Q0 c 1 1 new\n")
    Path("queries.tsv").write_text("1\thow to bake <bread>\n2\tother\n")
    Path("live.py").write_text("def find(query, k):\n    return ['a', 'b'] if 'bread' in query else ['c']\n")
    return tmp_path


def test_the_table_shows_both_rankings_side_by_side(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["diff", "old.run", "new.run", "--queries", "queries.tsv"]) == 0
    out = capsys.readouterr().out
    assert "old and new: the top 10 of 1 of 2 queries differ." in out
    assert "1: how to bake <bread> (overlap 0.50, RBO 0." in out
    assert "gone" in out
    assert "was 2" in out
    assert "\x1b" not in out


def test_json_has_every_query_with_its_rankings(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["diff", "old.run", "new.run", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == "rankgauge.diff/1"
    assert [row["query"] for row in data["per_query"]] == ["1", "2"]
    assert data["per_query"][0]["first"] == ["a", "b"]
    assert data["means"]["overlap"] == pytest.approx(0.75)


@pytest.mark.parametrize("format", ["csv", "jsonl", "markdown", "latex"])
def test_other_formats_name_the_queries(files: Path, capsys: pytest.CaptureFixture[str], format: str) -> None:
    assert run_command(["diff", "old.run", "new.run", "--format", format]) == 0
    assert "RBO" in (out := capsys.readouterr().out) or "rbo" in out


def test_a_live_retriever_takes_the_place_of_a_run(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["diff", "old.run", "./live.py:find", "--queries", "queries.tsv", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["runs"] == ["old", "find"]
    assert data["same"] == 2
    assert run_command(["diff", "old.run", "./live.py:find"]) == 64
    assert "needs the texts of the queries" in capsys.readouterr().err


def test_the_page_holds_the_rankings_and_no_grades(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("corpus.jsonl").write_text('{"_id": "a", "text": "the text of </script> a"}\n')
    arguments = [
        "diff",
        "old.run",
        "new.run",
        "--queries",
        "queries.tsv",
        "--html",
        "d.html",
        "--corpus",
        "corpus.jsonl",
    ]
    assert run_command(arguments) == 0
    page = Path("d.html").read_text(encoding="utf-8")
    data = data_of(page)
    assert data["judged"] is False
    assert data["rankings"][0]["r"] == [[0, 1], [1, 2]]
    assert [measure["name"] for measure in data["measures"]] == ["RBO(p=0.9)", "Jaccard@10", "overlap@10"]
    assert data["snippets"] == {"a": "the text of </script> a"}
    assert "<bread>" not in page
    assert "how to bake" not in page.replace(page[page.index('id="data"') :], "")
