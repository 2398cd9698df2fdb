"""Run with qdrant-client: its models accept what the templates send, and its local mode answers the HTTP engine."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np
from qdrant_client import QdrantClient
from qdrant_client.http import models

from rankgauge.retrieval.embedders.hashed import HashedWords
from rankgauge.retrieval.engines.http import HttpEngine

TEXTS = [f"{word} number {number}" for number in range(5) for word in ("bread", "soup", "yeast", "paths")]
IDS = list(range(1, len(TEXTS) + 1))


def embedded(texts: list[str]) -> Any:
    """A unit vector for each text."""
    vectors = HashedWords().embed([b""] * len(texts), texts, "document")
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@contextlib.contextmanager
def local_mode(client: QdrantClient) -> Iterator[str]:
    """The address of a server that passes requests on to a client in local mode."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = models.QueryRequest.model_validate_json(body)  # refuses unknown keys
            answer = client.query_points(
                self.path.split("/")[2],
                query=request.query,
                using=request.using,
                limit=request.limit or 10,
                with_payload=request.with_payload or False,
                search_params=request.params,
            )
            reply = {"result": answer.model_dump(mode="json", exclude_none=True), "status": "ok", "time": 0.0}
            data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def check_rankings() -> None:
    """The ids of the HTTP engine are those of a brute-force search."""
    client = QdrantClient(":memory:")
    documents = embedded(TEXTS)
    client.create_collection(
        "books", vectors_config=models.VectorParams(size=documents.shape[1], distance=models.Distance.COSINE)
    )
    points = zip(IDS, TEXTS, documents.tolist(), strict=True)
    client.upsert("books", [models.PointStruct(id=i, vector=v, payload={"text": text}) for i, text, v in points])
    with local_mode(client) as address:
        settings = {"url": address, "collection": "books", "id": "payload.text", "payload": ["text"], "exact": True}
        engine = HttpEngine({"template": "qdrant-knn", "settings": settings, "embedder": "hashed"})
        for query in TEXTS:
            scores = documents @ embedded([query])[0]
            found = dict(engine.search(query, 5))
            assert next(iter(found)) == query
            best = np.sort(scores)[::-1][:5]
            np.testing.assert_allclose(sorted(found.values(), reverse=True), best, atol=1e-5)
            for name, score in found.items():
                np.testing.assert_allclose(score, scores[TEXTS.index(name)], atol=1e-5)


def check_models() -> None:
    """Qdrant's models accept every request, as what it should be."""
    settings = {"collection": "books", "sparse": "words", "vector": "dense"}
    for name, kind in (("qdrant-knn", list), ("qdrant-bm25", models.Document), ("qdrant-hybrid", models.FusionQuery)):
        known = settings if name == "qdrant-hybrid" else {k: v for k, v in settings.items() if k != UNUSED[name]}
        model = {} if name == "qdrant-bm25" else {"embedder": "hashed"}
        engine = HttpEngine({"template": name, "settings": known, **model})
        body = engine._request.fill({"query": "bread", "k": 3, "vector": [0.5]})["body"]
        request = models.QueryRequest.model_validate_json(json.dumps(body))
        assert isinstance(request.query, kind), name
        assert request.limit == 3
    assert isinstance(request.prefetch, list)
    assert [prefetch.using for prefetch in request.prefetch] == ["words", "dense"]


UNUSED = {"qdrant-knn": "sparse", "qdrant-bm25": "vector"}

if __name__ == "__main__":
    check_models()
    check_rankings()
    sys.stdout.write(f"3 templates, {len(TEXTS)} queries, the same rankings\n")
