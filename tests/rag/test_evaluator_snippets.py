"""The usage snippets of the RAG evaluator's specification, as written but for the import line and the live client."""

from __future__ import annotations

import asyncio

import pytest

from rankgauge import Document, RetrievalEvaluator

IMPORTS = "from rankgauge import RetrievalEvaluator, Document\n"

SINGLE = """
# Initialize the evaluator
evaluator = RetrievalEvaluator()

# Create sample retrieved documents
retrieved_docs = [
    Document(id="doc1", raw_text="Python is a programming language"),
    Document(id="doc2", raw_text="Machine learning uses algorithms"),
    Document(id="doc3", raw_text="Python has many libraries"),
    Document(id="doc4", raw_text="Cooking recipes for dinner"),
    Document(id="doc5", raw_text="Python web frameworks"),
]

# Define which documents are actually relevant for the query
relevant_document_ids = ["doc1", "doc3", "doc5"]

# Evaluate retrieval performance
metrics = evaluator.evaluate_single(
    retrieved_documents=retrieved_docs,
    relevant_document_ids=relevant_document_ids,
    k=5
)

# Access individual metrics
print(f"Precision@5: {metrics.precision_at_k:.3f}")
print(f"Recall@5: {metrics.recall_at_k:.3f}")
print(f"F1-Score@5: {metrics.f1_at_k:.3f}")
print(f"MRR: {metrics.mrr:.3f}")
print(f"MAP: {metrics.map:.3f}")
print(f"NDCG@5: {metrics.ndcg_at_k:.3f}")
print(f"Hit Rate: {metrics.hit_rate:.3f}")
"""

GRADED = """
# Define relevance scores for documents (0.0 to 1.0 or 0 to 5)
relevance_scores = {
    "doc1": 1.0,  # Highly relevant
    "doc2": 0.3,  # Somewhat relevant
    "doc3": 0.8,  # Very relevant
    "doc4": 0.0,  # Not relevant
    "doc5": 0.9,  # Highly relevant
}

# Evaluate with graded relevance
metrics = evaluator.evaluate_single(
    retrieved_documents=retrieved_docs,
    relevant_document_ids=["doc1", "doc3", "doc5"],  # Still need binary IDs
    k=5,
    relevance_scores=relevance_scores
)

# NDCG will use the graded scores for more accurate evaluation
print(f"NDCG@5 (with graded relevance): {metrics.ndcg_at_k:.3f}")
"""

BATCH = """
# Prepare data for multiple queries
queries = [
    "What is Python?",
    "Machine learning basics",
    "Web development",
]

# Retrieved documents for each query
retrieved_documents_list = [
    [Document(id="doc1", raw_text="..."), Document(id="doc2", raw_text="...")],
    [Document(id="doc3", raw_text="..."), Document(id="doc4", raw_text="...")],
    [Document(id="doc5", raw_text="..."), Document(id="doc6", raw_text="...")],
]

# Relevant document IDs for each query
relevant_document_ids_list = [
    ["doc1", "doc2", "doc7"],  # Relevant docs for query 1
    ["doc3", "doc8"],           # Relevant docs for query 2
    ["doc5", "doc9", "doc10"],  # Relevant docs for query 3
]

# Evaluate batch
batch_metrics = evaluator.evaluate_batch(
    queries=queries,
    retrieved_documents_list=retrieved_documents_list,
    relevant_document_ids_list=relevant_document_ids_list,
    k=5
)

# Access aggregate metrics
print(f"Mean Precision@5: {batch_metrics.mean_precision_at_k:.3f}")
print(f"Mean Recall@5: {batch_metrics.mean_recall_at_k:.3f}")
print(f"Mean F1@5: {batch_metrics.mean_f1_at_k:.3f}")
print(f"Mean MRR: {batch_metrics.mean_mrr:.3f}")
print(f"Mean MAP: {batch_metrics.mean_map:.3f}")
print(f"Mean NDCG@5: {batch_metrics.mean_ndcg_at_k:.3f}")
print(f"Mean Hit Rate: {batch_metrics.mean_hit_rate:.3f}")

# Access per-query metrics
for i, query_metrics in enumerate(batch_metrics.per_query_metrics):
    print(f"\\nQuery {i+1}: {queries[i]}")
    print(f"  Precision@5: {query_metrics.precision_at_k:.3f}")
    print(f"  Recall@5: {query_metrics.recall_at_k:.3f}")
"""

LIVE = """
# Test queries with ground truth
test_cases = [
    {
        "query": "What is machine learning?",
        "relevant_ids": ["doc1", "doc5", "doc12"]
    },
    {
        "query": "Python programming basics",
        "relevant_ids": ["doc2", "doc8", "doc15"]
    },
]

# Evaluate each test case
results = []
for test_case in test_cases:
    # Retrieve documents
    retrieved = await client.retrieve(test_case["query"], k=5)

    # Evaluate
    metrics = evaluator.evaluate_single(
        retrieved_documents=retrieved,
        relevant_document_ids=test_case["relevant_ids"],
        k=5
    )

    results.append({
        "query": test_case["query"],
        "metrics": metrics
    })

# Print results
for result in results:
    print(f"\\nQuery: {result['query']}")
    print(f"Precision@5: {result['metrics'].precision_at_k:.3f}")
    print(f"Recall@5: {result['metrics'].recall_at_k:.3f}")
"""


class Client:
    """A local client in the place of the specification's live one."""

    async def retrieve(self, query: str, k: int) -> list[Document]:
        await asyncio.sleep(0)
        return [Document(id=f"doc{number}") for number in range(1, k + 1)]


def test_the_snippets_of_one_query_run_and_print(capsys: pytest.CaptureFixture[str]) -> None:
    exec(IMPORTS + SINGLE + GRADED, {})
    assert capsys.readouterr().out.splitlines() == [
        "Precision@5: 0.600", "Recall@5: 1.000", "F1-Score@5: 0.750", "MRR: 1.000", "MAP: 0.756", "NDCG@5: 0.885",
        "Hit Rate: 1.000", "NDCG@5 (with graded relevance): 0.924",
    ]  # fmt: skip


def test_the_snippet_of_a_batch_runs_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    exec(IMPORTS + BATCH, {"evaluator": RetrievalEvaluator()})
    printed = capsys.readouterr().out.splitlines()
    assert printed[:4] == [
        "Mean Precision@5: 0.267", "Mean Recall@5: 0.500", "Mean F1@5: 0.345", "Mean MRR: 1.000",
    ]  # fmt: skip
    assert printed[8:11] == ["Query 1: What is Python?", "  Precision@5: 0.400", "  Recall@5: 0.667"]


def test_the_snippet_of_a_live_client_runs(capsys: pytest.CaptureFixture[str]) -> None:
    body = "".join(f"    {line}\n" for line in LIVE.splitlines())
    names = {"evaluator": RetrievalEvaluator(), "client": Client(), "asyncio": asyncio}
    exec(f"async def main():\n{body}\nasyncio.run(main())", names)
    assert capsys.readouterr().out.splitlines() == [
        "", "Query: What is machine learning?", "Precision@5: 0.400", "Recall@5: 0.667",
        "", "Query: Python programming basics", "Precision@5: 0.200", "Recall@5: 0.333",
    ]  # fmt: skip
