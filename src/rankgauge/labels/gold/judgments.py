"""From matches to judgments: the passages of each query, and what each chunk covers of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.core import ids as ids_module
from rankgauge.core.formatting import listing
from rankgauge.core.group_judgments import numbered
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.passage_judgments import Unit
from rankgauge.core.passage_tables import ChunkRows, PassageRows, PieceRows, build_passage_judgments
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError, shown
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.labels.gold.chunks import NormalizedChunk
from rankgauge.labels.gold.labels import GoldLabels, GoldPassage
from rankgauge.labels.gold.normalization import normalized
from rankgauge.labels.gold.options import GoldOptions, Tokenizer
from rankgauge.labels.gold.pieces import QuoteMatches
from rankgauge.labels.gold.positions import GoldText
from rankgauge.labels.gold.token_places import TokenPlaces


def gold_judgments(
    labels: GoldLabels, matches: QuoteMatches, corpus: Corpus, runs: Sequence[Run], options: GoldOptions
) -> Qrels:
    """Judgments of the chunks that contain gold, and of those that the runs retrieved, which have lengths to count."""
    query = Ids.from_text([passage.query for passage in labels.passages], "query id")
    pairs = _Pairs.of(query, matches, runs)
    lengths = _chunk_lengths(corpus, pairs.docs, options.tokenizer)
    quotes = [TokenPlaces.of(text, options.tokenizer) for text in matches.quotes]
    gold = GoldText.of(labels.passages, matches, quotes)
    qrels = build_passage_judgments(
        PassageRows(
            query,
            Ids.from_text(labels.passage_names(), "passage"),
            _units([(quote.characters, len(quote)) for quote in quotes]),
            gold.own_lengths(),
        ),
        ChunkRows(pairs.query, pairs.doc, _units([(lengths[doc].characters, len(lengths[doc])) for doc in pairs.doc])),
        PieceRows(
            np.array([piece.quote for piece in matches.pieces], dtype=np.int64),
            pairs.piece_rows,
            np.array([piece.start for piece in matches.pieces], dtype=np.int64),
            np.array([piece.end for piece in matches.pieces], dtype=np.int64),
        ),
        gold.parts(pairs.piece_rows, lengths),
        coverage=options.coverage,
        tolerance=options.tolerance,
        name=labels.name,
    )
    qrels = qrels.with_columns(labels.columns) if labels.columns else qrels
    # Other chunks, or another run on them, are not other labels: stored baselines stay comparable.
    qrels.__dict__["sha256"] = _labels_sha256(labels, options)
    return qrels


def _labels_sha256(labels: GoldLabels, options: GoldOptions) -> str:
    passages = sorted((passage.query, normalized(str(passage.text)), *_span(passage)) for passage in labels.passages)
    content = json.dumps(["rankgauge gold 1", passages, options.coverage, options.tolerance])
    return hashlib.sha256(content.encode("ascii")).hexdigest()


def _span(passage: GoldPassage) -> tuple[object, ...]:
    """What decides which text a passage shares with others."""
    return (passage.document, passage.start, passage.end) if passage.is_span else ()


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Each query with each of its chunks, once; ``piece_rows`` are the rows of the pieces' chunks."""

    query: Ids
    doc: Ids
    docs: Ids
    piece_rows: Ints

    @classmethod
    def of(cls, passage_query: Ids, matches: QuoteMatches, runs: Sequence[Run]) -> _Pairs:
        passage = np.array([piece.quote for piece in matches.pieces], dtype=np.int64)
        chunks = Ids.from_bytes([matches.chunk_ids[piece.chunk] for piece in matches.pieces])
        gold = set(passage_query.to_text())
        parts = [(passage_query.take(passage), chunks)]
        for run in runs:
            judged = run.select(
                np.array([n for n, name in enumerate(run.queries.to_text()) if name in gold], dtype=int)
            )
            parts.append((judged.queries.take(judged.query), judged.docs))
        query = ids_module.concatenate([query for query, _ in parts])
        doc = ids_module.concatenate([doc for _, doc in parts])
        doc_number, docs = numbered(doc)
        _, first, row = np.unique(
            numbered(query)[0] * max(len(docs), 1) + doc_number, return_index=True, return_inverse=True
        )
        return cls(query.take(first), doc.take(first), docs, row[: len(chunks)])


def _chunk_lengths(corpus: Corpus, docs: Ids, tokenizer: Tokenizer) -> dict[bytes, TokenPlaces]:
    """The tokens of some chunks; raises if the corpus does not have one of them."""
    needed = set(docs)
    lengths = {
        document.id: TokenPlaces.of(NormalizedChunk.of(number, document).text, tokenizer)
        for number, document in enumerate(corpus)
        if document.id in needed
    }
    if len(lengths) < len(needed):
        missing = sorted(needed - set(lengths))
        raise InputError(
            f"{len(missing):,} of {len(needed):,} retrieved chunks have no text in {corpus.source}: "
            f"{listing(map(shown, missing))}",
            hint="name the chunks that the run was made from: --chunks CHUNKS",
        )
    return lengths


def _units(values: Sequence[tuple[int, int]]) -> dict[Unit, Ints]:
    """Pairs of a number of characters and a number of tokens, as columns."""
    columns = np.array(values, dtype=np.int64).reshape(-1, 2)
    return {"characters": columns[:, 0], "tokens": columns[:, 1]}
