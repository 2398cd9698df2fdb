"""A text, gold spans and chunks in it: what the measures of gold passages see, and the same as plain sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.passage_builder import ChunkRows, PartRows, PassageRows, PieceRows, build_passage_judgments
from rankgauge.core.passage_judgments import Unit
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run

SIZE = 40
TOKEN = 3  # every third character begins a token
Span = tuple[int, int]
UNITS: tuple[Unit, ...] = ("characters", "tokens")


def first_token(position: int) -> int:
    """The number of the first token that begins at a position or after it."""
    return -(-position // TOKEN)


def measured(span: Span, unit: Unit) -> range:
    """The numbers of the characters or tokens that begin in a span."""
    return range(*span) if unit == "characters" else range(first_token(span[0]), first_token(span[1]))


@dataclass(frozen=True)
class ChunkedText:
    """One query: its gold spans, the chunks of the text, and a ranking of some of these."""

    gold: tuple[Span, ...]
    chunks: tuple[Span, ...]
    ranking: tuple[int, ...]

    def retrieved(self, unit: Unit, cutoff: int | None = None, budget: int | None = None) -> list[int]:
        """What was retrieved, character by character or token by token."""
        listed = [n for chunk in self.ranking[:cutoff] for n in measured(self.chunks[chunk], unit)]
        return listed[:budget]

    def all_gold(self, unit: Unit) -> set[int]:
        """All characters or tokens of the gold."""
        return {number for span in self.gold for number in measured(span, unit)}

    def own_gold(self, number: int, unit: Unit) -> set[int]:
        """The characters or tokens of a gold span that no span before it has."""
        before = {number for span in self.gold[:number] for number in measured(span, unit)}
        return set(measured(self.gold[number], unit)) - before

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
    gold = draw(st.lists(spans(TOKEN), min_size=1, max_size=3, unique=True))
    cut = draw(st.lists(spans(1), min_size=1, max_size=chunks, unique=True))
    ranking = draw(st.permutations(range(len(cut))))
    return ChunkedText(tuple(gold), tuple(cut), tuple(ranking[: draw(st.integers(0, len(cut)))]))


def judgments_of(texts: Sequence[ChunkedText], coverage: float = 0.5, *, tokens: bool = True) -> Qrels:
    """The judgments of the queries q00, q01, …; the rows of the tables are in reverse order."""
    units = UNITS if tokens else UNITS[:1]
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

    def measures_of(spans: Sequence[Span]) -> dict[Unit, Ints]:
        return {unit: column([len(measured(span, unit)) for span in spans]) for unit in units}

    return build_passage_judgments(
        PassageRows(
            Ids.from_text([f"q{n:02}" for n, _, _ in passages], "query id"),
            Ids.from_text([str(i) for _, i, _ in passages], "passage"),
            measures_of([span for _, _, span in passages]),
            {unit: column([len(texts[n].own_gold(i, unit)) for n, i, _ in passages]) for unit in units},
        ),
        ChunkRows(
            Ids.from_text([f"q{n:02}" for n, _, _ in chunks], "query id"),
            Ids.from_text([f"c{i}" for _, i, _ in chunks], "chunk"),
            measures_of([span for _, _, span in chunks]),
        ),
        PieceRows(
            column([row for row, _, _, _ in pieces]),
            column([chunk_row for _, chunk_row, _, _ in pieces]),
            column([common[0] - span[0] for _, _, span, common in pieces]),
            column([common[1] - span[0] for _, _, span, common in pieces]),
        ),
        {
            # One part for each character or token: how they are joined does not matter.
            unit: PartRows(
                *column(
                    [
                        (row, number - measured(span, unit).start, 1, number)
                        for row, (n, _, span) in enumerate(chunks)
                        for number in measured(span, unit)
                        if number in texts[n].all_gold(unit)
                    ]
                )
                .reshape(-1, 4)
                .T
            )
            for unit in units
        },
        coverage=coverage,
    )


def hits_of(texts: Sequence[ChunkedText], coverage: float = 0.5) -> Hits:
    """The join with the rankings."""
    rankings = {f"q{n:02}": [f"c{i}" for i in text.ranking] for n, text in enumerate(texts)}
    return join(judgments_of(texts, coverage), Run.from_lists(rankings))
