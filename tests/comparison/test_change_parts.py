"""The parts of a change, checked against their definition with exact fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Conventions, InputError, Qrels, Run, Statistics, UsageError, compare, evaluate
from rankgauge.comparison.change_parts import (
    ChangeParts,
    ScoredVersion,
    VersionComparison,
    compare_versions,
    on_common_grid,
    separated,
    together,
)
from rankgauge.comparison.label_changes import judgment_changes
from tests.comparison.collection import GOOD, JUDGED, LUCKY, POOR

Labels = dict[str, dict[str, int]]
Rankings = dict[str, list[str]]
MEASURES = ["RR", "P@3"]
QUICK = Statistics(test="t")


def version(labels: Any, run: Any, *, keep: bool, measures: Any = MEASURES, **conventions: Any) -> ScoredVersion:
    qrels = Qrels.from_dict(labels)
    ranking = Run.from_lists(run) if isinstance(next(iter(run.values())), list) else Run.from_dict(run)
    scores = evaluate(qrels, ranking, measures, conventions=Conventions(**conventions))
    return ScoredVersion(scores, qrels.sha256, qrels, ranking if keep else None)


def reciprocal_rank(docs: list[str], grades: dict[str, int]) -> Fraction:
    return next((Fraction(1, rank) for rank, doc in enumerate(docs, 1) if grades.get(doc, 0) > 0), Fraction())


def precision(docs: list[str], grades: dict[str, int]) -> Fraction:
    return Fraction(sum(grades.get(doc, 0) > 0 for doc in docs[:3]), 3)


def mean(queries: Any, run: Rankings, labels: Labels, measure: Any) -> Fraction:
    return sum((measure(run.get(query, []), labels[query]) for query in queries), Fraction()) / len(queries)


def expected_parts(a: Rankings, older: Labels, b: Rankings, newer: Labels, measure: Any) -> dict[str, Fraction]:
    """The Shapley values of two causes, by averaging over both orders in which system and labels change."""
    shared = [query for query in older if query in newer]
    value = {
        (run, labels): mean(shared, (a, b)[run], (older, newer)[labels], measure)
        for run, labels in itertools.product((0, 1), repeat=2)
    }
    contributions: dict[str, list[Fraction]] = {"system": [], "labels": []}
    for order in itertools.permutations(("system", "labels")):
        state = {"system": 0, "labels": 0}
        for cause in order:
            before = value[state["system"], state["labels"]]
            state[cause] = 1
            contributions[cause].append(value[state["system"], state["labels"]] - before)
    parts = {cause: sum(values, Fraction()) / 2 for cause, values in contributions.items()}
    total = mean(list(newer), b, newer, measure) - mean(list(older), a, older, measure)
    return {**parts, "queries": total - parts["system"] - parts["labels"], "total": total}


DOCS = ["a", "b", "c", "d", "e"]
LABELS = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 2), max_size=5)
RANKING = st.permutations(DOCS).flatmap(lambda docs: st.integers(1, 5).map(lambda size: list(docs[:size])))
QUERIES = [f"q{n}" for n in range(6)]
EVERY_QUERY = st.fixed_dictionaries(dict.fromkeys(QUERIES, RANKING))
SOME_LABELS = st.dictionaries(st.sampled_from(QUERIES[1:]), LABELS).flatmap(
    lambda labels: LABELS.map(lambda first: {"q0": first, **labels})
)


@settings(max_examples=25)
@given(EVERY_QUERY, SOME_LABELS, EVERY_QUERY, SOME_LABELS)
def test_the_parts_are_the_shapley_values_and_sum_to_the_last_bit(
    a: Rankings, older: Labels, b: Rankings, newer: Labels
) -> None:
    found = compare_versions(version(older, a, keep=True), version(newer, b, keep=True), statistics=QUICK)
    has_same = Qrels.from_dict(older).sha256 == Qrels.from_dict(newer).sha256
    assert found.method == ("same labels" if has_same else "both orders")
    for part, measure in zip(found.parts, (reciprocal_rank, precision), strict=True):
        expected = expected_parts(a, older, b, newer, measure)
        for name, value in expected.items():
            assert getattr(part, name) == pytest.approx(float(value), abs=1e-14)
        assert part.queries_shared == len(set(older) & set(newer))
        for order in itertools.permutations([part.system, part.labels, part.queries]):
            assert sum(value or 0.0 for value in order) == part.total
        assert part.total == pytest.approx((part.after or 0) - (part.before or 0), abs=1e-15)


@settings(max_examples=20)
@given(EVERY_QUERY, SOME_LABELS, EVERY_QUERY, SOME_LABELS, st.sampled_from([(True, False), (False, True)]))
def test_with_one_run_the_systems_are_compared_with_the_labels_of_the_other(
    a: Rankings, older: Labels, b: Rankings, newer: Labels, kept: tuple[bool, bool]
) -> None:
    found = compare_versions(version(older, a, keep=kept[0]), version(newer, b, keep=kept[1]), statistics=QUICK)
    if found.method == "same labels":
        return
    assert found.method == ("newer labels" if kept[0] else "older labels")
    labels = newer if kept[0] else older
    shared = [query for query in older if query in newer]
    for part, measure in zip(found.parts, (reciprocal_rank, precision), strict=True):
        system = mean(shared, b, labels, measure) - mean(shared, a, labels, measure)
        assert part.system == pytest.approx(float(system), abs=1e-14)
        assert part.system is not None
        assert part.labels is not None
        assert part.queries is not None
        assert part.system + part.labels + part.queries == part.total


def test_without_runs_system_and_labels_are_joint_and_only_unchanged_queries_are_tested() -> None:
    grown = {query: dict(grades) for query, grades in JUDGED.items()}
    grown["q03"]["added"] = 1
    del grown["q05"]
    found = compare_versions(version(JUDGED, POOR, keep=False), version(grown, GOOD, keep=False))
    assert found.method == "joint"
    assert all(part.system is None and part.labels is None for part in found.parts)
    for part in found.parts:
        assert part.joint is not None
        assert part.queries is not None
        assert part.joint + part.queries == part.total
        assert part.queries_shared == 39
    assert found.comparison is not None
    unchanged = {query: grades for query, grades in JUDGED.items() if query not in ("q03", "q05")}
    plain = compare(unchanged, {"a": POOR, "b": GOOD}, MEASURES)
    assert [(row.n, row.difference, row.p_corrected) for row in found.comparison.differences] == [
        (row.n, row.difference, row.p_corrected) for row in plain.differences
    ]


def test_only_the_part_of_the_system_is_tested() -> None:
    """The same run twice, with labels that change every value: nothing of that is the system's."""
    grown = {query: {doc: 2 - grade for doc, grade in grades.items()} for query, grades in JUDGED.items()}
    found = compare_versions(version(JUDGED, GOOD, keep=True), version(grown, GOOD, keep=True))
    assert abs(found.parts[0].total or 0) > 0.1
    assert found.parts[0].system == 0.0
    assert found.comparison is not None
    assert all(row.is_unchanged for row in found.comparison.differences)


