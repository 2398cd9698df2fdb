"""Results in notebooks: HTML fragments in the style of the page, without scripts.

views       which view each type of result has
parts       what a view is made of, beside the tables and sentences of ``render/text``
fragment    the parts as HTML, with the styles that they need
scores, comparisons, checks, data, labels, histories, systems    the views
explorer    the whole page in a frame, for whoever asks for it
"""
