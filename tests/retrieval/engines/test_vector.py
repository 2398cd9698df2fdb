from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.core.ids import Ids
from rankgauge.core.run import Run
from rankgauge.errors import InputError, InputTypeError, UsageError
from rankgauge.io.corpus.corpus import InMemoryCorpus
from rankgauge.retrieval.embedders.embedder import CallableEmbedder
from rankgauge.retrieval.embedders.hashed import HashedWords
from rankgauge.retrieval.engines.vector import Exact, UnitVectors, Vector, cosines, float32_error, to_unit
from rankgauge.retrieval.ranked_scores import ranked_run
from rankgauge.retrieval.retriever import QueryBatch
from tests.retrieval.corpora import KITCHEN, QUERIES, made_up, made_up_queries


@given(st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_cosines_are_exact_so_that_the_order_of_adding_does_not_matter(width: int, seed: int) -> None:
    rows = to_unit(np.random.default_rng(seed).normal(size=(3, width)))
    made = cosines(rows[:1], rows[1:])[0]
    for place, row in enumerate(rows[1:]):
        whole = [int(a * 2**24) * int(b * 2**24) for a, b in zip(rows[0].tolist(), row.tolist(), strict=True)]
        assert made[place] * 2.0**48 == sum(whole)


def test_a_zero_vector_stays_zero() -> None:
    assert not to_unit(np.zeros((1, 4))).any()


def test_vectors_must_be_finite() -> None:
    with pytest.raises(InputError, match="row 2"):
        to_unit(np.array([[1.0, 2.0], [np.nan, 1.0]]))


def search_all(vectors: UnitVectors, ids: Ids, queries: UnitVectors, k: int) -> Run:
    scores = queries.astype(float) @ vectors.astype(float).T
    real = np.flatnonzero(vectors.any(axis=1))
    found = [
        (real, row[real]) if query.any() else (real[:0], row[:0]) for query, row in zip(queries, scores, strict=True)
    ]
    return ranked_run("x", Ids.from_text([f"q{at}" for at in range(len(queries))]), ids, found, k)


@pytest.mark.slow
@given(
    st.integers(1, 60), st.integers(1, 8), st.integers(1, 30), st.integers(1, 20), st.integers(1, 5), st.integers(0, 99)
)
def test_a_search_in_blocks_finds_what_a_search_of_all_documents_finds(
    documents: int, queries: int, k: int, scores_per_block: int, query_block: int, seed: int
) -> None:
    chance = np.random.default_rng(seed)
    vectors = to_unit(
        chance.integers(-1, 2, size=(documents, 3))
    )  # few directions, hence many ties, and some zero vectors
    query_vectors = to_unit(chance.integers(-1, 2, size=(queries, 3)))
    ids = Ids.from_text([f"d{chance.integers(1000)}-{at}" for at in range(documents)])
    offsets, rows, scores = Exact(vectors, ids, scores_per_block=scores_per_block, query_block=query_block).search(
        query_vectors, k
    )
    expected = search_all(vectors, ids, query_vectors, k)
    assert offsets.tolist() == expected.offsets.tolist()
    assert list(ids.take(rows)) == list(expected.docs)
    assert scores.tolist() == expected.scores.tolist()


@pytest.mark.slow
@given(st.integers(2, 400), st.integers(1, 40), st.integers(1, 600), st.integers(0, 2**32 - 1))
def test_near_ties_are_ordered_as_their_exact_cosines_are(width: int, k: int, scores_per_block: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    start = chance.normal(size=width)
    # Cosines that differ from nothing to a thousand times the precision of float32, and exact ties.
    steps = 10.0 ** chance.integers(-9, -3, size=(80, 1)) * chance.normal(size=(80, width))
    vectors = to_unit(np.concatenate([start + steps, start + steps[:20], np.zeros((3, width))]))
    ids = Ids.from_text([f"d{number}" for number in chance.permutation(len(vectors))])
    # Where cosines are near 0, the error of float32 exceeds the margin that rounding to six digits needs anyway.
    across = chance.normal(size=width)
    across -= (across @ start) / (start @ start) * start
    queries = to_unit(np.stack([start + 0.1 * across, start, -start, across]))
    offsets, rows, scores = Exact(vectors, ids, scores_per_block=scores_per_block).search(queries, k)
    expected = search_all(vectors, ids, queries, k)
    assert offsets.tolist() == expected.offsets.tolist()
    assert list(ids.take(rows)) == list(expected.docs)
    assert scores.tolist() == expected.scores.tolist()


@given(st.integers(1, 3000), st.integers(0, 2**32 - 1), st.booleans())
def test_the_error_of_float32_cosines_is_within_its_bound(width: int, seed: int, same_sign: bool) -> None:
    values = np.random.default_rng(seed).normal(size=(2, width))
    query, document = to_unit(np.abs(values) if same_sign else values)
    exact = float(cosines(query[None], document[None])[0, 0])
    one_by_one = np.cumsum(query * document, dtype=np.float32)[-1]
    for near in (query @ document, one_by_one):
        assert abs(float(near) - exact) <= float32_error(width)


def test_a_query_without_words_gets_nothing_and_a_document_without_words_is_never_returned() -> None:
    run = Vector(KITCHEN, HashedWords()).retrieve(QUERIES, 10)
    assert np.diff(run.offsets).tolist() == [4, 4, 0, 4, 0]
    assert b"blank" not in set(run.docs)


def test_vectors_on_disk_answer_the_same_and_are_rebuilt_only_if_something_changed(tmp_path: Path) -> None:
    corpus = made_up(60)
    queries = made_up_queries(corpus, 5)
    first = Vector(corpus, HashedWords(256), index=tmp_path / "v")
    again = Vector(corpus, HashedWords(256), index=tmp_path / "v")
    assert (first.rebuilt, again.rebuilt) == (True, False)
    assert isinstance(again.vectors, np.memmap)
    assert first.retrieve(queries, 9).sha256 == again.retrieve(queries, 9).sha256
    assert Vector(corpus, HashedWords(128), index=tmp_path / "v").rebuilt


@pytest.mark.parametrize("center", [0.0, 0.5, 1.0])
def test_centered_vectors_are_those_of_the_formula(center: float, tmp_path: Path) -> None:
    texts = ["salt and pepper", "salt the water", "", "pepper grinder", "boil water"]
    corpus = InMemoryCorpus({f"d{place}": text for place, text in enumerate(texts)})
    made = Vector(corpus, HashedWords(64), center=center, index=tmp_path / "v")
    plain = Vector(corpus, HashedWords(64)).vectors.astype(np.float64)
    has = plain.any(axis=1)
    expected = plain - center * plain[has].mean(axis=0)
    expected[~has] = 0
    expected[has] /= np.linalg.norm(expected[has], axis=1, keepdims=True)
    assert np.allclose(made.vectors, expected, atol=1e-6)
    again = Vector(corpus, HashedWords(64), center=center, index=tmp_path / "v")
    queries = QueryBatch.from_dict({"q": "salt water", "empty": " "})
    assert not again.rebuilt
    first, second = made.retrieve(queries, 5), again.retrieve(queries, 5)
    assert list(first.docs) == list(second.docs)
    assert first.scores.tolist() == second.scores.tolist()
    assert first.offsets.tolist()[2] == first.offsets.tolist()[1]  # a query without words gets nothing
    assert b"d2" not in list(first.docs)  # nor is a document without words returned


def test_the_share_of_the_mean_to_subtract_is_from_0_to_1() -> None:
    corpus = InMemoryCorpus({"a": "one two", "b": "two three"})
    assert Vector(corpus, HashedWords(64)).identity()["center"] == 0
    with pytest.raises(UsageError, match="from 0"):
        Vector(corpus, HashedWords(64), center=1.5)


def test_an_embedder_that_returns_nonsense_is_named() -> None:
    with pytest.raises(InputError, match="returned 1 vectors for 5 texts"):
        Vector(KITCHEN, CallableEmbedder(lambda texts: [[1.0, 2.0]], "mine"))
    with pytest.raises(InputTypeError, match="mine must return one row of numbers per text"):
        Vector(KITCHEN, CallableEmbedder(lambda texts: "nonsense", "mine"))


def test_query_and_document_vectors_must_have_the_same_width() -> None:
    def wide(texts: list[str], side: str) -> list[list[float]]:
        return [[1.0] * (2 if side == "query" else 3) for _ in texts]

    with pytest.raises(InputError, match="query vectors have 2 dimensions, document vectors 3"):
        Vector(KITCHEN, CallableEmbedder(wide, "mine")).retrieve(QueryBatch.from_dict({"q": "x"}), 1)
