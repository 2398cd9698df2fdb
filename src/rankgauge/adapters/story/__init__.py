"""Retrieval Quality: does searching a story find the right scenes? (DS18)

records    what both files have in common: objects with their lines, keys with several spellings, canonical text
headings   Markdown and plain text, split at scene headings
story      read_story: scenes in canonical story order
labeled    search texts and the scenes that they should find
quality    retrieval_quality: every scene ranked for every query, then RR and recall of the registry
result     RetrievalQuality
"""
