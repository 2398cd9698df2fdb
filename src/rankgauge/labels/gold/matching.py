"""Find quotes in chunks: exactly, and approximately those that are not there as they are written.

A chunk contains a quote, or the part of it that the chunk's edges leave: a part that ends in the middle of a chunk is
another sentence with the same words, and does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rankgauge.core.passage_tables import DEFAULT_TOLERANCE
from rankgauge.core.progress import phase
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.labels.gold.approximate import ApproximateMatcher
from rankgauge.labels.gold.chunks import ChunkIds, NormalizedChunk, chunk_blocks
from rankgauge.labels.gold.exact import ExactMatcher
from rankgauge.labels.gold.labels import GoldLabels, GoldPassage
from rankgauge.labels.gold.normalization import normalized
from rankgauge.labels.gold.pieces import Piece, QuoteMatches, covered_characters

MatchProgress = Callable[[int, int | None], None]  # chunks compared, chunks in total if that is known


def match_labels(
    labels: GoldLabels, corpus: Corpus, tolerance: float = DEFAULT_TOLERANCE, progress: MatchProgress | None = None
) -> QuoteMatches:
    """Which chunks contain which parts of the passages, each of which has its text."""
    quotes = [str(passage.text) for passage in labels.passages]
    spans = {number: passage for number, passage in enumerate(labels.passages) if passage.is_span}
    return match_quotes(quotes, corpus, tolerance, spans, progress)


def match_quotes(
    quotes: Sequence[str],
    corpus: Corpus,
    tolerance: float = DEFAULT_TOLERANCE,
    spans: Mapping[int, GoldPassage] | None = None,
    progress: MatchProgress | None = None,
) -> QuoteMatches:
    """Which chunks contain which parts of the quotes; ``spans`` are those whose place in a document is known.

    ``tolerance`` is the largest edit distance, as a share of the characters that are compared. It is used only for a
    quote that the chunks together do not contain exactly, up to that share: a sentence that differs in a number is not
    taken for the one that is there word by word.
    """
    texts = [normalized(quote) for quote in quotes]
    sizes = [len(text) for text in texts]
    ids = ChunkIds(corpus.source)
    exact = ExactMatcher(texts, spans)
    pieces: list[Piece] = []
    for block in _reported(corpus, progress):
        ids.add(block)
        pieces += exact.find(block)
    ids.check()
    covered = covered_characters(pieces, sizes).tolist()
    cut = [piece for piece in exact.within_words if covered[piece.quote] < sizes[piece.quote]]
    if cut:
        pieces = list({*pieces, *cut})
        covered = covered_characters(pieces, sizes).tolist()
    incomplete = [number for number, size in enumerate(sizes) if covered[number] < (1 - tolerance) * size]
    nearest = {}
    if incomplete:
        approximate = ApproximateMatcher(texts, incomplete, tolerance)
        for block in _reported(corpus, progress, len(ids.names)):
            approximate.add(block)
        pieces = _merged(pieces, approximate.pieces())
        found = {piece.quote for piece in pieces}
        near = {number: approximate.nearest(number) for number in incomplete if number not in found}
        nearest = {number: text for number, text in near.items() if text is not None}
    return QuoteMatches(texts, ids.names, sorted(pieces), frozenset(exact.repeated), nearest)


def _reported(
    corpus: Corpus, progress: MatchProgress | None, total: int | None = None
) -> Iterator[Sequence[NormalizedChunk]]:
    """The blocks of chunks; tells how far they are."""
    completed = 0
    with phase("matching quotes" if total is None else "matching edited quotes", "chunk") as matching:
        report = progress or (lambda done, of: matching.report(done, of or 0))
        for block in chunk_blocks(corpus):
            yield block
            completed += len(block)
            report(completed, total)


def _merged(exact: Sequence[Piece], approximate: Sequence[Piece]) -> list[Piece]:
    """All pieces, without an approximate one in the place of an exact one."""
    exact_pairs = {(piece.quote, piece.chunk) for piece in exact}
    return [*exact, *(piece for piece in approximate if (piece.quote, piece.chunk) not in exact_pairs)]
