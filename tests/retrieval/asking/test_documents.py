"""Where the id of a retrieved document is found."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import pytest

from rankgauge import Document, InputError, UsageError
from rankgauge.config.retriever_settings import Unit
from rankgauge.rag.scoring import relevant_ids
from rankgauge.retrieval.asking.documents import id_of
from tests.rag.shapes import LangChainDocument, NodeWithScore, TextNode


class Hit(NamedTuple):
    id: str
    score: float


def label() -> str:
    return "result 1 of query 'q'"


@pytest.mark.parametrize(
    ("item", "source", "expected"),
    [
        (Document(id="a", raw_text="…"), None, "a"),
        ({"id": "a", "text": "…"}, None, "a"),
        ({"_id": "a"}, None, "a"),
        ("a", None, "a"),
        (("a", 0.7), None, "a"),
        (Hit("a", 0.7), None, "a"),
        (7, None, "7"),
        (np.int64(7), None, "7"),
        ({"id": np.int64(7)}, None, "7"),
        (UUID(int=5), None, "00000000-0000-0000-0000-000000000005"),
        (LangChainDocument("…", id="a"), None, "a"),
        ((LangChainDocument("…", id="a"), 0.7), None, "a"),
        (LangChainDocument("…", {"source": "a.md"}), "metadata.source", "a.md"),
        ((LangChainDocument("…", {"source": "a.md"}), 0.7), "metadata.source", "a.md"),
        (LangChainDocument("…", {"loc": {"file": "a.md"}}), "metadata.loc.file", "a.md"),
        (LangChainDocument("…", {"n": 3}), lambda document: document.metadata["n"], "3"),
        (TextNode("a"), None, "a"),
        (NodeWithScore(TextNode("a"), 0.9), None, "a"),
        (NodeWithScore(TextNode("a"), 0.9), "node.node_id", "a"),
        (NodeWithScore(TextNode("a", metadata={"file": "f"}), 0.9), "metadata.file", "f"),
        ({"document": {"id": "a"}, "score": 1.0}, None, "a"),
        ({"payload": {"key": "a"}}, "payload.key", "a"),
    ],
)
def test_an_id_is_found(item: Any, source: Any, expected: str) -> None:
    assert id_of(item, source, "chunk", label) == expected


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (NodeWithScore(TextNode("a-3", ref_doc_id="a"), 0.9), "a"),
        (LangChainDocument("…", {"source": "a.md"}, id="a-3"), "a.md"),
        ({"id": "a-3", "document_id": "a"}, "a"),
        ("a", "a"),
    ],
)
def test_the_document_of_a_chunk_is_found(item: Any, expected: str) -> None:
    assert id_of(item, None, "document", label) == expected


def test_an_id_of_none_is_an_error_with_a_hint() -> None:
    with pytest.raises(InputError) as caught:
        id_of(LangChainDocument("…", {"page": 3, "source": "a.md"}), None, "chunk", label)
    assert "id of result 1 of query 'q' is None" in str(caught.value)
    assert "id='metadata.source'" in str(caught.value)


@pytest.mark.parametrize(
    ("item", "source", "unit", "message"),
    [
        (LangChainDocument("…", {"source": None}), "metadata.source", "chunk", "metadata.source of result 1"),
        (LangChainDocument("…", {"page": 3}), "metadata.source", "chunk", "has no metadata.source"),
        (LangChainDocument("…"), lambda _: None, "chunk", "the return value of id= for result 1 of query 'q' is None"),
        (object(), None, "chunk", "has no id: none of id, node_id"),
        (Document(id="a"), None, "document", "has no id of its source document"),
        ({"id": ""}, None, "chunk", "is empty"),
        ({"id": 1.5}, None, "chunk", "must be a string"),
        ({"id": True}, None, "chunk", "must be a string"),
    ],
)
def test_a_value_that_is_not_an_id_is_an_error(item: Any, source: Any, unit: Unit, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        id_of(item, source, unit, label)


def test_relevant_ids_may_be_a_single_id_and_count_once() -> None:
    assert relevant_ids("a", "q") == ("a",)
    assert relevant_ids(["a", "b", "a", 3], "q") == ("a", "b", "3")
    with pytest.raises(InputError, match="is None"):
        relevant_ids([None], "q")
    with pytest.raises(InputError, match="must be a list"):
        relevant_ids({"a": 1}, "q")


def test_a_unit_is_one_of_two() -> None:
    from rankgauge import RetrievalEvaluator

    with pytest.raises(UsageError, match="chunk, document"):
        RetrievalEvaluator(unit="page")  # type: ignore[arg-type]  # refused at run time
