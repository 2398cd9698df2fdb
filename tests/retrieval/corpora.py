"""Small corpora to search in."""

from __future__ import annotations

import random

from rankgauge.io.corpus.corpus import CorpusDocument, InMemoryCorpus
from rankgauge.retrieval.retriever import QueryBatch

KITCHEN = InMemoryCorpus(
    {
        "bread": {"title": "Bread", "text": "Knead the dough, let it rise, bake the bread in a hot oven."},
        "soup": {"title": "Soup", "text": "Boil onions and carrots. Season the soup with salt."},
        "cake": {"title": "Cake", "text": "Whisk eggs and sugar, fold in flour, bake the cake."},
        "tea": {"title": "", "text": "Pour boiling water over the leaves."},
        "blank": {"title": "", "text": "   "},
    }
)
QUERIES = QueryBatch.from_dict(
    {"q1": "baking bread", "q2": "how do I boil soup?", "q3": "", "q4": "zeppelin", "q5": "the of and"}
)


def made_up(documents: int, words: int = 400, seed: int = 7) -> InMemoryCorpus:
    """Documents of random words, with exact repetitions among them so that scores tie."""
    chance = random.Random(seed)
    vocabulary = [f"w{chance.randrange(words)}x{number}" for number in range(words)]
    texts = [" ".join(chance.choices(vocabulary, k=chance.randrange(3, 30))) for _ in range(documents)]
    for copy in range(0, documents, 5):
        texts[copy] = texts[0]
    return InMemoryCorpus([CorpusDocument(f"d{number:05}".encode(), "", text) for number, text in enumerate(texts)])


def made_up_queries(corpus: InMemoryCorpus, count: int, seed: int = 3) -> QueryBatch:
    """Queries made of words of the corpus."""
    chance = random.Random(seed)
    documents = list(corpus)
    texts = {f"q{number}": " ".join(chance.choice(documents).text.split()[:4]) for number in range(count)}
    return QueryBatch.from_dict(texts)
