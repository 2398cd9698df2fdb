"""Collections of ir_datasets, with a small module in its place: nothing is fetched."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from rankgauge import InputError, convert, evaluate, read_qrels, read_queries, read_run


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class Scored(NamedTuple):
    query_id: str
    doc_id: str
    score: float


class Query(NamedTuple):
    query_id: str
    text: str
    category: str


class Judged:
    def qrels_iter(self) -> Iterator[Qrel]:
        yield Qrel("1", "a", 2, "0")
        yield Qrel("1", "b", 0, "0")

    def queries_iter(self) -> Iterator[Query]:
        yield Query("1", "what?", "how-to")


class Scoring(Judged):
    def scoreddocs_iter(self) -> Iterator[Scored]:
        yield Scored("1", "b", 2.5)
        yield Scored("1", "a", 1.5)


class Offline:
    def qrels_iter(self) -> Iterator[Qrel]:
        raise RuntimeError("no network")


@pytest.fixture(autouse=True)
def ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"beir/mini/test": Judged(), "mini/scored": Scoring(), "mini/offline": Offline()}
    module: Any = ModuleType("ir_datasets")
    module.load = lambda name: known[name]
    monkeypatch.setitem(sys.modules, "ir_datasets", module)


def test_judgments_results_and_queries(command: Callable[..., Any], tmp_path: Path) -> None:
    qrels, run = read_qrels("irds:beir/mini/test"), read_run("irds:mini/scored")
    assert (list(qrels.docs), qrels.grades.tolist()) == ([b"a", b"b"], [2, 0])
    assert evaluate(qrels, run, "RR")["RR"] == 0.5
    queries = read_queries("irds:beir/mini/test")
    assert (queries.texts, queries.columns) == (["what?"], {"category": {"1": "how-to"}})
    assert evaluate("irds:beir/mini/test", "irds:mini/scored", "RR")["RR"] == 0.5
    assert convert("irds:beir/mini/test", tmp_path / "q.trec", kind="qrels").source == "irds"
    assert (tmp_path / "q.trec").read_bytes() == b"1 0 a 2\n1 0 b 0\n"
    assert command("convert", "irds:beir/mini/test", tmp_path / "q.trec").code == 64


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("irds:nowhere", "ir_datasets has no collection 'nowhere'"),
        ("irds:beir/mini/test", "collection 'beir/mini/test' has no scoreddocs"),
    ],
)
def test_what_is_missing_is_reported(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_run(name)


def test_a_download_that_fails_is_an_error() -> None:
    with pytest.raises(InputError, match="irds:mini/offline: cannot be read: 'no network'"):
        read_qrels("irds:mini/offline")
