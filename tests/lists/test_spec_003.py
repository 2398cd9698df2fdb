"""The parts of SPEC-003 outside its test suite: its docstring, its example of reports, its decision on duplicates."""

from __future__ import annotations

import math
import statistics
import time
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import InputError, IRMetrics, MetricsCalculator, ReportAggregator
from rankgauge.errors import InputTypeError


def test_the_example_of_the_docstring() -> None:
    calc = MetricsCalculator()
    metrics = calc.calculate_all(retrieved=["mod1", "mod2", "mod3", "mod4", "mod5"], expected=["mod1", "mod3", "mod6"])
    assert metrics.precision_at_3 == pytest.approx(0.667, abs=5e-4)
    assert metrics.mrr == 1.0


def test_every_field_is_filled() -> None:
    metrics = MetricsCalculator.calculate_all(list("ABCDEFGHIJ"), ["A", "C", "F", "K"])
    assert metrics == IRMetrics(2 / 3, 2 / 5, 3 / 4, 1.0, metrics.ndcg_at_10, 2, 2, 1)
    best = sum(1 / math.log2(rank + 1) for rank in (1, 2, 3, 4))
    assert metrics.ndcg_at_10 == pytest.approx(sum(1 / math.log2(rank + 1) for rank in (1, 3, 6)) / best)


def test_each_field_is_what_its_method_gives() -> None:
    retrieved, expected = ["x", "A", "A", "B"], ["A", "B", "C"]
    metrics = MetricsCalculator.calculate_all(retrieved, expected)
    assert metrics.precision_at_3 == MetricsCalculator.precision_at_k(retrieved, expected, k=3)
    assert metrics.recall_at_10 == MetricsCalculator.recall_at_k(retrieved, expected, k=10)
    assert metrics.ndcg_at_10 == MetricsCalculator.ndcg_at_k(retrieved, expected, k=10)
    assert metrics.mrr == MetricsCalculator.mrr(retrieved, expected)
    assert metrics.hits_in_top_5 == MetricsCalculator.count_hits(retrieved[:5], expected)
    assert metrics.first_relevant_position == MetricsCalculator.first_relevant_position(retrieved, expected)


def test_duplicates_count_for_precision_and_never_lift_recall_above_1() -> None:
    assert MetricsCalculator.precision_at_k(["A", "A", "B"], ["A"], k=3) == 2 / 3
    assert MetricsCalculator.recall_at_k(["A", "A", "B"], ["A"], k=3) == 1.0
    assert MetricsCalculator.count_hits(["A", "A", "B"], ["A"]) == 2


def test_expected_ids_are_a_set() -> None:
    assert MetricsCalculator.recall_at_k(["A", "B"], ["A", "A"], k=2) == 1.0
    assert MetricsCalculator.calculate_all(["A"], ["A", "A"]) == MetricsCalculator.calculate_all(["A"], ["A"])


def test_a_query_takes_less_than_a_millisecond() -> None:
    retrieved, expected = [f"d{number}" for number in range(10)], ["d0", "d3", "x"]
    times = []
    for _ in range(50):
        begin = time.perf_counter()
        MetricsCalculator.calculate_all(retrieved, expected)
        times.append(time.perf_counter() - begin)
    assert min(times) < 1e-3


RESULTS = [
    IRMetrics(1.0, 0.6, 0.5, 1.0, 0.9),
    IRMetrics(0.0, 0.2, 0.1, 0.25, 0.3),
    IRMetrics(2 / 3, 0.4, 0.3, 0.5, 0.6),
]
DETAILED = [
    {"category": "auth", "difficulty": "easy", "metrics": {"precision@3": 1.0, "precision@5": 0.6, "mrr": 1.0}},
    {"category": "auth", "difficulty": "hard", "metrics": {"precision@3": 0.0, "precision@5": 0.2, "mrr": 0.25}},
    {"category": "data", "difficulty": "hard", "metrics": {"precision@3": 0.5, "precision@5": 0.4, "mrr": 0.5}},
]


def test_means_and_medians_of_metrics() -> None:
    assert ReportAggregator.aggregate_metrics(RESULTS) == {
        "precision@3": pytest.approx(5 / 9),
        "precision@5": pytest.approx(0.4),
        "recall@10": pytest.approx(0.3),
        "mrr": pytest.approx(1.75 / 3),
        "ndcg@10": pytest.approx(0.6),
        "median_precision@3": 2 / 3,
        "median_mrr": 0.5,
    }


FLOATS = st.floats(0, 1) | st.floats(-1e6, 1e6) | st.sampled_from([1 / 3, 2 / 3, 0.1, 0.2, 0.4, 1e-320])


