"""What the scripts look into: rankings with shares that sum to values, and no more of it than there is room for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from rankgauge import Run
from rankgauge.comparison.attribution import explain
from rankgauge.render.html import as_html
from rankgauge.render.html.cast import cast_of
from rankgauge.render.html.payload import LESS_AND_LESS, payload, scale_of
from rankgauge.render.html.rankings import tops_of
from rankgauge.report.report import Report
from tests.render.html.reports import report
from tests.render.html.unpacking import data_of


def shares(data: dict[str, Any], measure: int, system: int, query: int) -> dict[str, float]:
    """The share of each listed document in the value of a system."""
    one, scale = data["rankings"][query], data["measures"][measure]["scale"]
    listed = one["s"][measure][system]
    pairs = zip(listed[::2], listed[1::2], strict=True)
    return {one["d"][one["r"][system][rank - 1]]: share / scale for rank, share in pairs}


def test_shares_sum_to_the_values_and_are_those_of_explain() -> None:
    made = report(2, measures=("nDCG@10", "RR", "P@5"))
    data = data_of(as_html(made))
    before, after = (joined.hits for joined in made.joined)
    for place, measure in enumerate(made.scores[0].measures):
        for query in range(len(before)):
            told = [shares(data, place, system, query) for system in (0, 1)]
            for system in (0, 1):
                value = data["measures"][place]["values"][system][query] / data["measures"][place]["scale"]
                assert sum(told[system].values()) == pytest.approx(value, abs=1e-3)
            for move in explain(measure, made.qrels, before, after, query).documents:
                share = told[1].get(move.doc, 0.0) - told[0].get(move.doc, 0.0)
                assert share == pytest.approx(move.share, abs=2e-4)


def test_the_ranking_is_that_of_the_run_and_has_its_grades() -> None:
    made = report(2)
    data = data_of(as_html(made))
    for system, run in enumerate(made.runs):
        assert isinstance(run, Run)
        top = run.top(data["depth"])
        for place, query in enumerate(top.queries.to_text()):
            one = data["rankings"][data["queries"].index(query)]
            wanted = top.docs.to_text()[top.offsets[place] : top.offsets[place + 1]]
            assert [one["d"][doc] for doc in one["r"][system]] == wanted
    judged = {}
    for row in range(len(made.qrels)):
        query = made.qrels.queries[int(made.qrels.query[row])].decode()
        judged[query, made.qrels.docs[row].decode()] = float(made.qrels.grades[row])
    for place, query in enumerate(data["queries"]):
        one = data["rankings"][place]
        assert one["g"] == [judged.get((query, doc)) for doc in one["d"]]


def test_a_judged_document_further_down_has_its_rank() -> None:
    made = report(2)
    data = data_of(as_html(made))
    below = [part for one in data["rankings"] for listed in one["b"] for part in listed]
    assert below
    assert min(below[1::2]) > data["depth"]


def test_snippets_are_those_of_documents_that_moved() -> None:
    made = report(2)
    data = data_of(as_html(made))
    assert data["snippets"]
    moved = set()
    for one in data["rankings"]:
        before, after = ({doc: rank for rank, doc in enumerate(listed)} for listed in one["r"])
        moved |= {one["d"][doc] for doc in {*before, *after} if before.get(doc) != after.get(doc)}
    assert set(data["snippets"]) <= moved


def packed(made: Report, room: int) -> str:
    cast = cast_of(made)
    return payload(made, cast, tops_of(made, cast), room)


def test_less_room_holds_less_until_nothing_can_be_left_out() -> None:
    made = report(3, 60)
    everything = packed(made, 10**7)
    seen = {len(everything)}
    for room in (len(everything) - 1, len(everything) // 2, len(everything) // 3):
        found = packed(made, room)
        assert len(found) <= room
        seen.add(len(found))
    assert len(seen) == 4
    assert len(packed(made, 1)) == len(packed(made, 0))


def test_each_step_holds_less_than_the_one_before() -> None:
    for more, less in pairwise(LESS_AND_LESS):
        assert (more.depth, more.measures is None, more.snippets) > (
            less.depth,
            less.measures is None,
            less.snippets,
        ) or (less.queries is not None)


@pytest.mark.parametrize(("largest", "scale"), [(0.0, 10_000), (1.0, 10_000), (25.0, 1000), (31_000.0, 1), (1e9, 1)])
def test_large_values_have_fewer_decimals(largest: float, scale: int) -> None:
    assert scale_of([np.array([largest, np.nan, 0.0])], 4) == scale
