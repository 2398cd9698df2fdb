"""Make the two runs of the workshop collection.

Reads ``corpus.jsonl`` and ``queries.jsonl`` from the collection folder given as the
argument and writes ``runs/lexical.trec`` and ``runs/vector.trec`` there, the top 50
documents a query:

* lexical: BM25 (bm25s; k1 = 1.2, b = 0.75, English stop words, Snowball English
  stemmer); documents that score 0 are dropped.
* vector: cosine of WordLlama embeddings of the lower-cased text, with the weights that
  ship inside its wheel, so nothing is downloaded.

A document is its title, a space, and its text. Scores are rounded to six significant
digits; equal scores are ordered by document id bytes, descending. Same input and same
library versions, same output.

Needs: ``pip install bm25s PyStemmer wordllama``. Not needed to use the collection.

Usage: ``python scripts/make_workshop_runs.py src/rankgauge/data/workshop``
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
import wordllama
from numpy.typing import NDArray
from wordllama import WordLlama

DEPTH = 50

Scorer = Callable[[str], Sequence[float]]


def read_jsonl(path: Path) -> list[dict[str, str]]:
    """The objects of a JSON Lines file, in file order."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def lexical_scorer(texts: Sequence[str]) -> Scorer:
    """A function from a query to its BM25 score with each text."""
    stemmer = Stemmer.Stemmer("english")

    def tokens(batch: Sequence[str]) -> list[list[str]]:
        cut: list[list[str]] = bm25s.tokenize(
            list(batch), stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
        )
        return cut

    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index(tokens(texts), show_progress=False)
    return lambda query: [float(score) for score in index.get_scores(tokens([query])[0])]


def vector_scorer(texts: Sequence[str]) -> Scorer:
    """A function from a query to the cosine of its embedding with that of each text."""
    model = WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)

    def embed(batch: Sequence[str]) -> NDArray[np.float64]:
        rows = np.asarray(model.embed([text.lower() for text in batch]), dtype=np.float64)
        unit: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    documents = embed(texts)
    return lambda query: [float(score) for score in documents @ embed([query])[0]]


def write_run(
    path: Path,
    tag: str,
    queries: Sequence[dict[str, str]],
    ids: Sequence[str],
    score: Scorer,
    keep_zero: bool,
) -> None:
    """Write one run in the six-column TREC format."""
    lines: list[str] = []
    for query in queries:
        scored = [
            (float(f"{value:.6g}"), doc_id.encode())
            for doc_id, value in zip(ids, score(query["text"]), strict=True)
            if keep_zero or value > 0
        ]
        scored.sort(reverse=True)
        lines += (
            f"{query['_id']} Q0 {doc_id.decode()} {rank} {value:.6g} {tag}\n"
            for rank, (value, doc_id) in enumerate(scored[:DEPTH], start=1)
        )
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def main() -> None:
    """Read the folder, make both runs."""
    parser = argparse.ArgumentParser(description="Make the runs of the workshop collection.")
    parser.add_argument("folder", type=Path, help="the collection folder")
    folder: Path = parser.parse_args().folder

    corpus = read_jsonl(folder / "corpus.jsonl")
    queries = read_jsonl(folder / "queries.jsonl")
    ids = [document["_id"] for document in corpus]
    texts = [f"{document['title']} {document['text']}" for document in corpus]

    runs = folder / "runs"
    runs.mkdir(exist_ok=True)
    write_run(runs / "lexical.trec", "lexical", queries, ids, lexical_scorer(texts), False)
    write_run(runs / "vector.trec", "vector", queries, ids, vector_scorer(texts), True)


if __name__ == "__main__":
    main()
