"""Differences within groups of queries."""

from __future__ import annotations

import pytest
from scipy import stats

from rankgauge import Statistics, UsageError, compare, evaluate
from tests.comparison.collection import GOOD, POOR, QRELS, QUERIES
from tests.render.formats.texts import text_of_comparison


def test_groups_of_queries_are_corrected_for_their_number() -> None:
    found = compare(QRELS, {"poor": POOR, "good": GOOD}, "AP", by=["category"])
    assert [(row.label, row.difference.n) for row in found.groups] == [("even", 20), ("odd", 20)]
    for row in found.groups:
        assert row.difference.p_corrected is not None
        assert row.difference.p is not None
        assert row.difference.p_corrected >= row.difference.p
    whole, by_category = text_of_comparison(found).split("by category", 1)  # one comparison, and two in groups
    assert "max-t" not in whole
    assert "simultaneous" not in whole
    assert "p by category: max-t over 2 comparisons" in by_category
    assert "intervals by category are simultaneous" in by_category
    separately = Statistics(test="randomization")
    found = compare(QRELS, {"poor": POOR, "good": GOOD}, "AP", by=["category"], statistics=separately)
    p = [row.difference.p or 0.0 for row in found.groups]
    assert sorted(row.difference.p_corrected or 0.0 for row in found.groups) == [2 * min(p), max(2 * min(p), max(p))]
    by_category = text_of_comparison(found).split("by category", 1)[1]
    assert "p by category: Holm over 2 comparisons" in by_category
    assert "intervals by category are unadjusted" in by_category
    with pytest.raises(UsageError, match="no column 'categry'"):
        compare(QRELS, {"poor": POOR, "good": GOOD}, "AP", by=["categry"])


def test_scores_by_several_columns_together() -> None:
    qrels = QRELS.with_columns({"length": ["short" if n < 20 else "long" for n in range(40)]})
    found = evaluate(qrels, GOOD, "AP").by("category", "length")
    assert [(one.label, one.n) for one in found] == [
        ("even / long", 10), ("even / short", 10), ("odd / long", 10), ("odd / short", 10),
    ]  # fmt: skip
    one = found[0]
    assert one.median is not None
    assert one.interval.method == "bootstrap-t"
    values = [value for n, value in enumerate(evaluate(qrels, GOOD, "AP").values[:, 0]) if n % 2 == 0 and n >= 20]
    wanted = stats.ttest_1samp(values, 0.0).confidence_interval()  # a similar interval of the same ten values
    assert (one.interval.low, one.interval.high) == pytest.approx(tuple(wanted), abs=0.03)


def test_a_group_is_opposite_only_if_its_own_difference_is_significant() -> None:
    part_of = ["lost"] * 12 + ["mixed"] * 4 + ["won"] * 24
    base_of, turned_of = [GOOD] * 16 + [POOR] * 24, [POOR] * 14 + [GOOD] * 26
    runs = {
        name: {query: run[query] for query, run in zip(QUERIES, parts, strict=True)}
        for name, parts in (("base", base_of), ("turned", turned_of))
    }
    found = compare(QRELS.with_columns({"part": part_of}), runs, "AP", by=["part"])
    assert (found["turned", "AP"].difference or 0.0) > 0
    rows = {row.label: row for row in found.groups}
    for label, significant in (("lost", True), ("mixed", False)):
        assert (rows[label].difference.difference or 0.0) < 0
        assert rows[label].difference.is_significant(0.05) == significant
    assert {label: row.opposite for label, row in rows.items()} == {"lost": True, "mixed": False, "won": False}
    lines = text_of_comparison(found).splitlines()
    assert "significant, and opposite to the overall direction: lost on AP" in lines
