"""Where a query goes in a chain or a pipeline, by the descriptions that the libraries give of themselves."""

from __future__ import annotations

from typing import Any

import pytest

from rankgauge import Document, InputError
from rankgauge.retrieval.asking.libraries import chain_input, documents_component, query_data, raised

TEXT = {"type": "string"}
DOCUMENTS = {"documents": {"type": list[Document]}}


def mandatory(kind: Any) -> dict[str, Any]:
    return {"type": kind, "is_mandatory": True}


def optional(kind: Any) -> dict[str, Any]:
    return {"type": kind, "is_mandatory": False}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "q"),
        ({}, "q"),
        ({"type": "object", "properties": {"root": {}}}, {"input": "q", "query": "q", "question": "q"}),
        ({"type": "object"}, {"input": "q", "query": "q", "question": "q"}),
        ({"type": "object", "properties": {"question": TEXT}}, {"question": "q"}),
        ({"type": "object", "properties": {"question": {}, "documents": {"type": "array"}}}, {"question": "q"}),
        ({"type": "object", "properties": {"topic": TEXT}}, {"topic": "q"}),
    ],
)
def test_a_chain_gets_the_query_as_its_schema_says(schema: dict[str, Any], expected: Any) -> None:
    assert chain_input(schema, "chain")("q") == expected


@pytest.mark.parametrize("properties", [{"topic": TEXT, "language": TEXT}, {"messages": {"type": "array"}}])
def test_a_chain_without_an_input_for_the_query_is_an_error(properties: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"(?s)Chain takes a dict of \w+.*lambda query: chain\.invoke\(\{"):
        chain_input({"type": "object", "properties": properties}, "Chain")


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"bm25": {"query": mandatory(str), "top_k": optional(int)}}, {"bm25": {"query": "q"}}),
        (
            {"embedder": {"text": mandatory(str)}, "prompt": {"question": mandatory(Any), "template": optional(str)}},
            {"embedder": {"text": "q"}, "prompt": {"question": "q"}},
        ),
        ({"a": {"query": mandatory(str)}, "b": {"query": optional(str | None), "text": optional(str)}},
         {"a": {"query": "q"}, "b": {"query": "q"}}),
        ({"many": {"queries": mandatory(list[str])}}, {"many": {"queries": ["q"]}}),
        ({"own": {"wording": mandatory("str")}}, {"own": {"wording": "q"}}),
    ],
)  # fmt: skip
def test_the_query_goes_into_every_input_with_a_usual_name(inputs: Any, expected: Any) -> None:
    assert query_data(inputs, "q", "the pipeline", "…") == expected


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"a": {"query": mandatory(str), "language": mandatory(str)}}, "needs a.language, which is not a query"),
        ({"a": {"query_embedding": mandatory(list[float])}}, "needs a.query_embedding, which is not a query"),
        ({"a": {"query": mandatory(list[float])}}, "needs a.query, which is not a query"),
        ({"a": {"one": mandatory(str)}, "b": {"two": mandatory(str)}}, "needs a.one, b.two, which are not queries"),
        ({"a": {"top_k": optional(int)}}, "has no input for a query"),
    ],
)
def test_an_input_that_is_not_a_query_is_an_error_with_what_to_write(inputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        query_data(inputs, "q", "the pipeline", "pipeline.run(…)")
    assert "lambda query, k: pipeline.run(…)" in str(caught.value)


@pytest.mark.parametrize(
    ("names", "edges", "expected"),
    [
        ("r", [("e", "r")], "r"),
        ("vbj", [("v", "j"), ("b", "j"), ("j", "p")], "j"),
        ("ab", [("a", "x"), ("x", "b")], "b"),
        ("a", [("a", "x"), ("x", "a")], "a"),  # a loop
    ],
)
def test_the_results_are_those_of_the_last_component_with_documents(names: str, edges: Any, expected: str) -> None:
    outputs: dict[str, Any] = {"p": {"prompt": {"type": str}}, **dict.fromkeys(names, DOCUMENTS)}
    assert documents_component(outputs, edges, "the pipeline") == expected


@pytest.mark.parametrize(("names", "found"), [("", "no documents"), ("ab", "documents of a, b")])
def test_no_last_component_or_several_are_an_error(names: str, found: str) -> None:
    outputs = dict.fromkeys(names, DOCUMENTS)
    with pytest.raises(InputError, match=f"the pipeline returns {found}, expected those of one component"):
        documents_component(outputs, [], "the pipeline")


def test_a_number_of_results_is_raised_and_never_lowered() -> None:
    assert [raised(configured, 10) for configured in (None, 4, 10, 50, True, "x")] == [10, 10, 10, 50, 10, 10]
