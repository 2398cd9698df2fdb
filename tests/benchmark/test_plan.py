"""A benchmark compares ways to split the same documents, on the same labels by text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rankgauge.benchmark.folder import digests, read_inputs, report_of_inputs
from rankgauge.benchmark.plan import plan_of_config
from rankgauge.benchmark.run import run_benchmark
from rankgauge.benchmark.verify import verify_benchmark
from rankgauge.errors import InputError, UsageError
from rankgauge.io import Chunking
from rankgauge.labels.gold.gold_evaluation import GoldInputs, evaluate_gold_runs
from rankgauge.labels.gold.gold_judgments import GoldOptions
from rankgauge.report.manifest import load, to_bytes
from tests.conftest import Outcome

pytest.importorskip("bm25s")

TOPICS = ("otters", "falcons", "lichens", "glaciers", "lanterns", "violins")
MEASURES = ["alpha_nDCG@5", "StRecall@5", "EvidenceAll@5"]
CONFIG = """
collection: {corpus: docs, queries: queries.jsonl, gold: gold.jsonl, name: animals}
measures: [alpha_nDCG@5, StRecall@5, EvidenceAll@5]
chunking:
  small: {by: sentences, size: 60}
  windows: {by: characters, size: 150, overlap: 30}
  sections: {by: headings}
retrievers:
  bm25: {mode: lexical}
  fixed: {mode: lexical, k1: 0.9, chunking: sections}
