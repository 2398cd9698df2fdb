from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge.io.read import read_run

pytest.importorskip("bm25s")
Command = Callable[..., Any]


@pytest.fixture
def workshop(tmp_path: Path, command: Command) -> Path:
    assert command("demo", "--copy", tmp_path / "w").code == 0
    return tmp_path / "w"


def test_lexical_and_vector_runs_are_those_that_the_package_ships(workshop: Path, command: Command) -> None:
    pytest.importorskip("wordllama")
    for mode in ("lexical", "vector"):
        out = workshop / f"{mode}.trec"
        done = command(
            "runs", "fetch", "--mode", mode, "--set", "retriever.center=0", "--corpus", workshop, "--k", 50, "-o", out
        )
        assert done.code == 0, done.err
        made, shipped = read_run(out), read_run(workshop / "runs" / f"{mode}.trec")
        assert list(made.docs) == list(shipped.docs)
        # bm25s and WordLlama, which made those, add in float32, whose noise reaches the sixth digit.
        assert made.scores == pytest.approx(shipped.scores, rel=1.1e-5)


def test_an_index_folder_is_used_again(workshop: Path, command: Command) -> None:
    arguments = ["runs", "fetch", "--mode", "hybrid", "--embedder", "bow", "--corpus", workshop]
    for name in ("one", "two"):
        assert command(*arguments, "--index", workshop / "index", "-o", workshop / name).code == 0
    assert (workshop / "one").read_bytes() == (workshop / "two").read_bytes()
    assert (workshop / "index" / "lexical" / "header.json").exists()
    assert (workshop / "index" / "vector" / "header.json").exists()


def test_the_manifest_has_hashes_and_the_latency_or_null(workshop: Path, command: Command) -> None:
    arguments = ["runs", "fetch", "--corpus", workshop / "corpus.jsonl", "--queries", workshop / "queries.jsonl"]
    done = command(*arguments, "-o", workshop / "r", "--manifest", workshop / "m.json")
    assert done.code == 0
    manifest = json.loads((workshop / "m.json").read_text())
    assert manifest["schema"] == "rankgauge.fetch/1"
    assert {len(manifest[part]["sha256"]) for part in ("corpus", "queries", "run")} == {64}
    assert manifest["latency"] == {"unit": "ms", "calls": 0, "p50": None, "p95": None, "p99": None, "max": None}
    done = command(*arguments, "-o", workshop / "r", "--manifest", workshop / "m.json", "--latency", 7)
    assert json.loads((workshop / "m.json").read_text())["latency"]["calls"] == 7
    assert "over 7 calls" in done.err


def test_gate_router_and_reranker_leave_a_log_that_pipeline_reads(workshop: Path, command: Command) -> None:
    rows = [json.loads(line) for line in (workshop / "corpus.jsonl").read_text().splitlines()]
    for name, part in (("a", rows[:100]), ("b", rows[100:])):
        (workshop / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    queries = [json.loads(line) for line in (workshop / "queries.jsonl").read_text().splitlines()]
    for number, query in enumerate(queries):
        query.update(optional=1, optimal_expert="ab"[number % 2], needs_retrieval=True)
    (workshop / "q.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    done = command(
        *["runs", "fetch", "--embedder", "bow", "--queries", workshop / "q.jsonl", "-o", workshop / "r"],
        *["--set", f"retriever.experts={{a: {workshop / 'a.jsonl'}, b: {workshop / 'b.jsonl'}}}"],
        *["--rerank", "sentences", "--set", "retriever.gate=words>=4", "--log", workshop / "log.jsonl"],
    )
    assert done.code == 0, done.err
    first = json.loads((workshop / "log.jsonl").read_text().splitlines()[0])
    assert {"query_id", "expert", "optimal_expert", "skipped", "retrieved_ids", "reranked_ids"} <= set(first)
    read = command("pipeline", workshop / "log.jsonl", "--qrels", workshop / "qrels.trec")
    assert read.code == 0, read.err
    for word in ("routing", "gate", "rerank"):
        assert word in read.out


def test_faiss_gives_the_same_run_as_the_exact_search(workshop: Path, command: Command) -> None:
    pytest.importorskip("faiss")
    arguments = ["runs", "fetch", "--mode", "vector", "--embedder", "bow", "--corpus", workshop]
    for search in ("exact", "faiss"):
        assert command(*arguments, "--set", f"retriever.search={search}", "-o", workshop / search).code == 0
    assert (workshop / "exact").read_bytes() == (workshop / "faiss").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--mode", "lexcial"], 64, "did you mean lexical"),
        (["--set", "retriever.gate=nonsense"], 64, "unknown gate 'nonsense'"),
        (["--set", "retriever.experts=a"], 64, "--set retriever.experts: expected"),
        (["--set", "retriever.search=magic", "--mode", "vector", "--embedder", "bow"], 64, "unknown search 'magic'"),
        (["--set", "retriever.weights=a,b"], 64, "--set retriever.weights: expected a valid list"),
        (["--set", "retriever.vectors=x.npy", "--mode", "vector"], 64, "for both documents and queries"),
    ],
)
def test_a_wrong_option_says_what_is_wrong(
    arguments: list[str], code: int, message: str, workshop: Path, command: Command
) -> None:
    done = command("runs", "fetch", "--corpus", workshop, "-o", workshop / "r", *arguments)
    assert (done.code, message in done.err) == (code, True), done.err
    assert not (workshop / "r").exists()


