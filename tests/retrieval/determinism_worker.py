"""Fetches runs with the block and batch sizes given, and prints their hashes, in a process of its own."""

from __future__ import annotations

import hashlib
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from rankgauge.retrieval.base import Retriever
from rankgauge.retrieval.embedders.base import Embedder
from rankgauge.retrieval.embedders.named import embedder
from rankgauge.retrieval.engines.hybrid import Hybrid
from rankgauge.retrieval.engines.lexical import Lexical
from rankgauge.retrieval.engines.rerank import MaxSentence, Reranked
from rankgauge.retrieval.engines.vector import Exact, Vector
from rankgauge.retrieval.fetch.fetch import fetch
from rankgauge.retrieval.texts import Texts
from tests.retrieval.corpora import made_up, questions


def main(block: int, together: int, embedded: int, batch: int, names: list[str]) -> None:
    """Print a hash for each way of retrieving."""
    corpus = made_up(900)
    asked = questions(corpus, 40)

    def vector(one: Embedder) -> Vector:
        return Vector(corpus, one, search=partial(Exact, block=block, together=together), batch=embedded)

    lexical = Lexical(corpus)
    ways: dict[str, Retriever] = {"lexical": lexical}
    for name in names:
        one = embedder(name)
        ways[name] = vector(one)
        ways[f"hybrid {name}"] = Hybrid([lexical, ways[name]], method="weighted", normalise="z-score")
        ways[f"rerank {name}"] = Reranked(lexical, MaxSentence(one), Texts(corpus), top=10)
    with TemporaryDirectory() as folder:
        for name, way in ways.items():
            fetch(way, asked, Path(folder) / "run", k=25, batch=batch)
            print(name, hashlib.sha256((Path(folder) / "run").read_bytes()).hexdigest())  # noqa: T201 - what it is for


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
