"""Asking a retriever: every command and function that calls a user's retriever does it here.

retriever_functions  what can be called, and how it takes the query and k
libraries            objects of LangChain, LlamaIndex, Haystack and Chroma: where the query goes, how k is passed
calls                every query sent, with bounded concurrency, timeouts and retries; answers read without delay
event_loops          calls in threads and in event loops
answers              what it returned, as ids and scores in the order of the ranking; the notes on it
documents            where the id, the score and the text of a returned document are found
failures             queries without an answer: when to ask again, how many may fail, and the error if more do
"""
