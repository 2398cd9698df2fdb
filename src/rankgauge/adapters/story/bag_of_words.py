"""The profile ``bow``: texts as counts of their words, compared by the cosine of these counts.

Every word of the story and of the queries is a dimension of its own. A word is a run of letters, digits and
underscores in the composed form of Unicode (NFC), with case folded: ``Ines's`` is ``ines`` and ``s``, and ``STRASSE``
is ``straße``. No word is left out and none is weighted. Products and lengths are sums of integers, so only the last
square root and division round.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np

from rankgauge.core.arrays import Floats

WORD_PATTERN = re.compile(r"\w+")


def count_words(text: str) -> Counter[str]:
    """How often each word occurs in a text."""
    return Counter(WORD_PATTERN.findall(unicodedata.normalize("NFC", text).casefold()))


def word_cosines(queries: Sequence[str], scenes: Sequence[str]) -> Floats:
    """The cosine of each query with each scene, a row per query; 0 for a text without words."""
    scene_counts = [count_words(text) for text in scenes]
    scenes_with_word: dict[str, list[tuple[int, int]]] = {}
    for scene, counts in enumerate(scene_counts):
        for word, count in counts.items():
            scenes_with_word.setdefault(word, []).append((scene, count))
    squares = np.array([_square(counts) for counts in scene_counts], dtype=np.float64)
    out: Floats = np.zeros((len(queries), len(scenes)))
    for row, counts in zip(out, map(count_words, queries), strict=True):
        for word, count in counts.items():
            for scene, scene_count in scenes_with_word.get(word, ()):
                row[scene] += count * scene_count
        row /= np.sqrt(np.maximum(_square(counts) * squares, 1.0))
    return out


def _square(counts: Counter[str]) -> int:
    return sum(count * count for count in counts.values())
