"""Every reader of files, with small valid files to begin from."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.adapters.pipeline.log import evaluate_pipeline
from rankgauge.adapters.story.labeled import read_labeled_queries
from rankgauge.adapters.story.story import read_story
from rankgauge.benchmark.folder import MANIFEST
from rankgauge.benchmark.verify import verify_benchmark
from rankgauge.cli.main import run
from rankgauge.comparison.gate.stored import read_baseline
from rankgauge.config.bands.loading import load_bands
from rankgauge.config.reading import load_config
from rankgauge.core.run import Run
from rankgauge.evaluation.cache import MetricsCache
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.history import EntryFacts, GitState, History
from rankgauge.history.reading import read_entry, read_labels
from rankgauge.io.corpus.reading import read_corpus
from rankgauge.io.queries import read_queries, read_query_ids
from rankgauge.io.read import read_qrels, read_run
from rankgauge.rag.cases import read_cases
from rankgauge.render.documents.history import Listing, listing_document
from rankgauge.render.formats import rendered
from rankgauge.report import manifest as manifests
from rankgauge.retrieval.embedders.precomputed import PrecomputedEmbedder
from rankgauge.retrieval.fetch.journal import Journal
from rankgauge.retrieval.store import load_arrays, save_arrays
from rankgauge.validation.validate import validate_qrels, validate_run
from tests.faults.plain_numbers import check_run
from tests.io.examples import QRELS, RANKED, RUNS

Seeds = list[tuple[str, bytes]]  # suffix and content
DOCUMENTS = [{"_id": f"d{n}", "title": f"t{n}", "text": f"some text {n}"} for n in range(4)]
SGML = "".join(f"<DOC>\n<DOCNO> d{n} </DOCNO>\n<TEXT>\nsome text\n</TEXT>\n</DOC>\n" for n in range(3)).encode()
TOPICS = b"<top>\n<num> Number: 301\n<title> crime\n<desc> Description:\nwhat\n<narr> Narrative:\nthis\n</top>\n"
CONFIG = b"""collection: {corpus: c.jsonl, queries: q.jsonl, qrels: r.trec}
measures: [nDCG@10, "AP(rel=2)", RR]
statistics: {confidence: 0.9}
retrievers:
  a: {mode: lexical, k1: 1.2}
  b: {mode: hybrid, weights: [0.7, 0.3]}
