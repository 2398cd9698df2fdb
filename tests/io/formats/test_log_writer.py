"""The writers of runs from memory: TREC files, and logs."""

from __future__ import annotations

import ast
import json
import warnings
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import InputError, Qrels, RankgaugeWarning, Run, convert, evaluate_runs, read_qrels, read_queries
from rankgauge.core.run import RunExtras, Status
from rankgauge.io import read_run
from rankgauge.io.formats.log_writer import write_log
from rankgauge.io.formats.trec import write_answers, write_run
from rankgauge.io.text_checks import number_text

SOURCE = Path(__file__).parents[3] / "src" / "rankgauge"
RUN = Run.from_dict({"q1": {"a": 1.0, "b": 2.5, "c": 2.5}, "q2": {"d": -3.0}}, name="mine")
LINES = b"q1 Q0 c 1 2.5 mine\nq1 Q0 b 2 2.5 mine\nq1 Q0 a 3 1 mine\nq2 Q0 d 1 -3 mine\n"


def test_a_run_answers_and_rows_make_the_same_lines(tmp_path: Path) -> None:
    write_run(RUN, tmp_path / "run")
    write_answers([("q1", ["c", "b", "a"], [2.5, 2.5, 1.0]), ("q2", ["d"], [-3.0])], tmp_path / "answers", "mine")
    (tmp_path / "rows.jsonl").write_text(
        '{"query_id": "q1", "doc_id": "a", "score": 1, "tag": "mine"}\n'
        '{"query_id": "q1", "doc_id": "b", "score": 2.5, "tag": "mine"}\n'
        '{"query_id": "q1", "doc_id": "c", "score": 2.5, "tag": "mine"}\n'
        '{"query_id": "q2", "doc_id": "d", "score": -3, "tag": "mine"}\n'
    )
    convert(tmp_path / "rows.jsonl", tmp_path / "converted.trec", kind="run")
    for name in ("run", "answers", "converted.trec"):
        assert (tmp_path / name).read_bytes() == LINES, name


@pytest.mark.parametrize(
    ("value", "text"), [(3.0, b"3"), (0.1, b"0.1"), (-0.0, b"-0.0"), (1e20, b"1e+20"), (0.0, b"0")]
)
def test_numbers_read_back_as_the_same_number(value: float, text: bytes) -> None:
    assert number_text(value) == text
    assert str(float(text)) == str(value)


def test_ids_with_white_space_and_other_tags_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="document id 'a b' contains white space"):
        write_run(Run.from_dict({"q": {"a b": 1.0}}, name="x"), tmp_path / "out")
    with pytest.raises(InputError, match="a run's tag must be one word, found 'two words'"):
        write_run(RUN, tmp_path / "out", tag="two words")
    with pytest.raises(InputError, match="'BZh' would be detected as another kind of file"):
        write_run(Run.from_dict({"BZh": {"a": 1.0}}, name="x"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_no_other_file_writes_the_lines_of_a_run() -> None:
    """The constant Q0 between a query and a document is in the lines of a TREC run."""
    writers = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Constant) and node.value in (b"Q0", " Q0 ", b" Q0 "))
    }
    assert writers == {"io/formats/trec.py"}


# -- logs -------------------------------------------------------------------------------------------------------------

LOG_SCHEMA = jsonschema.Draft202012Validator(
    json.loads((SOURCE.parents[1] / "docs/reference/schemas/Log.schema.json").read_bytes())
)
ODD_IDS = st.sampled_from(
    ["a", "A", "7", "a b", "é", "\u0301x", "\udc80", "q\nr", '"', "cases", "日本", "\u2028", "🙂"]
)
TEXTS = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False, allow_infinity=False), st.text(
        st.characters(exclude_categories=["Cs"]), max_size=4)),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
SCORES = st.sampled_from([0.0, -0.0, 1.0, 0.1, 1e-300, 2.5, 1e22, -3.5])


@st.composite
def answered_runs(draw: st.DrawFn) -> Run:
    """A run with what came with it: some queries empty or failed, some documents without text or metadata."""
    queries = draw(st.lists(ODD_IDS, min_size=1, max_size=4, unique=True))
    results, failed, latencies = {}, {}, {}
    for query in queries:
        docs = draw(st.lists(ODD_IDS, max_size=4, unique=True))
        scores = sorted((draw(SCORES) for _ in docs), reverse=True)
        results[query] = list(zip(docs, scores, strict=True))
        if draw(st.integers(0, 3)) == 0:
            failed[query] = draw(st.sampled_from(["timeout", "é\n"]))
        if draw(st.booleans()):
            latencies[query] = draw(st.floats(0, 1e6))
    docs = sorted({doc for found in results.values() for doc, _ in found})
    texts = {doc: text for doc in docs if (text := draw(TEXTS)) is not None}
    metadata = {doc: draw(st.dictionaries(st.sampled_from("uvw"), JSON, max_size=2)) for doc in docs[::2]}
    run = Run.from_lists(results, failed=failed)
    return replace(run, extras=RunExtras(texts, metadata, latencies, failed))


def bits(run: Run) -> dict[str, Any]:
    """The results of each query, to the last bit, and its status."""
    docs, scores, ends = run.docs.to_text(), run.scores.tolist(), run.offsets.tolist()
    return {
        query: (docs[ends[row] : ends[row + 1]], [score.hex() for score in scores[ends[row] : ends[row + 1]]],
                Status(int(run.status[row])))
        for row, query in enumerate(run.queries.to_text())
    }  # fmt: skip


