"""Retrieval: a corpus and queries in, a run out. Retrievers see ids and texts, never judgments.

    base        Retriever, QueryBatch, retrieve_run
    asking      how a user's retriever is called and what its answer means, the same for every caller
    engines     Lexical, Vector, Hybrid; rerankers, gates and routers around them; any callable as a retriever
    embedders   embedder by name: texts in, vectors out
    fetch       fetch_run, measure_latency; make_retriever from RetrieverSettings
    fusion      fuse, and tune on development queries
    decisions   what gates, routers and rerankers decided

Names are imported when they are first used.
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
