"""A random sample from the pool of one query, drawn from strata of ranks, with known probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.stats.seeds import RandomStream

FIRST_LIMIT = 5  # the last rank of the first stratum; each further one ends at twice the rank


@dataclass(frozen=True)
class Stratum:
    """Documents of one range of ranks, by position, and those that were drawn from them."""

    name: str
    members: tuple[int, ...]
    drawn: tuple[int, ...]


def draw_strata(best_rank: Ints, count: int, stream: RandomStream, *, single: bool = False) -> list[Stratum]:
    """Draw ``count`` documents; ``best_rank`` is the best rank of each in any run.

    The strata are the best ranks 1–5, 6–10, 11–20, 21–40, …: relevant documents are more frequent at the top, so that a
    stratum gets a share of the sample in proportion to its size divided by its rank, and at least two documents. If the
    sample is too small for that, the last strata are merged. Within a stratum every document is equally likely.
    ``single`` draws from one stratum.
    """
    by_rank = np.argsort(best_rank, kind="stable").tolist()
    ranges: list[tuple[int, int, list[int]]] = []
    for position in by_rank:
        first, last = _range(int(best_rank[position]))
        if not ranges or ranges[-1][0] != first:
            ranges.append((first, last, []))
        ranges[-1][2].append(position)
    while len(ranges) > 1 and (single or 2 * len(ranges) > count):
        (first, _, upper), (_, last, lower) = ranges[-2:]
        ranges[-2:] = [(first, last, upper + lower)]
    weights = [len(members) / float(np.mean(best_rank[members])) for *_, members in ranges]
    shares = _shares([len(members) for *_, members in ranges], weights, count)
    return [
        Stratum(f"{first}–{last}", tuple(members), _draw(members, share, stream.child(str(first))))
        for (first, last, members), share in zip(ranges, shares, strict=True)
    ]


def _range(rank: int) -> tuple[int, int]:
    first, last = 1, FIRST_LIMIT
    while rank > last:
        first, last = last + 1, 2 * last
    return first, last


def _shares(sizes: Sequence[int], weights: Sequence[float], count: int) -> list[int]:
    """How many documents each stratum gives: two each from the top down, then one at a time to the neediest."""
    shares = [0] * len(sizes)
    left = min(count, sum(sizes))
    for stratum, size in enumerate(sizes):
        shares[stratum] = min(2, size, left)
        left -= shares[stratum]
    while left:
        open_strata = [stratum for stratum, size in enumerate(sizes) if shares[stratum] < size]
        stratum = max(open_strata, key=lambda s: (weights[s] / (shares[s] + 1), -s))
        shares[stratum] += 1
        left -= 1
    return shares


def _draw(members: Sequence[int], count: int, stream: RandomStream) -> tuple[int, ...]:
    words = stream.bits().words(1, max(1, len(members)))[0][: len(members)]
    return tuple(sorted(members[position] for position in np.argsort(words, kind="stable")[:count].tolist()))
