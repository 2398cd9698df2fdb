"""Labels by text: quotes and spans that answer a query, which survive another chunking.

gold_labels      GoldPassage, GoldLabels: read, and spans resolved to their text
normalized_text  the form in which texts are compared, and the way back; chunks and tokens in it
matching         match_quotes: which chunk contains which quote, exactly or within an edit distance
quote_matches    QuoteMatches: the parts of quotes that chunks contain; the exact ones, character by character
gold_judgments   matches as judgments; GoldOptions: how passages count
resolved_labels  labels by text as qrels for one chunking
gold_evaluation  evaluate_gold, evaluate_gold_runs
"""
