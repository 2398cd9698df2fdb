"""The retrievers: one file per engine, and the functions and objects of other people as engines."""
