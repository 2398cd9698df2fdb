"""Asking a retriever: every command and function that calls a user's retriever does it here.

functions   what can be called, and how it takes the query and k
libraries   objects of LangChain, LlamaIndex, Haystack and Chroma: where the query goes, how k is passed
shapes      where the documents are in what it returned
answers     what it returned, as ids and scores in the order of the ranking
documents   where the id, the score and the text of a returned document are found
columns     the same for all documents of an answer together, if they are alike
calls       every query sent, with bounded concurrency, timeouts and retries
inbox       answers between the calls, which are timed, and their reader, who must not delay them
pauses      how long to wait before a retry
loops       calls in threads and in event loops
failures    queries without an answer: how many may fail, and the error if more do
remarks     what a reader must know of the answers besides the numbers
"""
