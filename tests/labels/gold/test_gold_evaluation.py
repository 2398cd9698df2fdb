"""Runs scored on labels by text: the same values through every way in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import rankgauge
from rankgauge.errors import InputError, UsageError
from rankgauge.io import write_log
from rankgauge.labels import GoldInputs, GoldOptions, evaluate_gold, evaluate_gold_runs, read_gold

Command = Callable[..., Any]
CHUNKS = {
    "a": "Open Settings and choose Security. Then select Reset and confirm",
    "b": "with your password. A new recovery code is shown once.",
    "c": "Invoices are sent on the first day of each month.",
}
GOLD: list[dict[str, Any]] = [
    {
        "query_id": "q1",
        "query": "How do I reset it?",
        "gold": ["Then select Reset and confirm with your password.", "A new recovery code is shown once."],
    },
    {"query_id": "q2", "query": "When do I pay?", "gold": ["Invoices are sent on the first day of each month."]},
]
RANKINGS = {"q1": ["c", "a", "b"], "q2": ["a", "b"]}
MEASURES = ["StRecall@1", "StRecall@2", "StRecall@3", "EvidenceAll@3"]


def lines(path: Path, records: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def values(scores: rankgauge.Scores) -> dict[str, float | None]:
    return {measure: scores[measure] for measure in MEASURES}


def test_a_quote_is_found_where_the_chunks_so_far_cover_half_of_it() -> None:
    scores = evaluate_gold(GoldInputs(GOLD, CHUNKS), RANKINGS, MEASURES)
    row = scores.queries.index("q1")
    found = dict(zip(MEASURES, scores.values[row].tolist(), strict=True))
    # "a" has 30 of 49 characters of the first quote, "b" the rest of it and the second one.
    assert [found[f"StRecall@{k}"] for k in (1, 2, 3)] == [0, 0.5, 1]
    whole = GoldInputs(GOLD, CHUNKS, options=GoldOptions(coverage=1))
    assert evaluate_gold(whole, RANKINGS, MEASURES).values[row, 1] == 0
    assert found["EvidenceAll@3"] == 1


def test_every_way_in_gives_the_same_values(tmp_path: Path, command: Command) -> None:
    expected = values(evaluate_gold(GoldInputs(GOLD, CHUNKS), RANKINGS, MEASURES))
    gold = lines(tmp_path / "gold.jsonl", GOLD)
    chunks = lines(tmp_path / "chunks.jsonl", [{"_id": name, "text": text} for name, text in CHUNKS.items()])
    results = [
        {"query_id": query, "doc_id": doc, "score": -rank, "text": CHUNKS[doc]}
        for query, docs in RANKINGS.items()
        for rank, doc in enumerate(docs)
    ]
    runs: dict[str, Any] = {
        "log with objects": lines(
            tmp_path / "objects.jsonl",
            [
                {"query_id": query, "retrieved": [{"id": doc, "text": CHUNKS[doc]} for doc in docs]}
                for query, docs in RANKINGS.items()
            ],
        ),
        "log with texts": lines(
            tmp_path / "texts.jsonl",
            [
                {"query_id": query, "retrieved_contexts": [CHUNKS[doc] for doc in docs]}
                for query, docs in RANKINGS.items()
            ],
        ),
        "log with ids and texts": lines(
            tmp_path / "both.jsonl",
            [
                {"query_id": query, "retrieved_context_ids": docs, "retrieved_contexts": [CHUNKS[doc] for doc in docs]}
                for query, docs in RANKINGS.items()
            ],
        ),
        "rows": lines(tmp_path / "rows.jsonl", results),
        "frame": pd.DataFrame(results),
        "live": rankgauge.evaluate_retriever(search, read_gold(gold).cases(), k=3),
        "run of a live retriever": rankgauge.evaluate_retriever(search, read_gold(gold).cases(), k=3).run,
        "log of a live retriever": tmp_path / "written.jsonl",
    }
    write_log(runs["log of a live retriever"], runs["run of a live retriever"])
    for name, run in runs.items():
        assert values(evaluate_gold(gold, run, MEASURES)) == expected, name
    plain = lines(tmp_path / "run.jsonl", [{k: v for k, v in row.items() if k != "text"} for row in results])
    printed = command("evaluate", gold, plain, "--set", f"reading.chunks={chunks}", "--format", "json", *options())
    shown = json.loads(printed.out)["runs"][0]["measures"]
    assert {name: entry["value"] for name, entry in shown.items()} == expected


def options() -> list[str]:
    return [word for measure in MEASURES for word in ("-m", measure)]


def search(query: str, k: int) -> list[dict[str, Any]]:
    name = next(entry["query_id"] for entry in GOLD if entry["query"] == query)
    return [{"id": doc, "text": CHUNKS[doc]} for doc in RANKINGS[name]][:k]


def test_without_all_chunks_there_is_no_ideal_ranking(tmp_path: Path) -> None:
    run = lines(
        tmp_path / "run.jsonl",
        [{"query_id": query, "retrieved_contexts": [CHUNKS[doc] for doc in docs]} for query, docs in RANKINGS.items()],
    )
    with pytest.raises(UsageError, match=r"reading\.chunks"):
        evaluate_gold(GOLD, run, ["alpha_nDCG@3"])
    scores = evaluate_gold(GOLD, run)
    assert not [measure for measure in scores.measures if measure.name.startswith("alpha_nDCG")]
    # The query whose gold was not retrieved is not one without relevant documents.
    assert not scores.without_relevant.any()


def test_runs_on_different_chunks_are_judged_by_their_own() -> None:
    halves = {"x": CHUNKS["a"] + " " + CHUNKS["b"], "a": CHUNKS["c"]}  # "a" is another text here
    inputs = GoldInputs(GOLD, [CHUNKS, halves])
    evaluation = evaluate_gold_runs(inputs, [RANKINGS, {"q1": ["x"], "q2": ["a"]}], ["StRecall@1", "alpha_nDCG@3"])
    assert [scores["StRecall@1"] for scores in evaluation.scores] == [0, 1]
    assert evaluation.scores[1]["alpha_nDCG@3"] == 1


def test_a_run_without_texts_and_a_chunk_that_is_unknown_are_errors() -> None:
    with pytest.raises(InputError, match="has no texts"):
        evaluate_gold(GOLD, RANKINGS)
    with pytest.raises(InputError, match="1 of 3 retrieved chunks have no text"):
        evaluate_gold(GoldInputs(GOLD, {name: CHUNKS[name] for name in "ab"}), RANKINGS)


def test_a_chunk_that_came_with_two_texts_is_an_error(tmp_path: Path) -> None:
    rows = [{"query_id": row["query_id"], "retrieved": [{"id": "a", "text": row["query"]}]} for row in GOLD]
    assert len(rows) > 1
    with pytest.raises(InputError, match="chunk 'a' has two different texts"):
        evaluate_gold(GOLD, lines(tmp_path / "log.jsonl", rows))


def test_labels_by_the_text_of_a_query_get_the_id_that_the_topics_have(tmp_path: Path) -> None:
    topics = lines(tmp_path / "queries.jsonl", [{"_id": entry["query_id"], "text": entry["query"]} for entry in GOLD])
    by_text = [{"query": entry["query"], "gold": entry["gold"]} for entry in GOLD]
    expected = values(evaluate_gold(GoldInputs(GOLD, CHUNKS), RANKINGS, MEASURES))
    assert values(evaluate_gold(GoldInputs(by_text, CHUNKS), RANKINGS, MEASURES, queries=topics)) == expected


def test_a_quote_in_no_chunk_is_noted_and_counts_as_not_retrieved() -> None:
    gold = [*GOLD, {"query_id": "q3", "gold": ["This sentence is in none of the chunks at all."]}]
    scores = evaluate_gold(GoldInputs(gold, CHUNKS), {**RANKINGS, "q3": ["a"]}, ["StRecall@3"])
    assert scores["StRecall@3"] == pytest.approx(1 / 3)
    assert "gold-missing" in {note.code for note in scores.notes}


def test_labels_resolve_writes_subtopics_and_lists_what_is_missing(tmp_path: Path, command: Command) -> None:
    gold = lines(tmp_path / "gold.jsonl", [*GOLD, {"query_id": "q2", "gold": ["Invoices are sent by mail each year."]}])
    chunks = lines(tmp_path / "chunks.jsonl", [{"_id": name, "text": text} for name, text in CHUNKS.items()])
    out = tmp_path / "qrels.txt"
    result = command("labels", "resolve", gold, "--chunks", chunks, "-o", str(out))
    assert out.read_text().splitlines() == ["q1 1 a 1", "q1 2 b 1", "q2 1 c 1", "q2 2 in-no-chunk-4 1"]
    assert f"{gold}:3: 'Invoices are sent by mail each year.' is in no chunk; nearest in chunk 'c'" in result.err
    plain = command("labels", "resolve", gold, "--chunks", chunks, "--plain", "-o", str(out))
    assert out.read_text().splitlines() == ["q1 0 a 1", "q1 0 b 1", "q2 0 c 1", "q2 0 in-no-chunk-4 1"]
    assert "[plain-qrels]" in plain.err


def test_the_gate_compares_chunkings_by_their_scores(tmp_path: Path, command: Command) -> None:
    gold = lines(tmp_path / "gold.jsonl", GOLD)
    chunks = lines(tmp_path / "chunks.jsonl", [{"_id": name, "text": text} for name, text in CHUNKS.items()])
    every = {"x": " ".join(CHUNKS.values()), **{f"y{n}": "nothing" for n in range(9)}}
    other = lines(tmp_path / "other.jsonl", [{"_id": name, "text": text} for name, text in every.items()])
    first = lines(
        tmp_path / "a.jsonl", [{"query_id": query, "retrieved_ids": docs} for query, docs in RANKINGS.items()]
    )
    second = lines(
        tmp_path / "b.jsonl",
        [{"query_id": query, "retrieved_ids": [*every][: len(docs)]} for query, docs in RANKINGS.items()],
    )
    scored = command("evaluate", gold, first, "--set", f"reading.chunks={chunks}", "-q", "--format", "json")
    assert scored.code == 0, scored.err
    baseline = tmp_path / "scores.json"
    baseline.write_text(scored.out)
    against = ("--set", f"reading.chunks={other}", "--baseline", str(baseline))
    result = command("gate", gold, second, *against)
    assert result.code == 0, result.err
    assert result.out.startswith("pass: no significant drop")
    assert "left out" not in result.out
    changed = command("gate", gold, second, "--set", "reading.coverage=1", *against)
    assert changed.code == 2
    assert "may have been scored in another way" in changed.err


@pytest.mark.parametrize("name", ["evaluate", "compare"])
def test_the_report_of_runs_on_several_chunkings_is_refused(tmp_path: Path, name: str, command: Command) -> None:
    words = ["g", "r", "s", "--set", "reading.chunks=[a, b]", "--html", str(tmp_path / "x.html")]
    result = command(name, *words)
    assert (result.code, "same chunks" in result.err) == (64, True)


def test_the_conventions_say_coverage_and_tolerance(tmp_path: Path, command: Command) -> None:
    gold = lines(tmp_path / "gold.jsonl", GOLD)
    chunks = lines(tmp_path / "chunks.jsonl", [{"_id": name, "text": text} for name, text in CHUNKS.items()])
    run = tmp_path / "a.json"
    run.write_text(json.dumps(RANKINGS))
    arguments = [
        gold,
        str(run),
        "--set",
        f"reading.chunks={chunks}",
        "--set",
        "reading.coverage=0.7",
        "--set",
        "reading.tolerance=0.05",
    ]
    sentence = "a passage is found at coverage 0.7, matched with tolerance 0.05, and counts once (alpha=1)"
    table = command("evaluate", *arguments)
    assert f"conventions: {sentence}; every query with gold averaged" in table.out
    content = json.loads(command("evaluate", *arguments, "--format", "json").out)
    assert content["conventions"]["passages"] == {"coverage": 0.7, "tolerance": 0.05, "alpha": 1}
    page = tmp_path / "page.html"
    command("evaluate", *arguments, "--html", page)
    assert sentence in page.read_text()
    assert str(evaluate_gold(GoldInputs(GOLD, CHUNKS), RANKINGS).conventions).startswith(
        "a passage is found at coverage 0.5, matched with tolerance 0.1,"
    )
    assert "passages" not in rankgauge.evaluate({"q": {"a": 1}}, {"q": ["a"]}).conventions.to_dict()


def test_labels_check_sends_labels_by_text_to_labels_resolve(tmp_path: Path, command: Command) -> None:
    corpus = lines(tmp_path / "chunks.jsonl", [{"_id": name, "text": text} for name, text in CHUNKS.items()])
    span = {"query_id": "q1", "doc": "a", "start": 0, "end": 4}
    contexts = {"user_input": "Why?", "reference_contexts": ["Open Settings now."]}
    for records in (GOLD, [span], [contexts], [{**GOLD[0], "gold": [{"text": "Open"}]}]):
        gold = lines(tmp_path / "gold.jsonl", records)
        result = command("runs", "validate", "--labels", gold, "--corpus", corpus)
        assert result.code == 2
        assert "labels by text do not rot" in result.err
        assert f"rankgauge labels resolve {gold} --chunks {corpus} -o FILE" in result.err
    ids = lines(tmp_path / "ids.jsonl", [{"query_id": "q1", "query": "Why?", "gold": ["a"]}])
    assert command("runs", "validate", "--labels", ids, "--corpus", corpus).code == 0


def test_runs_of_the_same_name_are_named_by_their_chunks(tmp_path: Path) -> None:
    chunks = [{"_id": name, "text": text} for name, text in CHUNKS.items()]
    files = [lines(tmp_path / f"{name}.jsonl", chunks) for name in ("large", "small")]
    run = rankgauge.Run.from_lists(RANKINGS, name="bm25")
    both = evaluate_gold_runs(GoldInputs(GOLD, files), [run, run], ["StRecall@2"])
    assert [scores.run for scores in both.scores] == ["bm25 (large)", "bm25 (small)"]
    same = evaluate_gold_runs(GoldInputs(GOLD, files[:1]), [run, run], ["StRecall@2"])
    assert [scores.run for scores in same.scores] == ["bm25", "bm25 (2)"]


def test_a_quote_that_is_only_part_of_a_word_is_named() -> None:
    labels = [
        {"query_id": "q1", "gold": ["Open Settings and choose", "recover"]},
        {"query_id": "q2", "gold": ["Secur", "nowhere at all", "first day"]},
    ]
    scores = evaluate_gold(GoldInputs(labels, chunks=CHUNKS), RANKINGS, ["StRecall@3"])
    (note,) = [note.message for note in scores.notes if note.code == "gold-part-of-word"]
    assert note == (
        "2 quotes in no chunk as whole words, but as part of a word: 'recover' in 'recovery', 'Secur' in 'security'; "
        "--match text finds parts of words"
    )