@given(st.lists(st.tuples(FLOATS, FLOATS, FLOATS, FLOATS, st.none() | FLOATS), min_size=1, max_size=40))
def test_means_are_exact_and_rounded_once(rows: list[tuple[float, float, float, float, float | None]]) -> None:
    found = ReportAggregator.aggregate_metrics([IRMetrics(*row) for row in rows])
    for place, name in enumerate(["precision@3", "precision@5", "recall@10", "mrr", "ndcg@10"]):
        total, known = Fraction(0), [value for row in rows if (value := row[place]) is not None]
        for value in known:
            total += Fraction(value)
        assert found[name] == (float(total / len(known)) if known else None)
        assert not known or found[name] == statistics.mean(known)
        if known and name != "ndcg@10":
            detailed = [{"category": "a", "difficulty": "b", "metrics": {name: value}} for value in known]
            assert ReportAggregator.group_by_category(detailed, name) == {"a": found[name]}
    names = ["precision@3", "precision@5", "mrr"]
    detailed = [{"difficulty": "b", "metrics": dict(zip(names, (row[0], row[1], row[3]), strict=True))} for row in rows]
    means = {name: found[name] for name in names}
    assert ReportAggregator.group_by_difficulty(detailed) == {"b": {"count": len(rows), **means}}


def test_no_results_have_no_mean_and_no_median() -> None:
    assert set(ReportAggregator.aggregate_metrics([]).values()) == {None}
    assert ReportAggregator.group_by_category([], "mrr") == {}
    assert ReportAggregator.group_by_difficulty([]) == {}


def test_a_field_that_was_left_out_is_left_out_of_its_mean() -> None:
    without = IRMetrics(1.0, 1.0, 1.0, 1.0)
    assert ReportAggregator.aggregate_metrics([without])["ndcg@10"] is None
    assert ReportAggregator.aggregate_metrics([without, RESULTS[0]])["ndcg@10"] == 0.9


def test_groups_by_category_and_by_difficulty() -> None:
    assert ReportAggregator.group_by_category(DETAILED, "mrr") == {"auth": 0.625, "data": 0.5}
    assert ReportAggregator.group_by_difficulty(DETAILED) == {
        "easy": {"count": 1, "precision@3": 1.0, "precision@5": 0.6, "mrr": 1.0},
        "hard": {"count": 2, "precision@3": 0.25, "precision@5": pytest.approx(0.3), "mrr": 0.375},
    }


def test_what_calculate_all_returns_is_grouped_as_it_is() -> None:
    rankings = [(["A", "B", "C"], ["A", "C"]), (["x", "B"], ["B"]), (["x"], ["y"])]
    metrics = [MetricsCalculator.calculate_all(retrieved, expected) for retrieved, expected in rankings]
    groups = [("auth", "easy"), ("auth", "hard"), ("data", "hard")]
    detailed = [
        {"category": category, "difficulty": difficulty, "metrics": row}
        for (category, difficulty), row in zip(groups, metrics, strict=True)
    ]
    as_dicts = [{**result, "metrics": row.to_dict()} for result, row in zip(detailed, metrics, strict=True)]
    for results in (detailed, as_dicts, iter(detailed), [detailed[0], *as_dicts[1:]]):
        assert ReportAggregator.group_by_category(results, "mrr") == {"auth": 0.75, "data": 0.0}
    for results in (detailed, as_dicts):
        assert ReportAggregator.group_by_category(results, "hits_in_top_3") == {"auth": 1.5, "data": 0.0}
        assert ReportAggregator.group_by_category(results, "first_relevant_position") == {"auth": 1.5, "data": None}
        assert ReportAggregator.group_by_difficulty(results) == {
            "easy": {"count": 1, "precision@3": 2 / 3, "precision@5": 2 / 5, "mrr": 1.0},
            "hard": {"count": 2, "precision@3": 1 / 6, "precision@5": 1 / 10, "mrr": 0.25},
        }


def test_metrics_as_a_dict_have_the_names_of_the_report() -> None:
    metrics = IRMetrics(1.0, 0.6, 0.5, 0.25, None, 3, 4, 2)
    assert metrics.to_dict() == {
        "precision@3": 1.0,
        "precision@5": 0.6,
        "recall@10": 0.5,
        "mrr": 0.25,
        "ndcg@10": None,
        "hits_in_top_3": 3,
        "hits_in_top_5": 4,
        "first_relevant_position": 2,
    }
    report = ReportAggregator.aggregate_metrics([metrics])
    assert set(metrics.to_dict()) >= {name for name in report if not name.startswith("median_")}


