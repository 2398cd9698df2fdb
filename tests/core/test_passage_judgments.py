"""Judgments by text: their tables, and what the judgments of some queries are made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.passage_builder import ChunkRows, PassageRows, PieceRows, build_passage_judgments
from rankgauge.core.passage_judgments import PassageJudgments
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError


def ids(*names: str) -> Ids:
    return Ids.from_text(list(names), "id")


def column(*values: int) -> Ints:
    return np.array(values, dtype=np.int64)


PASSAGES = PassageRows(ids("q", "q", "p"), ids("1", "2", "1"), column(10, 20, 4))
CHUNKS = ChunkRows(ids("p", "q", "q"), ids("c", "a", "b"))
PIECES = PieceRows(np.array([0, 1, 2, 1]), np.array([1, 1, 0, 2]), np.array([0, 0, 0, 5]), np.array([4, 5, 4, 20]))


def built(
    passages: PassageRows = PASSAGES,
    chunks: ChunkRows = CHUNKS,
    pieces: PieceRows = PIECES,
    coverage: float = 0.5,
) -> Qrels:
    return build_passage_judgments(passages, chunks, pieces, coverage=coverage)


def test_chunks_are_judged_by_the_largest_share_that_they_cover() -> None:
    qrels = built()
    assert qrels.judgments == "passages"
    assert (list(qrels.queries), list(qrels.docs)) == ([b"p", b"q"], [b"c", b"a", b"b"])
    assert qrels.grades.tolist() == [1.0, 0.4, 0.75]
    assert len(qrels) == 3
    assert isinstance(qrels.by_group, PassageJudgments)
    assert qrels.by_group.needed.tolist() == [2, 5, 10]


def test_the_order_of_rows_does_not_change_the_content_and_everything_else_does() -> None:
    backwards = built(
        PassageRows(ids("p", "q", "q"), ids("1", "2", "1"), column(4, 20, 10)),
        pieces=replace(PIECES, passage=np.array([2, 1, 0, 1])),
    )
    assert backwards.sha256 == built().sha256
    renamed = replace(PASSAGES, name=ids("1", "3", "1"))
    moved = replace(PIECES, start=PIECES.start + 1)
    assert len({qrels.sha256 for qrels in (built(), built(coverage=0.6), built(renamed), built(pieces=moved))}) == 4


def test_queries_can_be_selected_and_added() -> None:
    qrels = built()
    alone = qrels.select(np.array([1]))
    assert isinstance(alone.by_group, PassageJudgments)
    assert list(alone.by_group.passages) == [b"1", b"2"]
    assert alone.by_group.ordinal.tolist() == [0, 0, 1]
    assert alone.by_group.start.tolist() == [0, 0, 5]
    more = qrels.with_queries([b"a", b"z"])
    assert isinstance(more.by_group, PassageJudgments)
    assert np.diff(more.by_group.passage_offsets).tolist() == [0, 1, 2, 0]
    assert more.by_group.query.tolist() == [1, 2, 2, 2]
    assert qrels.binary().by_group is qrels.by_group


def test_wrong_tables_are_errors() -> None:
    with pytest.raises(InputError, match="gold passage '1' is listed twice for query 'q'"):
        built(replace(PASSAGES, name=ids("1", "1", "1")))
    with pytest.raises(InputError, match="chunk 'a' is listed twice for query 'q'"):
        built(chunks=replace(CHUNKS, doc=ids("c", "a", "a")))
    with pytest.raises(InputError, match="gold passage '2' of query 'q' is empty"):
        built(replace(PASSAGES, length=column(10, 0, 4)))
    with pytest.raises(ValueError, match="a piece is not within its passage"):
        built(pieces=replace(PIECES, end=np.array([11, 5, 4, 20])))
    with pytest.raises(ValueError, match="different queries"):
        built(pieces=replace(PIECES, chunk=np.array([0, 1, 0, 2])))
    with pytest.raises(ValueError, match="chunks of a query without passages: 'x'"):
        built(chunks=replace(CHUNKS, query=ids("p", "q", "x")))
