from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.config.json_paths import EVERY_ITEM, PathNotFound, Selector, Step, parse_selector, path_text
from rankgauge.errors import UsageError

HITS = [{"_source": {"id": "a", "x.y": 1}}, {"_source": {"id": "b", "x.y": 2}}]
ANSWER = {"hits": {"total": 2, "hits": HITS}}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("hits.total", 2),
        ("$.hits.total", 2),
        ("$", ANSWER),
        ("$['hits'][\"total\"]", 2),
        ("hits.hits[0]._source.id", "a"),
        ("hits.hits[-1]._source.id", "b"),
        ("$.hits.hits[*]._source.id", ["a", "b"]),
        ("hits.hits[*]._source.'x.y'", [1, 2]),
        ("hits.hits[*]._source['x.y']", [1, 2]),
        ("hits.hits[*]", HITS),
    ],
)
def test_a_path_selects_what_it_names(path: str, expected: Any) -> None:
    assert parse_selector(path).select(ANSWER) == expected


def test_lists_within_lists_are_joined() -> None:
    groups = {"groups": [{"hits": [{"id": 1}, {"id": 2}]}, {"hits": []}, {"hits": [{"id": 3}]}]}
    assert parse_selector("groups[*].hits[*].id").select(groups) == [1, 2, 3]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "expected a path such as hits.hits at character 1, found the end"),
        ("hits..id", "expected a key at character 6, found '.id'"),
        ("hits.", "expected a key at character 6, found the end"),
        ("hits[", "expected an index, * or a quoted key at character 6, found the end"),
        ("hits[?(@.a)]", "expected an index, * or a quoted key at character 6, found '?(@.a)]'"),
        ("hits[1", "expected ']' at character 7, found the end"),
        ("hits[1:2]", "expected ']' at character 7, found ':2]'"),
        ("hits['a", "expected a key that ends with ' at character 6, found ''a'"),
        ("hits[0]id", "expected '.' or '[' at character 8, found 'id'"),
        ("hits id", "expected '.' or '[' at character 5, found ' id'"),
        ("$hits", "expected a key at character 1, found '$hits'"),
        (f"a[{'9' * 5000}]", "expected an index, * or a quoted key at character 3, found '99999999999999999999…'"),
    ],
)
def test_an_error_names_the_character_and_what_was_expected(path: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_selector(path)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("hits.documents", r"\$\.hits has no 'documents': it is an object with 'total', 'hits'"),
        ("hits.total.id", r"\$\.hits\.total is the number '2', expected an object with 'id'"),
        ("hits.hits[7]", r"\$\.hits\.hits has no item \[7\]: it is a list of 2 items"),
        ("hits.total[*]", r"\$\.hits\.total is the number '2', expected a list"),
        ("hits[0]", r"\$\.hits is an object with 'total', 'hits', expected a list"),
        ("hits.hits[*].name", r"\$\.hits\.hits\[\*\] has no 'name': it is an object with '_source'"),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_ends_and_what_is_there(path: str, message: str) -> None:
    with pytest.raises(PathNotFound, match=message):
        parse_selector(path).select(ANSWER)


KEYS = st.text(st.characters(codec="utf-8"), max_size=8)
STEPS = st.lists(st.one_of(KEYS, st.integers(-9, 9), st.just(EVERY_ITEM)), max_size=6).map(tuple)


@given(STEPS)
def test_every_path_can_be_written_and_is_read_as_it_was(steps: tuple[Step, ...]) -> None:
    assert parse_selector(path_text(steps)).steps == steps


@given(st.text(st.sampled_from("ab$.[]*'\"\\-19 "), max_size=12))
def test_any_text_is_a_path_or_an_error(text: str) -> None:
    with contextlib.suppress(UsageError):  # and nothing else
        selector = parse_selector(text)
        assert parse_selector(path_text(selector.steps)).steps == selector.steps


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=12,
)


def leaves(value: Any, steps: tuple[Step, ...] = ()) -> list[tuple[tuple[Step, ...], Any]]:
    """Every path of a document with its value."""
    children: list[tuple[Step, Any]] = []
    if isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list):
        children = list(enumerate(value))
    return [(steps, value), *(leaf for key, inner in children for leaf in leaves(inner, (*steps, key)))]


@given(JSON)
def test_every_value_of_a_document_is_found_at_its_path(document: Any) -> None:
    for steps, value in leaves(document):
        assert Selector("", steps).select(document) is value


@given(JSON, STEPS)
def test_any_path_into_any_document_is_a_value_or_one_error(document: Any, steps: tuple[Step, ...]) -> None:
    with contextlib.suppress(PathNotFound):  # and nothing else
        Selector("", steps).select(document)
