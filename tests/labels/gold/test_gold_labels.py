"""Spans: shared text counts once, and a span may end in the middle of a word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankgauge.io.corpus.chunking import Chunk
from rankgauge.io.corpus.corpus import InMemoryCorpus
from rankgauge.labels import GoldInputs, evaluate_gold
from rankgauge.labels.gold.gold_labels import read_gold, with_span_texts
from rankgauge.labels.gold.matching import match_labels

WORDS = [f"w{number}" for number in range(60)]
TEXT = " ".join(WORDS)
BEGINS = [TEXT.index(f" {word} ") + 1 if number else 0 for number, word in enumerate(WORDS[:-1])]
RESET = {"guide.md": "Open the page and reset the settings of your account before the next invoice arrives."}


def span(document: str, start: int, end: int) -> dict[str, Any]:
    return {"doc": document, "start": start, "end": end}


def matched(gold: list[dict[str, Any]], chunks: dict[str, str], documents: dict[str, str]) -> list[str]:
    labels = with_span_texts(read_gold(gold), InMemoryCorpus(documents))
    matches = match_labels(labels, InMemoryCorpus(chunks))
    return sorted({matches.chunk_ids[piece.chunk].decode() for piece in matches.pieces})


@pytest.mark.parametrize("ids", [("guide.md#0-40", "guide.md#40-85"), ("first", "second")])
def test_a_span_that_ends_inside_a_word_is_found(ids: tuple[str, str]) -> None:
    text = RESET["guide.md"]
    chunks = {ids[0]: text[:40], ids[1]: text[40:]}
    gold = [{"query_id": "q", "gold": [span("guide.md", 2, 79)]}]  # "en the page … invoice arr"
    assert matched(gold, chunks, RESET) == list(ids)
    scores = evaluate_gold(GoldInputs(gold, chunks, RESET), {"q": list(ids)}, ["StRecall@2"])
    assert scores["StRecall@2"] == 1


def test_a_span_inside_a_word_is_found_in_the_chunk_from_its_place_only() -> None:
    text = RESET["guide.md"]
    start = text.index("reset") + 2
    gold = [{"query_id": "q", "gold": [span("guide.md", start, start + 3)]}]  # "set"
    chunks = {"guide.md#0-23": text[:23], "guide.md#23-85": text[23:]}
    assert matched(gold, chunks, RESET) == ["guide.md#0-23"]
    assert matched(gold, {**chunks, "other.md#0-9": "a set of "}, RESET) == ["guide.md#0-23", "other.md#0-9"]


def test_a_span_of_whole_words_is_not_found_inside_others() -> None:
    text = RESET["guide.md"]
    start = text.index("page")
    gold = [{"query_id": "q", "gold": [span("guide.md", start, start + 4)]}]
    chunks = {"one": text, "two": "The pageant was long."}
    assert matched(gold, chunks, RESET) == ["one"]


def test_a_quote_is_not_found_inside_a_word() -> None:
    assert matched([{"query_id": "q", "gold": ["set"]}], {"one": RESET["guide.md"], "two": "a set"}, RESET) == ["two"]


@pytest.mark.parametrize(
    ("chunk_id", "start", "end", "expected"),
    [
        (b"d.md", 5, 9, True),
        (b"d.md#0-5", 5, 9, False),
        (b"d.md#0-6", 5, 9, True),
        (b"d.md#8-20", 5, 9, True),
        (b"d.md#9-20", 5, 9, False),
        (b"x.md#0-20", 5, 9, False),
        (b"d.md#top", 5, 9, False),
    ],
)
def test_an_id_says_which_characters_its_chunk_has(chunk_id: bytes, start: int, end: int, expected: bool) -> None:
    assert Chunk.overlaps(chunk_id, b"d.md", start, end) == expected


def test_stored_spans_with_their_texts_count_as_the_spans_did(tmp_path: Path) -> None:
    spans = [span("d.md", BEGINS[0], BEGINS[20]), span("d.md", BEGINS[10], BEGINS[30])]
    stored = [{**item, "text": TEXT[item["start"] : item["end"]]} for item in spans]
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({"query_id": "q", "gold": stored}) + "\n")
    inputs = [
        GoldInputs([{"query_id": "q", "gold": spans}], {"d": TEXT}, {"d.md": TEXT}),
        GoldInputs(path, {"d": TEXT}),
    ]
    with_documents, alone = (evaluate_gold(each, {"q": ["d"]}, ["StRecall@1"]) for each in inputs)
    assert with_documents["StRecall@1"] == alone["StRecall@1"] == 1
    assert with_documents.qrels_sha256 == alone.qrels_sha256
