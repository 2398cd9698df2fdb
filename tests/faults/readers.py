"""Every reader of files, with small valid files to begin from."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.adapters.pipeline.pipeline_log import evaluate_pipeline
from rankgauge.adapters.story.retrieval_quality import read_labeled_queries
from rankgauge.adapters.story.story import read_story
from rankgauge.benchmark.folder import MANIFEST
from rankgauge.benchmark.verify import verify_benchmark
from rankgauge.cli.main import run
from rankgauge.comparison.gate.gate import gate
from rankgauge.comparison.gate.requirements import GateRule
from rankgauge.config.band_sources import load_bands
from rankgauge.config.config_file import load_config, load_judge_section
from rankgauge.config.retriever_settings import RetrieverCalls
from rankgauge.core.run import Run
from rankgauge.errors import RetrieverError
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.history import EntryFacts, GitState, History
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.io.formats.judgment_lines import Inclusion, Judgment, read_judgments
from rankgauge.io.formats.score_tables import read_scores
from rankgauge.io.queries import read_queries, read_query_ids
from rankgauge.io.read import read_qrels, read_run
from rankgauge.io.reading_options import DEFAULT_READING
from rankgauge.labels.assessors import ratings_of, read_raters
from rankgauge.labels.estimates import estimate_from_sample
from rankgauge.labels.gold.gold_evaluation import GoldInputs, evaluate_gold
from rankgauge.labels.gold.gold_labels import read_gold
from rankgauge.labels.judging_session import JudgmentFile
from rankgauge.labels.pool_files import PoolItem, read_pool
from rankgauge.rag.cases import read_cases
from rankgauge.rag.live import evaluate_retriever
from rankgauge.render.documents.history import Listing, listing_document
from rankgauge.render.formats import rendered
from rankgauge.report import manifest as manifests
from rankgauge.retrieval.embedders.precomputed import PrecomputedEmbedder
from rankgauge.retrieval.index_files import load_arrays, save_arrays
from rankgauge.retrieval.journal import Journal
from rankgauge.validation.qrels_validation import validate_qrels
from rankgauge.validation.run_validation import validate_run
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
CASES = b'{"query": "a b", "relevant_ids": ["d1", "d2"], "topK": 3}\n{"query": "c", "relevant_ids": []}\n'
CASES_CSV = b"query,relevant_ids,topK\na b,d1;d2,3\nc,d3,\n"
PIPELINE = (
    b'{"query_id": "q1", "relevant_ids": ["d1"], "retrieved": ["d2", "d1"], "gate": true, "route": "a", '
    b'"expected_route": "a", "reranked": ["d1", "d2"]}\n{"query_id": "q2", "relevant_ids": ["d3"], "retrieved": []}\n'
)
STORY = b'{"id": "s1", "text": "a dog runs"}\n{"id": "s2", "text": "a cat sleeps"}\n'
STORY_MD = b"# Story\n\n## Scene 1: dog\n\nA dog runs.\n\n## Scene 2: cat\n\nA cat sleeps.\n"
LABELED = b'{"text": "dog", "relevant": ["s1"], "topK": 1}\n{"text": "cat", "relevant": ["s2"]}\n'
VECTOR_IDS = [b"a", b"b", b"c", b"d"]
VECTORS = b"".join(b'{"id": "%s", "vector": [1, 0.5, -2e-3]}\n' % name for name in VECTOR_IDS)
GOLD = (
    b'{"query_id": "q1", "query": "reset?", "gold": ["some text 1", {"text": "text 2"}], "kind": "a"}\n'
    b'{"query_id": "q2", "gold": [{"doc": "d2", "start": 5, "end": 9}, {"doc": "d3", "start": 0, "end": 11}]}\n'
    b'{"query_id": "q3", "doc": "d1", "start": 0, "end": 4}\n'
)
CONTEXTS = b'{"user_input": "reset?", "reference_contexts": ["some text 1", "some text 3"], "reference": "x"}\n'
JUDGE = b"""url: http://127.0.0.1:9/v1/chat/completions
model: small
prompt: "{query} {text}"
headers: {Authorization: "Bearer ${KEY}"}
options: {temperature: 0}
retries: 3
"""
LIVE_CASES = [{"id": f"q{n}", "query": "one" if n else "two", "relevant_ids": ["d1"]} for n in range(3)]
_FAILING: set[str] = set()
HEADER = {"format": "soak", "sha256": "00"}


def find(query: str, k: int = 5) -> list[str]:
    """A retriever."""
    return ["d1", "d3"] if query == "one" else ["d3"]


def _find_or_fail(query: str, k: int = 5) -> list[str]:
    """A retriever that fails now and then."""
    if query in _FAILING:
        raise ConnectionError
    return find(query, k)


def _judgments(probability: float | None = 0.5) -> bytes:
    inclusion = Inclusion("stratified", probability, "top", 4, 2)
    return b"".join(
        Judgment(f"q{q}", f"d{d}", (q + d) % 3, name, "terminal", note="n", inclusion=inclusion).to_line()
        for name in ("ann", "bob")
        for q in range(3)
        for d in range(2)
    )


def _pool() -> bytes:
    inclusion = Inclusion("stratified", 0.5, "top", 4, 2)
    items = [PoolItem(f"q{q}", f"d{d}", inclusion, "query", "title", "text") for q in range(2) for d in range(2)]
    return b"".join(item.to_line() for item in [*items, PoolItem("q1", "d9", inclusion, sampled=False)])


def _live(path: Path) -> None:
    evaluate_retriever(_find_or_fail, LIVE_CASES, k=2, calls=RetrieverCalls(journal=path))


def _rows(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _npy(array: np.ndarray[Any, Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def make_seeds(folder: Path) -> dict[str, Seeds]:
    """Valid content for each kind of file; some are what rankgauge itself writes."""
    (folder / "qrels.trec").write_bytes(QRELS["trec"])
    tables = {
        "csv": b'_id,title,text\nd1,t,some text\nd2,t,"quoted, text"\n',
        "tsv": b"d1\tsome text\nd2\tother text\n",
        "jsonl": _rows(DOCUMENTS),
        "sgml": SGML,
    }
    with Journal(folder / "seed.journal", {"k": 1}):
        pass
    journal = (folder / "seed.journal").read_bytes()
    journal += b'{"query":"q1","docs":["d1","d2"],"scores":[2.0,1.0],"at":4102444800}\n'
    _FAILING.add("two")
    with suppress(RetrieverError):
        _live(folder / "live.journal")
    _FAILING.clear()
    judged = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
    ranked = Run.from_dict({"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 1.0}})
    scores = evaluate(judged, ranked, ["RR", "P@1"])
    rows = [{"query": query, "RR": scores.per_query("RR")[query], "kind": "a"} for query in scores.queries]
    entry = History.open(folder / "seed-history").save(scores, facts=EntryFacts(verdict="pass"), git=GitState())
    report = {"schema": "rankgauge.scores/1", "runs": [scores.to_dict(per_query=True)]}
    one_system: Seeds = [
        (".jsonl", entry.path.read_bytes()),
        (".jsonl", _rows(rows)),
        (".json", json.dumps(rows).encode()),
        (".json", json.dumps(report).encode()),
        (".csv", b"query,RR,kind\nq1,1.0,a\nq2,,b\n"),
        (".csv", b"query;measure;value\nq1;RR;1.0\nq2;RR;0.5\n"),
    ]
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
        "scores": [*one_system, (".csv", b"system,query,P@1\na,q1,1\na,q2,0\nb,q1,1\n")],
        "scores of a system": one_system,
        "manifest": [(".json", (benchmark / MANIFEST).read_bytes())],
        "journal": [(".journal", journal)],
        "live journal": [(".journal", (folder / "live.journal").read_bytes())],
        "gold": [(".jsonl", GOLD), (".json", b"[" + GOLD.replace(b"}\n{", b"},\n{") + b"]"), (".jsonl", CONTEXTS)],
        "judgments": [(".jsonl", _judgments())],
        "pool": [(".jsonl", _pool())],
        "judge": [(".yaml", JUDGE)],
        "cases": [(".jsonl", CASES), (".csv", CASES_CSV)],
        "pipeline": [(".jsonl", PIPELINE)],
        "story": [(".jsonl", STORY), (".md", STORY_MD)],
        "labeled": [(".jsonl", LABELED)],
        "history entry": [(".jsonl", entry.path.read_bytes())],
        "header": [(".json", (folder / "seed-index/header.json").read_bytes())],
        "array": [(".npy", _npy(np.eye(4))), (".npy", _npy(np.eye(4, dtype=np.float32)))],
        "vectors": [(".jsonl", VECTORS), (".parquet", _parquet_vectors())],
        "vector ids": [(".txt", b"a\nb\nc\nd\n"), (".sha256", hashlib.sha256(b"a\nb\nc\nd\n").hexdigest().encode())],
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


def _resume(path: Path) -> None:
    """An evaluation that goes on from a journal."""
    try:
        _live(path)
    finally:
        path.unlink(missing_ok=True)


def _score_gold(path: Path) -> None:
    texts = {str(row["_id"]): str(row["text"]) for row in DOCUMENTS}
    evaluate_gold(GoldInputs(path, texts, texts), {"q1": ["d1", "d2"], "q2": ["d3"], "reset?": ["d1"]})


def _estimate(path: Path) -> None:
    run = Run.from_lists({f"q{q}": ["d0", "d1"] for q in range(3)})
    estimate_from_sample(read_judgments(path), [run])


def _agree(path: Path) -> None:
    ratings_of(read_raters([path]))


def _append(path: Path) -> None:
    """A file of judgments that another assessor goes on with."""
    JudgmentFile(path).add(Judgment("q1", "d1", 1, "eve", "terminal"))
    assert read_judgments(path)[-1].assessor == "eve"


def _read_scores(path: Path) -> None:
    read_scores(path, DEFAULT_READING)


def _gate_scores(path: Path) -> None:
    """Scores that a run is compared with, whoever made them."""
    judged, ranked = {"q1": {"d1": 1}, "q2": {"d1": 1}}, {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}
    gate(judged, ranked, baseline=path, rule=GateRule(scored_elsewhere="accept"))


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


def _history_with(path: Path) -> History:
    """A history that somebody else's entry was copied to."""
    folder = path.with_name("history")
    folder.mkdir(exist_ok=True)
    shutil.copy(path, folder / "2026-11-01T00-00-00Z-other-1.jsonl")
    return History.open(folder)


