"""What retrieval costs and how good it is, beside bm25s alone: ``python -m benchmarks.retrieval``.

Each way runs in a process of its own, in turns; the best round counts. CPU seconds are those of everything from opening
the corpus to the finished run file (bm25s: to its results in memory, which writes nothing); imports are not in them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.single_query import show as show_single_query

ROOT = Path(__file__).parents[1]
COLLECTIONS = ("cranfield", "medline", "vaswani", "cisi")
WAYS = ("bm25s", "lexical", "vector", "hybrid", "rerank", "hashed", "vsa")
BIG = ("bm25s", "lexical", "vector", "hybrid")
DEPTH = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("RANKGAUGE_DATA", ROOT.parent / "shared/data"))
    )
    parser.add_argument("--repeat", type=int, default=3, help="rounds, the best of which counts")
    parser.add_argument("--only", default=",".join((*COLLECTIONS, "big", "single")), help="collections, big, single")
    parser.add_argument("--ways", default="", help="only these: " + ", ".join(WAYS))
    parser.add_argument("--documents", type=int, default=200_000, help="of the generated collection")
    parser.add_argument("--queries", type=int, default=1000, help="of the generated collection")
    parser.add_argument("--worker", nargs=2, metavar=("WAY", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(work(options.worker[0], Path(options.worker[1]))))
        return 0
    asked = options.ways.split(",") if options.ways else list(WAYS)
    print("| collection | way | nDCG@10 | AP | CPU s | × bm25s | wall s | peak MB |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only.split(","):
            if name == "single":
                show_single_query(options.documents, DEPTH)
                continue
            home = options.data / name
            ways, rounds = asked, options.repeat
            if name == "big":
                home = Path(folder) / "big"
                make_big(home, options.documents, options.queries)
                ways, rounds = [way for way in asked if way in BIG], 1
            if home.is_dir():
                show(name, measured(ways, home, rounds))
            else:
                print(f"{home} is not there: skipped", file=sys.stderr)
    return 0


def measured(ways: list[str], home: Path, rounds: int) -> dict[str, dict[str, Any]]:
    """The best round of each way; the ways take turns, so that a slow minute meets all of them."""
    best: dict[str, dict[str, Any]] = {}
    for number in range(rounds):
        for way in ways:
            print(f"{home.name} {way}, round {number + 1} of {rounds}", file=sys.stderr)
            command = [sys.executable, "-m", "benchmarks.retrieval", "--worker", way, str(home)]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{way} on {home.name} failed:\n{done.stderr}")
            found = json.loads(done.stdout)
            if way not in best or found["cpu"] < best[way]["cpu"]:
                best[way] = found
    return best


def show(name: str, rows: dict[str, dict[str, Any]]) -> None:
    for way, row in rows.items():
        peer = rows.get("bm25s")
        ratio = f"{row['cpu'] / peer['cpu']:.2f}" if peer else "–"
        values = [f"{row[key]:.4f}" if row[key] is not None else "–" for key in ("ndcg", "ap")]
        cost = f"{row['cpu']:.2f} | {ratio} | {row['wall']:.2f} | {row['peak']:.0f}"
        print(f"| {name} | {way} | {' | '.join(values)} | {cost} |")
    sys.stdout.flush()


def work(way: str, home: Path) -> dict[str, Any]:
    """Run one way on one collection in this process."""
    from rankgauge import evaluate
    from rankgauge.core.run import Run
    from rankgauge.io.corpus.corpus_files import open_collection

    prepare, run = bm25s_alone(home) if way == "bm25s" else ours(way, home)
    prepare()
    wall, cpu = time.perf_counter(), time.process_time()
    found = run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    qrels = open_collection(home).qrels
    out: dict[str, Any] = {"cpu": cpu, "wall": wall, "peak": peak, "ndcg": None, "ap": None}
    if qrels is not None:
        made = Run.from_dict(found) if isinstance(found, dict) else found.run
        scores = evaluate(qrels, made, ["nDCG@10", "AP"])
        out.update(ndcg=scores["nDCG@10"], ap=scores["AP"])
    return out


def ours(way: str, home: Path) -> tuple[Callable[[], object], Callable[[], Any]]:
    from rankgauge.config.retriever_settings import RetrieverSettings
    from rankgauge.io.corpus.corpus_files import read_corpus
    from rankgauge.io.queries import read_queries
    from rankgauge.retrieval.engines import lexical
    from rankgauge.retrieval.fetch import fetch_run
    from rankgauge.retrieval.open_retriever import make_retriever
    from rankgauge.retrieval.retriever import QueryBatch

    settings = {
        "lexical": RetrieverSettings(mode="lexical"),
        "vector": RetrieverSettings(mode="vector"),
        "hybrid": RetrieverSettings(mode="hybrid"),
        "rerank": RetrieverSettings(mode="hybrid", rerank="sentences"),
        "hashed": RetrieverSettings(mode="vector", embedder="hashed"),
        "vsa": RetrieverSettings(mode="vector", embedder="vsa"),
    }[way]

    def run() -> Any:
        queries = read_queries(home / "queries.jsonl")
        asked = QueryBatch.from_queries(queries)
        with tempfile.TemporaryDirectory() as folder:
            retriever = make_retriever(settings, read_corpus(home), asked)
            return fetch_run(retriever, asked, Path(folder) / "run.trec", k=DEPTH)

    return lexical.import_bm25s, run


def bm25s_alone(home: Path) -> tuple[Callable[[], object], Callable[[], Any]]:
    import bm25s
    import Stemmer

    def run() -> Any:
        with (home / "corpus.jsonl").open(encoding="utf-8") as lines:
            documents = [json.loads(line) for line in lines]
        with (home / "queries.jsonl").open(encoding="utf-8") as lines:
            queries = [json.loads(line) for line in lines]
        texts = [f"{document['title']} {document['text']}" for document in documents]
        ids = [document["_id"] for document in documents]
        stemmer = Stemmer.Stemmer("english")
        more = {"stopwords": "en", "stemmer": stemmer, "show_progress": False}
        index = bm25s.BM25(k1=1.2, b=0.75)
        index.index(bm25s.tokenize(texts, **more), show_progress=False)
        asked = bm25s.tokenize([query["text"] for query in queries], **more)
        rows, scores = index.retrieve(asked, k=min(DEPTH, len(ids)), show_progress=False)
        return {
            query["_id"]: {ids[row]: float(score) for row, score in zip(found, values, strict=True) if score > 0}
            for query, found, values in zip(queries, rows, scores, strict=True)
        }

    return lambda: None, run


def make_big(home: Path, documents: int, queries: int) -> None:
    """Passages of some 60 words whose frequencies fall as in a language (1 / rank), and queries out of them."""
    chance = random.Random(20)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or")]
    words = sorted({"".join(chance.choices(syllables, k=chance.randrange(2, 5))) for _ in range(60_000)})
    chance.shuffle(words)
    total, sums = 0.0, []
    for rank in range(1, len(words) + 1):
        total += 1 / rank
        sums.append(total)
    home.mkdir()
    asked: list[str] = []
    with (home / "corpus.jsonl").open("w", encoding="utf-8") as out:
        for number in range(documents):
            text = chance.choices(words, cum_weights=sums, k=chance.randrange(40, 80))
            out.write(json.dumps({"_id": f"d{number}", "title": "", "text": " ".join(text)}) + "\n")
            if number % max(1, documents // queries) == 0 and len(asked) < queries:
                asked.append(" ".join(chance.sample(text, 6)))
    with (home / "queries.jsonl").open("w", encoding="utf-8") as out:
        out.writelines(json.dumps({"_id": f"q{number}", "text": text}) + "\n" for number, text in enumerate(asked))


if __name__ == "__main__":
    sys.exit(main())
