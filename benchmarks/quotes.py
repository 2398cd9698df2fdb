"""Labels by text in a large corpus: ``python -m benchmarks.quotes [CHUNKS]``.

1,000 quotes of about 150 characters in 100,000 chunks of about 840: all of them exact, and with one in twenty or all of
them edited in 6% of their characters, which needs a second pass. Words are drawn with Zipf's frequencies, so that
frequent ones make many false starts. CPU seconds and the peak memory of one process.
"""

from __future__ import annotations

import random
import resource
import sys
import time

import numpy as np

from rankgauge.io.corpus.corpus import CorpusDocument, InMemoryCorpus
from rankgauge.labels.gold.matching import match_quotes

CHUNKS, QUOTES, WORDS_PER_CHUNK, VOCABULARY = 100_000, 1_000, 120, 20_000
EDITED_SHARES = (0.0, 0.05, 1.0)


def documents(count: int) -> list[CorpusDocument]:
    """Chunks of random words."""
    rng = random.Random(1)
    letters = "abcdefghijklmnoprstuvw"
    words = np.array(["".join(rng.choices(letters, k=rng.randint(2, 10))) for _ in range(VOCABULARY)])
    weights = 1 / np.arange(1, VOCABULARY + 1)
    drawn = np.random.default_rng(1).choice(VOCABULARY, size=(count, WORDS_PER_CHUNK), p=weights / weights.sum())
    return [CorpusDocument(b"%d" % number, "", " ".join(words[row])) for number, row in enumerate(drawn)]


def quotes(chunks: list[CorpusDocument], edited: float) -> list[str]:
    """Parts of random chunks, some of them edited."""
    rng = random.Random(2)
    out = []
    for _ in range(QUOTES):
        words = rng.choice(chunks).text.split()
        start = rng.randrange(len(words) - 22)
        quote = list(" ".join(words[start : start + 22]))
        if rng.random() < edited:
            for _ in range(len(quote) * 6 // 100):
                quote[rng.randrange(len(quote))] = rng.choice("abcdefgh")
        out.append("".join(quote))
    return out


def main() -> None:
    """Print a line for each share of edited quotes."""
    chunks = documents(int(sys.argv[1]) if len(sys.argv) > 1 else CHUNKS)
    corpus = InMemoryCorpus(chunks)
    print(f"{len(chunks):,} chunks, {sum(len(chunk.text) for chunk in chunks) / 1e6:.0f} million characters")
    for edited in EDITED_SHARES:
        texts = quotes(chunks, edited)
        begun = time.process_time()
        matches = match_quotes(texts, corpus)
        cpu, peak = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{edited:.0%} edited: {cpu:.1f} s CPU, {len(matches.missing)} quotes not found, {peak:.0f} MB")


if __name__ == "__main__":
    main()
