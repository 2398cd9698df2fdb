"""Retrieval Quality: does searching a story find the right scenes? (DS18)

given      what both files have in common: objects by line, keys by any of their names, canonical text
headings   Markdown and plain text, split at scene headings
story      read_story: scenes in canonical story order
labelled   search texts and the scenes that they should find
quality    retrieval_quality: every scene ranked for every query, then RR and recall of the registry
result     RetrievalQuality
"""
