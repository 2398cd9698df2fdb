"""How gold passages are matched and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rankgauge.core.passage_tables import DEFAULT_COVERAGE, DEFAULT_TOLERANCE, LARGEST_TOLERANCE
from rankgauge.errors import UsageError
from rankgauge.io.corpus.chunking.tokens import token_spans

Tokenizer = Callable[[str], Iterable[tuple[int, int]]]


@dataclass(frozen=True)
class GoldOptions:
    """How much of a passage must be retrieved, how exactly texts must agree, and what a token is.

    A passage is found at the rank where the chunks so far cover the share ``coverage`` of it. ``tolerance`` is the
    largest edit distance, as a share of the characters compared, for a passage that the chunks do not contain exactly.
    ``tokenizer`` gives the start and end of each token of a text: by default words and punctuation marks.
    """

    coverage: float = DEFAULT_COVERAGE
    tolerance: float = DEFAULT_TOLERANCE
    tokenizer: Tokenizer = token_spans

    def __post_init__(self) -> None:
        if not 0 < self.coverage <= 1:
            raise UsageError(f"coverage must be a number above 0 and at most 1, found {self.coverage!r}")
        if not 0 <= self.tolerance <= LARGEST_TOLERANCE:
            raise UsageError(f"tolerance must be a number from 0 to {LARGEST_TOLERANCE}, found {self.tolerance!r}")
