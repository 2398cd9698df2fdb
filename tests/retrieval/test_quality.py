"""With the defaults, retrieval reaches its floors on real collections."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.io.corpus.corpus_files import open_collection
from rankgauge.retrieval.open_retriever import make_retriever
from rankgauge.retrieval.retriever import QueryBatch, retrieve_run

# nDCG@10: floors against regressions, not evidence of quality: the defaults were chosen on these collections by the
# rule of docs/concepts/retrieval-defaults.md. It subtracts no mean: 0.3757 on cisi, where half of it gives 0.3923.
FLOORS = {
    "lexical": {"cranfield": 0.355, "medline": 0.69, "vaswani": 0.43, "cisi": 0.39},
    "vector": {"cranfield": 0.30, "medline": 0.65, "vaswani": 0.35, "cisi": 0.37},
    "hybrid": {"cranfield": 0.365, "medline": 0.715, "vaswani": 0.435, "cisi": 0.42},
}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "name"), [(mode, name) for mode in FLOORS for name in FLOORS[mode]])
def test_retrieval_is_no_worse_than_it_was(mode: str, name: str, collections: Path) -> None:
    pytest.importorskip("bm25s")
    pytest.importorskip("wordllama")
    collection = open_collection(collections / name)
    assert collection.qrels is not None
    queries = QueryBatch.from_queries(collection.queries)
    run = retrieve_run(make_retriever(RetrieverSettings(mode=mode), collection.documents), queries, 100)
    value = evaluate(collection.qrels, run, "nDCG@10")["nDCG@10"]
    assert value is not None
    assert value >= FLOORS[mode][name]
