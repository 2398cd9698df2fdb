"""The vectorised kernels against plain loops, on random data."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings

from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.measures.measure import DEFINITIONS as DECLARED
from rankgauge.measures.measure import Measure
from tests.measures.definitions import DEFINITIONS
from tests.measures.variants import ALL, NAMES
from tests.strategies import FLOAT, Case, cases


def float32(score: float) -> float:
    found: float = struct.unpack("f", struct.pack("f", score))[0]
    return found


def labels_of(case: Case, query: str, *, judged_only: bool) -> list[float | None]:
    """The ranking of a query by the rule in words: score descending as float32, then document id bytes descending."""
    ranked = sorted(case.results.get(query, []), key=lambda item: (float32(item[1]), item[0].encode()), reverse=True)
    labels = [case.judged[query].get(doc) for doc, _ in ranked]
    return [label for label in labels if label is not None and label >= 0] if judged_only else labels


def expected(measure: Measure, case: Case) -> list[float | None]:
    parameters = dict(measure.parameters)
    judged_only = parameters.pop("judged_only", False)
    define = DEFINITIONS[measure.definition.name]
    return [
        define(labels_of(case, query, judged_only=judged_only), list(case.judged[query].values()), **parameters)
        for query in sorted(case.judged, key=str.encode)
    ]


def agree(found: float, wanted: float | None) -> bool:
    return math.isnan(found) if wanted is None else math.isclose(found, wanted, rel_tol=1e-12, abs_tol=1e-14)


def check(measure: Measure, case: Case, hits: Hits) -> None:
    values = measure(hits)
    wanted = expected(measure, case)
    assert len(values) == len(wanted)
    assert all(map(agree, values.tolist(), wanted)), (measure, case, values, wanted)


def test_every_declared_measure_has_a_plain_definition() -> None:
    of_grades = {
        name
        for name, definition in DECLARED.items()
        if definition.judgments in (None, "grades") and not definition.needs_answers
    }
    assert of_grades == set(DEFINITIONS) == set(NAMES)  # others: test_preferences.py, test_run_answers.py


@pytest.mark.slow
@given(cases())
@settings(max_examples=300)
def test_kernels_equal_the_plain_definitions(case: Case) -> None:
    hits = join(case.qrels, case.run)
    for measure in ALL:
        check(measure, case, hits)


@pytest.mark.slow
@given(cases(grades=FLOAT))
@settings(max_examples=150)
def test_float_grades_and_a_float_level(case: Case) -> None:
    hits = join(case.qrels, case.run)
    for measure in ALL:
        check(measure, case, hits)
        if "rel" in measure.definition.parameters and measure["rel"] is not None:
            check(measure.but(rel=0.5), case, hits)


@pytest.mark.slow
@given(cases())
@settings(max_examples=100)
def test_level_zero_makes_every_judged_document_relevant(case: Case) -> None:
    hits = join(case.qrels, case.run)
    for measure in ALL:
        if "rel" in measure.definition.parameters and measure["rel"] is not None:
            check(measure.but(rel=0), case, hits)


@pytest.mark.parametrize("cutoff", [1, 2, 7])
def test_a_cutoff_for_each_query_equals_one_for_all(cutoff: int) -> None:
    case = Case(
        {"a": {"d1": 1, "d2": 2, "d3": 0}, "b": {"d1": 3, "d9": 1}},
        {"a": [("d3", 3.0), ("d2", 2.0), ("d1", 1.0)], "b": [("d5", 2.0), ("d1", 1.0)]},
    )
    qrels = case.qrels.with_columns({"k": {"a": cutoff, "b": cutoff}})
    hits = join(qrels, case.run)
    for measure in ALL:
        if "cutoff" in measure.definition.parameters:
            same = measure.but(cutoff=cutoff)(hits)
            assert np.array_equal(measure.but(cutoff="k")(hits), same, equal_nan=True), measure
