"""Test cases from files and from dicts."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import InputError
from rankgauge.rag.cases import Case, read_cases

ROWS = [
    {"id": "q1", "query": "reset 2FA?", "relevant_ids": ["a", "b"], "category": "auth", "topK": 3},
    {"id": "q2", "query": "refund?", "relevant_ids": "c", "category": "billing", "topK": 5},
]
CSV = 'id,query,relevant_ids,category,topK\nq1,reset 2FA?,a|b,auth,3\nq2,refund?,"[""c""]",billing,5\n'


def test_dicts_files_and_csv_give_the_same_cases(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    (tmp_path / "cases.json").write_text(json.dumps(ROWS))
    (tmp_path / "cases.csv").write_text(CSV)
    first, *rest = [read_cases(ROWS), *(read_cases(path) for path in sorted(tmp_path.iterdir()))]
    assert [(case.id, case.query, case.k) for case in first.cases] == [("q1", "reset 2FA?", 3), ("q2", "refund?", 5)]
    assert {query: list(judged.relevant) for query, judged in first.judgments.items()} == {
        "q1": ["a", "b"],
        "q2": ["c"],
    }
    assert first.columns["category"] == {"q1": "auth", "q2": "billing"}
    assert len(rest) == 3
    for cases in rest:
        assert cases == first


def test_without_an_id_the_query_is_its_own_id() -> None:
    found = read_cases([{"query": "refund?", "relevant_ids": []}])
    assert found.cases[0].id == "refund?"
    assert found.judgments["refund?"].relevant == []


def test_relevant_ids_and_grades_are_kept_apart() -> None:
    found = read_cases([{"query": "q", "relevant_ids": ["a", "b"], "grades": {"a": 2, "c": 0.3}}])
    assert (found.judgments["q"].relevant, found.judgments["q"].grades) == (["a", "b"], {"a": 2, "b": 1, "c": 0.3})
    alone = read_cases([{"query": "q", "grades": {"a": 2, "c": 0}}, {"query": "r", "relevant_ids": ["x"]}])
    assert alone.judgments["q"].relevant == ["a"]
    assert alone.judgments["r"].relevant == ["x"]


def test_common_python_types_are_accepted_in_dicts() -> None:
    name = UUID(int=5)
    found = read_cases(
        [{"query": "q", "relevant_ids": {"b", "a"}, "topK": np.int64(4)}, {"query": "r", "relevant_ids": (name,)}]
    )
    assert (found.judgments["q"].relevant, found.cases[0].k) == (["a", "b"], 4)
    assert found.judgments["r"].relevant == [str(name)]


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ([{"relevant_ids": ["a"], "id": "q"}], "test cases:1: expected the text of a query"),
        ([{"query": "q"}], "relevant"),
        ([{"query": "q", "relevant_ids": ["a"]}, {"query": "q", "relevant_ids": ["b"]}], "test cases:2: .*'q' again"),
        ([{"query": "q", "relevant_ids": ["a"], "topK": 0}], "test cases:1: expected a whole number of at least 1"),
        ([{"query": "q", "relevant_ids": ["a"], "grades": {"a": 0}}], "listed as relevant and graded 0"),
        ([{"query": "q", "relevant_ids": [None]}], "test cases:1: expected a string or a whole number"),
        ([{"query": "q", "relevant_ids": [object()]}], "test cases:1: expected text, numbers"),
        (["q"], "test cases:1: expected a dict, found str"),
        ({"q": ["a"]}, "expected a list of test cases, or an object around one"),
        (3, "expected a list of dicts, found int"),
        ([], "there are no test cases"),
    ],
)  # fmt: skip
def test_wrong_cases_are_errors_that_name_the_case(cases: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_cases(cases)


def test_a_wrong_line_of_a_csv_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("query,relevant_ids,topK\nq,a,3\nr,b,many\n")
    with pytest.raises(InputError, match=r"cases.csv:3: expected a whole number of at least 1 as k, found '.many"):
        read_cases(tmp_path / "cases.csv")


CELL_IDS = st.lists(st.text("ab-7", min_size=1, max_size=4), max_size=4, unique=True)


@given(
    rows=st.lists(st.tuples(CELL_IDS, st.booleans()), min_size=1, max_size=4),
    separator=st.sampled_from([";", "|", ", ", ";; "]),
)
def test_lists_of_ids_in_csv_are_read_back(
    rows: list[tuple[list[str], bool]], separator: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("csv") / "cases.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query", "relevant_ids"])
        for number, (ids, is_json) in enumerate(rows):
            writer.writerow([f"q{number}", json.dumps(ids) if is_json else separator.join(ids)])
    found = read_cases(path).judgments
    assert [list(found[f"q{number}"].relevant) for number in range(len(rows))] == [ids for ids, _ in rows]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "q,a;b\nr,c|d\n",
            r"cases.csv:3: .* separator of ids in 'relevant_ids', found '\|', and ';' on line 2",
        ),
        ('q,a;b\nr,"c,d;e"\n', "cases.csv:3: expected one separator .*, found ',', and ';' on line 2"),
        ("q,a;b|c\n", r"cases.csv:2: .*JSON list: \[.a;b., .c.\]"),
        ("q,[a;b]\n", r"cases.csv:2: expected a JSON list of ids, found '\[a;b\]'"),
    ],
)
def test_two_separators_of_ids_are_an_error(rows: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("query,relevant_ids\n" + rows)
    with pytest.raises(InputError, match=f"(?s){message}"):
        read_cases(tmp_path / "cases.csv")


def test_ids_that_contain_a_separator_are_a_json_list(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text('query,relevant_ids\nq,a;b\nr,"[""c;d"", ""e,f""]"\n')
    found = read_cases(tmp_path / "cases.csv").judgments
    assert (found["q"].relevant, found["r"].relevant) == (["a", "b"], ["c;d", "e,f"])
    (tmp_path / "semicolons.csv").write_text('query;relevant_ids\nq;"a;b"\nr;c\n')
    assert read_cases(tmp_path / "semicolons.csv").judgments["q"].relevant == ["a", "b"]


def test_reading_makes_no_object_per_case_until_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted_case(id: str, *values: Any) -> Case:
        made.append(id)
        return Case(id, *values)

    monkeypatch.setattr("rankgauge.rag.cases.Case", counted_case)
    cases = read_cases(ROWS)
    assert (len(cases.cases), made) == (2, [])
    assert cases.cases[1].query == "refund?"
    assert [case.id for case in cases.cases[:1]] == ["q1"]
    assert made == ["q1", "q2"]  # each of them once


def test_cases_are_checked_when_they_are_read_not_when_they_are_used() -> None:
    for wrong, message in (
        ({"topK": 0}, "expected a whole number of at least 1 as k"),
        ({"query": None}, "expected the text of a query, found none"),
        ({"relevant_ids": 7.5}, "expected"),
    ):
        with pytest.raises(InputError, match=message):
            read_cases([ROWS[0], {**ROWS[1], **wrong}])
