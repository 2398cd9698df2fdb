"""A benchmark uses the texts that retrievers return: without a corpus, and for chunks that the corpus does not have."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge.benchmark.folder import MANIFEST, REPORT, SNIPPETS, read_inputs, report_of_inputs
from rankgauge.benchmark.plan import shipped_plan
from rankgauge.benchmark.run import run_benchmark
from tests.conftest import Outcome

Command = Callable[..., Outcome]
TEXTS = {
    "c1": "Squealing brakes need cleaning with alcohol.",
    "c2": "A chain is cleaned with a brush and oiled afterwards.",
    "c3": "Tires have their pressure printed on the side.",
}
GOLD = {"q1": "Squealing brakes need cleaning", "q2": "cleaned with a brush"}
MODULE = f"""
TEXTS = {TEXTS!r}

def _found(query, order):
    order = order if "chain" in query else order[::-1]
    return [{{"id": name, "text": TEXTS[name], "score": 1 / rank}} for rank, name in enumerate(order, 1)]

def first(query):
    return _found(query, ["c2", "c3", "c1"])

def second(query):
    return _found(query, ["c3", "c2", "c1"])

def plain(query):
    return ["c1", "c2"]
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: dict[str, list[dict[str, Any]]] = {
        "queries.jsonl": [{"_id": "q1", "text": "noisy brakes"}, {"_id": "q2", "text": "dirty chain"}],
        "gold.jsonl": [
            {"query_id": query, "query": text, "gold": [GOLD[query]]}
            for query, text in (("q1", "noisy brakes"), ("q2", "dirty chain"))
        ],
        "corpus.jsonl": [{"_id": name, "text": text} for name, text in TEXTS.items()],
    }
    for name, records in rows.items():
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / "qrels").write_text("q1 0 c1 1\nq2 0 c2 1\n")
    (tmp_path / "returning_texts.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "returning_texts", raising=False)


def retrievers(*names: str) -> list[str]:
    return [word for name in names for word in ("--retriever", f"returning_texts:{name}")]


def benchmark(command: Command, *words: str) -> Outcome:
    return command("benchmark", "run", *words, "--latency", "0", "-o", "out")


def values(path: str = f"out/{REPORT}") -> dict[str, dict[str, float]]:
    runs = json.loads(Path(path).read_bytes())["scores"]["runs"]
    return {run["name"]: {name: entry["value"] for name, entry in run["measures"].items()} for run in runs}


def test_the_page_shows_returned_texts_without_a_corpus(command: Command) -> None:
    inputs = ["--queries", "queries.jsonl", "--qrels", "qrels", "-m", "RR"]
    done = benchmark(command, *retrievers("first", "second"), *inputs)
    assert done.code == 0, done.err
    assert values() == {"first": {"RR": 1.0}, "second": {"RR": 0.75}}
    assert TEXTS["c2"] in Path("out", SNIPPETS).read_text()
    manifest = json.loads(Path("out", MANIFEST).read_bytes())
    assert report_of_inputs(read_inputs(Path("out"), manifest), manifest).snippets == TEXTS
    assert command("benchmark", "verify", "out").code == 0
    assert benchmark(command, *retrievers("plain"), *inputs).code == 0
    assert not Path("out", SNIPPETS).exists()


def write_config(corpus: str = "", more: str = "") -> None:
    Path("rankgauge.yaml").write_text(
        f"collection: {{{corpus}gold: gold.jsonl, queries: queries.jsonl}}\n"
        "retrievers:\n  first: {mode: 'returning_texts:first'}\n  second: {mode: 'returning_texts:second'}\n" + more
    )


def test_labels_by_text_are_matched_with_returned_texts_as_with_the_corpus(command: Command) -> None:
    measures = ("-m", "StRecall@1", "-m", "EvidenceAll@1")
    write_config("corpus: corpus.jsonl, ")
    assert benchmark(command, "rankgauge.yaml", *measures).code == 0
    with_corpus = values()
    write_config()
    done = benchmark(command, "rankgauge.yaml", *measures)
    assert done.code == 0, done.err
    assert values() == with_corpus
    assert with_corpus["first"]["StRecall@1"] == 1.0 != with_corpus["second"]["StRecall@1"]
    manifest = json.loads(Path("out", MANIFEST).read_bytes())
    assert manifest["data"]["test collection"]["chunkings"]["documents"]["complete"] is False
    done = command("benchmark", "verify", "out")
    assert done.code == 0, done.out


def test_a_quote_that_no_retriever_returned_is_not_called_missing(command: Command) -> None:
    with Path("gold.jsonl").open("a") as file:
        file.write(json.dumps({"query_id": "q2", "gold": ["a quote of a chunk that nobody returned"]}) + "\n")
    write_config("corpus: corpus.jsonl, ")
    assert "found in no chunk" in benchmark(command, "rankgauge.yaml").out
    write_config()
    done = benchmark(command, "rankgauge.yaml")
    assert (done.code, "found in no chunk" in done.out) == (0, False)
    assert command("benchmark", "verify", "out").code == 0


def test_measures_with_an_ideal_ranking_need_all_chunks(command: Command) -> None:
    write_config()
    assert benchmark(command, "rankgauge.yaml").code == 0
    assert not any(name.startswith("alpha_nDCG") for name in values()["first"])
    done = benchmark(command, "rankgauge.yaml", "-m", "alpha_nDCG@10")
    assert (done.code, "has an ideal ranking, which is made of all chunks" in done.err) == (64, True), done.err


def test_a_retriever_without_texts_is_refused_for_labels_by_text(command: Command) -> None:
    Path("rankgauge.yaml").write_text(
        "collection: {gold: gold.jsonl, queries: queries.jsonl}\nretrievers: {plain: {mode: 'returning_texts:plain'}}\n"
    )
    done = benchmark(command, "rankgauge.yaml")
    assert (done.code, "run 'plain' has no texts" in done.err) == (2, True), done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--retriever", "lexical", "--qrels", "qrels"], "lexical retrieval needs a corpus"),
        (["--retriever", "returning_texts:first", "--qrels", "qrels"], "needs the texts of the queries to ask"),
        (["--retriever", "returning_texts:first", "--queries", "queries.jsonl"], "needs --qrels"),
    ],
)
def test_what_a_benchmark_without_a_corpus_lacks_is_named(words: list[str], message: str, command: Command) -> None:
    done = benchmark(command, *words)
    assert (done.code, message in done.err) == (64, True), done.err


