"""Labels by text: quotes and spans that answer a query, which survive another chunking.

labels         GoldPassage, GoldLabels; reading reads them, spans gives spans their text
normalization  the form in which texts are compared, and the way back
seeds          where quotes and chunks share a run of characters
edges          the parts of quotes that the edges of chunks leave
exact          quotes, or what a chunk's edges leave of them, character by character
approximate    the same within an edit distance (edit_distance)
matching       which chunk contains which part of which quote (pieces), over all chunks
judgments      matches as judgments; options says how passages count
positions      which text spans share; token_places has the tokens of a text
run_texts      the texts that runs carry themselves
evaluation     evaluate_gold, evaluate_gold_runs
"""