def grades(qrels: Qrels) -> dict[tuple[str, str], float]:
    names = qrels.queries.to_text()
    return {(names[q], d): g for q, d, g in zip(qrels.query.tolist(), qrels.docs.to_text(), qrels.grades, strict=True)}


@given(
    run=answered_runs(),
    judged=st.dictionaries(ODD_IDS, st.dictionaries(ODD_IDS, st.sampled_from([1, 1, 1, 0, 2, 0.5, -1]), max_size=3)),
    has_texts=st.booleans(),
)
def test_a_log_reads_back_as_it_was_written(
    run: Run, judged: dict[str, dict[str, float]], has_texts: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("log") / "results.jsonl"
    qrels = Qrels.from_dict(judged, columns={"category": dict.fromkeys(judged, "x")}) if judged else None
    texts = {query: f"{query}?" for query in run.queries.to_text() if has_texts and "\udc80" not in query}
    write_log(path, run, qrels, texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankgaugeWarning)  # ids that look alike
        back = read_run(path)
        judgments = None if qrels is None else read_qrels(path, format="log")
    assert bits(back) == bits(run)
    assert run.extras is not None
    extras = back.extras or RunExtras()
    retrieved = set(run.docs.to_text())
    assert extras.texts == {doc: text for doc, text in run.extras.texts.items() if doc in retrieved}
    assert extras.metadata == run.extras.metadata
    assert (extras.latency_ms, extras.errors) == (run.extras.latency_ms, run.extras.errors)
    if qrels is not None and judgments is not None:
        assert grades(judgments) == grades(qrels)
        assert list(judgments.queries) == list(qrels.queries)
        assert set(judgments.columns.get("category", ())) == {"x"}
    for line in path.read_bytes().decode("utf-8", "surrogateescape").split("\n")[:-1]:
        LOG_SCHEMA.validate(json.loads(line))
    if texts and judged.keys() & texts:
        assert read_queries(path).known_texts() == texts


def test_a_log_has_what_a_person_would_look_for(tmp_path: Path) -> None:
    metadata = {"a": {"when": date(2026, 1, 2), "size": np.int64(3), "nan": float("nan")}}
    extras = RunExtras({"a": "A", "b": None}, metadata, {"q1": 12.5})
    run = replace(Run.from_dict({"q1": {"b": 1.0, "a": 2.0}, "q2": {}}, failed=["q3"]), extras=extras)
    qrels = Qrels.from_dict({"q1": {"a": 1}, "q4": {"c": 2, "d": 0}}, columns={"category": ["auth", None]})
    write_log(tmp_path / "log.jsonl", run, qrels, {"q1": "reset?"})
    assert [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()] == [
        {
            "query_id": "q1",
            "query": "reset?",
            "retrieved": [
                {"id": "a", "score": 2, "text": "A", "metadata": {"when": "2026-01-02", "size": 3, "nan": None}},
                {"id": "b", "score": 1},
            ],
            "latency_ms": 12.5,
            "relevant": ["a"],
            "category": "auth",
        },
        {"query_id": "q2", "retrieved": []},
        {"query_id": "q3", "retrieved": [], "error": "failed"},
        {"query_id": "q4", "relevant": {"c": 2, "d": 0}},
    ]


def test_several_runs_are_one_log_of_several_systems(tmp_path: Path) -> None:
    runs = [Run.from_dict({"q1": {"a": 1.0}, "q2": {"b": 1.0}}, name=name) for name in ("old", "new")]
    runs[1] = replace(runs[1], extras=RunExtras({"a": "A"}))
    qrels = Qrels.from_dict({"q1": {"a": 1}, "q2": {"x": 1}, "q3": {"x": 1}})
    write_log(tmp_path / "log.jsonl", runs, qrels)
    assert grades(read_qrels(tmp_path / "log.jsonl")) == grades(qrels)
    evaluation = evaluate_runs(tmp_path / "log.jsonl", [tmp_path / "log.jsonl"], ["RR"])
    assert {one.run: one["RR"] for one in evaluation.scores} == {
        "old": pytest.approx(1 / 3),
        "new": pytest.approx(1 / 3),
    }


def test_what_a_log_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="document 'a' for query 'q' is infinite"):
        write_log(tmp_path / "log.jsonl", Run.from_dict({"q": {"a": float("inf")}}))
    groups = Qrels.from_columns(["q", "q"], ["a", "a"], [1, 2], iters=["1", "2"], by_subtopic=True)
    with pytest.raises(InputError, match="one grade per document, not the subtopics"):
        write_log(tmp_path / "log.jsonl", RUN, groups)
    assert not list(tmp_path.iterdir())


def test_a_trec_run_says_which_texts_it_drops(tmp_path: Path) -> None:
    run = replace(RUN, extras=RunExtras({"a": "A", "b": "B"}, {"a": {"source": "x"}}))
    with pytest.warns(
        RankgaugeWarning, match="not the texts of 2 documents and the metadata of 1 document: write a log"
    ):
        write_run(run, tmp_path / "run.trec")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_run(replace(RUN, extras=RunExtras(latency_ms={"q1": 3.0})), tmp_path / "run.trec")


def test_conversion_to_a_log_keeps_what_conversion_to_trec_reports(tmp_path: Path) -> None:
    write_log(tmp_path / "in.jsonl", replace(RUN.with_failed(["q3"]), extras=RunExtras({"a": "A"}, {}, {"q2": 3.0})))
    lost = convert(tmp_path / "in.jsonl", tmp_path / "run.trec", kind="run").lost
    assert lost == ("the texts of 1 document", "1 query without any row")
    assert convert(tmp_path / "in.jsonl", tmp_path / "out.jsonl", kind="run", to_format="log").lost == ()
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "in.jsonl").read_bytes()
