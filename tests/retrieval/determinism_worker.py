"""Fetch runs with the given block and batch sizes, and print their hashes, in a separate process."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from rankgauge.retrieval.embedders import embedder
from rankgauge.retrieval.embedders.embedder import Embedder
from rankgauge.retrieval.engines.hybrid import Hybrid
from rankgauge.retrieval.engines.lexical import Lexical
from rankgauge.retrieval.engines.rerank import DocumentTexts, RerankedRetriever, SentenceReranker
from rankgauge.retrieval.engines.vector import Exact, Vector
from rankgauge.retrieval.fetch import FetchOptions, fetch_run
from rankgauge.retrieval.retriever import Retriever
from tests.retrieval.corpora import made_up, made_up_queries


def main(scores_per_block: int, query_block: int, embedding_batch: int, fetch_batch: int, names: list[str]) -> None:
    """Print one hash per retriever."""
    corpus = made_up(900)
    queries = made_up_queries(corpus, 40)

    def vector(model: Embedder) -> Vector:
        made = Vector(corpus, model, batch_size=embedding_batch)
        made._index = Exact(made.vectors, made.ids, scores_per_block=scores_per_block, query_block=query_block)
        return made

    lexical = Lexical(corpus)
    retrievers: dict[str, Retriever] = {"lexical": lexical}
    for name in names:
        model = embedder(name)
        retrievers[name] = vector(model)
        retrievers[f"hybrid {name}"] = Hybrid([lexical, retrievers[name]], method="weighted", normalization="z-score")
        retrievers[f"rerank {name}"] = RerankedRetriever(
            lexical, SentenceReranker(model), DocumentTexts(corpus), top=10
        )
    with TemporaryDirectory() as folder:
        for name, retriever in retrievers.items():
            fetch_run(retriever, queries, Path(folder) / "run", k=25, options=FetchOptions(batch_size=fetch_batch))
            print(name, hashlib.sha256((Path(folder) / "run").read_bytes()).hexdigest())  # noqa: T201 - the output of this program


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