def test_the_same_answers_give_the_same_folder(tmp_path: Path) -> None:
    def find(text: str, k: int) -> list[dict[str, str]]:
        return [{"id": "kb-001", "text": f"a text of {len(text)} characters"}]

    digests = []
    for name in ("one", "two"):
        run_benchmark(shipped_plan(latency=0, systems={"find": find}), tmp_path / name)
        digests.append((tmp_path / name / "runs/find.jsonl").read_bytes())
    assert digests[0] == digests[1]
    assert b"latency" not in digests[0]


# Chunks that are returned beside a corpus of whole documents: their texts are those that labels are matched with.


def write_whole_documents(name: str) -> None:
    """A corpus of one document, which has all chunks."""
    Path("whole.jsonl").write_text(json.dumps({"_id": name, "text": " ".join(TEXTS.values())}) + "\n")


@pytest.mark.parametrize("beside", [(), ("lexical",)])
def test_chunks_that_the_corpus_does_not_have_are_matched_by_their_own_texts(
    command: Command, beside: tuple[str, ...]
) -> None:
    write_whole_documents("guide")
    measures = ("-m", "StRecall@1", "-m", "alpha_nDCG(alpha=1)@3", "-m", "EvidenceAll@1")
    write_config()
    assert benchmark(command, "rankgauge.yaml", *measures[:2], *measures[4:]).code == 0
    expected = values()
    more = "".join(f"  {name}: {{mode: {name}}}\n" for name in beside)
    write_config("corpus: whole.jsonl, ", more)
    done = benchmark(command, "rankgauge.yaml", *measures)
    assert done.code == 0, done.err
    assert {name: found for name, found in values().items() if name not in beside} == expected
    assert expected["first"]["StRecall@1"] == 1.0
    assert "left out: alpha_nDCG(alpha=1)@3, whose ideal ranking is made of all chunks" in done.err
    chunkings = json.loads(Path("out", MANIFEST).read_bytes())["data"]["test collection"]["chunkings"]
    assert list(chunkings) == [*(["documents"] if beside else []), "returned"]
    assert command("benchmark", "verify", "out").code == 0


def test_results_whose_texts_are_nowhere_are_refused_with_what_to_do(command: Command) -> None:
    write_whole_documents("guide")
    words = ("gold.jsonl", "returning_texts:plain")
    done = benchmark(command, *words, "--corpus", "whole.jsonl")
    assert (done.code, "'plain': 2 of 2 retrieved documents have no text" in done.err) == (2, True), done.err
    assert "or return the text of each result" in done.err
    done = benchmark(command, *words)
    assert (done.code, "--corpus PATH" in done.err) == (2, True), done.err


def test_chunks_with_the_ids_of_documents_are_named(command: Command) -> None:
    write_whole_documents("c1")
    Path("same_ids.py").write_text(
        "def search(query):\n    return [{'id': 'c1', 'text': 'Tires have their pressure'}]\n"
    )
    done = benchmark(command, "gold.jsonl", "./same_ids.py:search", "--corpus", "whole.jsonl", "-m", "StRecall@1")
    assert done.code == 0, done.err
    assert "search: 1 document came with other texts than whole.jsonl has" in done.err


@pytest.mark.parametrize("corpus", [(), ("--corpus", "corpus.jsonl")])
def test_queries_may_be_those_of_the_labels(command: Command, corpus: tuple[str, ...]) -> None:
    rows = [{"id": "q1", "query": "noisy brakes", "relevant_ids": ["c1"]}]
    Path("cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    own = retrievers("first") + (["--retriever", "lexical"] if corpus else [])
    done = benchmark(command, "--qrels", "cases.jsonl", *own, *corpus, "-m", "RR")
    assert done.code == 0, done.err
    assert values()["first"] == {"RR": 1.0}
    done = benchmark(command, "--qrels", "qrels", *own, *corpus)
    assert (done.code, "needs the texts of the queries" in done.err) == (64, True), done.err
