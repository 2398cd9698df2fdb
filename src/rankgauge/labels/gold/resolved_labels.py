"""Labels by text as qrels for one chunking: a file that any tool reads, until the chunks change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.core.batch import Batch
from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ids
from rankgauge.core.result_views import HtmlView
from rankgauge.errors import InputError, Note, shown
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.labels.gold.gold_judgments import GoldOptions
from rankgauge.labels.gold.gold_labels import GoldLabels
from rankgauge.labels.gold.matching import MatchProgress, match_labels
from rankgauge.labels.gold.quote_matches import Piece, QuoteMatches, covered_characters

IN_NO_CHUNK = "in-no-chunk-"  # and a number: the id of a label that nothing matches


@dataclass(frozen=True, eq=False)
class ResolvedLabels(HtmlView):
    """Which chunks find which passages by themselves.

    ``pairs`` are the numbers of passages and chunks. ``split`` are passages of which no chunk contains enough: the
    chunk with the largest piece of each counts. A passage that is in no chunk stays, as a label that nothing matches.
    """

    labels: GoldLabels
    matches: QuoteMatches
    pairs: tuple[tuple[int, int], ...]
    split: tuple[int, ...]

    def __repr__(self) -> str:
        return f"ResolvedLabels({self.labels!r}, {len(self.matches.missing)} missing, {len(self.split)} split)"

    def subtopic_rows(self) -> Batch:
        """Judgments by subtopic: the passages of a query are its subtopics, numbered from 1."""
        names = self.labels.passage_names()
        return self._rows([(passage, chunk, names[passage]) for passage, chunk in self.pairs], names)

    def plain_rows(self) -> Batch:
        """One judgment per chunk that finds at least one passage of a query."""
        queries = [passage.query for passage in self.labels.passages]
        firsts = {(queries[passage], chunk): (passage, chunk, "0") for passage, chunk in reversed(self.pairs)}
        return self._rows(list(reversed(firsts.values())), ["0"] * len(queries))

    def _rows(self, found: list[tuple[int, int, str]], names: Sequence[str]) -> Batch:
        rows = [(passage, self.matches.chunk_ids[chunk], name) for passage, chunk, name in found]
        known = set(self.matches.chunk_ids)
        for passage in self.matches.missing:
            label = f"{IN_NO_CHUNK}{passage + 1}".encode()
            while label in known:
                label += b"-"
            rows.append((passage, label, names[passage]))
        return Batch(
            np.zeros(len(rows), dtype=np.int64),
            Ids.from_text([self.labels.passages[passage].query for passage, _, _ in rows], "query id"),
            Ids.from_bytes([chunk for _, chunk, _ in rows]),
            np.ones(len(rows)),
            iters=Ids.from_text([name for _, _, name in rows], "subtopic"),
        )

    def missing_notes(self) -> Iterator[Note]:
        """One sentence for each passage that is in no chunk, with the text most like it."""
        for number in self.matches.missing:
            passage, near = self.labels.passages[number], self.matches.nearest.get(number)
            nearest = "no similar text"
            if near is not None:
                edits = plural(near.distance, "edit")
                nearest = f"nearest in chunk {shown(near.chunk)}, {edits} away: {shown(near.text)}"
            yield Note("gold-missing", f"{passage.place}: {shown(str(passage.text))} is in no chunk; {nearest}")


def resolve_labels(
    labels: GoldLabels, corpus: Corpus, options: GoldOptions | None = None, progress: MatchProgress | None = None
) -> ResolvedLabels:
    """Find the passages in the chunks; raises if none of them is there."""
    options = options or GoldOptions()
    matches = match_labels(labels, corpus, options.tolerance, progress)
    if not matches.pieces:
        first = labels.passages[0]
        near = matches.nearest.get(0)
        raise InputError(
            f"{labels.name}: none of {plural(len(labels.passages), 'quote')} is in {corpus.source}, "
            f"for example {first.place} {shown(str(first.text))}",
            hint=None if near is None else f"the nearest text is {shown(near.text)} in chunk {shown(near.chunk)}",
        )
    shares: dict[int, dict[int, float]] = {}
    for (passage, chunk), pieces in _by_pair(matches).items():
        size = len(matches.quotes[passage])
        covered = covered_characters([piece._replace(quote=0) for piece in pieces], [size])
        shares.setdefault(passage, {})[chunk] = float(covered[0]) / size
    pairs: list[tuple[int, int]] = []
    split: list[int] = []
    for passage, by_chunk in sorted(shares.items()):
        enough = [chunk for chunk, share in by_chunk.items() if share >= options.coverage - 1e-12]
        if not enough:
            split.append(passage)
            enough = [max(by_chunk, key=lambda chunk: (by_chunk[chunk], -chunk))]
        pairs += [(passage, chunk) for chunk in sorted(enough)]
    return ResolvedLabels(labels, matches, tuple(pairs), tuple(split))


def _by_pair(matches: QuoteMatches) -> dict[tuple[int, int], list[Piece]]:
    pairs: dict[tuple[int, int], list[Piece]] = {}
    for piece in matches.pieces:
        pairs.setdefault((piece.quote, piece.chunk), []).append(piece)
    return pairs