def test_the_test_is_that_of_the_mean_over_both_versions_of_the_labels() -> None:
    grown = {query: {**grades, "d0": 2, "d1": 0} for query, grades in JUDGED.items()}
    found = compare_versions(version(JUDGED, POOR, keep=True), version(grown, LUCKY, keep=True), "P@3")
    values = [evaluate(labels, run, "P@3").values for run in (POOR, LUCKY) for labels in (JUDGED, grown)]
    differences = (values[2] + values[3]) / 2 - (values[0] + values[1]) / 2
    assert found.comparison is not None
    row = found.comparison.differences[0]
    assert row.difference == pytest.approx(float(differences.mean()), abs=1e-15)
    assert row.difference == pytest.approx(found.parts[0].system, abs=1e-15)
    assert row.n == 40


def test_geometric_means_and_sums_have_parts_on_the_scale_of_their_differences() -> None:
    grown = {query: {**grades, "d0": 2} for query, grades in JUDGED.items() if query != "q00"}
    measures = ["gm_map", "NumRelRet"]
    found = compare_versions(
        version(JUDGED, POOR, keep=True, measures=measures), version(grown, GOOD, keep=True, measures=measures)
    )
    geometric, sums = found.parts
    assert geometric.total == pytest.approx(math.log((geometric.after or 0) / (geometric.before or 1)), abs=1e-12)
    assert sums.total == (sums.after or 0) - (sums.before or 0)
    for part in found.parts:
        assert (part.system or 0) + (part.labels or 0) + (part.queries or 0) == part.total


