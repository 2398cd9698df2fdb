from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
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
        options = ("--set", "retriever.center=0", "--corpus", workshop, "--k", 50)
        done = command("runs", "fetch", "--retriever", mode, *options, "-o", out)
        assert done.code == 0, done.err
        made, shipped = read_run(out), read_run(workshop / "runs" / f"{mode}.trec")
        assert list(made.docs) == list(shipped.docs)
        # bm25s and WordLlama, which made those, add in float32, whose noise reaches the sixth digit.
        assert made.scores == pytest.approx(shipped.scores, rel=1.1e-5)


def test_an_index_folder_is_used_again(workshop: Path, command: Command) -> None:
    arguments = ["runs", "fetch", "--retriever", "hybrid", "--embedder", "hashed", "--corpus", workshop]
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
    age = datetime.now(UTC) - datetime.fromisoformat(manifest["start"])
    assert timedelta(0) <= age < timedelta(minutes=5)
    assert manifest["latency"] == {"unit": "ms", "calls": 0, "p50": None, "p95": None, "p99": None, "max": None}
    done = command(*arguments, "-o", workshop / "r", "--manifest", workshop / "m.json", "--latency", 7)
    assert json.loads((workshop / "m.json").read_text())["latency"]["calls"] == 7
    assert "over 7 calls" in done.err


def test_a_reranker_leaves_a_log_that_pipeline_reads(workshop: Path, command: Command) -> None:
    done = command(
        *["runs", "fetch", "--embedder", "hashed", "--corpus", workshop, "-o", workshop / "r"],
        *["--rerank", "sentences", "--log", workshop / "log.jsonl"],
    )
    assert done.code == 0, done.err
    first = json.loads((workshop / "log.jsonl").read_text().splitlines()[0])
    assert {"query_id", "retrieved_ids", "reranked_ids"} == set(first)
    read = command("pipeline", workshop / "log.jsonl", "--qrels", workshop / "qrels.trec")
    assert read.code == 0, read.err
    assert "rerank" in read.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--retriever", "lexcial"], 64, "did you mean lexical"),
        (["--set", "retriever.weights=a,b"], 64, "--set retriever.weights: expected a valid list"),
        (["--set", "retriever.vectors=x.npy", "--retriever", "vector"], 64, "for both documents and queries"),
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
        "  both: {mode: hybrid, embedder: hashed, fusion: weighted, weights: [0.25, 0.75], index: kept}\n"
    )
    config = ["--config", workshop / "rankgauge.yaml"]
    files = ["--corpus", workshop / "corpus.jsonl", "--queries", workshop / "queries.jsonl"]
    options = [
        "--retriever",
        "hybrid",
        "--embedder",
        "hashed",
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
        ([*config], "is one file, and there are 2 retrievers: words, both"),
        ([*config, "--retriever", "wordz"], "unknown retriever 'wordz'; did you mean words?"),
        (["--retriever", "words"], "or give the rankgauge.yaml that has this name"),
    ):
        done = command("runs", "fetch", *more, "-o", workshop / "e")
        assert (done.code, message in done.err) == (64, True), done.err


