"""Objects of libraries that need more than one call with a query and k: where the query goes, and how k is passed.

langchain     vector stores, retrievers, chains
llama_index   retrievers and query engines
haystack      components and pipelines
stores        collections and clients of vector databases

None of these libraries is imported here: an object is recognized by its classes. What an object returns is read as any
other answer.
"""