def test_what_changed_in_the_judgments_is_counted() -> None:
    older = Qrels.from_dict({"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "gone": {"x": 1}, "same": {"y": 1}})
    newer = Qrels.from_dict({"q1": {"a": 1, "b": 1, "z": 0}, "q2": {"d": 2}, "new": {"x": 1}, "same": {"y": 1}})
    found = judgment_changes(older, newer)
    assert (found.queries_added, found.queries_removed) == (("new",), ("gone",))
    assert (found.added, found.changed, found.removed, found.changed_queries) == (2, 1, 1, ("q1", "q2"))
    expected = "1 query added; 1 query removed; 2 judgments added, 1 changed and 1 removed in 2 queries"
    assert found.describe() == expected
    assert judgment_changes(older, older).is_empty


@settings(max_examples=40)
@given(SOME_LABELS, SOME_LABELS)
def test_changes_are_those_of_plain_dicts(older: Labels, newer: Labels) -> None:
    found = judgment_changes(Qrels.from_dict(older), Qrels.from_dict(newer))
    shared = sorted(set(older) & set(newer))
    pairs = [(older[query], newer[query]) for query in shared]
    assert found.added == sum(len(set(new) - set(old)) for old, new in pairs)
    assert found.removed == sum(len(set(old) - set(new)) for old, new in pairs)
    assert found.changed == sum(old[doc] != new[doc] for old, new in pairs for doc in set(old) & set(new))
    assert list(found.changed_queries) == [query for query in shared if older[query] != newer[query]]
    assert set(found.queries_added) == set(newer) - set(older)
    assert set(found.queries_removed) == set(older) - set(newer)


FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(FINITE, FINITE, FINITE)
def test_parts_on_a_grid_sum_exactly_and_are_close(total: float, system: float, labels: float) -> None:
    empty = ChangeParts("RR", 0, None, None)
    parts = separated(empty, total, system, labels)
    for order in itertools.permutations([parts.system, parts.labels, parts.queries]):
        assert sum(value or 0.0 for value in order) == parts.total
    largest = max(abs(total), abs(system), abs(labels))
    for name, value in {"total": total, "system": system, "labels": labels}.items():
        assert abs(Fraction(getattr(parts, name)) - Fraction(value)) <= max(
            Fraction(largest) / 2**49, Fraction(1, 2**940)
        )
    joint = together(empty, total, system)
    assert (joint.joint or 0) + (joint.queries or 0) == joint.total


def test_the_grid_keeps_small_numbers_and_zeros() -> None:
    assert on_common_grid(0.0, 0.0) == [0.0, 0.0]
    assert on_common_grid(0.25, -0.5) == [0.25, -0.5]
    assert on_common_grid(5e-324, 0.0) == [0.0, 0.0]


def test_other_conventions_and_other_measures_are_refused() -> None:
    before = version(JUDGED, POOR, keep=True)
    with pytest.raises(InputError, match="cannot be compared: rel is '1' in one and '2' in the other"):
        compare_versions(before, version(JUDGED, POOR, keep=True, measures="nDCG@5", rel=2), "nDCG@5")
    with pytest.raises(UsageError, match="no measure in common: RR, P@3 before, and AP after"):
        compare_versions(before, version(JUDGED, POOR, keep=True, measures="AP"))
    with pytest.raises(UsageError, match="not evaluated on both sides: AP; common measures: RR, P@3"):
        compare_versions(before, version(JUDGED, POOR, keep=True), "AP")


def test_versions_without_a_common_query_differ_by_their_queries_alone() -> None:
    other = {f"new-{query}": grades for query, grades in JUDGED.items()}
    run = {f"new-{query}": docs for query, docs in GOOD.items()}
    found: VersionComparison = compare_versions(version(JUDGED, POOR, keep=True), version(other, run, keep=True))
    assert (found.comparison, found.parts[0].queries_shared) == (None, 0)
    assert (found.parts[0].joint, found.parts[0].queries) == (0.0, found.parts[0].total)


def test_queries_of_one_unit_count_as_one_observation() -> None:
    units = {query: n // 8 for n, query in enumerate(JUDGED)}
    grown = {query: {**grades, "d0": 2} for query, grades in JUDGED.items()}
    sides = []
    for labels, run in ((JUDGED, POOR), (grown, GOOD)):
        qrels = Qrels.from_dict(labels, columns={"unit": units})
        sides.append(ScoredVersion(evaluate(qrels, run, "RR"), qrels.sha256, qrels, Run.from_dict(run)))
    found = compare_versions(sides[0], sides[1])
    assert found.comparison is not None
    assert found.comparison.differences[0].interval.units == 5
    assert isinstance(found.parts[0], ChangeParts)
    assert np.isfinite(found.parts[0].total or np.nan)
