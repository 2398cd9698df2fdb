"""Gold passages by tokens or characters: how much gold is in what was retrieved, and how much else.

Gold counts once, however many passages it belongs to and however often it is retrieved. Retrieved text counts each
time, so that chunks that overlap lower precision and IoU. What computes the values is imported only if one of these
measures is evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.core.ids import Ints
from rankgauge.measures.registry import measure, needs

if TYPE_CHECKING:
    from rankgauge.core.passage_judgments import TextCounts

Unit = Literal["tokens", "characters"]


@measure("TokenRecall", at="cutoff", monotone=True, judged_only=False)
@needs("passages")
def token_recall(
    hits: Hits, *, cutoff: int | None = None, budget: int | None = None, unit: Unit = "tokens"
) -> PerQuery:
    """The share of the tokens of the gold passages that the first k chunks cover.

    budget=2000 counts the first 2,000 tokens of the ranking instead, and cuts off the chunk in which they end, so that
    chunks of different sizes are compared at equal cost. unit='characters' counts characters in place of tokens.

    Formula: |gold ∩ retrieved| / |gold|
    Reference: Smith and Troynikov, Evaluating chunking strategies for retrieval, Chroma 2024
    """
    from rankgauge.core.passage_judgments import count_text

    counts = count_text(hits, unit, cutoff, budget)
    return divide(counts.retrieved_gold, counts.gold)


@measure("TokenPrecision", at="cutoff", judged_only=False)
@needs("passages")
def token_precision(
    hits: Hits, *, cutoff: int | None = None, budget: int | None = None, unit: Unit = "tokens"
) -> PerQuery:
    """The share of the tokens of the first k chunks that are gold; a token that is retrieved again is not gold again.

    budget= and unit= as in TokenRecall.

    Formula: |gold ∩ retrieved| / Σ over chunks of |chunk|
    Reference: Smith and Troynikov, Evaluating chunking strategies for retrieval, Chroma 2024
    """
    counts = _counts(hits, unit, cutoff, budget)
    return divide(counts.retrieved_gold, counts.retrieved)


@measure("TokenIoU", at="cutoff", judged_only=False)
@needs("passages")
def token_iou(hits: Hits, *, cutoff: int | None = None, budget: int | None = None, unit: Unit = "tokens") -> PerQuery:
    """Intersection over union of the gold passages and the first k chunks, whose repeated tokens count each time.

    budget= and unit= as in TokenRecall.

    Formula: |gold ∩ retrieved| / (|gold| + Σ over chunks of |chunk| − |gold ∩ retrieved|)
    Reference: Smith and Troynikov, Evaluating chunking strategies for retrieval, Chroma 2024
    """
    counts = _counts(hits, unit, cutoff, budget)
    return divide(counts.retrieved_gold, counts.gold + counts.retrieved - counts.retrieved_gold)


def _counts(hits: Hits, unit: Unit, cutoff: int | Ints | None, budget: int | None) -> TextCounts:
    """What was retrieved; raises if the length of a retrieved chunk is not known."""
    from rankgauge.core.passage_judgments import check_lengths, count_text

    check_lengths(hits.top(cutoff), unit, budget)
    return count_text(hits, unit, cutoff, budget)
