"""A log holds judgments and a run in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, RankgaugeWarning, evaluate, read_qrels, read_queries, read_run
from rankgauge.core.run import Status
from rankgauge.io import looks_like_log, read_log

ROWS: list[dict[str, Any]] = [
    {"query_id": "q1", "question": "reset 2FA?", "retrieved_ids": ["a", "b"], "relevant_ids": ["b"], "category": "auth",
     "topK": 5},
    {"query_id": "q2", "question": "refund?", "retrieved_ids": [], "relevant_ids": ["c"],
     "category": "billing", "topK": 3},
    {"query_id": "q3", "question": "hello?", "retrieved_ids": ["a"], "relevant_ids": [], "tags": ["x"]},
]  # fmt: skip


def log(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "log.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


def test_a_log_becomes_judgments_and_a_run(tmp_path: Path) -> None:
    qrels, run = read_log(log(tmp_path, *ROWS))
    assert (qrels.name, run.name) == ("log.jsonl", "log.jsonl")
    assert list(qrels.queries) == [b"q1", b"q2", b"q3"]
    assert (list(qrels.docs), qrels.grades.tolist()) == ([b"b", b"c"], [1, 1])
    assert list(run.docs) == [b"a", b"b", b"a"]
    assert run.scores.tolist() == [2, 1, 1]
    assert dict(zip(run.queries, run.status, strict=True))[b"q2"] == Status.EMPTY
    assert qrels.columns["category"].tolist() == ["auth", "billing", None]
    assert qrels.columns["k"].tolist()[:2] == [5, 3]
    assert qrels.columns["question"].tolist()[0] == "reset 2FA?"
    assert set(qrels.columns) == {"question", "category", "k"}
    assert evaluate(qrels, run, "RR")["RR"] == pytest.approx(0.5 / 3)


def test_each_side_can_be_read_alone(tmp_path: Path) -> None:
    path = log(tmp_path, *ROWS)
    assert len(read_qrels(path)) == 2
    assert len(read_run(path)) == 3
    assert len(read_run(log(tmp_path, {"qid": 1, "retrieved": ["a"]}))) == 1


def test_it_is_known_by_its_keys(tmp_path: Path) -> None:
    assert looks_like_log(log(tmp_path, *ROWS))
    assert not looks_like_log(log(tmp_path, {"qid": "q", "retrieved_ids": ["a"]}))
    assert not looks_like_log(log(tmp_path, {"qid": "q", "docno": "a", "score": 1}))
    assert not looks_like_log(tmp_path / "nowhere")
    assert not looks_like_log("-")
    (tmp_path / "run").write_text("1 Q0 a 1 1 x\n")
    assert not looks_like_log(tmp_path / "run")
    huge = {"contexts": ["x" * 200_000], "expected": ["x"]}
    assert looks_like_log(log(tmp_path, huge))
    for text, expected in (
        (json.dumps(ROWS, indent=1), True),
        (json.dumps([huge]), True),
        (json.dumps(ROWS[0]), True),
        ('{\n"q": {"a": 1}}', False),
        ("{}", False),
        ("", False),
    ):
        (tmp_path / "other").write_text(text)
        assert looks_like_log(tmp_path / "other") is expected


@pytest.mark.parametrize(
    ("retrieved", "scores"),
    [
        ({"retrieved_ids": ["a", "b"]}, [2, 1]),
        ({"retrieved_context_ids": [7, "b"]}, [2, 1]),
        ({"contexts": [["a", 0.5], ["b", 0.25]]}, [0.5, 0.25]),
        ({"retrieved": [{"id": "a", "score": 0.5, "text": "x"}, {"id": "b", "score": 0.25}]}, [0.5, 0.25]),
        ({"results": [{"doc_id": "a"}, {"doc_id": "b"}]}, [2, 1]),
        ({"retrieved": {"a": 0.5, "b": 0.25}}, [0.5, 0.25]),
        ({"retrieved_ids": ["a", "b"], "scores": [0.5, 0.25]}, [0.5, 0.25]),
        ({"retrieved_ids": ["a", "b"], "scores": {"b": 0.25, "a": 0.5}}, [0.5, 0.25]),
        ({"retrieved_contexts": ["some text", "other text"], "retrieved_context_ids": ["a", "b"]}, [2, 1]),
    ],
)
def test_what_was_retrieved_has_many_shapes(tmp_path: Path, retrieved: dict[str, Any], scores: list[float]) -> None:
    _, run = read_log(log(tmp_path, {"id": "q", **retrieved, "relevant_ids": ["a"]}))
    assert run.scores.tolist() == scores
    assert run.docs[1] == b"b"


@pytest.mark.parametrize(
    ("wanted", "grades"),
    [
        ({"relevant_ids": ["a", "b", "a"]}, {b"a": 1, b"b": 1}),
        ({"reference_context_ids": ["a"]}, {b"a": 1}),
        ({"golden_chunk_ids": ["a"]}, {b"a": 1}),
        ({"expected": ["a"]}, {b"a": 1}),
        ({"ground_truth": {"a": 2, "b": 0}}, {b"a": 2, b"b": 0}),
        ({"relevant_ids": "a"}, {b"a": 1}),
        ({"relevant_ids": ["a", "b"], "grades": {"a": 3, "c": 0}}, {b"a": 3, b"b": 1, b"c": 0}),
        ({"grades": {"a": 3, "c": 0}}, {b"a": 3, b"c": 0}),
        ({"relevant_ids": [{"id": "a", "grade": 2}]}, {b"a": 2}),
        ({"relevant_ids": [7], "grades": {"7": 2}}, {b"7": 2}),
    ],
)
def test_what_was_wanted_has_many_shapes(tmp_path: Path, wanted: dict[str, Any], grades: dict[bytes, float]) -> None:
    qrels, _ = read_log(log(tmp_path, {"id": "q", "retrieved_ids": ["a"], **wanted}))
    assert dict(zip(qrels.docs, qrels.grades, strict=True)) == grades


def test_a_question_without_an_id_is_known_by_its_text_and_else_by_its_line(tmp_path: Path) -> None:
    rows = [{"retrieved_ids": ["a"], "relevant_ids": ["a"]}, {"retrieved_ids": ["b"], "relevant_ids": ["a"]}]
    assert list(read_log(log(tmp_path, *rows))[0].queries) == [b"1", b"2"]
    named = [{"question": f"why {number}?", **row} for number, row in enumerate(rows)]
    assert list(read_log(log(tmp_path, *named))[0].queries) == [b"why 0?", b"why 1?"]


def test_the_caller_may_say_which_key_is_which(tmp_path: Path) -> None:
    path = log(tmp_path, {"nr": 1, "top": ["a"], "gold": ["a"], "golden": ["b"]})
    _, run = read_log(path, columns={"query": "nr", "retrieved": "top", "relevant": "gold"})
    assert (list(run.queries), list(run.docs)) == ([b"1"], [b"a"])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"retrieved_ids": ["a"], "relevant_ids": "x", "gold_ids": ["a"]},
         "expected one key for relevant, found 2: 'relevant_ids', 'gold_ids'"),
        ({"retrieved_ids": ["a"], "ground_truth": "The answer is 42."}, "log.jsonl:1: expected a list of ids"),
        ({"retrieved_ids": None, "relevant_ids": ["a"]}, "as retrieved documents, found nothing"),
        ({"retrieved_ids": ["a"]}, "expected a key for relevant (relevant_ids,"),
        ({"relevant_ids": ["a"]}, "expected a key for retrieved (retrieved_ids,"),
        ({"retrieved_ids": ["a", "a"], "relevant_ids": ["a"]}, "log.jsonl:1: expected each document once"),
        ({"retrieved_ids": ["a"], "relevant_ids": ["a"], "scores": [1, 2]}, "a list of 2 as scores of 1"),
        ({"retrieved_ids": ["a"], "relevant_ids": ["a"], "scores": [None]}, "found nothing for document 'a'"),
        ({"retrieved_ids": ["a"], "relevant_ids": ["a"], "grades": {"a": 0}}, "'a' listed as relevant and graded 0"),
        ({"retrieved_ids": ["a"], "relevant_ids": ["a"], "grades": [1]}, "a list as grades"),
        ({"retrieved_ids": ["a"], "relevant_ids": [{"id": "a", "grade": 900}]}, "from -127 to 127"),
        ({"retrieved_ids": [{"name": "a"}], "relevant_ids": ["a"]}, "an object with the keys 'name'"),
        ({"retrieved_ids": [["a"]], "relevant_ids": ["a"]}, "a list of 1 in the list"),
        ({"id": None, "retrieved_ids": ["a"], "relevant_ids": ["a"]}, "an id or a text as id"),
    ],
)  # fmt: skip
def test_faults_are_reported_with_their_place(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        read_log(log(tmp_path, row))
    assert said in str(error.value)


def test_a_question_twice_names_both_lines(tmp_path: Path) -> None:
    row = {"question": "why?", "retrieved_ids": ["a"], "relevant_ids": ["a"]}
    with pytest.raises(
        InputError, match=r"log.jsonl:2: expected each question once, found 'why\?' again \(first on line 1\)"
    ):
        read_log(log(tmp_path, row, row))


def test_a_repeated_document_may_be_kept_once(tmp_path: Path) -> None:
    path = log(tmp_path, {"retrieved_ids": ["a", "b", "a"], "relevant_ids": ["a"]})
    assert len(read_log(path, on_duplicate="first")[1]) == 2


def test_scores_that_increase_are_reported_once(tmp_path: Path) -> None:
    path = log(tmp_path, {"retrieved_ids": ["a", "b"], "scores": [0.1, 0.9], "relevant_ids": ["a"]})
    with pytest.warns(RankgaugeWarning, match="distances") as caught:
        read_log(path)
    assert len(caught) == 1


def test_a_log_is_a_table_of_queries_too(tmp_path: Path) -> None:
    queries = read_queries(log(tmp_path, *ROWS))
    assert list(queries.ids) == [b"q1", b"q2", b"q3"]
    assert queries.texts[0] == "reset 2FA?"
    assert queries.columns["category"] == {"q1": "auth", "q2": "billing"}
