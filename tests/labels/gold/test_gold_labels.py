"""Spans: shared text counts once, and a span may end in the middle of a word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.io.corpus.chunking import Chunk, token_spans
from rankgauge.io.corpus.corpus import InMemoryCorpus
from rankgauge.labels import GoldInputs, evaluate_gold
from rankgauge.labels.gold.exact_matching import MIN_SPLIT_QUOTE
from rankgauge.labels.gold.gold_labels import read_gold, with_span_texts
from rankgauge.labels.gold.matching import match_labels
from rankgauge.labels.gold.quote_matches import MIN_PIECE

WORDS = [f"w{number}" for number in range(60)]
TEXT = " ".join(WORDS)
BEGINS = [TEXT.index(f" {word} ") + 1 if number else 0 for number, word in enumerate(WORDS[:-1])]
RESET = {"guide.md": "Open the page and reset the settings of your account before the next invoice arrives."}


def span(document: str, start: int, end: int) -> dict[str, Any]:
    return {"doc": document, "start": start, "end": end}


@given(
    spans=st.lists(st.tuples(st.integers(0, 40), st.integers(1, 18)), min_size=1, max_size=6, unique=True),
    size=st.integers(3, 25),
    retrieved=st.sets(st.integers(0, 19), min_size=1),
)
def test_text_that_spans_share_counts_once(spans: list[tuple[int, int]], size: int, retrieved: set[int]) -> None:
    parts = [range(first, min(first + size, 60)) for first in range(0, 60, size)]
    chunks = {f"c{number}": " ".join(WORDS[word] for word in part) for number, part in enumerate(parts)}
    ids = [f"c{number}" for number in sorted(retrieved) if number < len(parts)] or ["c0"]
    gold = [span("d.md", BEGINS[first], BEGINS[first + count] - 1) for first, count in spans]
    inputs = GoldInputs([{"query_id": "q", "gold": gold}], chunks, {"d.md": TEXT})
    scores = evaluate_gold(inputs, {"q": ids}, ["TokenRecall", "TokenPrecision"])
    found: set[int] = set()
    for first, count in spans:
        words = set(range(first, first + count))
        for name in ids:
            shared = words & set(parts[int(name[1:])])
            quote, piece = (" ".join(WORDS[word] for word in sorted(some)) for some in (words, shared))
            if shared == words or (len(piece) >= MIN_PIECE and len(quote) >= MIN_SPLIT_QUOTE):
                found |= shared
    everything = {word for first, count in spans for word in range(first, first + count)}
    assert scores["TokenRecall"] == pytest.approx(len(found) / len(everything))
    assert scores["TokenPrecision"] == pytest.approx(len(found) / sum(len(chunks[name].split()) for name in ids))


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 18)), min_size=1, max_size=6, unique=True))
def test_one_chunk_with_the_whole_document_has_each_gold_token_once(spans: list[tuple[int, int]]) -> None:
    gold = [
        {"query_id": "q", "gold": [span("d.md", BEGINS[first], BEGINS[first + count] - 1) for first, count in spans]}
    ]
    scores = evaluate_gold(
        GoldInputs(gold, {"d.md": TEXT}, {"d.md": TEXT}),
        {"q": ["d.md"]},
        ["TokenRecall", "TokenPrecision", "TokenPrecision(unit='characters')"],
    )
    tokens = {word for first, count in spans for word in range(first, first + count)}
    characters = {at for first, count in spans for at in range(BEGINS[first], BEGINS[first + count] - 1)}
    assert scores["TokenRecall"] == 1
    assert scores["TokenPrecision"] == pytest.approx(len(tokens) / len(list(token_spans(TEXT))))
    assert scores["TokenPrecision(unit='characters')"] == pytest.approx(len(characters) / len(TEXT))


def test_spans_of_other_documents_share_nothing_and_a_quote_within_a_span_counts_once() -> None:
    gold = [{"query_id": "q", "gold": [span("a", 0, 20), span("b", 0, 20), TEXT[:11]]}]
    documents = {"a": TEXT, "b": TEXT[::-1]}
    scores = evaluate_gold(GoldInputs(gold, documents, documents), {"q": ["a"]}, ["TokenPrecision(unit='characters')"])
    assert scores["TokenPrecision(unit='characters')"] == pytest.approx(len(TEXT[:20].strip()) / len(TEXT))


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
    with_documents, alone = (evaluate_gold(each, {"q": ["d"]}, ["TokenPrecision"]) for each in inputs)
    assert with_documents["TokenPrecision"] == alone["TokenPrecision"] == pytest.approx(30 / 60)
