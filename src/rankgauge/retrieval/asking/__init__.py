"""Asking a retriever: every command and function that calls a user's retriever does it here.

functions   what can be called, and how it takes the query and k
libraries   objects of LangChain, LlamaIndex, Haystack and Chroma: where the query goes, how k is passed
shapes      where the documents are in what it returned
answers     what it returned, as ids and scores in the order of the ranking
documents   where the id of a returned document is found
calls       every query sent, with bounded concurrency, timeouts and retries
pauses      how long to wait before a retry
loops       calls in threads and in event loops
failures    queries without an answer: how many may fail, and the error if more do
remarks     what a reader must know of the answers besides the numbers
"""
