"""A text, gold spans and chunks in it: what the measures of gold passages see, and the same as plain sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.passage_builder import ChunkRows, PassageRows, PieceRows, build_passage_judgments
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run

SIZE = 40
SHORTEST = 3  # characters of a gold span
Span = tuple[int, int]


@dataclass(frozen=True)
class ChunkedText:
    """One query: its gold spans, the chunks of the text, and a ranking of some of these."""

    gold: tuple[Span, ...]
    chunks: tuple[Span, ...]
    ranking: tuple[int, ...]

    def found_ranks(self, ranking: Sequence[int], coverage: float) -> list[int | None]:
        """The rank at which each gold span is found."""
        return [self._found_rank(set(range(*span)), ranking, coverage) for span in self.gold]

    def _found_rank(self, wanted: set[int], ranking: Sequence[int], coverage: float) -> int | None:
        seen: set[int] = set()
        for rank, chunk in enumerate(ranking, 1):
            seen |= wanted & set(range(*self.chunks[chunk]))
            if len(seen) >= coverage * len(wanted) - 1e-9:
                return rank
        return None


def spans(smallest: int) -> st.SearchStrategy[Span]:
    """Spans of at least some characters."""
    sizes = st.tuples(st.integers(0, SIZE - smallest), st.integers(smallest, 15))
    return sizes.map(lambda pair: (pair[0], min(pair[0] + pair[1], SIZE)))


@st.composite
def chunked_texts(draw: st.DrawFn, chunks: int = 6) -> ChunkedText:
    """Gold spans and chunks that may overlap, and a ranking of some chunks."""
    gold = draw(st.lists(spans(SHORTEST), min_size=1, max_size=3, unique=True))
    cut = draw(st.lists(spans(1), min_size=1, max_size=chunks, unique=True))
    ranking = draw(st.permutations(range(len(cut))))
    return ChunkedText(tuple(gold), tuple(cut), tuple(ranking[: draw(st.integers(0, len(cut)))]))


def judgments_of(texts: Sequence[ChunkedText], coverage: float = 0.5) -> Qrels:
    """The judgments of the queries q00, q01, …; the rows of the tables are in reverse order."""
    passages = [(n, i, span) for n, text in enumerate(texts) for i, span in enumerate(text.gold)][::-1]
    chunks = [(n, i, span) for n, text in enumerate(texts) for i, span in enumerate(text.chunks)][::-1]
    pieces = [
        (row, chunk_row, span, (max(span[0], chunk[0]), min(span[1], chunk[1])))
        for row, (number, _, span) in enumerate(passages)
        for chunk_row, (other, _, chunk) in enumerate(chunks)
        if number == other and max(span[0], chunk[0]) < min(span[1], chunk[1])
    ]

    def column(values: Sequence[object]) -> Ints:
        return np.array(values, dtype=np.int64)

    return build_passage_judgments(
        PassageRows(
            Ids.from_text([f"q{n:02}" for n, _, _ in passages], "query id"),
            Ids.from_text([str(i) for _, i, _ in passages], "passage"),
            column([end - start for _, _, (start, end) in passages]),
        ),
        ChunkRows(
            Ids.from_text([f"q{n:02}" for n, _, _ in chunks], "query id"),
            Ids.from_text([f"c{i}" for _, i, _ in chunks], "chunk"),
        ),
        PieceRows(
            column([row for row, _, _, _ in pieces]),
            column([chunk_row for _, chunk_row, _, _ in pieces]),
            column([common[0] - span[0] for _, _, span, common in pieces]),
            column([common[1] - span[0] for _, _, span, common in pieces]),
        ),
        coverage=coverage,
    )


def hits_of(texts: Sequence[ChunkedText], coverage: float = 0.5) -> Hits:
    """The join with the rankings."""
    rankings = {f"q{n:02}": [f"c{i}" for i in text.ranking] for n, text in enumerate(texts)}
    return join(judgments_of(texts, coverage), Run.from_lists(rankings))
