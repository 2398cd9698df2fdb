"""Questions that need several documents: all of them, or one of several alternatives for each piece of evidence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import InputError, MeasureError, evaluate, evaluate_retriever, gate, parse_measure
from rankgauge.core.qrels import Qrels
from rankgauge.core.subtopic_judgments import Evidence
from rankgauge.io import read_log, write_log
from rankgauge.measures.registry import EVIDENCE_MEASURES

RAGAS = Path(__file__).parents[1] / "data" / "ragas" / "id_measures.json"
Row = dict[str, Any]
ALTERNATIVES: list[Row] = [
    {"query": "q1", "retrieved": ["a", "x", "c"], "evidence": [["a", "b"], ["c"]]},
    {"query": "q2", "retrieved": ["x", "d", "y"], "evidence": [["d"], ["e", "f"]]},
]


def log(folder: Path, *rows: Row) -> Path:
    path = folder / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


def test_ragas_measures_of_ids_have_the_values_of_ragas() -> None:
    stored = json.loads(RAGAS.read_text())
    assert stored["computed_with"].startswith("ragas ")
    for case in stored["cases"]:
        judged = {"q": dict.fromkeys(case["relevant"], 1)}
        names = ["ContextPrecision", "NonLLMContextPrecisionWithReference@10", "IDBasedContextPrecision@10"]
        scores = evaluate(judged, {"q": case["retrieved"]}, [*names, "idbasedcontextrecall@10"])
        assert scores["ContextPrecision"] == pytest.approx(case["ContextPrecision"], abs=1e-9)
        assert scores["ContextPrecision@10"] == pytest.approx(case["ContextPrecision"], abs=1e-9)
        assert scores["P(norm='retrieved')@10"] == pytest.approx(case["IDBasedContextPrecision"], abs=1e-12)
        assert scores["R@10"] == pytest.approx(case["IDBasedContextRecall"], abs=1e-12)


@pytest.mark.parametrize("name", ["ContextRecall", "context_recall@5", "LLMContextRecall"])
def test_context_recall_counts_claims_and_is_refused_with_what_counts_documents(name: str) -> None:
    with pytest.raises(MeasureError, match="it counts the claims of a reference answer") as error:
        parse_measure(name)
    assert f"R@{5 if '5' in name else 10} is the share of the relevant documents" in (error.value.hint or "")


def test_one_of_several_alternatives_is_enough(tmp_path: Path) -> None:
    scores = evaluate(log(tmp_path, *ALTERNATIVES), measures="EvidenceAll@3 StRecall@3 Success@3 RR P@3")
    assert scores.per_query("EvidenceAll@3") == {"q1": 1, "q2": 0}
    assert scores.per_query("StRecall@3") == {"q1": 1, "q2": 0.5}
    assert scores.per_query("RR") == {"q1": 1, "q2": 0.5}
    assert scores.per_query("P@3") == pytest.approx({"q1": 2 / 3, "q2": 1 / 3})


@pytest.mark.parametrize("name", ["R@3", "AP", "nDCG@3", "RecallAll@3", "F1@3", "Rprec", "SetR", "Bpref", "NumRel"])
def test_measures_over_all_relevant_documents_refuse_evidence_alone(tmp_path: Path, name: str) -> None:
    with pytest.raises(MeasureError, match="needs one grade per document, but these judgments are lists") as error:
        evaluate(log(tmp_path, *ALTERNATIVES), measures=name)
    assert "EvidenceAll@" in (error.value.hint or "")


def test_with_relevant_documents_every_measure_is_computed(tmp_path: Path) -> None:
    rows = [
        {**ALTERNATIVES[0], "relevant": {"a": 2, "b": 1, "c": 1, "z": 0}},
        {"query": "q2", "retrieved": ["x", "d"], "relevant": ["d", "e"]},
    ]
    scores = evaluate(
        log(tmp_path, *rows), measures="R@3 EvidenceAll@3 StRecall@3 StRecall(rel=2)@3 nDCG@3 RecallAll@3"
    )
    assert scores.per_query("R@3") == pytest.approx({"q1": 2 / 3, "q2": 0.5})
    assert scores.per_query("EvidenceAll@3") == {"q1": 1, "q2": 0}
    assert scores.per_query("StRecall@3") == {"q1": 1, "q2": 0.5}  # without evidence, each relevant one is needed
    assert scores.per_query("StRecall(rel=2)@3") == {"q1": 1, "q2": 0}
    plain = evaluate({"q1": rows[0]["relevant"], "q2": {"d": 1, "e": 1}}, {"q1": ["a", "x", "c"], "q2": ["x", "d"]})
    again = evaluate(log(tmp_path, *rows))
    assert again.measures[:-1] == plain.measures
    assert str(again.measures[-1]) == "StRecall@10"
    assert again.values[:, :-1].tolist() == plain.values.tolist()


def test_the_default_measures_of_evidence_alone_are_its_own(tmp_path: Path) -> None:
    path = log(tmp_path, *ALTERNATIVES)
    assert tuple(map(str, evaluate(path).measures)) == EVIDENCE_MEASURES
    (tmp_path / "before").mkdir()
    assert gate(path, baseline=log(tmp_path / "before", *ALTERNATIVES)).compared[0].measure == EVIDENCE_MEASURES[0]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"evidence": [["b"]], "relevant": ["a"]}, "found 'b', which is not among the relevant documents"),
        ({"evidence": [["a"]], "relevant": {"a": 0}}, "found 'a', which is not among the relevant documents"),
        ({"evidence": "a"}, "found 'a'"),
        ({"evidence": [[]]}, "found an empty list or an object in the list"),
        ({"evidence": [{"id": "a"}]}, "found an empty list or an object in the list"),
        ({"evidence": [[1.5]]}, "expected lists of relevant ids as evidence"),
    ],
)
def test_evidence_that_cannot_be_read_is_an_error_with_its_line(tmp_path: Path, row: Row, found: str) -> None:
    path = log(tmp_path, ALTERNATIVES[0], {"query": "q9", "retrieved": ["a"], **row})
    with pytest.raises(InputError, match=r"log\.jsonl:2: expected lists of relevant ids as evidence") as error:
        evaluate(path, measures="StRecall@3")
    assert found in str(error.value)


def test_queries_that_cannot_reach_1_are_counted_in_a_note() -> None:
    judged = {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 1}}
    scores = evaluate(judged, {"q1": ["a", "b"], "q2": ["a"]}, "RecallAll@2 RecallAll@3")
    notes = [note.message for note in scores.notes if note.code == "more-relevant-than-k"]
    assert notes == ["1 query has more relevant documents than RecallAll@2 looks at, and cannot reach 1: 'q1'"]


def test_a_live_retriever_is_scored_on_evidence() -> None:
    def search(query: str, k: int) -> list[str]:
        return ["a", "x", "c"][:k]

    cases = [{"query": "one", "evidence": [["a", "b"], ["c"]]}]
    assert evaluate(cases, search, "EvidenceAll@3")["EvidenceAll@3"] == 1
    with pytest.raises(InputError, match="expected relevant documents beside the evidence") as error:
        evaluate_retriever(search, cases)
    assert "evaluate(cases, retriever" in (error.value.hint or "")
    result = evaluate_retriever(search, [{**cases[0], "relevant": ["a", "b", "c"]}], k=3, measures="EvidenceAll@3")
    assert result["EvidenceAll@3"] == 1
    assert result["R@3"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("relevant", [None, ["a", "b", "c", "z"]])
def test_a_log_with_evidence_is_written_and_read_back(tmp_path: Path, relevant: list[str] | None) -> None:
    row = ALTERNATIVES[0] if relevant is None else {**ALTERNATIVES[0], "relevant": relevant}
    qrels, run = read_log(log(tmp_path, row))
    write_log(tmp_path / "again.jsonl", run, qrels)
    again, _ = read_log(tmp_path / "again.jsonl")
    assert (again.sha256, again.judgments) == (qrels.sha256, qrels.judgments)
    assert qrels.judgments == ("evidence" if relevant is None else "subtopics")


def test_converting_to_a_format_without_evidence_says_what_is_lost(tmp_path: Path, command: Callable[..., Any]) -> None:
    outcome = command(
        "convert", log(tmp_path, *ALTERNATIVES), tmp_path / "out.qrels", "--kind", "qrels", "--to", "trec"
    )
    assert "evidence" in outcome.err


pieces = st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True), min_size=1, max_size=4)


@given(st.lists(pieces, min_size=1, max_size=4), st.lists(st.permutations("abcdefgh"), min_size=4, max_size=4))
@settings(max_examples=60)
def test_shares_of_evidence_equal_a_plain_loop(evidence: list[list[list[str]]], rankings: list[list[str]]) -> None:
    names = [f"q{number}" for number in range(len(evidence))]
    listed = {
        name.encode(): [[doc.encode() for doc in piece] for piece in own]
        for name, own in zip(names, evidence, strict=True)
    }
    judged = {name: {doc: 1 for piece in own for doc in piece} for name, own in zip(names, evidence, strict=True)}
    qrels = Qrels.from_dict(judged).with_evidence(Evidence(listed, is_complete=False))
    run = dict(zip(names, rankings, strict=False))
    scores = evaluate(qrels, run, "StRecall@3 EvidenceAll@3")
    for name, own in zip(names, evidence, strict=True):
        found = [any(doc in run[name][:3] for doc in piece) for piece in own]
        assert scores.per_query("StRecall@3")[name] == pytest.approx(sum(found) / len(found))
        assert scores.per_query("EvidenceAll@3")[name] == float(all(found))
