"""From matches to judgments: how passages count, and what each chunk covers of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.core import ids as ids_module
from rankgauge.core.formatting import listing
from rankgauge.core.ids import Ids, Ints, encode_id, numbered
from rankgauge.core.passage_builder import ChunkRows, PassageRows, PieceRows, build_passage_judgments
from rankgauge.core.qrels import ANSWERABLE, Qrels
from rankgauge.core.run import Run
from rankgauge.core.settings import check_settings, setting_of
from rankgauge.errors import InputError, shown
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.reading_options import PassageMatching
from rankgauge.labels.gold.gold_labels import GoldLabels, GoldPassage
from rankgauge.labels.gold.normalized_text import normalized
from rankgauge.labels.gold.quote_matches import QuoteMatches


@dataclass(frozen=True)
class GoldOptions:
    """How much of a passage must be retrieved, and how exactly texts must agree.

    A passage is found at the rank where the chunks so far cover the share ``coverage`` of it. ``tolerance`` is the
    largest edit distance, as a share of the characters compared, for a passage that the chunks do not contain exactly.
    """

    coverage: float = setting_of(PassageMatching, "coverage")
    tolerance: float = setting_of(PassageMatching, "tolerance")

    def __post_init__(self) -> None:
        check_settings(self)


def gold_judgments(
    labels: GoldLabels, matches: QuoteMatches, corpus: Corpus, runs: Sequence[Run], options: GoldOptions
) -> Qrels:
    """Judgments of the chunks that contain gold, and of those that the runs retrieved."""
    query = Ids.from_text([passage.query for passage in labels.passages], "query id")
    forbidden = _forbidden_chunks(labels, matches.forbidden, options.coverage)
    matches = _without_edits_in(forbidden, labels, matches)
    pairs = _Pairs.of(query, matches, runs)
    _check_texts(corpus, pairs.docs)
    qrels = build_passage_judgments(
        PassageRows(
            query,
            Ids.from_text(labels.passage_names(), "passage"),
            np.array([len(text) for text in matches.quotes], dtype=np.int64),
        ),
        ChunkRows(pairs.query, pairs.doc),
        PieceRows(
            np.array([piece.quote for piece in matches.pieces], dtype=np.int64),
            pairs.piece_rows,
            np.array([piece.start for piece in matches.pieces], dtype=np.int64),
            np.array([piece.end for piece in matches.pieces], dtype=np.int64),
        ),
        coverage=options.coverage,
        tolerance=options.tolerance,
        name=labels.name,
    )
    qrels = qrels.with_queries([encode_id(name, "query id") for name in labels.unanswerable])
    qrels = qrels.with_columns(labels.columns) if labels.columns else qrels
    if labels.unanswerable:
        nothing = set(labels.unanswerable)
        qrels = qrels.with_columns({ANSWERABLE: {name: name not in nothing for name in qrels.queries.to_text()}})
    qrels = _with_forbidden(qrels, forbidden, options.coverage)
    # Other chunks, or another run on them, are not other labels: scores stay comparable.
    qrels.__dict__["sha256"] = _labels_sha256(labels, options)
    return qrels


ForbiddenChunks = dict[str, dict[str, str]]  # by query: why each chunk is forbidden


def _forbidden_chunks(labels: GoldLabels, matches: QuoteMatches | None, coverage: float) -> ForbiddenChunks:
    """The chunks that must not be returned: by id, and those that contain a forbidden quote."""
    names = set(labels.queries)
    chunks = {query: dict.fromkeys(ids, "listed by its id") for query, ids in labels.forbidden_ids.items()}
    found = [] if matches is None else matches.chunks_of_quotes(coverage)
    for passage, docs in zip(labels.forbidden, found, strict=matches is not None):
        own = chunks.setdefault(passage.query, {})  # a quote that no chunk contains guards its query, too
        for doc in docs:
            own.setdefault(doc.decode("utf-8", "surrogateescape"), f"which contains {shown(str(passage.text))}")
    return {query: docs for query, docs in chunks.items() if query in names}


def _without_edits_in(forbidden: ForbiddenChunks, labels: GoldLabels, matches: QuoteMatches) -> QuoteMatches:
    """The matches but for gold that a forbidden chunk contains only with edits: it is the stale version of the gold."""
    if not forbidden or not matches.approximate:
        return matches
    names = [chunk.decode("utf-8", "surrogateescape") for chunk in matches.chunk_ids]
    kept = [
        piece
        for piece in matches.pieces
        if not piece.distance or names[piece.chunk] not in forbidden.get(labels.passages[piece.quote].query, {})
    ]
    return replace(matches, pieces=kept)


def _with_forbidden(qrels: Qrels, forbidden: ForbiddenChunks, coverage: float) -> Qrels:
    """The judgments with the chunks that must not be returned; one that is relevant is an error."""
    if not forbidden:
        return qrels
    queries = qrels.queries.to_text()
    for number, doc, share in zip(qrels.query.tolist(), qrels.docs.to_text(), qrels.grades.tolist(), strict=True):
        if share >= coverage - 1e-12 and doc in forbidden.get(queries[number], {}):
            raise InputError(
                f"chunk {shown(doc)} is both forbidden ({forbidden[queries[number]][doc]}) and relevant for query "
                f"{shown(queries[number])}",
                hint="leave it out of one of the two lists, or use smaller chunks",
            )
    return replace(qrels, forbidden={query: tuple(docs) for query, docs in forbidden.items()})


def _labels_sha256(labels: GoldLabels, options: GoldOptions) -> str:
    passages = sorted((passage.query, normalized(str(passage.text)), *_span(passage)) for passage in labels.passages)
    facts: list[object] = ["rankgauge gold 1", passages, options.coverage, options.tolerance]
    if labels.unanswerable or labels.forbidden or labels.forbidden_ids:
        quotes = sorted((passage.query, normalized(str(passage.text)), *_span(passage)) for passage in labels.forbidden)
        facts += [sorted(labels.unanswerable), quotes, sorted(labels.forbidden_ids.items())]
    content = json.dumps(facts)
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


def _check_texts(corpus: Corpus, docs: Ids) -> None:
    """Raise if the corpus does not have one of the chunks."""
    needed = set(docs)
    missing = sorted(needed.difference(document.id for document in corpus))
    if missing:
        raise InputError(
            f"{len(missing):,} of {len(needed):,} retrieved chunks have no text in {corpus.source}: "
            f"{listing(map(shown, missing))}",
            hint="name the chunks that the run was made from: --set reading.chunks=CHUNKS",
        )
