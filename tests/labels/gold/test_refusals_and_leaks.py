"""Labels by text of questions that have no answer, and of text that must not be returned: as with labels by id."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import InputError, evaluate, gate
from tests.conftest import Outcome

Command = Callable[..., Outcome]
MEASURES = ["RightAnswer@2", "WrongRefusal", "FalseAnswer", "RightRefusal", "Leak@2"]
CHUNKS = {
    "c0": "Open Settings and choose Security, then confirm.",
    "c1": "Refunds arrive within five days, if you ask in time.",
    "c2": "Our shop is closed on public holidays, as in other towns.",
    "c3": "Guests cannot see archived projects, whatever their role.",
    "c4": "Invoices are sent at the end of a month, by mail.",
    "c5": "Batteries are charged in less than two hours, or replaced.",
}
QUOTES = {name: text.partition(",")[0] for name, text in CHUNKS.items()}

chunk_lists = st.lists(st.sampled_from(sorted(CHUNKS)), unique=True, max_size=3)


def log_of(results: list[list[str]], refused: dict[int, bool] | None = None) -> list[dict[str, Any]]:
    rows = []
    for number, ids in enumerate(results):
        found = [{"id": doc, "score": 9.5 - rank, "text": CHUNKS[doc]} for rank, doc in enumerate(ids)]
        flag = {"refused": refused[number]} if refused is not None and number in refused else {}
        rows.append({"query_id": f"q{number}", "retrieved": found, **flag})
    return rows


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@given(
    labels=st.lists(st.tuples(chunk_lists, chunk_lists), min_size=2, max_size=5),
    results=st.lists(chunk_lists, min_size=5, max_size=5),
    refused=st.dictionaries(st.integers(0, 4), st.booleans(), max_size=3),
)
def test_quotes_have_the_values_of_the_chunks_that_contain_them(
    tmp_path_factory: pytest.TempPathFactory,
    labels: list[tuple[list[str], list[str]]],
    results: list[list[str]],
    refused: dict[int, bool],
) -> None:
    folder = tmp_path_factory.mktemp("gold")
    labels = [(["c0"], ["c1"]), *labels]  # something is relevant, and something is forbidden
    by_text, by_id = [], []
    for number, (relevant, others) in enumerate(labels):
        forbidden = [doc for doc in others if doc not in relevant]
        common = {"query_id": f"q{number}", "query": f"question {number}"}
        quoted = [QUOTES[doc] if place % 2 else doc for place, doc in enumerate(forbidden)]
        by_text.append({**common, "gold": [QUOTES[doc] for doc in relevant], "forbidden": quoted})
        by_id.append({**common, "relevant": relevant, "forbidden": forbidden})
    run = written(folder / "log.jsonl", log_of([["c0"], *results][: len(labels)], refused))
    found = evaluate(written(folder / "gold.jsonl", by_text), run, MEASURES)
    expected = evaluate(written(folder / "cases.jsonl", by_id), run, MEASURES)
    assert found.over_queries == expected.over_queries
    assert found.leaks(found.measures[-1]) == expected.leaks(expected.measures[-1])


LABELS: list[dict[str, Any]] = [
    {"query_id": "q0", "query": "How?", "gold": [QUOTES["c0"]], "forbidden": [QUOTES["c1"]]},
    {"query_id": "q1", "query": "When?", "gold": []},
    {"query_id": "q2", "query": "Who?", "answerable": False, "forbidden": ["c2"]},
]


def test_every_measure_of_the_labels_is_a_default_measure(tmp_path: Path, command: Command) -> None:
    gold = written(tmp_path / "gold.jsonl", [LABELS[1], LABELS[0], LABELS[2]])  # the first has no quote
    run = written(tmp_path / "log.jsonl", log_of([["c0", "c1"], [], ["c3"]]))
    data = json.loads(command("evaluate", gold, run, "--format", "json").out)["runs"][0]
    values = {name: (measure["value"], measure["n"]) for name, measure in data["measures"].items()}
    assert values["RightAnswer@10"] == (1.0, 1)
    assert values["FalseAnswer"] == (0.5, 2)
    assert values["Leak@10"] == (0.5, 2)
    assert values["StRecall@10"] == (1.0, 1)
    assert data["leaks"] == [{"query": "q0", "document": "c1", "rank": 2, "reason": "listed as forbidden"}]


def test_a_forbidden_quote_fails_the_gate_and_its_chunk_is_named(tmp_path: Path) -> None:
    gold = written(tmp_path / "gold.jsonl", LABELS)
    leaky = written(tmp_path / "leaky.jsonl", log_of([["c0", "c1"], [], []]))
    clean = written(tmp_path / "clean.jsonl", log_of([["c0", "c2"], [], []]))
    failed = gate(gold, leaky, require="Leak<=0")
    assert failed.failed
    assert [(leak.query, leak.document, leak.rank) for leak in failed.leaks] == [("q0", "c1", 2)]
    assert gate(gold, clean, require="Leak<=0").passed


def test_a_live_retriever_is_asked_the_questions_that_have_no_answer(tmp_path: Path, command: Command) -> None:
    (tmp_path / "search.py").write_text(
        "def search(query):\n"
        f"    texts = {CHUNKS!r}\n"
        "    return [] if query == 'When?' else [{'id': 'c2', 'text': texts['c2'], 'score': 1.0}]\n"
    )
    gold = written(tmp_path / "gold.jsonl", LABELS)
    out = command("evaluate", gold, f"{tmp_path}/search.py:search", "--k", "3", "-m", "FalseAnswer", "-m", "Leak@3",
                  "--format", "json").out  # fmt: skip
    measures = json.loads(out)["runs"][0]["measures"]
    assert measures["FalseAnswer"] == {"value": 0.5, "n": 2}
    assert measures["Leak@3"]["value"] == 0.5


@pytest.mark.parametrize(("forbidden", "reason"), [("c0", "listed by its id"), (QUOTES["c0"], "which contains")])
def test_a_chunk_that_is_forbidden_and_relevant_is_an_error(tmp_path: Path, forbidden: str, reason: str) -> None:
    run = written(tmp_path / "log.jsonl", log_of([["c0"]]))
    with pytest.raises(InputError, match=f"chunk 'c0' is both forbidden \\({reason}.*\\) and relevant for query 'q0'"):
        gate([{**LABELS[0], "forbidden": [forbidden]}], run, require="Leak<=0")


def test_forbidden_text_is_matched_without_edits(tmp_path: Path) -> None:
    stale, current = (
        "Refunds arrive within 14 days after you have asked for them.",
        "Refunds arrive within 30 days after you have asked for them.",
    )
    labels = [{"query_id": "q0", "query": "How long?", "gold": [current], "forbidden": [stale]}]
    for text, is_leak in ((current, False), (stale, True)):
        row = {
            "query_id": "q0",
            "retrieved": [{"id": "a", "score": 2.0, "text": text}, {"id": "b", "text": CHUNKS["c3"], "score": 1.0}],
        }
        result = gate(labels, written(tmp_path / "log.jsonl", [row]), require=["Leak<=0", "StRecall@2>=0"])
        assert result.failed == is_leak
        assert result.scores["StRecall@2"] == 1 - is_leak  # the stale version is not the gold with edits


def test_a_forbidden_quote_that_no_chunk_contains_is_noted(tmp_path: Path, command: Command) -> None:
    labels = [{**LABELS[0], "forbidden": ["A sentence that nobody wrote."]}]
    gold = written(tmp_path / "gold.jsonl", labels)
    run = written(tmp_path / "log.jsonl", log_of([["c0"]]))
    chunks = written(tmp_path / "chunks.jsonl", [{"id": doc, "text": text} for doc, text in CHUNKS.items()])
    outcome = command("evaluate", gold, run, "--set", f"reading.chunks={chunks}", "-m", "StRecall@2")
    assert "1 forbidden quote found in no chunk" in outcome.err