def test_an_error_names_the_missing_option(workshop: Path, command: Command) -> None:
    done = command("runs", "fetch", "--corpus", workshop / "corpus.jsonl", "-o", workshop / "r")
    assert done.code == 64
    assert "name them: --queries" in done.err
    done = command("runs", "fetch", "--queries", workshop / "queries.jsonl", "-o", workshop / "r")
    assert done.code == 64
    assert "name it: --corpus" in done.err


@pytest.mark.parametrize("option", ["-o", "--log", "--manifest"])
@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_neither_corpus_nor_queries_are_ever_overwritten(
    option: str, name: str, workshop: Path, command: Command
) -> None:
    before = (workshop / name).read_bytes()
    done = command("runs", "fetch", "--corpus", workshop, "-o", workshop / "r", option, workshop / name)
    assert done.code == 2
    assert "would overwrite the input" in done.err
    assert (workshop / name).read_bytes() == before


def test_runs_are_fused_and_tuned(workshop: Path, command: Command) -> None:
    runs = [workshop / "runs" / f"{name}.trec" for name in ("lexical", "vector")]
    done = command("fuse", *runs, "-o", workshop / "f", "--k", 10, "--tag", "both")
    assert done.code == 0, done.err
    fused = read_run(workshop / "f")
    assert (fused.name, len(fused)) == ("both", 480)
    done = command("tune", workshop / "qrels.trec", *runs, "-o", workshop / "t", "--format", "json")
    result = json.loads(done.out)
    assert set(result) == {"schema", "measure", "value", "choice", "choices_tried", "queries", "scores", "notes"}
    assert result["value"] == result["scores"][-1]["test"]
    assert result["schema"] == "rankgauge.tuning/1"
    assert set(result["choice"]) == {"method", "weights", "normalization", "rrf_k"}
    assert [score["name"] for score in result["scores"]] == ["lexical", "vector", "rrf", "tuned"]
    assert len(read_run(workshop / "t").queries) == result["queries"]["test"]
    (workshop / "dev.txt").write_text("q01\nq02\nq03\n")
    done = command(
        "tune", workshop / "qrels.trec", *runs, "--dev", workshop / "dev.txt", "--test", workshop / "dev.txt"
    )
    assert done.code == 64
    assert "for both tuning and testing" in done.err
    done = command("tune", workshop / "qrels.trec", *runs, "--dev", workshop / "dev.txt", "--method", "rrf")
    assert "tuned on 3 queries, tested on 45" in done.out
    assert done.out.split("\n")[0].endswith(" on 45 queries that it was not tuned on")
    assert "14 choices were tried on these 3 queries" in done.out
    units = [{"_id": f"q{number:02d}", "text": "x", "unit": "u"} for number in range(1, 5)]
    (workshop / "units.jsonl").write_text("".join(json.dumps(row) + "\n" for row in units))
    topics = ["--queries", workshop / "units.jsonl", "--dev", workshop / "dev.txt"]
    assert "1 unit for both tuning and testing" in command("tune", workshop / "qrels.trec", *runs, *topics).err


