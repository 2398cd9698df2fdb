"""Documents in chunks: every chunk knows its document and where it begins and ends there.

options        Chunking: by what, how long, with how much overlap
spans          Span: a part of a text; packing units into chunks
tokens         words and punctuation marks
sentences      sentences, by their ends and by blank lines
headings       sections of Markdown; code fences and tables stay whole
splitting      split_text: a text and a Chunking in, spans out
chunks         Chunk and ChunkedCorpus: the chunks of documents, and their file
"""