benchmark: {k: 20, latency: 0}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Documents, queries, and gold that no chunking has in one piece everywhere."""
    (tmp_path / "docs").mkdir()
    queries, gold = [], []
    for number, topic in enumerate(TOPICS):
        fact = f"Most {topic} rest near the river at noon."
        detail = f"Old {topic} are counted twice a year, in spring and in the fall."
        text = f"# About {topic}\n\nThis page is about {topic}. {fact}\n\n## Counting\n\n{detail} Nobody knows why.\n"
        (tmp_path / "docs" / f"{topic}.md").write_text(text)
        queries.append({"_id": f"q{number}", "text": f"when do {topic} rest, and how often are they counted"})
        span = {"doc": f"{topic}.md", "start": text.index(detail), "end": text.index(detail) + len(detail)}
        gold.append({"query_id": f"q{number}", "gold": [fact, span]})
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries))
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    (tmp_path / "rankgauge.yaml").write_text(CONFIG)
    return tmp_path


def test_every_retriever_runs_on_every_chunking_unless_it_names_one(folder: Path) -> None:
    plan = plan_of_config(folder / "rankgauge.yaml")
    assert list(plan.systems) == ["bm25,chunking=small", "bm25,chunking=windows", "bm25,chunking=sections", "fixed"]
    assert [system.chunking for system in plan.systems.values()] == ["small", "windows", "sections", "sections"]
    assert plan.chunkings["windows"] == Chunking("characters", 150, 30)
    swept = CONFIG.replace("k1: 0.9, chunking: sections", "sweep: {chunking: [small, windows]}")
    (folder / "swept.yaml").write_text(swept)
    assert list(plan_of_config(folder / "swept.yaml").systems)[3:] == ["fixed,chunking=small", "fixed,chunking=windows"]


def test_values_are_those_of_each_chunking_by_itself_and_the_folder_verifies(
    folder: Path, command: Callable[..., Outcome]
) -> None:
    out = folder / "out"
    done = command("benchmark", "run", folder / "rankgauge.yaml", "-o", out)
    assert done.code == 0, done.err
    assert "6 documents, 6 queries, 12 gold passages" in done.out
    assert "a different amount of text in each chunking" in " ".join(done.out.split())
    manifest = load(out / "ExperimentManifest.json")
    report = report_of_inputs(read_inputs(out, manifest), manifest)
    for scores, system in zip(report.scores, manifest["method"]["retrieval"], strict=True):
        inputs = GoldInputs(folder / "gold.jsonl", out / f"inputs/chunks-{system['chunking']}.jsonl", folder / "docs")
        alone = evaluate_gold_runs(inputs, [out / system["run"]["path"]], MEASURES).scores[0]
        assert scores.queries == alone.queries
        assert scores.values.tolist() == alone.values.tolist(), system["name"]
        assert scores.values.max() > 0
    verified = verify_benchmark(out)
    assert verified.ok, verified.changes
    stored = {f"inputs/{name}" for name in ("chunks-small.jsonl", "chunks-windows.jsonl", "labels-windows.qrels")}
    assert stored <= set(manifest["files"])
    chunks = (out / "inputs/chunks-small.jsonl").read_text()
    (out / "inputs/chunks-small.jsonl").write_text(chunks.replace("otters", "others", 1))
    changes = verify_benchmark(out).changes
    assert [change.file for change in changes] == ["inputs/chunks-small.jsonl"]
    (out / "inputs/chunks-small.jsonl").write_text(chunks)
    labels = (out / "inputs/labels-small.qrels").read_bytes()
    (out / "inputs/labels-small.qrels").write_bytes(labels[:-2] + b"0\n")
    (out / "ExperimentManifest.json").write_bytes(to_bytes({**manifest, "files": digests(out)}))
    changes = verify_benchmark(out).changes
    assert [change.file for change in changes] == ["inputs/labels-small.qrels"]


def test_reports_show_the_chunking_of_each_system(folder: Path) -> None:
    out = folder / "out"
    run_benchmark(plan_of_config(folder / "rankgauge.yaml"), out)
    data = json.loads((out / "BenchmarkReport.json").read_text())
    row = {"system": "bm25,chunking=windows", "chunking": "windows", "chunks": 12}
    assert {**row, "description": "characters, at most 150 characters, overlap 30"} in data["chunkings"]
    assert "| fixed | sections | headings | 12 |" in (out / "BenchmarkComparison.md").read_text()
    assert "windows (characters, at most 150 characters, overlap 30; 12 chunks)" in (out / "report.html").read_text()
    collection = load(out / "ExperimentManifest.json")["data"]["test collection"]
    assert collection["chunkings"]["small"] | {"sha256": "", "chunks": 0} == {
        **Chunking("sentences", 60).to_dict(),
        "description": "sentences, at most 60 characters",
        "path": "inputs/chunks-small.jsonl",
        "sha256": "",
        "chunks": 0,
        "labels": "inputs/labels-small.qrels",
    }
    assert (out / "inputs/labels-sections.qrels").read_text().startswith("q0 1 otters.md#0-")
    stored = [json.loads(line) for line in (out / "inputs/gold.jsonl").read_text().splitlines()]
    assert stored[0]["gold"][1]["text"].startswith("Old otters are counted")  # a span can be verified without documents


def test_documents_that_are_not_split_are_scored_on_gold_too(folder: Path) -> None:
    config = CONFIG.replace("chunking: sections", "b: 0.5")
    (folder / "whole.yaml").write_text(config[: config.index("chunking:")] + config[config.index("retrievers:") :])
    run_benchmark(plan_of_config(folder / "whole.yaml"), folder / "out")
    manifest = load(folder / "out" / "ExperimentManifest.json")
    assert manifest["data"]["test collection"]["chunkings"]["documents"]["description"] == "not split"
    assert verify_benchmark(folder / "out").ok


def test_chunkings_are_compared_by_the_measures_of_labels_by_text(folder: Path) -> None:
    config = [line for line in CONFIG.splitlines() if not line.startswith("measures:")]
    (folder / "default.yaml").write_text("\n".join(config))
    measures = plan_of_config(folder / "default.yaml").settings.measures
    assert measures == ("alpha_nDCG@10", "StRecall@10")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gold: gold.jsonl", "qrels: q.txt", "chunkings are compared by labels that do not depend on them"),
        ("gold: gold.jsonl", "gold: gold.jsonl, qrels: q.txt", "two kinds of labels"),
        ("chunking: sections", "chunking: section", "fixed searches the chunking 'section'; there are small, windows"),
        ("mode: lexical, k1: 0.9, chunking: sections", "mode: 'a:b'", "fixed is a retriever of your own"),
        ("  small:", "  documents:", "'documents' is the name of documents that are not split"),
        ("  small:", "  a/b:", "a chunking's name must be usable as a file name"),
        (
            "gold: gold.jsonl, name: animals}",
            "qrels: q.txt}\nreading: {coverage: 0.9}",
            "reading.coverage applies to labels by text",
        ),
        (
            "gold: gold.jsonl, name: animals}",
            "gold: gold.jsonl}\nreading: {tolerance: 0.5}",
            "reading.tolerance: expected a number from 0 to 0.3",
        ),
        ("overlap: 30", "overlap: 150", "rankgauge.yaml:6: expected an overlap smaller than the size"),
        (
            "by: sentences",
            "by: sentence",
            "rankgauge.yaml:5: chunking.small.by: expected one of characters, sentences, headings, tokens",
        ),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(folder: Path, old: str, new: str, message: str) -> None:
    (folder / "rankgauge.yaml").write_text(CONFIG.replace(old, new))
    with pytest.raises((InputError, UsageError)) as caught:
        plan_of_config(folder / "rankgauge.yaml")
    assert message in str(caught.value)


def test_a_fetch_does_not_split_documents(folder: Path, command: Callable[..., Outcome]) -> None:
    done = command("runs", "fetch", "--config", folder / "rankgauge.yaml", "--retriever", "fixed", "-o", folder / "r")
    assert done.code == 64
    assert "only a benchmark splits documents" in done.err


def test_labels_of_other_queries_are_one_clear_message(folder: Path) -> None:
    (folder / "queries.jsonl").write_text('{"_id": "x", "text": "y"}\n')
    with pytest.raises(InputError, match="no query has a gold passage: 'q0', 'q1', 'q2', … in the labels, 'x' in the"):
        run_benchmark(plan_of_config(folder / "rankgauge.yaml"), folder / "out")


def test_the_configuration_decides_how_passages_are_matched(folder: Path) -> None:
    text = CONFIG.replace("name: animals", "name: animals}\nreading: {coverage: 0.9, tolerance: 0.05")
    text = text.replace("{by: sentences, size: 60}", "{by: characters, size: 40}")
    (folder / "strict.yaml").write_text(text)
    out = folder / "out"
    report = run_benchmark(plan_of_config(folder / "strict.yaml"), out)
    manifest = load(out / "ExperimentManifest.json")
    assert manifest["data"]["test collection"]["matching"] == {"coverage": 0.9, "tolerance": 0.05}
    assert "found at coverage 0.9, matched with tolerance 0.05" in (out / "BenchmarkComparison.md").read_text()
    chunks, run = out / "inputs/chunks-small.jsonl", out / manifest["method"]["retrieval"][0]["run"]["path"]
    options = GoldOptions(0.9, 0.05)
    strict, usual = (
        evaluate_gold_runs(GoldInputs(folder / "gold.jsonl", chunks, folder / "docs", each), [run], MEASURES).scores[0]
        for each in (options, GoldOptions())
    )
    assert report.scores[0].values.tolist() == strict.values.tolist()
    assert strict.values.tolist() != usual.values.tolist()
    assert verify_benchmark(out).ok
    del manifest["data"]["test collection"]["matching"]
    with pytest.raises(InputError, match=r"expected an object at data\.test collection\.matching, found nothing"):
        read_inputs(out, manifest)