def _read_history(path: Path) -> None:
    """Every entry, as lists and pages show it."""
    history = _history_with(path)
    entries = history.entries()
    rendered(listing_document(Listing(entries, len(entries))), "table")
    for entry in entries:
        history.entry(entry.name)


def _read_trend(path: Path) -> None:
    history = _history_with(path)
    for entry in history.latest():
        for measure in entry.means:
            history.trend(measure)
        history.check()


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
    path.with_name(f"{path.stem}.ids.txt").write_bytes(b"a\nb\nc\nd\n")
    _embed(path)


def _embed(path: Path) -> None:
    one = PrecomputedEmbedder(str(path), VECTOR_IDS, str(path), VECTOR_IDS)
    one.embed(VECTOR_IDS, [""] * 4, "document")


def _read_vector_ids(path: Path) -> None:
    """The ids of a table, or their hash."""
    table = path.with_name("table.npy")
    table.write_bytes(_npy(np.eye(4)))
    beside = table.with_name(f"table.ids{path.suffix}")
    beside.write_bytes(path.read_bytes())
    try:
        _embed(table)
    finally:
        beside.unlink()


def _parquet_vectors() -> bytes:
    import pyarrow
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.table({"id": ["a", "b", "c", "d"], "vector": np.eye(4).tolist()}), out)
    return out.getvalue()


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
        Reader("scores", "scores", _read_scores, is_json=True),
        Reader("scores as a baseline", "scores of a system", _gate_scores, is_json=True),
        Reader("manifest", "manifest", manifests.load, is_json=True),
        Reader("benchmark", "benchmark", _verify, is_json=True),
        Reader("journal", "journal", _read_journal, is_json=True),
        Reader("live journal", "live journal", _resume, is_json=True),
        Reader("gold", "gold", read_gold, is_json=True),
        Reader("gold scores", "gold", _score_gold, is_json=True),
        Reader("judgments", "judgments", read_judgments, is_json=True),
        Reader("judgments as qrels", "judgments", read_qrels, is_json=True),
        Reader("judgments validation", "judgments", validate_qrels, is_json=True),
        Reader("judgment estimates", "judgments", _estimate, is_json=True),
        Reader("judgment agreement", "judgments", _agree, is_json=True),
        Reader("judgment file", "judgments", _append, is_json=True),
        Reader("pool", "pool", read_pool, is_json=True),
        Reader("judge", "judge", load_judge_section),
        Reader("cases", "cases", read_cases, is_json=True),
        Reader("pipeline", "pipeline", evaluate_pipeline, is_json=True),
        Reader("story", "story", read_story),
        Reader("labeled queries", "labeled", read_labeled_queries),
        Reader("history", "history entry", _read_history, is_json=True),
        Reader("history trend", "history entry", _read_trend, is_json=True),
        Reader("index header", "header", _read_index, is_json=True),
        Reader("index array", "array", _read_index),
        Reader("vectors", "array", _read_vectors),
        Reader("vectors by id", "vectors", _embed),
        Reader("vector ids", "vector ids", _read_vector_ids),
    )
}