def test_fused_timestamps_are_evaluated_in_their_order(tmp_path: Path, command: Command) -> None:
    lines = {"a": ["q Q0 new 1 1700000002 a", "q Q0 older 2 1700000001 a"], "b": ["q Q0 oldest 1 1700000000 b"]}
    for name, rows in lines.items():
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    (tmp_path / "qrels").write_text("q 0 new 1\n")
    options = ["--method", "combmax", "--normalization", "none", "-o", tmp_path / "f"]
    done = command("fuse", tmp_path / "b", tmp_path / "a", *options)
    assert done.code == 0, done.err
    assert "warning: some fused scores are too close for float32" in done.err
    assert read_run(tmp_path / "f").ranked().docs.to_text() == ["new", "older", "oldest"]
    assert "1.0000" in command("evaluate", tmp_path / "qrels", tmp_path / "f", "-m", "RR").out


def test_sums_too_large_for_a_number_are_bad_input(tmp_path: Path, command: Command) -> None:
    (tmp_path / "a").write_text("q Q0 d 1 1.7e308 a\n")
    options = ["--method", "combsum", "--normalization", "none", "-o", tmp_path / "f"]
    done = command("fuse", tmp_path / "a", tmp_path / "a", *options)
    assert done.code == 2
    assert "combsum of the scores of document 'd' for query 'q' is too large for a number" in done.err
    assert not (tmp_path / "f").exists()


def test_a_wrong_fusion_is_a_usage_error(workshop: Path, command: Command) -> None:
    run = workshop / "runs" / "lexical.trec"
    assert command("fuse", run, "-o", workshop / "f").code == 64
    assert command("fuse", run, run, "--weights", "1", "-o", workshop / "f").code == 64
    assert command("fuse", run, run, "-o", run).code == 2
    assert not (workshop / "f").exists()


def test_a_retriever_can_be_in_the_configuration(workshop: Path, command: Command) -> None:
    (workshop / "rankgauge.yaml").write_text(
        "collection: {corpus: corpus.jsonl, queries: queries.jsonl}\n"
        "retrievers:\n"
        "  words: {mode: lexical, k1: 0.9}\n"
        "  both: {mode: hybrid, embedder: bow, fusion: weighted, weights: [0.25, 0.75], index: kept}\n"
    )
    config = ["--config", workshop / "rankgauge.yaml"]
    files = ["--corpus", workshop / "corpus.jsonl", "--queries", workshop / "queries.jsonl"]
    options = [
        "--mode",
        "hybrid",
        "--embedder",
        "bow",
        "--set",
        "retriever.fusion=weighted",
        "--set",
        "retriever.weights=[0.25, 0.75]",
    ]
    assert command("runs", "fetch", *config, "--retriever", "both", "-o", workshop / "a").code == 0
    assert command("runs", "fetch", *files, *options, "--tag", "both", "-o", workshop / "b").code == 0
    assert (workshop / "a").read_bytes() == (workshop / "b").read_bytes()
    assert (workshop / "kept" / "vector").is_dir()
    assert (
        command("runs", "fetch", *config, "--retriever", "words", "--set", "retriever.k1=2", "-o", workshop / "c").code
        == 0
    )
    assert command("runs", "fetch", *files, "--set", "retriever.k1=2", "--tag", "words", "-o", workshop / "d").code == 0
    assert (workshop / "c").read_bytes() == (workshop / "d").read_bytes()
    for more, message in (
        ([*config], "the configuration has 2 retrievers: words, both"),
        ([*config, "--retriever", "wordz"], "did you mean words?"),
        (["--retriever", "words"], "--config rankgauge.yaml"),
    ):
        done = command("runs", "fetch", *more, "-o", workshop / "e")
        assert (done.code, message in done.err) == (64, True), done.err
