"""Retrieval Quality: does searching a story find the right scenes? (DS18)

story              read_story: scenes in canonical story order, from JSON, Markdown or plain text
retrieval_quality  retrieval_quality: every scene ranked for every labeled query, then RR and recall
"""
