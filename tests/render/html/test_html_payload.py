"""The data for the scripts: rankings with contributions that add up to values, within a size limit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from rankgauge import Run
from rankgauge.comparison.attribution import explain
from rankgauge.render.html import as_html
from rankgauge.render.html.page_systems import page_systems_of
from rankgauge.render.html.payload import PAYLOAD_SIZES, payload, scale_of
from rankgauge.render.html.rankings import top_rankings
from rankgauge.report.report import Report
from tests.render.html.reports import report
from tests.render.html.unpacking import data_of


def contributions(data: dict[str, Any], measure: int, system: int, query: int) -> dict[str, float]:
    """The contribution of each document to the value of a system."""
    record, scale = data["rankings"][query], data["measures"][measure]["scale"]
    stored = record["c"][measure][system]
    pairs = zip(stored[::2], stored[1::2], strict=True)
    return {record["d"][record["r"][system][rank - 1]]: value / scale for rank, value in pairs}


def test_contributions_add_up_to_the_values_and_are_those_of_explain() -> None:
    made = report(2, measures=("nDCG@10", "RR", "P@5"))
    data = data_of(as_html(made))
    before, after = (joined.hits for joined in made.joined)
    for index, measure in enumerate(made.scores[0].measures):
        for query in range(len(before)):
            stored = [contributions(data, index, system, query) for system in (0, 1)]
            for system in (0, 1):
                value = data["measures"][index]["values"][system][query] / data["measures"][index]["scale"]
                assert sum(stored[system].values()) == pytest.approx(value, abs=1e-3)
            for move in explain(measure, made.qrels, before, after, query).documents:
                change = stored[1].get(move.doc, 0.0) - stored[0].get(move.doc, 0.0)
                assert change == pytest.approx(move.share, abs=2e-4)


def test_the_ranking_is_that_of_the_run_and_has_its_grades() -> None:
    made = report(2)
    data = data_of(as_html(made))
    for system, run in enumerate(made.runs):
        assert isinstance(run, Run)
        top = run.top(data["depth"])
        for index, query in enumerate(top.queries.to_text()):
            record = data["rankings"][data["queries"].index(query)]
            expected = top.docs.to_text()[top.offsets[index] : top.offsets[index + 1]]
            assert [record["d"][doc] for doc in record["r"][system]] == expected
    judged = {}
    for row in range(len(made.qrels)):
        query = made.qrels.queries[int(made.qrels.query[row])].decode()
        judged[query, made.qrels.docs[row].decode()] = float(made.qrels.grades[row])
    for query, record in zip(data["queries"], data["rankings"], strict=True):
        assert record["g"] == [judged.get((query, doc)) for doc in record["d"]]


def test_a_judged_document_below_the_depth_has_its_rank() -> None:
    made = report(2)
    data = data_of(as_html(made))
    below = [part for record in data["rankings"] for ranks in record["b"] for part in ranks]
    assert below
    assert min(below[1::2]) > data["depth"]


def test_snippets_are_those_of_documents_that_moved() -> None:
    made = report(2)
    data = data_of(as_html(made))
    assert data["snippets"]
    moved = set()
    for record in data["rankings"]:
        before, after = ({doc: rank for rank, doc in enumerate(ranking)} for ranking in record["r"])
        moved |= {record["d"][doc] for doc in {*before, *after} if before.get(doc) != after.get(doc)}
    assert set(data["snippets"]) <= moved


def packed(made: Report, limit: int) -> str:
    systems = page_systems_of(made)
    return payload(made, systems, top_rankings(made, systems), limit)


@pytest.mark.slow
def test_a_lower_limit_gives_less_data_until_nothing_more_can_be_omitted() -> None:
    made = report(3, 60)
    everything = packed(made, 10**7)
    sizes = {len(everything)}
    for limit in (len(everything) - 1, len(everything) // 2, len(everything) // 3):
        data = packed(made, limit)
        assert len(data) <= limit
        sizes.add(len(data))
    assert len(sizes) == 4
    assert len(packed(made, 1)) == len(packed(made, 0))


def test_each_step_holds_less_than_the_one_before() -> None:
    for more, less in pairwise(PAYLOAD_SIZES):
        assert (more.depth, more.measures is None, more.snippets) > (
            less.depth,
            less.measures is None,
            less.snippets,
        ) or (less.queries is not None)


@pytest.mark.parametrize(("largest", "scale"), [(0.0, 10_000), (1.0, 10_000), (25.0, 1000), (31_000.0, 1), (1e9, 1)])
def test_large_values_have_fewer_decimals(largest: float, scale: int) -> None:
    assert scale_of([np.array([largest, np.nan, 0.0])], 4) == scale