GOOD = {"category": "a", "difficulty": "b", "metrics": {"precision@3": 1, "precision@5": 0, "mrr": 1}}


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (None, "results must be a list with one entry per query, found None"),
        (5, "results must be a list with one entry per query, found int"),
        ("ab", "results must be a list with one entry per query, found str"),
        (GOOD, "results must be a list with one entry per query, found dict"),
        (RESULTS[0], "results must be a list with one entry per query, found IRMetrics"),
        ([GOOD, RESULTS[0]], r"result 2 must be a mapping with '\w+' and 'metrics', found IRMetrics\nhint: write {\""),
        ([GOOD, None], r"result 2 must be a mapping with '\w+' and 'metrics', found None"),
        ([GOOD, {**GOOD, "metrics": None}], "the metrics of result 2 must be IRMetrics or a mapping, found None"),
        ([GOOD, {**GOOD, "metrics": [1]}], "the metrics of result 2 must be IRMetrics or a mapping, found list"),
        ([GOOD, {**GOOD, "category": [], "difficulty": []}], r"the \w+ of result 2 must be one value, found list"),
        (
            [GOOD, {**GOOD, "metrics": {"precision@3": 1, "precision@5": 0, "mrr": "1"}}],
            "'mrr' of result 2 must be a n",
        ),
        (
            [GOOD, {**GOOD, "metrics": {"precision@3": 1, "precision@5": 0, "mrr": [1]}}],
            "'mrr' of result 2 must be a n",
        ),
    ],
)
def test_groups_of_what_is_no_result_are_errors_that_say_so(results: Any, message: str) -> None:
    with pytest.raises(InputTypeError, match=f"^{message}"):
        ReportAggregator.group_by_category(results, "mrr")
    with pytest.raises(InputTypeError, match=f"^{message}"):
        ReportAggregator.group_by_difficulty(results)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (None, "results must be a list with one entry per query, found None"),
        (RESULTS[0], "results must be a list with one entry per query, found IRMetrics"),
        ([RESULTS[0], {"mrr": 1}], r"result 2 must be IRMetrics, found dict\nhint: MetricsCalculator\.calculate_all"),
        ([RESULTS[0], IRMetrics("1", 1, 1, 1)], "'precision@3' of result 2 must be a number, found str: ''1''"),  # type: ignore[arg-type]  # refused at run time
    ],
)
def test_means_of_what_are_no_metrics_are_errors_that_say_so(results: Any, message: str) -> None:
    with pytest.raises(InputTypeError, match=f"^{message}"):
        ReportAggregator.aggregate_metrics(results)


@pytest.mark.parametrize("field", [None, 3, ["mrr"]])
def test_the_field_of_a_category_must_be_a_name(field: Any) -> None:
    with pytest.raises(InputTypeError, match=r"^metric_field must be the name of a metric, found "):
        ReportAggregator.group_by_category(DETAILED, field)


def test_hints_name_the_side_that_is_misspelled() -> None:
    metrics = RESULTS[0].to_dict()
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"category": "a", "metrics": metrics}, "precision_at_3", "did you mean precision@3?"),
        ({"category": "a", "metrics": metrics}, "precison@3", "did you mean precision@3?"),
        ({"category": "a", "metrics": {"faithfulness": 1}}, "faithfullness", "did you mean faithfulness?"),
        (
            {"category": "a", "metrics": {"precision_at_3": 1}},
            "precision@3",
            "write 'precision@3' instead of 'precision_at_3'",
        ),
        ({"Category": "a", "metrics": metrics}, "mrr", "write 'category' instead of 'Category'"),
        ({"category": "a", "metric": metrics}, "mrr", "write 'metrics' instead of 'metric'"),
    ]
    for result, field, hint in cases:
        with pytest.raises(InputError) as caught:
            ReportAggregator.group_by_category([result], field)
        assert caught.value.hint == hint
    for result in ({"category": "a", "metrics": {"precision@5": 1}}, {"difficulty": "a", "metrics": {"mrr": 1}}):
        with pytest.raises(InputError) as caught:
            ReportAggregator.group_by_category([result], "precision@3")
        assert caught.value.hint is None


def test_a_missing_key_of_a_detailed_result_is_an_error() -> None:
    with pytest.raises(InputError, match="result 1 has no 'category'; it has metrics"):
        ReportAggregator.group_by_category([{"metrics": {}}], "mrr")
    with pytest.raises(
        InputError, match=r"the metrics of result 2 have no 'precison@3'(?s:.)*did you mean precision@3"
    ):
        ReportAggregator.group_by_category([{**DETAILED[0], "metrics": {"precison@3": 1}}, DETAILED[0]], "precison@3")
