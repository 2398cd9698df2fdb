"""A benchmark on the bundled collection: what it writes, what it prints, what it survives."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rankgauge.benchmark.verify
import rankgauge.render.documents.benchmark
from rankgauge.benchmark.folder import COMPARISON, MANIFEST, PAGE, REPORT
from rankgauge.benchmark.plan import SHIPPED, BenchmarkPlan, PlannedSystem, default_systems, shipped_plan
from rankgauge.benchmark.run import BenchmarkListener, run_benchmark
from rankgauge.benchmark.verify import verify_benchmark
from rankgauge.comparison.compare import compare
from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.errors import Note, RankgaugeError, UsageError
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.report.manifest import plain_path, plain_text, plain_values, to_bytes
from rankgauge.retrieval.engines.vector import _saved_here
from rankgauge.retrieval.fetch import FetchProgress

pytest.importorskip("bm25s")
pytest.importorskip("wordllama")

FLAKY = """
from pathlib import Path


def good(query):
    return ["a"]


def bad(query):
    if query == "query 2" and Path("down").exists():
        raise OSError("down")
    with open("asked", "a") as file:
        print(query, file=file)
    return ["b", "a"]
"""
Command = Callable[..., Any]
ROOT = Path(__file__).parents[2]
KPI = ["nDCG@10", "AP@100", "RR@10", "R@50", "R@100", "Success@10"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "out"
    run_benchmark(shipped_plan(latency=3), folder)
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def loaded(folder: Path, name: str) -> dict[str, object]:
    data = json.loads((folder / name).read_bytes())
    assert isinstance(data, dict)
    return data


@pytest.mark.slow
def test_every_documented_file_is_written(made: Path) -> None:
    systems = ["lexical", "vector", "hybrid"]
    expected = {
        COMPARISON,
        REPORT,
        MANIFEST,
        PAGE,
        "inputs/qrels.trec",
        "inputs/queries.jsonl",
        "inputs/snippets.jsonl",
    }
    expected |= {f"runs/{name}.trec" for name in systems}
    expected |= {f"evaluations/{name}.EvaluationReport.json" for name in systems}
    assert set(files_of(made)) == expected


def test_its_scores_are_those_of_evaluate_and_compare(made: Path) -> None:
    report = json.loads((made / REPORT).read_bytes())
    qrels, topics = made / "inputs/qrels.trec", made / "inputs/queries.jsonl"
    runs = [made / entry for entry in ("runs/lexical.trec", "runs/vector.trec", "runs/hybrid.trec")]
    for entry, run in zip(report["scores"]["runs"], runs, strict=True):
        scores = evaluate(qrels, run, KPI)
        assert {name: value["value"] for name, value in entry["measures"].items()} == {m: scores[m] for m in KPI}
        assert entry["per_query"]["q01"] == {m: scores.per_query(m)["q01"] for m in KPI}
        alone = json.loads((made / f"evaluations/{entry['name']}.EvaluationReport.json").read_bytes())
        assert alone["schema"] == "rankgauge.scores/1"
        assert alone["runs"] == [entry]
    compared = compare(qrels, runs, KPI, baseline=0, by=("category",), queries=topics)
    stored = {(row["system"], row["measure"]): row for row in report["comparison"]["differences"]}
    for row in compared.differences:
        assert stored[row.system, row.measure]["p_corrected"] == row.p_corrected
        assert stored[row.system, row.measure]["ci"]["low"] == row.interval.low


def test_a_note_counts_the_comparisons_on_the_same_queries(made: Path) -> None:
    report = json.loads((made / REPORT).read_bytes())
    compared = report["comparison"]
    assert (len(compared["differences"]), len(compared["groups"])) == (12, 84)
    assert (compared["scope"], compared["ranking"]) == ("baseline", None)  # the configuration names one
    sentence = "96 comparisons were made on these 48 queries; the more are made, the more likely a chance winner"
    assert report["notes"] == [sentence]
    assert sentence in (made / COMPARISON).read_text()
    assert sentence in (made / PAGE).read_text()


@pytest.mark.slow
def test_two_benchmarks_are_the_same_bytes_except_for_times_and_machine(tmp_path: Path) -> None:
    plan = shipped_plan(latency=0, systems=default_systems())
    run_benchmark(plan, tmp_path / "a")
    run_benchmark(plan, tmp_path / "b")
    first, second = files_of(tmp_path / "a"), files_of(tmp_path / "b")
    assert {name for name in first if first[name] != second[name]} == {MANIFEST}
    assert set(first) == set(second)
    manifests = [json.loads(files[MANIFEST]) for files in (first, second)]
    for manifest in manifests:
        for key in ("times", "files", "sha256"):
            del manifest[key]
    assert manifests[0] == manifests[1]
    assert verify_benchmark(tmp_path / "a").ok


def index_hashes(folder: Path) -> dict[str, dict[str, str]]:
    """The hashes of the indexes of each system, by their folders."""
    manifest = json.loads((folder / MANIFEST).read_bytes())
    systems = manifest["method"]["retrieval"]
    return {system["name"]: {index["path"]: index["sha256"] for index in system["indexes"]} for system in systems}


@pytest.mark.slow
def test_the_manifest_has_the_hash_of_each_index_and_verify_checks_them(tmp_path: Path, command: Command) -> None:
    options = {"embedder": "hashed"}
    plan = shipped_plan(latency=0, systems=default_systems(options))
    run_benchmark(plan, tmp_path / "a", index=tmp_path / "kept")
    run_benchmark(plan, tmp_path / "b")
    found = index_hashes(tmp_path / "a")
    assert found == index_hashes(tmp_path / "b")
    assert [len(found[name]) for name in ("lexical", "vector", "hybrid")] == [1, 1, 2]
    assert found["hybrid"] == {**found["lexical"], **found["vector"]}
    words = ("benchmark", "verify", tmp_path / "a", "--index")
    assert command(*words, tmp_path / "kept").code == 0
    assert "not found in" in command(*words, tmp_path / "nowhere").out
    (path,) = found["vector"]
    vectors = tmp_path / "kept" / path / "vectors.npy"
    data = vectors.read_bytes()
    vectors.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    done = command(*words, tmp_path / "kept")
    assert done.code == 1
    assert done.out.startswith(f"index {path}: has changed: its sha256 is ")


@pytest.mark.slow
def test_measured_times_change_only_what_shows_them(made: Path, tmp_path: Path) -> None:
    run_benchmark(shipped_plan(latency=3), tmp_path / "again")
    first, second = files_of(made), files_of(tmp_path / "again")
    assert {name for name in first if first[name] != second[name]} <= {MANIFEST, COMPARISON, PAGE}
    old_lines, new_lines = (files[COMPARISON].decode().split("\n") for files in (first, second))
    changed = [old for old, new in zip(old_lines, new_lines, strict=True) if old != new]
    assert all(re.search(r" [kM]B \| ", line) for line in changed)


@pytest.mark.slow
def test_the_same_folder_can_be_written_again(tmp_path: Path) -> None:
    run_benchmark(shipped_plan(latency=0, systems=default_systems(retrievers=["lexical", "vector"])), tmp_path / "out")
    run_benchmark(shipped_plan(latency=0, systems=default_systems(retrievers=["lexical"])), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out/runs").iterdir()] == ["lexical.trec"]
    assert verify_benchmark(tmp_path / "out").ok


@pytest.mark.parametrize("name", ["mine.txt", "runs/2019.trec", "inputs/deep/own.tsv", "BenchmarkReport.json"])
def test_a_folder_with_other_files_is_left_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / "out" / name).parent.mkdir(parents=True)
    (tmp_path / "out" / name).write_text("mine")
    with pytest.raises(RankgaugeError, match="other files"):
        run_benchmark(shipped_plan(), tmp_path / "out")
    assert files_of(tmp_path) == {f"out/{name}": b"mine"}


def test_a_file_put_into_a_benchmark_is_not_lost(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "out")
    (tmp_path / "out/runs/mine.trec").write_text("mine")
    with pytest.raises(RankgaugeError, match=re.escape("other files (runs/mine.trec)")):
        run_benchmark(shipped_plan(), tmp_path / "out")


def test_a_benchmark_that_fails_leaves_the_earlier_one(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "out")
    before = files_of(tmp_path / "out")
    gone = {"gone": PlannedSystem(RetrieverSettings(mode="no_such_module:find"))}
    for plan in (shipped_plan(systems=gone), shipped_plan(settings=replace(shipped_plan().settings, by=("nothing",)))):
        with pytest.raises(UsageError):
            run_benchmark(plan, tmp_path / "out")
    assert files_of(tmp_path / "out") == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.slow
def test_an_interrupted_benchmark_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = shipped_plan(latency=0, systems=default_systems(retrievers=["lexical", "vector"]))
    calls = []

    class Stopping(BenchmarkListener):
        def started(self, system: str) -> FetchProgress:
            def report(done: int, total: int, seconds: float) -> None:
                calls.append(done)
                if system == "vector":
                    raise KeyboardInterrupt

            return report

    with pytest.raises(KeyboardInterrupt):
        run_benchmark(plan, tmp_path / "out", listener=Stopping())
    assert [path.name for path in tmp_path.iterdir()] == ["out.partial"]
    run_benchmark(plan, tmp_path / "out")
    run_benchmark(plan, tmp_path / "whole")
    first, second = files_of(tmp_path / "out"), files_of(tmp_path / "whole")
    assert {name for name in first if first[name] != second[name]} == {MANIFEST}
    assert not (tmp_path / "out.partial").exists()


def test_the_manifest_reveals_neither_who_nor_where(made: Path) -> None:
    manifest = (made / MANIFEST).read_text(encoding="utf-8")
    assert str(Path.home()) not in manifest
    assert str(made) not in manifest
    assert str(Path.cwd()) not in manifest
    assert not re.search(r'"/[a-z]', manifest)
    data = json.loads(manifest)
    assert data["data"]["test collection"]["qrels"]["sha256"]
    assert data["method"]["retrieval"][1]["params"]["embedder"]["files"]["weights"]
    assert data["times"]["costs"]["lexical"]["calls"] == 3
    assert data["times"]["costs"]["vector"]["index_bytes"] > 0


@pytest.mark.slow
def test_a_benchmark_with_an_edited_embedder_does_not_use_its_old_vectors(tmp_path: Path) -> None:
    notes: list[str] = []

    class Listening(BenchmarkListener):
        def warned(self, system: str, note: Note) -> None:
            notes.append(note.message)

    path = tmp_path / "e.py"
    plan = shipped_plan(
        latency=0, systems={"mine": PlannedSystem(RetrieverSettings(mode="vector", embedder=f"{path}:embed"))}
    )
    hashes, indexes = [], []
    for letter in "eii":
        path.write_text(f"def embed(texts):\n    return [[len(t), 9 * t.count({letter!r})] for t in texts]\n")
        assert notes == []
        _saved_here.clear()  # as another process has it
        run_benchmark(plan, tmp_path / "out", index=tmp_path / "index", listener=Listening())
        (model,) = json.loads((tmp_path / "out" / MANIFEST).read_text())["data"]["other"]
        hashes.append(model["sha256"])
        indexes.append(index_hashes(tmp_path / "out"))
    assert [one == hashes[1] for one in hashes] == [False, True, True]
    assert [one == indexes[1] for one in indexes] == [False, True, True]
    (note,) = notes
    assert "stored vectors are used again" in note
    assert "what it imports and the files it reads are not included" in note


def test_a_broken_system_does_not_lose_the_others(tmp_path: Path) -> None:
    systems = {
        "lexical": PlannedSystem(RetrieverSettings()),
        "gone": PlannedSystem(RetrieverSettings(mode="no_such_module:find")),
        "vectors": PlannedSystem(RetrieverSettings(mode="vector", vectors=str(tmp_path / "no.npy"), query_vectors="x")),
    }
    report = run_benchmark(shipped_plan(latency=0, systems=systems), tmp_path / "out")
    assert report.names == ("lexical",)
    assert set(report.failed) == {"gone", "vectors"}
    assert "cannot import no_such_module" in report.failed["gone"]
    assert str(tmp_path) not in (tmp_path / "out" / MANIFEST).read_text()
    assert verify_benchmark(tmp_path / "out").ok


@pytest.mark.slow
def test_whatever_a_retriever_does_the_others_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd_search.py").write_text(
        "import sys\ncalls = []\ndef nothing(text):\n    return []\ndef leaves(text):\n    sys.exit(3)\n"
        "def tires(text):\n    calls.append(text)\n    if len(calls) > 50:\n        raise OSError('token=abc tired')\n"
        "    return ['kb-001']\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    names = ("nothing", "leaves", "tires")
    systems = {"lexical": PlannedSystem(RetrieverSettings())}
    systems |= {name: PlannedSystem(RetrieverSettings(mode=f"odd_search:{name}")) for name in names}
    plan = shipped_plan(latency=5, systems=systems)
    report = run_benchmark(replace(plan, settings=replace(plan.settings, baseline="nothing")), tmp_path / "out")
    assert report.names == ("lexical", "tires")
    assert "it returned no documents for any query" in report.failed["nothing"]
    assert "planned as the baseline: the others are compared with lexical instead" in report.failed["nothing"]
    assert "SystemExit" in report.failed["leaves"]
    assert report.costs["tires"].p50 is None  # the 51st call was a timed one
    assert report.costs["lexical"].p50 is not None


def test_changed_code_is_another_retriever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    code = "calls = []\ndef find(text):\n    calls.append(1)\n    assert len(calls) < 20\n    return ['kb-001']\n"
    (tmp_path / "changing.py").write_text(code)
    plan = shipped_plan(latency=0, systems={"mine": PlannedSystem(RetrieverSettings(mode="changing:find"))})
    with pytest.raises(RankgaugeError, match="failed"):
        run_benchmark(plan, tmp_path / "out")
    (tmp_path / "changing.py").write_text(code.replace("assert len(calls) < 20", "pass"))
    sys.modules.pop("changing")
    with pytest.raises(RankgaugeError, match="journal"):
        run_benchmark(plan, tmp_path / "out")
    report = run_benchmark(plan, tmp_path / "out", resume=False)
    assert report.names == ("mine",)


def test_an_empty_answer_is_a_fault_only_if_the_query_is_judged(tmp_path: Path) -> None:
    queries = (SHIPPED / "queries.jsonl").read_text(encoding="utf-8")
    systems = default_systems(retrievers=["lexical"])
    (tmp_path / "queries.jsonl").write_text(queries + '{"_id": "unjudged", "text": "zzzz"}\n', encoding="utf-8")
    plan = shipped_plan(latency=0, systems=systems, queries=str(tmp_path / "queries.jsonl"))
    report = run_benchmark(plan, tmp_path / "out")
    assert all(validation.ok for validation in report.validations)
    assert verify_benchmark(tmp_path / "out").ok
    judged = (SHIPPED / "qrels.trec").read_text(encoding="utf-8") + "unjudged 0 kb-001 1\n"
    (tmp_path / "qrels.trec").write_text(judged, encoding="utf-8")
    report = run_benchmark(replace(plan, qrels=str(tmp_path / "qrels.trec")), tmp_path / "judged")
    faults = [finding.code for validation in report.validations if not validation.ok for finding in validation.findings]
    assert "queries-missing" in faults


def test_only_queries_that_were_run_are_scored(tmp_path: Path) -> None:
    lines = (SHIPPED / "queries.jsonl").read_text(encoding="utf-8").splitlines()[:3]
    (tmp_path / "queries.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = shipped_plan(
        latency=0, systems=default_systems(retrievers=["lexical"]), queries=str(tmp_path / "queries.jsonl")
    )
    report = run_benchmark(plan, tmp_path / "out")
    assert report.scores[0].queries == ("q01", "q02", "q03")
    assert (report.scores[0]["nDCG@10"] or 0) > 0.5
    assert verify_benchmark(tmp_path / "out").ok


@pytest.mark.slow
def test_judgments_without_relevant_documents_are_reported(tmp_path: Path) -> None:
    judged = re.sub(r" \d+$", " 0", (SHIPPED / "qrels.trec").read_text(), flags=re.MULTILINE)
    (tmp_path / "qrels.trec").write_text(judged)
    systems = default_systems(retrievers=["lexical", "vector"])
    run_benchmark(shipped_plan(latency=0, systems=systems, qrels=str(tmp_path / "qrels.trec")), tmp_path / "out")
    sentence = "No query has a relevant document, so nothing can be compared."
    assert loaded(tmp_path / "out", REPORT)["answer"] == [sentence]
    assert sentence in (tmp_path / "out" / PAGE).read_text(encoding="utf-8")


def test_an_unpaired_surrogate_in_a_text_is_harmless(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"_id": "a", "text": "one \\ud800 word"}\n{"_id": "b", "text": "two"}\n')
    (tmp_path / "q.jsonl").write_text('{"_id": "q", "text": "word \\ud800"}\n{"_id": "r", "text": "two"}\n')
    (tmp_path / "r.trec").write_text("q 0 a 1\nr 0 b 1\n")
    corpus, queries, qrels = (str(tmp_path / name) for name in ("c.jsonl", "q.jsonl", "r.trec"))
    systems = default_systems(retrievers=["lexical"])
    report = run_benchmark(BenchmarkPlan("half", corpus, queries, qrels, systems, latency=0), tmp_path / "out")
    assert report.scores[0]["RR@10"] == 1.0


def test_if_all_systems_fail_the_reason_is_raised(tmp_path: Path) -> None:
    systems = {"gone": PlannedSystem(RetrieverSettings(mode="no_such_module:find"))}
    with pytest.raises(UsageError, match="no_such_module"):
        run_benchmark(shipped_plan(systems=systems), tmp_path / "out")


@pytest.mark.parametrize("name", ["", "a/b", "../x", "with blank", ".hidden", "ü"])
def test_a_name_that_cannot_be_a_file_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="must be usable as a file name"):
        BenchmarkPlan("t", None, "q", "r", {name: PlannedSystem(RetrieverSettings())})


def test_names_that_differ_by_case_only_are_refused() -> None:
    with pytest.raises(UsageError, match="same name"):
        BenchmarkPlan(
            "t", None, "q", "r", {"a": PlannedSystem(RetrieverSettings()), "A": PlannedSystem(RetrieverSettings())}
        )


def test_no_file_reveals_who_where_or_which_password(tmp_path: Path, command: Command) -> None:
    (tmp_path / "jane doe").mkdir()
    (tmp_path / "jane doe/bands.yaml").write_text("bands: {nDCG@10: {good: 0.5}}\n")
    (tmp_path / "jane doe/rankgauge.yaml").write_text(
        f"collection: {{corpus: {SHIPPED}}}\nmeasures: [nDCG@10]\nretrievers:\n  lexical: {{mode: lexical}}\n"
        "  far: {mode: 'http://jane:secret@host/x'}\n  near: {mode: vector, embedder: /srv/jane/model}\n"
    )
    done = command(
        "benchmark", "run", tmp_path / "jane doe/rankgauge.yaml", "--latency", 0,
        "--set", f"kpi={tmp_path}/jane doe/bands.yaml", "-o", tmp_path / "out",
    )  # fmt: skip
    assert done.code == 2
    written = files_of(tmp_path / "out")
    assert MANIFEST in written
    for name, data in written.items():
        for word in (b"jane", b"secret", bytes(tmp_path)):
            assert word not in data, name


@pytest.mark.parametrize(
    ("path", "plain"),
    [("data/x.jsonl", "data/x.jsonl"), ("/home/me/x.jsonl", "x.jsonl"), ("../me/x", "x"), ("~/x", "x")],
)
def test_a_path_outside_of_the_working_folder_is_only_a_name(path: str, plain: str) -> None:
    assert plain_path(path) == plain


def test_a_message_has_no_absolute_path() -> None:
    assert plain_text("cannot read /var/lib/x.npy: no") == "cannot read x.npy: no"
    assert plain_text(f"cannot read {Path.home()}/a b/x.npy") == "cannot read a b/x.npy"
    assert plain_text("file:///srv/data/x.npy, ~me/y/z") == "x.npy, z"
    assert plain_text("postgresql://me:pw@host/db") == "postgresql://host/db"
    assert plain_text("module a.b: 3/4 of it, a/b/c") == "module a.b: 3/4 of it, a/b/c"
    assert plain_values({"model": ["/opt/models/e5", 3]}) == {"model": ["e5", 3]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "change", "field"),
    [
        (REPORT, lambda text: text.replace('"p_corrected": 0', '"p_corrected": 1', 1), "comparison.differences"),
        (REPORT, lambda text: text.replace('"low": 0', '"low": 1', 1), "scores.runs[0].measures"),
        (REPORT, lambda text: text.replace('"n": 48', '"n": 47', 1), "scores.runs[0].measures.nDCG@10.n"),
        (
            "evaluations/vector.EvaluationReport.json",
            lambda text: text.replace('"q01"', '"q1"', 1),
            "runs[0].per_query.q01",
        ),
        (COMPARISON, lambda text: text.replace("Not distinguishable from lexical", "Worse", 1), "line"),
        (PAGE, lambda text: text.replace("Not distinguishable from lexical", "Worse", 1), "line"),
        ("runs/vector.trec", lambda text: text.replace(" 1 ", " 2 ", 1), None),
        ("inputs/qrels.trec", lambda text: text.replace(" 3\n", " 2\n", 1), None),
        ("inputs/snippets.jsonl", lambda text: text.replace("a", "b", 1), None),
        (MANIFEST, lambda text: text.replace('"bootstrap"', '"sign"', 1), "sha256"),
    ],
)
def test_a_changed_byte_is_found_and_named(
    name: str, change: Callable[[str], str], field: str | None, made: Path, tmp_path: Path
) -> None:
    for path, data in files_of(made).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert change(text) != text
    (tmp_path / name).write_text(change(text), encoding="utf-8")
    verification = verify_benchmark(tmp_path)
    assert not verification.ok
    assert verification.changes[0].file == name
    if field is None:
        assert verification.changes[0].field is None
    else:
        assert (verification.changes[0].field or "").startswith(field)


def test_a_missing_and_a_foreign_file_are_found(made: Path, tmp_path: Path) -> None:
    for path, data in files_of(made).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    (tmp_path / COMPARISON).unlink()
    (tmp_path / "runs/another.trec").write_text("q01 Q0 kb-001 1 1 x\n")
    assert {change.file for change in verify_benchmark(tmp_path).changes} == {COMPARISON, "runs/another.trec"}


@pytest.mark.slow
def test_another_version_verifies_json_and_says_which_texts_it_cannot(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (rankgauge.benchmark.verify, rankgauge.render.documents.benchmark, rankgauge.render.html.page):
        monkeypatch.setattr(module, "__version__", "99.0")
    verification = verify_benchmark(made)
    message = f"differs from what rankgauge 99.0 writes, and only rankgauge=={rankgauge.__version__} can verify it"
    assert [str(change) for change in verification.changes] == [f"{PAGE}: {message}"]


@pytest.mark.parametrize("key", ["data", "times", "files", "settings"])
def test_a_manifest_without_a_field_is_refused(key: str, made: Path, tmp_path: Path, command: Command) -> None:
    shutil.copytree(made, tmp_path / "out")
    manifest = json.loads((made / MANIFEST).read_bytes())
    del manifest[key]
    (tmp_path / "out" / MANIFEST).write_text(json.dumps(manifest))
    for words in (
        ("benchmark", "verify", tmp_path / "out"),
        ("benchmark", "verify", tmp_path / "out", "--html", tmp_path / "p.html"),
    ):
        done = command(*words)
        assert done.code == 2
        assert f"expected a value at {key}" in done.err


@pytest.mark.parametrize("name", ["inputs/qrels" + "9" * 400, "inputs/nothing"])
def test_a_manifest_that_names_no_file_is_refused(name: str, made: Path, tmp_path: Path, command: Command) -> None:
    shutil.copytree(made, tmp_path / "out")
    manifest = json.loads((made / MANIFEST).read_bytes())
    manifest["data"]["test collection"]["qrels"]["path"] = name
    (tmp_path / "out" / MANIFEST).write_bytes(to_bytes(manifest))
    done = command("benchmark", "verify", tmp_path / "out")
    assert done.code == 2
    assert "is missing, and nothing can be computed without it" in done.err


@pytest.mark.slow
def test_a_page_never_overwrites_a_run(made: Path, tmp_path: Path, command: Command) -> None:
    shutil.copytree(made, tmp_path / "out")
    before = files_of(tmp_path / "out")
    for name in ("runs/lexical.trec", "inputs/qrels.trec", MANIFEST):
        done = command("benchmark", "verify", tmp_path / "out", "--html", tmp_path / "out" / name)
        assert done.code == 2
        assert "would overwrite" in done.err
    assert files_of(tmp_path / "out") == before


def test_costs_are_reported(made: Path) -> None:
    text = (made / COMPARISON).read_text(encoding="utf-8")
    assert text.startswith("# Benchmark: workshop\n\nBest: hybrid (nDCG@10 0.544). Not distinguishable from lexical: ")
    assert "| p50 ms | p95 ms | p99 ms | calls | index | build time |" in text
    costs = json.loads((made / MANIFEST).read_bytes())["times"]["costs"]
    assert all(math.isfinite(costs[name][key]) for name in costs for key in ("p50", "p95", "p99"))


class TestCommand:
    @pytest.mark.slow
    def test_a_folder_is_verified(self, made: Path, command: Command) -> None:
        done = command("benchmark", "verify", made)
        assert done.code == 0
        assert re.search(r": ok, 13 files, [\d,]+ numbers recomputed", done.out)
        assert json.loads(command("benchmark", "verify", made, "--format", "json").out)["ok"] is True

    def test_no_folder_is_an_error(self, tmp_path: Path, command: Command) -> None:
        done = command("benchmark", "verify", tmp_path)
        assert done.code == 2
        assert "found no ExperimentManifest.json in it\nhint: name the folder" in done.err

    @pytest.mark.slow
    def test_the_page_can_be_written_again(self, made: Path, tmp_path: Path, command: Command) -> None:
        done = command("benchmark", "verify", made, "--html", tmp_path / "page.html")
        assert (done.code, f"wrote {tmp_path / 'page.html'}\n" in done.err) == (0, True)
        assert (tmp_path / "page.html").read_bytes() == (made / PAGE).read_bytes()

    @pytest.mark.slow
    def test_a_configuration_is_obeyed(self, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
        assert command("demo", "--copy", tmp_path / "w").code == 0
        monkeypatch.chdir(tmp_path / "w")
        assert command("init").code == 0
        assert command("init").code == 2
        done = command("benchmark", "run", "rankgauge.yaml", "-o", "out", "--latency", 0, "-m", "RR@10", "-m", "P@5")
        assert done.code == 0, done.err
        assert "Best: vector (RR@10 0.719)." in done.out
        manifest = json.loads((tmp_path / "w/out" / MANIFEST).read_bytes())
        assert manifest["settings"]["measures"] == ["RR@10", "P@5"]
        cmd = "rankgauge benchmark run rankgauge.yaml --latency 0 --measure RR@10 --measure P@5"
        assert manifest["implementation"]["executable"]["cmd"] == cmd
        assert command("benchmark", "verify", "out").code == 0

    @pytest.mark.slow
    def test_options_make_a_benchmark_without_a_configuration(self, tmp_path: Path, command: Command) -> None:
        assert command("demo", "--copy", tmp_path / "w").code == 0
        done = command(
            "benchmark", "run", "--corpus", tmp_path / "w", "--retriever", "lexical", "--retriever", "vector",
            "--embedder", "hashed", "--html", tmp_path / "page.html",
            "--by", "difficulty", "--latency", 2, "-o", tmp_path / "out",
        )  # fmt: skip
        assert done.code == 0, done.err
        assert (tmp_path / "page.html").read_bytes() == (tmp_path / "out" / PAGE).read_bytes()
        assert "by difficulty" in done.out
        assert "by category" not in done.out
        assert "band" not in done.out
        assert str(tmp_path) not in (tmp_path / "out" / MANIFEST).read_text()

    @pytest.mark.slow
    def test_a_collection_that_declares_target_bands_shows_them(self, tmp_path: Path, command: Command) -> None:
        assert command("demo", "--copy", tmp_path / "w").code == 0
        (tmp_path / "w/kpi.yaml").write_text("name: ours\nbands: {nDCG@10: {good: 0.1}}\n")
        (tmp_path / "w/rankgauge.yaml").write_text("collection: {corpus: .}\nretrievers: {lexical: {mode: lexical}}\n")
        words = ("--latency", 0, "-o", tmp_path / "out")
        for source in (("--corpus", tmp_path / "w", "--retriever", "lexical"), (tmp_path / "w/rankgauge.yaml",)):
            assert "band: of the best value, by ours" in command("benchmark", "run", *source, *words).out
            assert "ours" not in command("benchmark", "run", *source, *words, "--set", "kpi=none").out

    def test_judgments_with_errors_are_not_benchmarked(self, tmp_path: Path, command: Command) -> None:
        assert command("demo", "--copy", tmp_path / "w").code == 0
        with (tmp_path / "w/qrels.trec").open("a") as file:
            file.write("q01 0 kb-001 x\n")
        done = command("benchmark", "run", "--corpus", tmp_path / "w", "-o", tmp_path / "out")
        assert done.code == 2
        assert "qrels.trec: error grade (1): " in done.out
        assert "the judgments have 1 error" in done.err
        assert "--fix" in done.err
        assert not (tmp_path / "out").exists()

    def test_caveats_are_in_the_terminal_and_in_markdown(self, tmp_path: Path, command: Command) -> None:
        done = command(
            "benchmark",
            "run",
            "--corpus",
            SHIPPED,
            "--retriever",
            "lexical",
            "--k",
            1,
            "--latency",
            0,
            "-o",
            tmp_path / "out",
        )
        assert done.code == 0
        assert "Caveats   " in done.out
        assert "the run has at most 1 document per query" in done.out
        assert "warning:" not in done.err
        assert "## Caveats" in (tmp_path / "out" / COMPARISON).read_text(encoding="utf-8")

    def test_a_page_of_changed_runs_is_refused(self, made: Path, tmp_path: Path, command: Command) -> None:
        shutil.copytree(made, tmp_path / "out")
        shutil.copy(made / "runs/vector.trec", tmp_path / "out/runs/lexical.trec")
        done = command("benchmark", "verify", tmp_path / "out", "--html", tmp_path / "page.html")
        assert done.code == 1
        assert "runs/lexical.trec: has changed" in done.out
        assert "did not write" in done.err
        assert not (tmp_path / "page.html").exists()

    def test_a_folder_is_not_a_configuration(self, tmp_path: Path, command: Command) -> None:
        done = command("benchmark", "run", tmp_path)
        assert done.code == 64
        assert "hint: --corpus" in done.err

    def test_a_failed_system_is_named_and_sets_the_exit_code(self, tmp_path: Path, command: Command) -> None:
        retrievers = ("--corpus", SHIPPED, "--retriever", "lexical", "--retriever", "no_such:find")
        done = command("benchmark", "run", *retrievers, "--latency", 0, "-o", tmp_path / "out")
        assert done.code == 2
        assert "warning: find: " in done.err
        assert "Failed    find: " in done.out
        assert (tmp_path / "out" / REPORT).is_file()

    def test_answers_of_a_system_that_failed_are_kept(
        self, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("flaky.py").write_text(FLAKY)
        cases = [{"id": f"q{n}", "query": f"query {n}", "relevant_ids": ["a"]} for n in range(3)]
        Path("cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
        words = ("benchmark", "run", "cases.jsonl", "./flaky.py:good", "./flaky.py:bad", "--latency", 0, "-o", "out")
        Path("down").touch()
        done = command(*words)
        journal = Path("out.partial/runs/bad.jsonl.journal")
        assert f"2 answers of 'bad' are kept in {journal}" in done.err
        assert (done.code, journal.is_file(), Path("asked").read_text().split("\n")[:-1]) == (
            2,
            True,
            ["query 0", "query 1"],
        )
        assert command("benchmark", "verify", "out").code == 0
        other = command("benchmark", "run", "cases.jsonl", "./flaky.py:good", "--latency", 0, "-o", "out")
        assert (other.code, journal.is_file(), "2 answers of 'bad' are kept" in other.err) == (0, True, True)
        Path("down").unlink()
        done = command(*words)
        assert done.code == 0, done.err
        assert "bad: 2 answers reused from the journal" in done.err
        assert Path("asked").read_text().split("\n")[2:-1] == ["query 2"]
        assert not Path("out.partial").exists()
        assert command("benchmark", "verify", "out").code == 0

    def test_journals_of_other_systems_are_discarded_on_request(
        self, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("flaky.py").write_text(FLAKY)
        Path("down").touch()
        rows = [{"id": f"q{n}", "query": f"query {n}", "relevant_ids": ["a"]} for n in range(3)]
        Path("cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        words = ("benchmark", "run", "cases.jsonl", "./flaky.py:good", "--latency", 0, "-o", "out")
        assert command(*words, "./flaky.py:bad").code == 2
        assert command(*words, "--restart").code == 0
        assert not Path("out.partial").exists()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--queries", "q.jsonl"], "lexical retrieval needs a corpus"),
            (["--corpus", str(SHIPPED), "--baseline", "nobody"], "no system is called 'nobody'"),
            (["missing.yaml"], "missing.yaml: cannot read: No such file"),
            (["--retriever", "lexica"], "unknown retriever 'lexica'; did you mean lexical?"),
            (["--retriever", "lexical", "--retriever", "lexical"], "retriever 'lexical' is named twice"),
            (["--retriever", "a:find", "--retriever", "b:find"], "the same name: 'a:find' and 'b:find'"),
            (["--retriever", "https://host/search"], "describe the server in a YAML file"),
            (["--corpus", str(SHIPPED), "-m", "nosuch"], "unknown measure"),
            (["--corpus", str(SHIPPED), "--by", "categry"], "did you mean category?"),
            (["--corpus", str(SHIPPED), "-o", "."], "a benchmark replaces its output folder"),
            (["c.yaml", "--embedder", "hashed"], "--embedder cannot be combined with a configuration"),
            ([], "nothing to benchmark: expected a configuration (rankgauge.yaml), LABELS and RESULTS, or --corpus"),
            (["c.yaml", "--config", "c.yaml"], "c.yaml and --config c.yaml are both settings"),
            (["--corpus", "."], "corpus.jsonl or queries.jsonl not found in this folder"),
        ],
    )
    def test_mistakes_are_refused(
        self, options: list[str], message: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("c.yaml").write_text("{}\n", encoding="utf-8")
        done = command("benchmark", "run", *options)
        assert done.code in (2, 64)
        assert message in done.err
        assert "Traceback" not in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "schema"),
    [
        (REPORT, "BenchmarkReport"),
        (MANIFEST, "ExperimentManifest"),
        ("evaluations/vector.EvaluationReport.json", "EvaluationReport"),
    ],
)
def test_files_obey_their_published_schema(name: str, schema: str, made: Path) -> None:
    import jsonschema

    rules = json.loads((ROOT / f"docs/reference/schemas/{schema}.schema.json").read_bytes())
    jsonschema.Draft202012Validator.check_schema(rules)
    data = json.loads((made / name).read_bytes())
    jsonschema.validate(data, rules)
    for key in rules["required"]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({field: value for field, value in data.items() if field != key}, rules)
