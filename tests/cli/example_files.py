"""The files that the examples of ``--help`` name, and the commands that make the others."""

from __future__ import annotations

import json
import shutil
from importlib.resources import as_file, files
from pathlib import Path

NOT_RUN = {
    "demo": "is run by the tests of the demo",
    "index": "needs a server",
}

TEXTS = {
    "search.py": "def search(text):\n    return ['kb-001', 'kb-003']\n",
    "judge.py": "def judge(query, text):\n    return len(text) % 2\n",
    "rankgauge.yaml": """
collection: {corpus: corpus.jsonl, queries: queries.jsonl, qrels: qrels.txt}
retrievers:
  mine: {mode: "./search.py:search"}
benchmark: {latency: 2}
""",
    "docs/brakes.md": "# Brakes\n\nA squealing brake needs cleaning.\n\n# Chain\n\nClean the chain with a brush.\n",
    "gold.jsonl": json.dumps({"query_id": "q1", "query": "chain", "gold": ["Clean the chain with a brush."]}) + "\n",
    "chunks.jsonl": json.dumps({"_id": "brakes.md#44-81", "text": "# Chain\n\nClean the chain with a brush."}) + "\n",
    "baseline.jsonl": json.dumps({"query": "tyre size", "retrieved": ["kb-001", "kb-003"], "requested_k": 10}) + "\n",
    "golden.jsonl": json.dumps({"query": "tyre size", "relevant_ids": ["kb-001"]}) + "\n",
    "cases.jsonl": json.dumps({"query": "tyre size", "relevant_ids": ["kb-001"]}) + "\n",
    **{
        f"{day}.jsonl": json.dumps({"query": "tyre size", "retrieved": docs, "relevant": ["kb-001"]}) + "\n"
        for day, docs in (("monday", ["kb-002", "kb-001"]), ("today", ["kb-001", "kb-002"]))
    },
    "log.jsonl": json.dumps(
        {"query_id": "q01", "retrieved_ids": ["a", "b"], "reranked_ids": ["b", "a"], "relevant_ids": ["b"]}
    )
    + "\n",
}
SAVE = "rankgauge evaluate qrels.txt my.run --save --save-run"
BENCHMARK = "rankgauge benchmark run --corpus my-collection --retriever lexical --latency 0"
TEXT_FILES = "--corpus corpus.jsonl --queries queries.jsonl"
POOL = f"rankgauge pool old.run my.run --strategy uniform --budget 200 {TEXT_FILES} -o pool.jsonl"
JUDGE = "rankgauge judge pool.jsonl -o judgments.jsonl --judge ./judge.py:judge"
HISTORY = ("list", "show", "trend", "check")
BEFORE = {  # what is run before the examples of a command
    **{f"history {name}": (SAVE, SAVE) for name in HISTORY},
    "convert": (POOL, JUDGE),
    "judge": (POOL,),
    "labels agree": (POOL, JUDGE),
    "runs validate": ("rankgauge runs validate --labels qrels.txt --corpus corpus.jsonl --stamp stamped.jsonl",),
    "labels estimate": (POOL, JUDGE),
    "benchmark verify": (BENCHMARK,),
}


def write_example_files() -> None:
    """Write them into the working folder."""
    with as_file(files("rankgauge") / "data") as data:
        workshop = data / "workshop"
        shutil.copytree(workshop, "my-collection", ignore=shutil.ignore_patterns("runs"))
        for name, source in {
            "qrels.txt": workshop / "qrels.trec",
            "corpus.jsonl": workshop / "corpus.jsonl",
            "queries.jsonl": workshop / "queries.jsonl",
            "old.run": workshop / "runs" / "lexical.trec",
            "my.run": workshop / "runs" / "vector.trec",
            "story.md": data / "story" / "story.md",
            "questions.jsonl": data / "story" / "queries.jsonl",
        }.items():
            shutil.copy(source, name)
    run = Path("my.run").read_text(encoding="utf-8").replace(" vector\n", " my\n")
    Path("my.run").write_text(run, encoding="utf-8")
    for name, text in TEXTS.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    rows = [line.split() for line in Path("qrels.txt").read_text(encoding="utf-8").splitlines()]
    first = sorted({row[0] for row in rows})[:24]
    Path("sample.qrels").write_text("".join(f"{' '.join(row)}\n" for row in rows if row[0] in first), encoding="utf-8")
    changed = (f"{query} {q0} {doc} {min(int(grade), 2)}\n" for query, q0, doc, grade in rows)
    Path("other-qrels.txt").write_text("".join(changed), encoding="utf-8")
