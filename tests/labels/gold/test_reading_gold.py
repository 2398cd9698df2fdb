"""Labels by text in all their forms, and what is said about wrong ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankgauge.errors import InputError
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.labels.gold.gold_labels import GoldLabels, labels_with_texts, read_gold, with_span_texts

DOCUMENTS = {"guide.md": "Open Settings. Choose Security.  "}


def gold_file(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "gold.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def quotes(labels: GoldLabels) -> list[tuple[str, str | None]]:
    return [(passage.query, passage.text) for passage in labels.passages]


def test_quotes_spans_and_the_contexts_of_ragas_are_read_alike(tmp_path: Path) -> None:
    path = gold_file(
        tmp_path,
        {"query": "How?", "gold": ["Open Settings."]},
        {"query_id": "q2", "query": "Then?", "gold": [{"doc": "guide.md", "start": 15, "end": 31}]},
        {"query_id": "q2", "doc": "guide.md", "start": 0, "end": 14},
        {"user_input": "What?", "reference_contexts": ["Choose Security."], "category": "auth"},
    )
    labels = with_span_texts(read_gold(path), read_corpus(DOCUMENTS))
    assert quotes(labels) == [
        ("How?", "Open Settings."),
        ("q2", "Choose Security."),
        ("q2", "Open Settings."),
        ("What?", "Choose Security."),
    ]
    assert labels.query_texts == {"How?": "How?", "q2": "Then?", "What?": "What?"}
    assert labels.columns == {"category": {"What?": "auth"}}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"query": "q", "gold": ["a", ""]}, "expected the text of a quote, found an empty one"),
        ({"query": "q", "gold": [" \n"]}, "expected the text of a quote"),
        ({"query": "q", "gold": 5}, "expected a quote, a span, or a list of them as gold, found '5'"),
        ({"query": "q", "gold": True}, "expected a quote, a span, or a list of them as gold, found 'True'"),
        ({"query": "q", "gold": [7]}, "expected a quote, or an object with doc, start and end, found '7'"),
        ({"query": "q", "golds": ["a"]}, "did you mean gold?"),
        ({"query": "q", "doc": "guide.md", "strat": 0, "end": 3}, "found 'doc', 'end'"),
        ({"query": "q", "gold": [{"doc": "guide.md", "strat": 0, "end": 3}]}, "did you mean start?"),
        ({"query": "q", "doc": "guide.md", "start": 5, "end": 5}, "found start 5 and end 5"),
        ({"query": "q", "doc": "guide.md", "start": -1, "end": 5}, "expected a span with 0 <= start < end"),
        ({"query": "q", "doc": "guide.md", "start": "0", "end": 5}, "expected whole numbers as start and end"),
        ({"query": "q", "doc": "guide.md", "start": 0, "end": 99}, "within the 33 characters of 'guide.md'"),
        ({"query": "q", "doc": "guide.md", "start": 31, "end": 33}, "found only white space from 31 to 33"),
        ({"query": "q", "doc": "guid.md", "start": 0, "end": 3}, "did you mean guide.md?"),
        ({"query": "q", "doc": "guide.md", "start": 0, "end": 3, "gold": ["a"]}, "either gold or a span"),
        ({"gold": ["a"]}, "expected a query"),
    ],
)
def test_wrong_labels_get_one_message_with_file_and_line(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    path = gold_file(tmp_path, {"query": "first", "gold": ["fine"]}, record)
    with pytest.raises(InputError) as error:
        with_span_texts(read_gold(path), read_corpus(DOCUMENTS))
    assert str(error.value).startswith(f"{path}:2: ")
    assert message in str(error.value)
    assert len(error.value.message.splitlines()) == 1


def test_spans_without_documents_say_how_to_name_them() -> None:
    with pytest.raises(InputError, match="--corpus"):
        with_span_texts(read_gold([{"query": "q", "doc": "guide.md", "start": 0, "end": 3}]), None)


def test_a_quote_listed_twice_counts_once_and_a_query_without_gold_is_noted() -> None:
    records: list[dict[str, Any]] = [
        {"query": "q", "gold": ["One text", "one  text"]},
        {"query": "open", "gold": [], "answerable": True},
    ]
    labels = read_gold(records)
    assert quotes(labels) == [("q", "One text")]
    assert {note.code for note in labels.notes} == {"gold-repeated", "no-gold"}
    assert labels.without_gold == ["open"]


@pytest.mark.parametrize("nothing", [{"gold": []}, {"gold": None}, {"answerable": False}, {"reference_contexts": []}])
def test_an_empty_list_of_quotes_means_that_there_is_no_answer(nothing: dict[str, Any]) -> None:
    labels = read_gold([{"query": "none", **nothing}, {"query": "q", "gold": ["One text"]}])
    assert labels.unanswerable == ["none"]
    assert labels.queries == ["q", "none"]
    assert not labels.without_gold
    assert not labels.notes


def test_gold_of_a_query_that_has_no_answer_is_refused() -> None:
    with pytest.raises(InputError, match=r"gold:1: .*expected no gold for a query that has no answer"):
        read_gold([{"query": "q", "gold": ["One text"], "answerable": False}])


def test_forbidden_are_ids_quotes_and_spans(tmp_path: Path) -> None:
    span = {"doc": "guide.md", "start": 0, "end": 14}
    path = gold_file(tmp_path, {"query": "q", "gold": ["One text"], "forbidden_ids": ["kb-1", "Two words", span]})
    labels = with_span_texts(read_gold(path), read_corpus(DOCUMENTS))
    assert labels.forbidden_ids == {"q": ("kb-1",)}
    assert [passage.text for passage in labels.forbidden] == ["Two words", "Open Settings."]
    stored = tmp_path / "stored.jsonl"
    stored.write_bytes(labels_with_texts(labels))
    again = read_gold(stored)
    assert again.forbidden_ids == labels.forbidden_ids
    assert [passage.text for passage in again.forbidden] == ["Two words", "Open Settings."]


def test_labels_of_other_queries_are_left_out_and_ids_replace_texts() -> None:
    records = [
        {"query": "one", "gold": ["One text"], "forbidden": ["a", "Two words"]},
        {"query": "two", "gold": [], "forbidden": ["b"]},
    ]
    labels = read_gold(records).renamed({"one": "q1", "two": "q2"})
    assert (labels.queries, labels.forbidden_ids) == (["q1", "q2"], {"q1": ("a",), "q2": ("b",)})
    rest = labels.of_queries({"q2"})
    assert (rest.queries, list(rest.forbidden), rest.forbidden_ids) == (["q2"], [], {"q2": ("b",)})


@pytest.mark.parametrize("source", [[], [{"query": "q", "gold": []}]])
def test_labels_without_any_passage_are_refused(source: list[dict[str, Any]]) -> None:
    with pytest.raises(InputError):
        read_gold(source)
