"""A log holds judgments and a run in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripts.examples import ROOT, blocks

from rankgauge import InputError, RankgaugeWarning, evaluate, evaluate_runs, read_qrels, read_queries, read_run
from rankgauge.core.run import Status
from rankgauge.io import Reading, looks_like_log, read_log
from rankgauge.io.faults import Faults
from rankgauge.io.formats import question_log
from rankgauge.io.formats.case_keys import KEYS
from rankgauge.io.formats.log_results import run_rows
from rankgauge.io.formats.log_rows import Log
from rankgauge.io.formats.named_columns import normalize_name
from rankgauge.rag.cases import read_cases

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
    assert qrels.columns["answerable"].tolist() == [True, True, False]
    assert set(qrels.columns) == {"question", "category", "k", "answerable"}
    assert evaluate(qrels, run, "RR")["RR"] == pytest.approx(0.5 / 2)  # q3 expects nothing


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
    _, run = read_log(path, columns={"id": "nr", "retrieved": "top", "relevant": "gold"})
    assert (list(run.queries), list(run.docs)) == ([b"1"], [b"a"])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"retrieved_ids": ["a"], "relevant_ids": "x", "gold_ids": ["a"]},
         "expected one key for relevant, found 2: 'relevant_ids', 'gold_ids'"),
        ({"retrieved_ids": ["a"], "ground_truth": "The answer is 42."}, "'ground_truth' looks like an answer"),
        ({"retrieved_ids": None, "relevant_ids": ["a"]}, "as retrieved documents, found nothing"),
        ({"retrieved_ids": ["a"]}, "without a key for the relevant documents (relevant_ids,"),
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
        InputError, match=r"log.jsonl:2: expected each query once, found 'why\?' again \(first on line 1\)"
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


# -- what comes with the results ----------------------------------------------------------------------------------


def test_texts_metadata_latencies_and_errors_are_kept_with_the_run(tmp_path: Path) -> None:
    path = log(
        tmp_path,
        {"query": "a?", "retrieved": [{"id": "x", "score": 2, "text": "X", "metadata": {"source": "f", "tags": ["t"]}},
                                      {"id": "y", "score": 1}], "relevant": ["x"], "latency_ms": 12.5},
        {"query": "b?", "retrieved": [{"id": "x", "score": 2, "page_content": "X"}], "relevant": [], "latency_ms": 3},
        {"query": "c?", "error": "timeout", "relevant": ["x"]},
        {"query": "d?", "retrieved": [], "relevant": ["x"], "error": None},
    )  # fmt: skip
    qrels, run = read_log(path)
    for read in (run, read_run(path)):
        assert read.extras is not None
        assert read.extras.texts == {"x": "X"}
        assert read.extras.metadata == {"x": {"source": "f", "tags": ["t"]}}
        assert read.extras.latency_ms == {"a?": 12.5, "b?": 3}
        assert read.extras.errors == {"c?": "timeout"}
        assert dict(zip(read.queries, read.status, strict=True)) == {
            b"a?": Status.ANSWERED, b"b?": Status.ANSWERED, b"c?": Status.FAILED, b"d?": Status.EMPTY,
        }  # fmt: skip
    assert set(qrels.columns) == {"query", "answerable"}
    for results in (run, path):  # joined in memory, and while the file is read
        scores = evaluate(qrels, results, "RR")
        assert scores["RR"] == pytest.approx(1 / 2)  # of a? and d?: b? expects nothing, and c? failed
    assert read_run(log(tmp_path, {"query": "a?", "retrieved": ["x"]})).extras is None


def test_a_document_with_two_texts_has_none(tmp_path: Path) -> None:
    rows = [{"query": name, "retrieved": [{"id": "x", "text": text}]} for name, text in (("a", "1"), ("b", "2"))]
    extras = read_run(log(tmp_path, *rows)).extras
    assert extras is not None
    assert extras.texts == {"x": None}


@pytest.mark.parametrize(
    ("row", "texts"),
    [
        ({"retrieved_contexts": ["some text"], "retrieved_context_ids": ["a"]}, {"a": "some text"}),
        ({"contexts": ["some text"]}, {"some text": "some text"}),
        ({"retrieved": [{"doc_id": 7, "content": "some text", "text": 3}]}, {}),
        ({"retrieved": [{"doc_id": 7, "content": "some text"}]}, {"7": "some text"}),
    ],
)
def test_texts_may_be_beside_the_ids(tmp_path: Path, row: dict[str, Any], texts: dict[str, str]) -> None:
    extras = read_run(log(tmp_path, {"query": "a?", **row})).extras
    assert (extras.texts if extras is not None else {}) == texts


@pytest.mark.parametrize("value", ["12 ms", True, -1, [3]])
def test_a_latency_that_is_no_time_is_a_fault_with_its_line(tmp_path: Path, value: object) -> None:
    rows = [
        {"query": "a", "retrieved": ["x"], "latency_ms": 3},
        {"query": "b", "retrieved": ["x"], "latency_ms": value},
    ]
    with pytest.raises(InputError, match=r"log.jsonl:2: expected a number of milliseconds as latency_ms, found"):
        read_run(log(tmp_path, *rows))


def test_a_row_may_have_only_labels_or_only_results(tmp_path: Path) -> None:
    both = {"query": "a", "retrieved": ["x"], "relevant": ["x"]}
    path = log(tmp_path, both, {"query": "b", "relevant": ["x"]}, {"query": "c", "retrieved": ["x"]})
    qrels, run = read_log(path)
    assert (list(qrels.queries), list(run.queries)) == ([b"a", b"b"], [b"a", b"c"])
    with pytest.raises(InputError, match=r"log.jsonl:2: expected 'relevant', as other cases have, for query 'b'"):
        read_log(log(tmp_path, both, {"query": "b"}))


# -- one object with cases, several systems -----------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("before", [{}, {"name": "smoke tests", "version": 2}])
def test_cases_may_be_in_one_object(tmp_path: Path, indent: int | None, before: dict[str, Any]) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({**before, "cases": ROWS}, indent=indent))
    expected = read_log(log(tmp_path, *ROWS))
    assert looks_like_log(path)
    qrels, run = read_log(path)
    assert (list(qrels.docs), list(run.docs)) == (list(expected[0].docs), list(expected[1].docs))
    assert read_run(path).scores.tolist() == expected[1].scores.tolist()
    assert list(read_qrels(path).queries) == [b"q1", b"q2", b"q3"]
    assert read_queries(path).known_texts()["q2"] == "refund?"
    labels = [{key: value for key, value in row.items() if key != "retrieved_ids"} for row in ROWS]
    path.write_text(json.dumps({**before, "cases": labels}, indent=indent))
    assert [case.query for case in read_cases(path).cases] == ["reset 2FA?", "refund?", "hello?"]
    assert read_queries(path).known_texts()["q2"] == "refund?"


def test_a_query_named_cases_stays_a_query(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"cases": [{"id": "a", "score": 2}, {"id": "b", "score": 1}]}')
    assert list(read_run(tmp_path / "run.json").queries) == [b"cases"]


SYSTEMS: list[dict[str, Any]] = [
    {"query": "a", "mode": "old", "retrieved": ["x", "y"], "relevant": ["x"], "latency_ms": 1},
    {"query": "a", "mode": "new", "retrieved": ["y", "x"], "relevant": ["x"], "latency_ms": 2},
    {"query": "b", "mode": "old", "retrieved": [], "relevant": ["y"]},
    {"query": "b", "mode": "new", "retrieved": ["y"]},
    {"query": "c", "relevant": ["z"]},
]


def test_systems_of_a_log_are_runs_of_their_own(tmp_path: Path) -> None:
    path = log(tmp_path, *SYSTEMS)
    qrels = read_qrels(path)
    assert {query: list(qrels.docs)[number] for number, query in enumerate(qrels.queries)} == {
        b"a": b"x", b"b": b"y", b"c": b"z",
    }  # fmt: skip
    evaluation = evaluate_runs(qrels, [path], ["RR"], reading=Reading(keep_rankings=True, fingerprint=True))
    assert {one.run: one["RR"] for one in evaluation.scores} == {"old": pytest.approx(1 / 3), "new": 0.5}
    assert len({one.run_sha256 for one in evaluation.scores}) == 2
    latencies = [joined.run.extras.latency_ms for joined in evaluation.joined if joined.run and joined.run.extras]
    assert latencies == [{"a": 1.0}, {"a": 2.0}]
    statuses = [
        dict(zip(joined.run.queries, joined.run.status, strict=True)) for joined in evaluation.joined if joined.run
    ]
    assert statuses == [{b"a": Status.ANSWERED, b"b": Status.EMPTY}, {b"a": Status.ANSWERED, b"b": Status.ANSWERED}]
    assert read_queries(path).ids.to_text() == ["a", "b", "c"]
    for read in (read_run, read_log):
        with pytest.raises(InputError, match=r"log.jsonl: expected one system, found 'old', 'new'\n"):
            read(path)


def test_a_column_mode_separates_nothing_if_each_query_is_there_once(tmp_path: Path) -> None:
    rows = [{"query": name, "mode": name, "retrieved": ["x"], "relevant": ["x"]} for name in ("a", "b")]
    qrels, run = read_log(log(tmp_path, *rows))
    assert (run.name, len(run.queries)) == ("log.jsonl", 2)
    assert qrels.columns["mode"].tolist() == ["a", "b"]


def test_of_two_columns_the_one_that_tells_rows_apart_separates_systems(tmp_path: Path) -> None:
    path = log(tmp_path, *({"system": "s", **row} for row in SYSTEMS[:4]))
    assert [one.run for one in evaluate_runs(path, [path], ["RR"]).scores] == ["old", "new"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"relevant": ["y"]}, r"log.jsonl:2: expected the same relevant documents for query 'a' in every system, found "
                              r"others than on line 1"),
        ({"mode": "old"}, r"log.jsonl:2: expected each query once per system, found 'a' of 'old' again \(first on"),
    ],
)  # fmt: skip
def test_systems_that_contradict_each_other_are_faults(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = log(tmp_path, SYSTEMS[0], SYSTEMS[1] | change)
    with pytest.raises(InputError, match=said):
        read_qrels(path)


def test_a_key_of_any_name_may_separate_systems(tmp_path: Path) -> None:
    rows = [{"query": "a", "engine": name, "retrieved": ["x"], "relevant": ["x"]} for name in ("one", "two")]
    path = log(tmp_path, *rows)
    scores = evaluate_runs({"a": {"x": 1}}, [path], ["RR"], reading=Reading(columns={"system": "engine"})).scores
    assert [one.run for one in scores] == ["one", "two"]


# -- the page and the schema that define it -----------------------------------------------------------------------

PAGE = ROOT / "docs" / "reference" / "log.md"
SCHEMA = json.loads((ROOT / "docs/reference/schemas/Log.schema.json").read_bytes())


def documents_in(block: str) -> list[Any]:
    """The JSON of an example: one value, or one per line."""
    try:
        return [json.loads(block)]
    except ValueError:
        return [json.loads(line) for line in block.splitlines()]


@pytest.mark.parametrize("block", blocks(PAGE, "json"))
def test_every_example_of_the_page_obeys_the_schema_and_is_read(block: str, tmp_path: Path) -> None:
    values = documents_in(block)
    for value in values:
        jsonschema.validate(value, SCHEMA)
    (tmp_path / "log").write_text("".join(json.dumps(value) + "\n" for value in values))
    assert looks_like_log(tmp_path / "log")
    rows = values[0].get("cases", values)
    jsonschema.validate(rows, SCHEMA)
    assert len(read_qrels(tmp_path / "log").queries) == len({row["query"] for row in rows})


@pytest.mark.parametrize(
    "row",
    [
        {"query": "q"},
        {"query": 3, "retrieved": []},
        {"query": "q", "retrieved": "a"},
        {"query": "q", "retrieved": [{"score": 1}]},
        {"query": "q", "retrieved": [{"id": "a", "score": "high"}]},
        {"query": "q", "retrieved": [], "relevant": {"a": "yes"}},
        {"query": "q", "retrieved": [], "latency_ms": "3 ms"},
        {"query": "q", "retrieved": [], "latency_ms": -3},
    ],
)
def test_the_schema_refuses_what_is_no_log(row: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for value in (row, [row], {"cases": [row]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(value, SCHEMA)


def test_the_page_and_the_reader_know_every_key_of_the_schema() -> None:
    known = {normalize_name(name) for tiers in KEYS.values() for tier in tiers for name in tier} | {
        "relevant",
        "answerable",
    }
    text = PAGE.read_text(encoding="utf-8")
    for key in SCHEMA["$defs"]["row"]["properties"]:
        assert normalize_name(key) in known
        assert f"`{key}`" in text
    for key in SCHEMA["$defs"]["result"]["properties"]:
        assert f"`{key}`" in text


IDS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=3), max_size=4)


@given(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=5))
def test_rows_of_plain_ids_are_what_rows_read_one_by_one_are(rows: list[tuple[list[str], list[str]]]) -> None:
    """A number as the id in the last row makes the reader look at each row."""
    objects = [
        {"id": f"ü{n}", "query": "x", "relevant": labels, "retrieved": ids} for n, (labels, ids) in enumerate(rows)
    ]
    number = {"id": "last", "query": "x", "relevant": [7], "retrieved": [7]}
    text = {"id": "last", "query": "x", "relevant": ["7"], "retrieved": ["7"]}
    plain, slow = (question_log.load_objects(Faults("log"), [*objects, last]) for last in (text, number))
    assert plain.plain_rows("run") is not None
    assert slow.plain_rows("run") is None
    for read in (Log.qrels_rows, run_rows):
        first, second = (read(log, Faults("log")) for log in (plain, slow))
        assert list(first.query) == list(second.query)
        assert list(first.doc) == list(second.doc)
        assert first.value.tolist() == second.value.tolist()
        assert first.line.tolist() == second.line.tolist()
        assert (first.empty, first.extras) == (second.empty, second.extras)
