from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankgauge.config.retriever_settings import BM25_VARIANTS, Bm25Parameters
from rankgauge.core.run import Status
from rankgauge.errors import InputError, UsageError
from rankgauge.io.corpus.corpus import CorpusDocument, InMemoryCorpus
from rankgauge.retrieval.engines.lexical import Lexical
from rankgauge.retrieval.language import Vocabulary
from rankgauge.retrieval.retriever import QueryBatch
from tests.retrieval.corpora import KITCHEN, QUERIES, made_up, made_up_queries

bm25s = pytest.importorskip("bm25s")


def test_only_documents_that_share_a_word_are_returned() -> None:
    run = Lexical(KITCHEN).retrieve(QUERIES, 10)
    found = {query: set(run.docs.take(np.arange(*run.offsets[at : at + 2]))) for at, query in enumerate(run.queries)}
    assert found == {b"q1": {b"bread", b"cake"}, b"q2": {b"soup", b"tea"}, b"q3": set(), b"q4": set(), b"q5": set()}
    assert run.status.tolist() == [Status.ANSWERED, Status.ANSWERED, Status.EMPTY, Status.EMPTY, Status.EMPTY]


@pytest.mark.parametrize("variant", BM25_VARIANTS)
def test_scores_are_those_of_bm25s(variant: str) -> None:
    corpus = made_up(200)
    queries = made_up_queries(corpus, 20)
    run = Lexical(corpus, parameters=Bm25Parameters(variant=variant), stemmer="none", stopwords="none").retrieve(
        queries, 200
    )
    peer = bm25s.BM25(k1=1.2, b=0.75, method=variant)
    peer.index([document.text.split() for document in corpus], show_progress=False)
    places = {document.id: at for at, document in enumerate(corpus)}
    for at, text in enumerate(queries.texts):
        scores = peer.get_scores(text.split())
        for row in range(run.offsets[at], run.offsets[at + 1]):
            assert run.scores[row] == pytest.approx(scores[places[run.docs[row]]], rel=1e-5)


def test_a_depth_beyond_the_corpus_is_fine() -> None:
    assert len(Lexical(KITCHEN).retrieve(QUERIES, 1000)) == 4


def test_a_corpus_without_words_answers_nothing() -> None:
    run = Lexical(InMemoryCorpus({"a": "", "b": "the of"})).retrieve(QUERIES, 5)
    assert len(run) == 0
    assert len(run.queries) == len(QUERIES)


def test_words_are_lower_case_stems_without_stop_words() -> None:
    vocabulary = Vocabulary()
    assert vocabulary.add_text("The Bakers are BAKING; bakes baked") == [0, 1, 1, 1]
    assert list(vocabulary.stem_numbers) == ["baker", "bake"]
    assert vocabulary.look_up("bake the unknown bakers").tolist() == [1, 0]


def test_an_index_on_disk_answers_the_same_and_is_rebuilt_only_if_something_changed(tmp_path: Path) -> None:
    corpus = made_up(100)
    queries = made_up_queries(corpus, 10)
    first = Lexical(corpus, index=tmp_path / "index")
    again = Lexical(corpus, index=tmp_path / "index")
    assert (first.rebuilt, again.rebuilt) == (True, False)
    assert again.retrieve(queries, 20).sha256 == first.retrieve(queries, 20).sha256
    assert Lexical(corpus, parameters=Bm25Parameters(b=0.5), index=tmp_path / "index").rebuilt
    more = InMemoryCorpus([*corpus, CorpusDocument(b"new", "", "w1")])
    assert Lexical(more, parameters=Bm25Parameters(b=0.5), index=tmp_path / "index").rebuilt
    assert not Lexical(more, parameters=Bm25Parameters(b=0.5), index=tmp_path / "index").rebuilt


def test_a_folder_that_holds_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="does not hold an index"):
        Lexical(KITCHEN, index=tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_a_damaged_index_is_rebuilt(tmp_path: Path) -> None:
    Lexical(KITCHEN, index=tmp_path / "index")
    (tmp_path / "index" / "weight.npy").write_bytes(b"")
    assert Lexical(KITCHEN, index=tmp_path / "index").rebuilt


def test_a_document_id_that_appears_twice_is_an_error() -> None:
    with pytest.raises(InputError, match="each document id once, found 'a' again"):
        Lexical(InMemoryCorpus([CorpusDocument(b"a", "", "x"), CorpusDocument(b"a", "", "y")]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bm25Parameters(variant="bm26"), "variant: expected one of lucene, .* found 'bm26'"),
        (lambda: Bm25Parameters(b=2), "b: expected a number from 0 to 1, found 2"),
        (lambda: Vocabulary("englsh"), "did you mean english"),
        (lambda: Vocabulary("english", "not-there.txt"), "a file with one word per line"),
    ],
)
def test_a_wrong_parameter_is_a_usage_error(make: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()  # type: ignore[operator]  # one of the functions above


def test_stop_words_can_be_a_file_or_a_list(tmp_path: Path) -> None:
    (tmp_path / "stop.txt").write_text("Baking\nbread\n")
    queries = QueryBatch.from_dict({"q": "baking bread"})
    assert len(Lexical(KITCHEN, stopwords=str(tmp_path / "stop.txt"), stemmer="none").retrieve(queries, 9)) == 0
    assert len(Lexical(KITCHEN, stopwords=["baking"], stemmer="none").retrieve(queries, 9)) == 1
