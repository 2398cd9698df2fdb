"""The retrievers: one file per engine, and any function or object as a retriever."""
