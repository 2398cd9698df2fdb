"""Retrieval: a corpus and queries in, a run out. Retrievers see ids and texts, never judgments.

    retriever        Retriever, QueryBatch, retrieve_run; the decisions of rerankers
    open_retriever   make_retriever from RetrieverSettings; a retriever of the user's own by its name or section
    asking           how a user's retriever is called and what its answer means, the same for every caller
    engines          Lexical, Vector, Hybrid; a reranker around them; any callable as a retriever
    embedders        texts in, vectors out; an embedder by name
    fetch            fetch_run, which resumes from its journal
    latency          measure_latency
    ranked_scores    the one place where scores become a ranking
    fusion, tuning   fuse, and tune on development queries
    index_files      an index on disk
    language         words, stems and stop words; whether texts are English
    named_code       module:name and FILE.py:name; code_policy says whether they may run

Names are imported when they are first used.
"""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
