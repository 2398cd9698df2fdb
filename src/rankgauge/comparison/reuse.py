"""How often the same queries were used to choose between systems: a winner of many comparisons may win by chance.

Corrections cover the comparisons of one family. What is counted here is everything that one report or tuning compares.
"""

from __future__ import annotations

from rankgauge.comparison.result import Comparison
from rankgauge.core.formatting import plural


def comparisons_made(comparison: Comparison) -> int:
    """The number of differences in a comparison: over all queries, in groups, and between systems of the ranking."""
    pairs = () if comparison.ranking is None else comparison.ranking.pairs
    others = sum(comparison.baseline not in (pair.first, pair.second) for pair in pairs)
    weighted = 0 if comparison.weighted is None else len(comparison.weighted.rows)
    return len(comparison.differences) + len(comparison.groups) + others + weighted


def reuse_sentence(count: int, noun: str, verb: str, queries: int) -> str | None:
    """How many comparisons or choices the queries were used for; None if there was only one."""
    if count < 2:
        return None
    return (
        f"{count:,} {noun}s were {verb} on these {plural(queries, 'query')}; "
        f"the more are {verb}, the more likely a chance winner"
    )