@pytest.fixture
def own(workshop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the workshop's collection, and the same retriever in a file, in a module and in a YAML file."""
    (workshop / "own_search.py").write_text(
        "def search(text, k):\n    return [('kb-004', 0.9), ('kb-001', 0.5)][:k]\n"
        "def make(best):\n    return lambda text: [best]\n"
    )
    (workshop / "made.yaml").write_text("call: ./own_search.py:make\nparams: {best: kb-007}\n")
    (workshop / "rankgauge.yaml").write_text(
        "collection: {corpus: corpus.jsonl, queries: queries.jsonl, qrels: qrels.trec}\n"
        "retrievers:\n"
        "  words: {mode: lexical, k1: 0.9}\n"
        "  mine: {mode: './own_search.py:search'}\n"
    )
    monkeypatch.chdir(workshop)
    monkeypatch.syspath_prepend(str(workshop))
    monkeypatch.delitem(sys.modules, "own_search", raising=False)
    return workshop


EVERY_KIND = ("lexical", "words", "mine", "own_search:search", "made.yaml")
NAMES = ("lexical", "words", "mine", "search", "made")


def retriever_words(*names: str) -> list[str]:
    return [word for name in names for word in ("--retriever", name)]


@pytest.mark.parametrize("text", EVERY_KIND)
def test_a_retriever_of_each_kind_is_fetched_alone_as_among_others(text: str, own: Path, command: Command) -> None:
    fetch = ["runs", "fetch", "--config", "rankgauge.yaml", "--k", 5]
    assert command(*fetch, *retriever_words(text), "-o", "alone.trec").code == 0
    done = command(*fetch, *retriever_words(*EVERY_KIND), "-o", "fetched/")
    assert done.code == 0, done.err
    assert sorted(path.stem for path in Path("fetched").iterdir()) == sorted(NAMES)
    name = NAMES[EVERY_KIND.index(text)]
    assert Path(f"fetched/{name}.trec").read_bytes() == Path("alone.trec").read_bytes()
    assert read_run("alone.trec").name == name


def test_every_retriever_of_a_configuration_is_fetched_if_none_is_named(own: Path, command: Command) -> None:
    fetch = ["runs", "fetch", "--config", "rankgauge.yaml"]
    done = command(*fetch, "-o", "new/runs/", "--manifest", "new/runs/", "--log", "logs/")
    assert done.code == 0, done.err
    files = sorted(str(path) for folder in ("new/runs", "logs") for path in Path(folder).iterdir())
    assert files == [
        *("logs/mine.jsonl", "logs/words.jsonl"),
        *("new/runs/mine.json", "new/runs/mine.trec", "new/runs/words.json", "new/runs/words.trec"),
    ]
    assert json.loads(Path("new/runs/words.json").read_text())["run"]["path"] == "new/runs/words.trec"
    Path("there").mkdir()
    assert command(*fetch, *retriever_words("mine"), "-o", "there").code == 0
    assert Path("there/mine.trec").read_bytes() == Path("new/runs/mine.trec").read_bytes()


def test_a_name_of_the_configuration_comes_before_an_engine(own: Path, command: Command) -> None:
    config = Path("rankgauge.yaml")
    config.write_text(config.read_text().replace("words:", "lexical:"))
    for more, out in ((["--config", "rankgauge.yaml"], "named"), (["--corpus", "."], "engine")):
        assert command("runs", "fetch", *more, *retriever_words("lexical"), "-o", out).code == 0
    assert command("runs", "fetch", "--corpus", ".", "--set", "retriever.k1=0.9", "-o", "same").code == 0
    assert Path("named").read_bytes() == Path("same").read_bytes() != Path("engine").read_bytes()


def test_options_of_asking_apply_to_the_users_own_among_several(own: Path, command: Command) -> None:
    fetch = ["runs", "fetch", "--corpus", ".", "--k", 2]
    names = retriever_words("lexical", "own_search:search")
    assert command(*fetch, *names, "--set", "reading.scores=distance", "-o", "runs/").code == 0
    assert read_run("runs/search.trec").ranked().docs.to_text()[:2] == ["kb-001", "kb-004"]
    done = command(*fetch, *retriever_words("lexical"), "--set", "reading.scores=distance", "-o", "r")
    assert (done.code, "--set reading.scores applies to a retriever of your own" in done.err) == (64, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--retriever", "lexical", "-o", "both.trec"], "-o both.trec is one file, and there are 2 retrievers"),
        (["--retriever", "lexical", "-o", "both/", "--log", "log"], "--log log is one file, and there are 2"),
        (["--retriever", "lexical", "-o", "both/", "--tag", "x"], "--tag names one run, and there are 2 retrievers"),
        (["--retriever", "own_search:search", "-o", "both/"], "retriever 'own_search:search' is named twice"),
        (["--retriever", "./own_search.py:search", "-o", "both/"], "'own_search:search' and './own_search.py:search'"),
        (["--retriever", "hybird", "-o", "both/"], "unknown retriever 'hybird'; did you mean hybrid?"),
        (["--retriever", "https://host/search", "-o", "both/"], "is a URL, which does not say how the server is asked"),
        (["--set", "retriever.mode=lexical", "-o", "r"], "--retriever own_search:search and --set retriever.mode both"),
    ],
)
def test_retrievers_that_cannot_be_fetched_together_are_refused_before_any_is_asked(
    arguments: list[str], message: str, own: Path, command: Command
) -> None:
    before = set(own.rglob("*"))
    done = command("runs", "fetch", "--corpus", ".", *retriever_words("own_search:search"), *arguments)
    assert (done.code, message in " ".join(done.err.split())) == (64, True), done.err
    assert set(own.rglob("*")) == before


def test_a_benchmark_runs_a_retriever_of_each_kind(own: Path, command: Command) -> None:
    options = ["--latency", 0, "--k", 5, "-o", "out"]
    done = command("benchmark", "run", "rankgauge.yaml", *retriever_words(*EVERY_KIND), *options)
    assert done.code == 0, done.err
    assert sorted(path.stem for path in Path("out/runs").iterdir()) == sorted(NAMES)
    assert (
        command("runs", "fetch", "--config", "rankgauge.yaml", *retriever_words("words"), "--k", 5, "-o", "r").code == 0
    )
    assert Path("out/runs/words.trec").read_bytes() == Path("r").read_bytes()
    assert command("benchmark", "verify", "out").code == 0
    done = command("benchmark", "run", "rankgauge.yaml", *retriever_words("mine"), *options)
    assert [path.stem for path in Path("out/runs").iterdir()] == ["mine"]
    done = command("benchmark", "run", "rankgauge.yaml", *retriever_words("wordz"), *options)
    assert (done.code, "unknown retriever 'wordz'; did you mean words?" in done.err) == (64, True)