"""
BENCHMARK = """collection: {{queries: {folder}/queries.jsonl, qrels: {folder}/qrels.trec}}
measures: [RR]
retrievers: {{find: {{mode: "tests.faults.readers:find"}}}}
"""
BANDS = b"name: mine\nbands:\n  nDCG@10: {baseline: 0.3, good: 0.5, strong: 0.7}\n"
CASES = (
    b'{"query": "a b", "relevant_ids": ["d1", "d2"], "topK": 3, "weight": 2}\n'
    b'{"query": "c", "relevant_ids": [], "weight": 1}\n'
)
CASES_CSV = b"query,relevant_ids,topK\na b,d1;d2,3\nc,d3,\n"
PIPELINE = (
    b'{"query_id": "q1", "relevant_ids": ["d1"], "retrieved": ["d2", "d1"], "gate": true, "route": "a", '
    b'"expected_route": "a", "reranked": ["d1", "d2"]}\n{"query_id": "q2", "relevant_ids": ["d3"], "retrieved": []}\n'
)
STORY = b'{"id": "s1", "text": "a dog runs"}\n{"id": "s2", "text": "a cat sleeps"}\n'
STORY_MD = b"# Story\n\n## Scene 1: dog\n\nA dog runs.\n\n## Scene 2: cat\n\nA cat sleeps.\n"
LABELED = b'{"text": "dog", "relevant": ["s1"], "topK": 1}\n{"text": "cat", "relevant": ["s2"]}\n'
HEADER = {"format": "soak", "sha256": "00"}


def find(query: str, k: int = 5) -> list[str]:
    """A retriever."""
    return ["d1", "d3"] if query == "one" else ["d3"]


def _rows(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _npy(array: np.ndarray[Any, Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def make_seeds(folder: Path) -> dict[str, Seeds]:
    """Valid content for each kind of file; some are what rankgauge itself writes."""
    base, qrels, ranking = (folder / name for name in ("base.json", "qrels.trec", "run.trec"))
    qrels.write_bytes(QRELS["trec"])
    ranking.write_bytes(RUNS["trec"])
    assert run(["gate", str(qrels), str(ranking), "-m", "RR", "--write-baseline", str(base)]) == 0
    tables = {
        "csv": b'_id,title,text\nd1,t,some text\nd2,t,"quoted, text"\n',
        "tsv": b"d1\tsome text\nd2\tother text\n",
        "jsonl": _rows(DOCUMENTS),
        "sgml": SGML,
    }
    with Journal(folder / "seed.journal", {"k": 1}):
        pass
    journal = (folder / "seed.journal").read_bytes()
    journal += b'{"query":"q1","docs":["d1","d2"],"scores":[2.0,1.0],"status":0}\n'
    with MetricsCache(folder / "seed.sqlite") as cache:
        cache.put({"a": b"1" * 40})
    with History.open(folder / "seed.db") as history:
        judged, ranked = {"q1": {"d1": 1, "d2": 0}}, Run.from_dict({"q1": {"d1": 2.0, "d2": 1.0}})
        history.save(
            evaluate(judged, ranked, ["RR"]), judged, run=ranked, facts=EntryFacts(tags=("t",)), git=GitState()
        )
        (entry,) = history.export(folder / "seed-history")
    (labels,) = (folder / "seed-history/labels").iterdir()
    save_arrays(folder / "seed-index", HEADER, {"a": np.arange(4)})
    (folder / "queries.jsonl").write_bytes(b'{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "two"}\n')
    (folder / "soak.yaml").write_text(BENCHMARK.format(folder=folder))
    benchmark = folder / "benchmark"
    assert run(["benchmark", "run", str(folder / "soak.yaml"), "--latency", "0", "-o", str(benchmark)]) == 0
    return {
        "benchmark": [(".json", (benchmark / MANIFEST).read_bytes())],
        "qrels": [("", data) for data in QRELS.values()],
        "run": [("", data) for data in (RUNS | RANKED).values()],
        "trec run": [("", _trec_run())],
        "queries": [(".jsonl", _rows(DOCUMENTS)), (".txt", TOPICS), (".tsv", b"q1\tone two\nq2\tthree\n"),
                    (".csv", b"id,text,kind\nq1,one,a\nq2,two,b\n"),
                    (".json", b'[{"id": "q1", "text": "one"}, {"id": "q2", "text": "two"}]')],
        "corpus": [(f".{suffix}", data) for suffix, data in tables.items()],
        "config": [(".yaml", CONFIG)],
        "bands": [(".yaml", BANDS)],
        "baseline": [(".json", base.read_bytes())],
        "manifest": [(".json", (benchmark / MANIFEST).read_bytes())],
        "journal": [(".journal", journal)],
        "cases": [(".jsonl", CASES), (".csv", CASES_CSV)],
        "pipeline": [(".jsonl", PIPELINE)],
        "story": [(".jsonl", STORY), (".md", STORY_MD)],
        "labeled": [(".jsonl", LABELED)],
        "cache": [(".sqlite", (folder / "seed.sqlite").read_bytes())],
        "history": [(".db", (folder / "seed.db").read_bytes())],
        "history entry": [(".jsonl", entry.read_bytes())],
        "history labels": [(".jsonl", labels.read_bytes())],
        "header": [(".json", (folder / "seed-index/header.json").read_bytes())],
        "array": [(".npy", _npy(np.eye(4))), (".npy", _npy(np.eye(4, dtype=np.float32)))],
    }  # fmt: skip


def _trec_run() -> bytes:
    rows = (b"q%d Q0 d%d %d %d.5 tag\n" % (q, d, d, (d * 3 + q) % 7) for q in range(4) for d in range(10))
    return b"".join(rows)


@dataclass(frozen=True)
class Reader:
    """A function that reads a file, and the seeds it begins from."""

    name: str
    seeds: str
    read: Callable[[Path], Any]
    is_json: bool = False  # JSON that rankgauge writes itself


def _read_corpus(path: Path) -> None:
    for _ in read_corpus(path):
        pass


def _read_journal(path: Path) -> None:
    with Journal(path, {"k": 1}):
        pass


def _verify(path: Path) -> None:
    """A benchmark whose manifest was changed, with a hash that agrees."""
    folder = path.with_name("benchmark")
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        data = None
    intact = manifests.to_bytes(data) if isinstance(data, dict) and _is_finite(data) else path.read_bytes()
    (folder / MANIFEST).write_bytes(intact)
    verify_benchmark(folder)


def _is_finite(data: Any) -> bool:
    try:
        json.dumps(data, allow_nan=False, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except ValueError:
        return False
    return True


def _read_cache(path: Path) -> None:
    with MetricsCache(path) as cache:
        cache.get("a")
        cache.info()


def _read_history(path: Path) -> None:
    try:
        with History.open(path) as history:
            for entry in history.entries():
                rendered(listing_document(Listing([entry], 1)), "table")
                history.entry(entry.name)
    finally:
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _read_index(path: Path) -> None:
    """A damaged header or array is a miss."""
    folder = path.with_name("index")
    if not folder.is_dir():
        save_arrays(folder, HEADER, {"a": np.arange(4)})
    (folder / ("header.json" if path.suffix == ".json" else "a.npy")).write_bytes(path.read_bytes())
    try:
        load_arrays(folder, lambda: HEADER, lambda arrays: True)
    finally:
        save_arrays_again(folder)


def save_arrays_again(folder: Path) -> None:
    """Repair what was damaged for a trial."""
    (folder / "header.json").write_text(json.dumps({**HEADER, "arrays": ["a"]}))
    (folder / "a.npy").write_bytes(_npy(np.arange(4)))


def _read_vectors(path: Path) -> None:
    PrecomputedEmbedder(str(path), [b"a", b"b", b"c", b"d"], str(path), [b"a", b"b", b"c", b"d"])


READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("qrels", "qrels", read_qrels),
        Reader("run", "run", read_run),
        Reader("numbers", "trec run", check_run),
        Reader("qrels validation", "qrels", validate_qrels),
        Reader("run validation", "run", validate_run),
        Reader("queries", "queries", read_queries),
        Reader("query ids", "queries", read_query_ids),
        Reader("corpus", "corpus", _read_corpus),
        Reader("config", "config", load_config),
        Reader("bands", "bands", load_bands),
        Reader("baseline", "baseline", read_baseline, is_json=True),
        Reader("manifest", "manifest", manifests.load, is_json=True),
        Reader("benchmark", "benchmark", _verify, is_json=True),
        Reader("journal", "journal", _read_journal, is_json=True),
        Reader("cases", "cases", read_cases, is_json=True),
        Reader("pipeline", "pipeline", evaluate_pipeline, is_json=True),
        Reader("story", "story", read_story),
        Reader("labeled queries", "labeled", read_labeled_queries),
        Reader("cache", "cache", _read_cache),
        Reader("history", "history", _read_history),
        Reader("history entry", "history entry", read_entry, is_json=True),
        Reader("history labels", "history labels", read_labels, is_json=True),
        Reader("index header", "header", _read_index, is_json=True),
        Reader("index array", "array", _read_index),
        Reader("vectors", "array", _read_vectors),
    )
}
