from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError
from rankgauge.adapters.story.labeled import LabeledQuery, read_labeled_queries
from tests.adapters.story.stories import BUNDLED

QUERIES = [{"id": "q1", "text": "storm at sea", "relevant": ["s1", "s2"], "topK": 3}, {"id": "q2", "text": "x"}]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, QUERIES)),
        json.dumps(QUERIES),
        json.dumps({"queries": QUERIES}),
        json.dumps({"story": "x", "queries": QUERIES}, indent=2),
    ],
    ids=["lines", "array", "document", "indented"],
)
def test_every_format_gives_the_same_queries(text: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(text)
    found = read_labeled_queries(tmp_path / "q")
    assert [(q.id, q.text, q.relevant, q.k) for q in found.queries] == [("q1", "storm at sea", ("s1", "s2"), 3)]
    assert found.unlabeled == 1
    assert read_labeled_queries(found) is found


@pytest.mark.parametrize("text", ["", "\n \n", "[]", '{"queries": []}'])
def test_an_empty_file_holds_no_queries(text: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(text)
    assert read_labeled_queries(tmp_path / "q").queries == ()


@pytest.mark.parametrize(
    "key", ["relevant", "relevant_ids", "relevantSceneIds", "relevant_scenes", "expected_scenes", "scene_ids"]
)
def test_the_labels_have_several_keys(key: str) -> None:
    assert read_labeled_queries([{"query": "storm", key: [1, "s2", "s2"]}]).queries == (
        LabeledQuery("1", "storm", ("1", "s2")),
    )


def test_a_single_label_needs_no_list_and_a_set_is_sorted() -> None:
    found = read_labeled_queries([{"text": "a", "relevant": "s1"}, {"text": "b", "relevant": {"s3", "s2"}}])
    assert [q.relevant for q in found.queries] == [("s1",), ("s2", "s3")]


def test_the_bundled_queries_are_twelve_and_all_labeled() -> None:
    found = read_labeled_queries(BUNDLED / "queries.jsonl")
    assert (len(found.queries), found.unlabeled) == (12, 0)


WRONG: list[tuple[str, str]] = [
    ("storm", ":1: expected JSON, found 'storm'"),
    ('{"text": "a", "relevant": ["s1"]}\n{"relevant": ["s1"]}', ":2: expected a search text"),
    ('{"text": " ", "relevant": ["s1"]}', "of query '1', found ' '"),
    ('{"text": 3, "relevant": ["s1"]}', "of query '1', found '3'"),
    ('{"text": "a", "relevant": {"s1": 1}}', "expected a list of scene ids as relevant to query '1', found an object"),
    ('{"text": "a", "relevant": [null]}', "or a whole number as scene id of query '1', found nothing"),
    ('{"text": "a", "relevant": ["x"], "relevant_ids": ["y"]}', "expected one key for the relevant scenes, found 2"),
    ('{"text": "a", "relevant": ["x"], "topK": 0}', "expected a whole number of at least 1 as topK of query '1'"),
    ('{"text": "a", "relevant": ["x"], "topK": 2.5}', "expected a whole number of at least 1"),
    ('{"text": "a", "relevant": ["x"], "topK": true}', "expected a whole number of at least 1"),
    ('{"text": "a", "relevant": ["x"], "topK": 2, "k": 3}', "expected one key for topK, found 2: 'topK', 'k'"),
    ('{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}', ":2: expected each query id once, found '1' again"),
    ('{"queries": {"a": 1}}', "expected a list under queries, found an object"),
    ('{"queries": [3]}', "expected an object as entry 1, found '3'"),
    ('{"text": "a"}\nx', ":2: not JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[message for _, message in WRONG])
def test_an_error_in_the_queries_names_its_place(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(text)
    with pytest.raises(InputError) as error:
        read_labeled_queries(tmp_path / "q")
    assert str(error.value).startswith(f"{tmp_path / 'q'}:")
    assert message in str(error.value)


@pytest.mark.parametrize("queries", [{"text": "a"}, b"x", 3])
def test_queries_that_are_not_a_list_are_an_error(queries: Any) -> None:
    with pytest.raises(InputError, match="queries: expected a list of dicts"):
        read_labeled_queries(queries)
