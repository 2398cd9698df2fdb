"""Collections and clients of vector databases: Chroma and Qdrant."""

from __future__ import annotations

from functools import partial
from typing import Any

from rankgauge.errors import InputTypeError
from rankgauge.retrieval.asking.libraries.recognition import LibraryCall, is_from

CHROMA_COLLECTIONS = {"Collection": False, "AsyncCollection": True}  # whether its methods are coroutine functions
QDRANT_CLIENTS = ("QdrantClient", "AsyncQdrantClient")


def store_call(retriever: Any) -> LibraryCall | None:
    """How a collection of Chroma, which embeds the query itself, is asked; None if it is not one."""
    if any(is_from(retriever, "qdrant_client", name) for name in QDRANT_CLIENTS):
        raise InputTypeError(
            f"a {type(retriever).__name__} needs a collection and a vector with each query",
            hint="pass a function: lambda query, k: client.query_points(COLLECTION, query=embed(query), limit=k)",
        )
    for name, is_async in CHROMA_COLLECTIONS.items():
        if is_from(retriever, "chromadb", name):
            return LibraryCall(lambda query, k: partial(retriever.query, query_texts=[query], n_results=k), is_async)
    return None
