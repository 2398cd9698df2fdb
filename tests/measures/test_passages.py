"""Measures of gold passages: plain sets of characters, and what must hold of every ranking."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import MeasureError, evaluate, parse_measure
from rankgauge.comparison.document_changes import explain
from rankgauge.core.hits_builder import join
from rankgauge.core.passage_judgments import PassageJudgments
from rankgauge.core.ranking import UNRANKED
from rankgauge.core.run import Run
from tests.measures.chunked_text import ChunkedText, chunked_texts, hits_of, judgments_of

RANKED = ["StRecall@2", "StRecall@9", "alpha_nDCG@3", "alpha_nDCG@9", "alpha_DCG@4", "ERR_IA@3", "nERR_IA@9"]
MEASURES = [parse_measure(name) for name in RANKED]
COVERAGES = st.sampled_from([0.1, 0.5, 0.75, 1.0])
many_texts = st.lists(chunked_texts(), min_size=1, max_size=5)


def reciprocals(ranks: list[int | None], cutoff: int) -> float:
    return sum(1 / rank for rank in ranks if rank is not None and rank <= cutoff)


@pytest.mark.slow
@given(many_texts, COVERAGES)
@settings(max_examples=60)
def test_a_passage_is_found_where_the_chunks_so_far_cover_enough_of_it(
    texts: list[ChunkedText], coverage: float
) -> None:
    hits = hits_of(texts, coverage)
    for number, text in enumerate(texts):
        ranks = text.found_ranks(text.ranking, coverage)
        found = [rank for rank in ranks if rank is not None]
        assert parse_measure("StRecall@9")(hits)[number] == len(found) / len(ranks)
        assert parse_measure("StRecall@2")(hits)[number] == sum(rank <= 2 for rank in found) / len(ranks)
        # Over passages, ERR_IA is a mean of reciprocal ranks: one that was found adds nothing again.
        assert parse_measure("ERR_IA@3")(hits)[number] == pytest.approx(reciprocals(ranks, 3) / len(ranks))


def gain(ranks: list[int | None], cutoff: int) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks if rank is not None and rank <= cutoff)


@given(chunked_texts(chunks=5), COVERAGES)
@settings(max_examples=40)
def test_the_ideal_ranking_is_a_ranking_and_no_ranking_exceeds_1(text: ChunkedText, coverage: float) -> None:
    orders = [*itertools.permutations(range(len(text.chunks)))]
    best = max(gain(text.found_ranks(order, coverage), 9) for order in orders)
    judgments = judgments_of([text], coverage).by_group
    assert isinstance(judgments, PassageJudgments)
    ideal: list[int | None] = [None if rank == UNRANKED else rank for rank in judgments.ideal_ranks.tolist()]
    reachable = {tuple(text.found_ranks(order, coverage)) for order in orders}
    assert tuple(ideal) in reachable
    assert gain(ideal, 9) <= best + 1e-12
    assert gain(ideal, 9) >= 0.75 * best  # greedy is not the best, but not far from it
    every = hits_of([replace(text, ranking=order) for order in orders], coverage)
    for name in RANKED:
        values = parse_measure(name)(every)
        assert values.min() >= 0
        assert values.max() <= 1
    assert (parse_measure("alpha_nDCG@9")(every).max() == 1) == (best > 0)


def test_the_ideal_ranking_completes_the_passage_that_needs_the_fewest_chunks_first() -> None:
    # A passage of 18 characters in three chunks, and one of 8 in two: no chunk alone finds either.
    text = ChunkedText(((0, 18), (20, 28)), ((0, 6), (6, 12), (12, 18), (20, 24), (24, 28)), ())
    judgments = judgments_of([text], 1.0).by_group
    assert isinstance(judgments, PassageJudgments)
    assert judgments.ideal_ranks.tolist() == [5, 2]


@pytest.mark.slow
@given(many_texts)
@settings(max_examples=25)
def test_values_are_in_range_and_monotone_and_parts_equal_the_whole(texts: list[ChunkedText]) -> None:
    hits = hits_of(texts)
    numbers = np.arange(len(texts))
    for measure in MEASURES:
        values = measure(hits)
        assert ((values >= 0) & (values <= 1)).all()
        for part in (numbers[1::2], numbers[::2]):
            assert measure(hits.select(part)).tolist() == values[part].tolist()
        if measure.definition.monotone:
            series = [measure.but(cutoff=cutoff)(hits) for cutoff in range(1, 8)]
            assert all((deep >= shallow).all() for shallow, deep in pairwise(series))


@given(chunked_texts())
@settings(max_examples=25)
def test_the_order_of_chunks_with_the_same_text_does_not_matter_and_a_repeated_one_adds_nothing(
    text: ChunkedText,
) -> None:
    if not text.ranking:
        return
    twice = replace(text, chunks=(*text.chunks, text.chunks[text.ranking[0]]))
    copied = replace(twice, ranking=(len(text.chunks), *text.ranking[1:]))
    appended = replace(twice, ranking=(*text.ranking, len(text.chunks)))
    hits = hits_of([twice, copied, appended])
    for measure in MEASURES:
        values = measure(hits)
        assert values[0] == values[1], measure
    for name in ("StRecall@9", "ERR_IA@9"):
        values = parse_measure(name)(hits)
        assert values[0] == values[2]


# A quote of 12 characters, cut into three chunks that overlap in two characters.
SPLIT = ChunkedText(((10, 22),), ((4, 14), (12, 20), (18, 30), (30, 40)), (3, 0, 1, 2))


def test_a_quote_that_is_split_over_chunks_is_found() -> None:
    scores = evaluate(judgments_of([SPLIT]), {"q00": ["c3", "c0", "c1", "c2"]}, "StRecall@2 StRecall@3")
    assert scores.values.tolist() == [[0.0, 1.0]]
    whole = evaluate(judgments_of([SPLIT], 1.0), {"q00": ["c3", "c0", "c1", "c2"]}, "StRecall@3 StRecall@4")
    assert whole.values.tolist() == [[0.0, 1.0]]


def test_names_say_that_a_passage_counts_once() -> None:
    scores = evaluate(judgments_of([SPLIT]), {"q00": ["c1", "c0"]}, "alpha_nDCG@3 ERR_IA@3")
    assert [measure.name for measure in scores.measures] == ["alpha_nDCG(alpha=1)@3", "ERR_IA(alpha=1)@3"]
    assert scores.values.tolist() == [[1.0, 1.0]]


def test_what_gold_passages_do_not_have_is_refused() -> None:
    qrels = judgments_of([SPLIT])
    with pytest.raises(
        MeasureError, match="nDCG@10 needs one grade per document, but these judgments are gold"
    ) as error:
        evaluate(qrels, {"q00": ["c1"]}, "nDCG@10")
    assert "StRecall, EvidenceAll, alpha_nDCG, ERR_IA" in (error.value.hint or "")


def test_a_difference_is_attributed_to_chunks() -> None:
    qrels = judgments_of([SPLIT])
    before, after = (join(qrels, Run.from_lists({"q00": docs})) for docs in (["c3", "c0"], ["c1", "c0"]))
    change = explain(parse_measure("StRecall@2"), qrels, before, after, 0)
    assert sum(document.share for document in change.documents) == pytest.approx(change.difference)
    assert {document.doc for document in change.documents} == {"c0", "c1", "c3"}
