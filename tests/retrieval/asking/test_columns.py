"""Documents that are alike are read together, with the results and the errors of one document after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.config.retriever_settings import Unit
from rankgauge.errors import InputError
from rankgauge.retrieval.asking import documents
from rankgauge.retrieval.asking.answers import AnswerRules, answer_of
from rankgauge.retrieval.asking.documents import DocumentColumns, id_of, metadata_of, number_of, text_of
from tests.rag.shapes import LangChainDocument, NodeWithScore, TextNode


class Hit(NamedTuple):
    id: str
    score: float


@dataclass
class Loose:
    """An object whose attributes are whatever somebody sets."""

    id: Any

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Slotted:
    __slots__ = ("id", "score")

    def __init__(self, **fields: Any) -> None:
        for name, value in fields.items():
            setattr(self, name, value)


class Dynamic:
    """Like an object of pydantic: attributes that it does not hold are looked up by a method."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(name) from None


texts: st.SearchStrategy[Any] = st.sampled_from(["a", "b", "é", "a\0", "", "\udcff", "x y"])
ids: st.SearchStrategy[Any] = st.one_of(texts, st.sampled_from([7, True, None, 1.5, np.int64(3), UUID(int=5), b"a"]))
scores: st.SearchStrategy[Any] = st.sampled_from(
    [0.5, 2.0, 1, True, None, float("nan"), "0.5", np.float32(0.5), len, 10**400]
)
FIELDS = ("id", "_id", "node_id", "doc_id", "score", "distance", "text", "page_content")


def a_document(draw: st.DrawFn, kind: str, names: list[str]) -> Any:
    values = {name: draw(scores if name in ("score", "distance") else ids) for name in names}
    if draw(st.integers(0, 9)) == 0:
        values.pop(draw(st.sampled_from(names)), None)  # one that is not like the others
    metadata = {"source": draw(ids), "text": draw(texts)}
    makers: dict[str, Callable[[], Any]] = {
        "id": lambda: draw(ids),
        "pair": lambda: (draw(ids), draw(scores)),
        "dict": lambda: values,
        "nested": lambda: {"document": values, "score": draw(scores), "metadata": metadata},
        "object": lambda: Loose(**values),
        "slots": lambda: Slotted(**{name: value for name, value in values.items() if name in ("id", "score")}),
        "dynamic": lambda: Dynamic(**values),
        "tuple": lambda: Hit(draw(texts), draw(scores)),
        "langchain": lambda: LangChainDocument(draw(texts), metadata, draw(ids)),
        "llama": lambda: NodeWithScore(TextNode(draw(texts), draw(texts), metadata), draw(scores)),
    }
    return makers[kind]()


@st.composite
def answers(draw: st.DrawFn) -> list[Any]:
    kinds = ["id", "pair", "dict", "nested", "object", "slots", "dynamic", "tuple", "langchain", "llama"]
    kind = draw(st.sampled_from(kinds))
    names = draw(st.lists(st.sampled_from(FIELDS), min_size=1, max_size=4, unique=True))
    found = [a_document(draw, kind, names) for _ in range(draw(st.integers(0, 4)))]
    if draw(st.integers(0, 9)) == 0:
        found.append(a_document(draw, draw(st.sampled_from(kinds)), names))
    return [(document, draw(scores)) for document in found] if draw(st.integers(0, 4)) == 0 else found


def result_or_error(function: Any) -> Any:
    try:
        return function()
    except Exception as error:
        return type(error), str(error), getattr(error, "hint", None)


def same(first: Any, second: Any) -> bool:
    return repr(first) == repr(second)  # NaN is not equal to itself


@given(
    answers(), st.sampled_from([None, "id", "metadata.source", "document.id"]), st.sampled_from(["chunk", "document"])
)
def test_reading_all_documents_together_is_reading_one_after_the_other(
    returned: list[Any], source: str | None, unit: Unit
) -> None:
    def one_by_one() -> list[str]:
        return [id_of(item, source, unit, documents._label(number, "q")) for number, item in enumerate(returned, 1)]

    def scores_one_by_one() -> Any:
        found = [number_of(item, "score") for item in returned]
        if any(score is not None for score in found):
            return found, False
        return [number_of(item, "distance") for item in returned], True

    read = DocumentColumns(returned)
    assert same(result_or_error(lambda: read.ids(source, unit, "q")), result_or_error(one_by_one))
    assert same(list(read.texts()), [text_of(item) for item in returned])
    assert same(list(read.metadata()), [metadata_of(item) for item in returned])
    values, are_distances = read.scores()
    expected, expected_distances = scores_one_by_one()
    assert same(None if values is None else list(values), expected if any(x is not None for x in expected) else None)
    assert values is None or are_distances is expected_distances


@pytest.mark.parametrize(
    "returned",
    [
        [(f"d{number}", 1.0 / (number + 1)) for number in range(20)],
        [{"id": f"d{number}", "score": 0.5, "text": "…"} for number in range(20)],
        [LangChainDocument("…", {"source": "a"}, f"d{number}") for number in range(20)],
        [NodeWithScore(TextNode(f"d{number}", "…"), 0.5) for number in range(20)],
        [f"d{number}" for number in range(20)],
        list(range(20)),
    ],
)
def test_usual_documents_are_read_together(returned: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: Any) -> Any:
        raise AssertionError("a document was read by itself")

    for name in ("id_of", "number_of", "text_of", "metadata_of"):
        monkeypatch.setattr(documents, name, forbidden)
    ranked = AnswerRules().rank(answer_of(returned), "q")
    assert ranked.ids == tuple(str(number) if isinstance(returned[0], int) else f"d{number}" for number in range(20))
    assert len(DocumentColumns(returned).texts()) == 20
    assert len(DocumentColumns(returned).metadata()) == 20


def test_a_function_for_ids_is_called_once_per_document() -> None:
    numbers = iter(range(9))
    assert AnswerRules(id=lambda _: next(numbers)).rank(answer_of([{}, {}]), "q").ids == ("0", "1")


def test_a_score_that_is_too_large_is_one_clear_error() -> None:
    with pytest.raises(InputError, match="score of document 'b' for query 'q' must be a number, found int"):
        AnswerRules().rank(answer_of([("a", 1.0), ("b", 10**400)]), "q")
