"""Queries and documents: texts, and any column that is known of them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from rankgauge import InputError, Qrels, read_corpus, read_qrels, read_queries
from rankgauge.io.queries import read_query_ids


def written(folder: Path, data: bytes) -> Path:
    (folder / "queries").write_bytes(data)
    return folder / "queries"


@pytest.mark.parametrize(
    "data",
    [
        b'{"_id": "1", "text": "how?", "category": "a", "difficulty": 2}\n'
        b'{"_id": "02", "text": "why?", "category": "b"}\n',
        b'{"_id": "1", "text": "how?", "metadata": {"category": "a", "difficulty": 2}}\n'
        b'{"_id": "02", "text": "why?", "metadata": {"category": "b"}}\n',
        b"query_id,query,category,difficulty\n1,how?,a,2\n02,why?,b,\n",
        b"qid\ttext\tcategory\tdifficulty\n1\thow?\ta\t2\n02\twhy?\tb\t\n",
        b'[{"id": 1, "question": "how?", "category": "a", "difficulty": 2}, '
        b'{"id": "02", "question": "why?", "category": "b"}]',
    ],
)
def test_queries_have_texts_and_columns(tmp_path: Path, data: bytes) -> None:
    queries = read_queries(written(tmp_path, data))
    assert list(queries.ids) == [b"1", b"02"]
    assert queries.texts == ["how?", "why?"]
    assert queries.columns == {"category": {"1": "a", "02": "b"}, "difficulty": {"1": 2}}
    qrels = Qrels.from_dict({"1": {"a": 1}, "02": {"a": 1}, "3": {"a": 1}}).with_columns(queries.columns)
    assert qrels.columns["category"].tolist() == ["b", "a", None]


def test_ms_marco_has_ids_and_texts_between_tabs(tmp_path: Path) -> None:
    queries = read_queries(written(tmp_path, b'1048585\twhat is, pau\n2\t"and" this\n'))
    assert (list(queries.ids), queries.texts) == ([b"1048585", b"2"], ["what is, pau", '"and" this'])


def test_numbers_that_are_names_stay_texts(tmp_path: Path) -> None:
    queries = read_queries(written(tmp_path, b"qid,text,unit,k,weight\n1,x,007,5,0.5\n2,y,8,10,1\n"))
    assert queries.columns == {"unit": {"1": "007", "2": "8"}, "k": {"1": 5, "2": 10}, "weight": {"1": 0.5, "2": 1.0}}


def test_the_shipped_collection_is_read() -> None:
    home = files("rankgauge") / "data" / "workshop"
    queries, corpus = read_queries(str(home / "queries.jsonl")), read_corpus(str(home / "corpus.jsonl"))
    assert (len(queries), len(corpus.ids)) == (48, 216)
    document = next(iter(corpus))
    assert document.title == "Reading the size on a tyre sidewall"
    assert document.text.startswith("The most reliable size")
    qrels = read_qrels(str(home / "qrels.trec")).with_columns(queries.columns)
    assert set(qrels.columns) == {"category", "difficulty"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "file is empty"),
        (b'{"_id": "1", "text": "x"}\n{"_id": "1", "text": "y"}\n',
         r"queries:2: expected each query id once, found '1' again \(first on line 1\)"),
        (b'{"text": "x"}\n', "expected a query id"),
        (b'{"_id": null}\n', "queries:1: expected a string or a whole number as query id, found nothing"),
        (b"a,b,c\n1,2,3\n", "queries:1: expected a header with a query id"),
        (b"q1\tone text\nq2\tx\nq1\tother\n", r"queries:3: expected each query id once, found 'q1' again"),
        (b"qid,text\n1,a,b\n", "queries:2: expected 2 columns"),
    ],
)  # fmt: skip
def test_faults_are_reported_with_their_place(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_queries(written(tmp_path, data))


@pytest.mark.parametrize(
    "data",
    [
        b'{"_id": "q1", "text": "a"}\n{"_id": "q2", "text": "b"}\n',
        b'{"qid": 1, "query": "a"}\n',
        b"q1\tfirst text\nq2\tother, with a comma\n",
        b"q1 first text, with a comma\nq2 other\n",
        b"query_id,text\nq1,a\nq2,b\n",
        b"q1\nq2\n",
        b"<top>\n<num> Number: q1\n<title> a\n</top>\n<top>\n<num> Number: q2 </num>\n",
        b'<topics><topic number="q1"><query>a</query></topic><topic number="q2"/></topics>',
    ],
)
def test_query_ids_are_read_from_every_format_of_queries(tmp_path: Path, data: bytes) -> None:
    ids = list(read_query_ids(written(tmp_path, data)))
    assert ids == ([b"1"] if b'"qid"' in data else [b"q1", b"q2"])


@pytest.mark.parametrize("data", [b"", b"<xml></xml>", b"\n", b"<top><title>no number</top>"])
def test_a_file_without_a_query_is_an_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputError):
        read_query_ids(written(tmp_path, data))


def test_query_ids_that_are_passed_are_taken_once() -> None:
    assert list(read_query_ids(["b", b"a", "b"])) == [b"b", b"a"]


def test_lines_of_id_and_text_need_no_tab(tmp_path: Path) -> None:
    queries = read_queries(written(tmp_path, b"q1 what, and why?\n\nq2\r\n"))
    assert (list(queries.ids), queries.texts) == ([b"q1", b"q2"], ["what, and why?", None])
