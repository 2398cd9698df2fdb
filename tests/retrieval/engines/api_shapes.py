"""Search APIs as their documentation describes them: the requests that they accept, and the shape of their answers.

Each schema has only what the templates may use, and refuses every other key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jsonschema

from tests.retrieval.engines.loopback import Reply, Request

Ranked = list[tuple[str, float]]


def of(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """An object with these keys and no other."""
    properties = {**required, **optional}
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


SIZE = {"type": "integer", "minimum": 1}
NAME = {"type": "string", "minLength": 1}
NAMES = {"type": "array", "items": NAME, "minItems": 1}
NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 1}
FIELDS = {"oneOf": [{"type": "boolean"}, NAMES]}
MULTI_MATCH = of({"multi_match": of({"query": {"type": "string"}, "fields": NAMES})})
OPENSEARCH_KNN = of({"knn": of({"vec": of({"vector": NUMBERS, "k": SIZE})})})
KNN_SEARCH = of({"field": NAME, "query_vector": NUMBERS}, k=SIZE, num_candidates=SIZE)
KNN_RETRIEVER = of({"field": NAME, "query_vector": NUMBERS, "k": SIZE, "num_candidates": SIZE})
RRF = of(
    {
        "rrf": of(
            {
                "retrievers": {
                    "type": "array",
                    "prefixItems": [
                        of({"standard": of({"query": MULTI_MATCH})}),
                        of({"knn": {**KNN_SEARCH, "required": ["field", "query_vector", "k", "num_candidates"]}}),
                    ],
                    "minItems": 2,
                    "maxItems": 2,
                }
            },
            rank_window_size=SIZE,
            rank_constant=SIZE,
        )
    }
)
HYBRID = of({"hybrid": of({"queries": {"type": "array", "prefixItems": [MULTI_MATCH, OPENSEARCH_KNN], "maxItems": 5}})})
DOCUMENT = of({"text": {"type": "string"}, "model": NAME})
PREFETCH = of({"query": {"oneOf": [DOCUMENT, NUMBERS]}, "limit": SIZE}, using=NAME)
QDRANT = {
    "limit": SIZE,
    "using": NAME,
    "with_payload": FIELDS,
    "params": of({}, hnsw_ef=SIZE, exact={"type": "boolean"}),
}

SEARCH = {"size": SIZE, "_source": FIELDS}
BODIES = {
    "opensearch-bm25": of({"query": MULTI_MATCH}, **SEARCH),
    "opensearch-knn": of({"query": OPENSEARCH_KNN}, **SEARCH),
    "opensearch-hybrid": of({"query": HYBRID}, **SEARCH),
    "elasticsearch-bm25": of({"query": MULTI_MATCH}, **SEARCH),
    "elasticsearch-knn": of({"knn": KNN_SEARCH}, **SEARCH),
    "elasticsearch-rrf": of({"retriever": RRF}, **SEARCH),
    "qdrant-knn": of({"query": NUMBERS}, **QDRANT),
    "qdrant-bm25": of({"query": DOCUMENT}, **QDRANT),
    "qdrant-hybrid": of(
        {"prefetch": {"type": "array", "items": PREFETCH}, "query": of({"fusion": {"enum": ["rrf", "dbsf"]}})}, **QDRANT
    ),
}


def vectors_and_texts(value: Any) -> tuple[list[Any], list[str]]:
    """The vectors and the query texts anywhere in a request."""
    vectors: list[Any] = []
    texts: list[str] = []
    if isinstance(value, list) and value and isinstance(value[0], float):
        return [value], []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if isinstance(inner, str) and (key == "text" or (key == "query" and "fields" in value)):
            texts.append(inner)
        found = vectors_and_texts(inner)
        vectors, texts = vectors + found[0], texts + found[1]
    return vectors, texts


@dataclass
class SearchServer:
    """A server with one API, whose ranking is ``rank(vectors, texts, k)``; another request gets status 400 or 404."""

    template: str
    rank: Callable[[list[Any], list[str], int], Ranked]

    def __call__(self, request: Request) -> Reply:
        """Check a request and answer it."""
        is_qdrant = self.template.startswith("qdrant")
        path = "/collections/books/points/query" if is_qdrant else "/books/_search"
        if self.template == "opensearch-hybrid":
            path += "?search_pipeline=half"
        try:
            jsonschema.validate(request.body, BODIES[self.template])
        except jsonschema.ValidationError as error:
            return Reply({"error": error.message}, 400)
        if (request.method, request.path) != ("POST", path) or request.headers["content-type"] != "application/json":
            return Reply({"error": f"{request.method} {request.path}"}, 404)
        k = request.body["limit" if is_qdrant else "size"]
        ranked = self.rank(*vectors_and_texts(request.body), k)
        return Reply(qdrant_answer(ranked, request.body) if is_qdrant else search_answer(ranked, request.body))


def search_answer(ranked: Ranked, body: Any) -> Any:
    """What ``_search`` of OpenSearch and Elasticsearch returns."""
    hits: list[dict[str, Any]] = [{"_index": "books", "_id": name, "_score": score} for name, score in ranked]
    if body["_source"] is not False:
        hits = [{**hit, "_source": {"isbn": f"isbn-{hit['_id']}"}} for hit in hits]
    total = {"value": len(hits), "relation": "eq"}
    return {
        "took": 1,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {"total": total, "max_score": ranked[0][1] if ranked else None, "hits": hits},
    }


def qdrant_answer(ranked: Ranked, body: Any) -> Any:
    """What Qdrant returns for ``points/query``."""
    points: list[dict[str, Any]] = [{"id": name, "version": 3, "score": score} for name, score in ranked]
    if body["with_payload"] is not False:
        points = [{**point, "payload": {"isbn": f"isbn-{point['id']}"}} for point in points]
    return {"result": {"points": points}, "status": "ok", "time": 0.001, "usage": None}
