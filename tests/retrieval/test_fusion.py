"""Fusion against plain definitions, one query at a time."""

from __future__ import annotations

import math
import statistics
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankgauge.core import ranking
from rankgauge.core.arrays import Floats, group_of
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, RankgaugeWarning, UsageError
from rankgauge.io.formats.trec import write_run
from rankgauge.io.read import read_run
from rankgauge.retrieval.fusion import FUSION_METHODS, NORMALIZATIONS, UNWEIGHTED_METHODS, fuse, pool_runs

Scores = dict[str, float]
Values = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([-2.0, 0.0, 0.25, 1.0, 1.5, 3.0]), max_size=8)
RUNS = st.lists(st.dictionaries(st.sampled_from(["q1", "q2"]), Values, max_size=2), min_size=1, max_size=4)


def ranks(row: Scores) -> dict[str, int]:
    ordered = sorted(row, key=lambda doc: (row[doc], doc.encode()), reverse=True)
    return {doc: place for place, doc in enumerate(ordered, start=1)}


def normalize(row: Scores, normalization: str, candidates: int) -> tuple[Scores, float]:
    """The normalized scores, and that of an absent document; ``candidates`` is the number of documents of all runs."""
    if not row:
        return {}, 0.0
    low, high, place = min(row.values()), max(row.values()), ranks(row)
    if normalization == "min-max":
        return {d: 1.0 if high == low else (s - low) / (high - low) for d, s in row.items()}, 0.0
    if normalization == "z-score":
        # Equal scores: results have 1 and absent documents 0.
        column = [*row.values()] if high > low else [1.0] * len(row) + [0.0] * (candidates - len(row))
        mean, deviation = statistics.fmean(column), statistics.pstdev(column) or 1.0
        made = {d: ((s if high > low else 1.0) - mean) / deviation for d, s in row.items()}
        no_absent = candidates == len(row)
        return made, min(made.values()) if high > low else 0.0 if no_absent else -mean / deviation
    if normalization == "rank":
        return {d: 1 - (place[d] - 1) / len(row) for d in row}, 0.0
    return dict(row), min(0.0, low)


def defined(method: str, rows: list[Scores], normalization: str, weights: list[float], rrf_k: float) -> Scores:
    docs = {doc for row in rows for doc in row}
    normalized = [normalize(row, normalization, len(docs)) for row in rows]
    ranks_by_run = [ranks(row) for row in rows]
    out = {}
    for doc in docs:
        returned = [scores[doc] for scores, _ in normalized if doc in scores]
        answered = [scores.get(doc, absent) for scores, absent in normalized if scores]
        weighted = [w * scores.get(doc, absent) for w, (scores, absent) in zip(weights, normalized, strict=True)]
        weighted_absent = [w * absent for w, (_, absent) in zip(weights, normalized, strict=True)]
        weighted_ranks = [(w, run[doc]) for w, run in zip(weights, ranks_by_run, strict=True) if doc in run]
        values = {
            "rrf": sum(w / (rrf_k + r) for w, r in weighted_ranks),
            "weighted": sum(weighted) / sum(weights),
            "combsum": sum(weighted),
            "combmnz": (sum(weighted) - sum(weighted_absent)) * len(returned),
            "combmed": statistics.median(answered),
            "combmax": max(returned),
            "combmin": min(answered),
            "borda": sum(
                w * (len(docs) - run[doc] + 1 if doc in run else (len(docs) - len(run) + 1) / 2)
                for w, run in zip(weights, ranks_by_run, strict=True)
            ),
            "isr": len(weighted_ranks) * sum(w / r**2 for w, r in weighted_ranks),
        }
        out[doc] = values[method]
    return out


@pytest.mark.slow
@pytest.mark.parametrize("method", FUSION_METHODS)
@given(RUNS, st.sampled_from(list(NORMALIZATIONS)), st.sampled_from([10.0, 60.0]), st.booleans())
def test_a_fusion_is_what_its_definition_says(
    method: str, given_runs: list[dict[str, Scores]], normalization: str, rrf_k: float, has_weights: bool
) -> None:
    runs = [Run.from_dict(run, name=f"r{place}") for place, run in enumerate(given_runs)]
    weights = [1.0 + place for place in range(len(runs))] if has_weights and method not in UNWEIGHTED_METHODS else None
    fused = fuse(runs, method, normalization=normalization, weights=weights, rrf_k=rrf_k)
    queries = list(dict.fromkeys(query for run in given_runs for query in run))
    assert fused.queries.to_text() == queries
    for place, query in enumerate(queries):
        # A run without the query counts as an empty one.
        rows = [run.get(query, {}) for run in given_runs]
        expected = defined(method, rows, normalization, weights or [1.0] * len(runs), rrf_k)
        begin, end = fused.offsets[place], fused.offsets[place + 1]
        found = dict(zip(fused.docs.to_text()[begin:end], fused.scores[begin:end].tolist(), strict=True))
        assert found.keys() == expected.keys()
        for doc, score in found.items():
            assert math.isclose(score, expected[doc], rel_tol=1e-5, abs_tol=1e-9)
        assert list(found.values()) == sorted(found.values(), reverse=True)


# Timestamps, huge, tiny, denormal and negative scores, neighbors, and scores that only float32 merges.
HARD_SCORES = [
    *(1700000000.0, 1700000001.0, 1700000002.0, 1e308, -1e308, 1.7e308, 3.5e38, 1e-40, 1e-300, 2e-300, 5e-324, -5e-324),
    *(-1e-300, 0.0, -0.0, 1.0, 1 + 2**-52, 1 + 2**-23, 1 + 2**-24, 0.1, 0.2, 0.3, 0.30000000000000004, -1.0, -7.25),
]
HardValues = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(HARD_SCORES) | st.floats(-1e308, 1e308))
HARD_RUNS = st.lists(st.dictionaries(st.sampled_from(["q1", "q2"]), HardValues, max_size=2), min_size=1, max_size=3)
ANY_NORMALIZATION = st.sampled_from(list(NORMALIZATIONS))


def exact_scores(runs: list[Run], method: str, normalization: str) -> Floats:
    """The fused scores with all their digits."""
    with np.errstate(over="ignore", invalid="ignore"):
        return FUSION_METHODS[method](pool_runs(runs, normalization, None, 60).pool)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:some fused scores are too close")
@given(ANY_NORMALIZATION, st.data())
def test_a_result_is_never_ranked_below_a_document_that_the_same_run_did_not_return(
    normalization: str, data: st.DataObject
) -> None:
    """All other runs being equal: each returns both documents with one score, or neither."""
    result, absent = "z", "y"  # where both are tied, the result is first: at least equal in ranks
    values = st.sampled_from(HARD_SCORES) | st.sampled_from([-2.0, -1.0, 0.5, 3.0])
    rows: list[Scores] = data.draw(st.lists(st.dictionaries(st.sampled_from("abc"), values), min_size=1, max_size=3))
    for row in rows:
        if data.draw(st.booleans()):
            row[result] = row[absent] = data.draw(values)
    rows[0].pop(absent, None)
    rows[0][result] = data.draw(values)
    runs = [Run.from_dict({"q": row}, name=f"r{place}") for place, row in enumerate(rows)]
    assume(any(absent in row for row in rows))
    for method in FUSION_METHODS:
        if np.isfinite(exact_scores(runs, method, normalization)).all():  # otherwise refused
            fused = fuse(runs, method, normalization=normalization)
            found = fused.docs.to_text()
            assert found.index(result) < found.index(absent), method
            assert fused.scores[found.index(result)] >= fused.scores[found.index(absent)], method


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("score", [7.5, 0.0, -7.5])
@given(Values.filter(bool))
def test_a_single_result_gets_the_highest_value_that_the_normalization_can_give(
    normalization: str, score: float, other: Scores
) -> None:
    runs = [Run.from_dict({"q": {"single": score}}), Run.from_dict({"q": other})]
    pool = pool_runs(runs, normalization, None, 60).pool
    single = pool.score[-1, 0]  # "single" is the last id
    if normalization == "none":
        assert single == score
    else:
        highest = {"min-max": 1.0, "rank": 1.0, "z-score": math.sqrt(len(other))}[normalization]
        assert single == pytest.approx(highest, rel=1e-12)
        assert pool.score.max() <= highest * (1 + 1e-12)
    assert (pool.score[:-1, 0] <= single).all()


def places(offsets: Ints, queries: Ids, docs: Ids, scores: Floats, compat: ranking.Compat) -> dict[Any, Any]:
    """The rank of each document of each query, and the first and the last rank of its tie."""
    found = ranking.rank(offsets, docs, scores, compat)
    keys = zip(queries.take(group_of(offsets)), docs, strict=True)
    return dict(zip(keys, zip(found.rank, found.tie_first, found.tie_last, strict=True), strict=True))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:some fused scores are too close")
@given(normalization=ANY_NORMALIZATION, given_runs=HARD_RUNS, written_method=st.sampled_from(list(FUSION_METHODS)))
def test_a_written_fusion_has_the_order_and_the_ties_of_the_exact_scores(
    normalization: str,
    given_runs: list[dict[str, Scores]],
    written_method: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    runs = [Run.from_dict(run, name=f"r{place}") for place, run in enumerate(given_runs)]
    pooled = pool_runs(runs, normalization, None, 60)
    for method in FUSION_METHODS:
        exact = exact_scores(runs, method, normalization)
        if not np.isfinite(exact).all():  # refused
            continue
        expected = places(pooled.pool.offsets, pooled.queries, pooled.docs, exact, "trec_eval-10")
        fused = [fuse(runs, method, normalization=normalization)]
        if method == written_method and len(fused[0]):
            file = tmp_path_factory.getbasetemp() / "fused.run"
            write_run(fused[0], file)
            fused.append(read_run(file))
        for run, compat in product(fused, ranking.COMPATS):
            assert places(run.offsets, run.queries, run.docs, run.scores, compat) == expected, method


def test_timestamps_stay_in_order_and_a_warning_says_that_scores_were_raised() -> None:
    run = Run.from_dict({"q": {"a": 1700000002, "b": 1700000001, "c": 1700000001, "d": 1.5}})
    with pytest.warns(RankgaugeWarning, match="too close for float32"):
        fused = fuse([run], "combmax", normalization="none")
    with pytest.warns(RankgaugeWarning, match="too close for float32"):
        cut = fuse([run], "combmax", normalization="none", k=1)
    assert fused.docs.to_text() == ["a", "c", "b", "d"]
    assert fused.scores.tolist() == [1700000130, 1700000000, 1700000000, 1.5]  # 1700000128 in float32
    assert cut.scores.tolist() == [1700000130]  # the scores do not depend on the cut


def test_scores_have_six_digits_if_these_suffice_and_otherwise_nine() -> None:
    run = Run.from_dict({"few": {"a": 1 / 3, "b": 1 / 7}, "more": {"a": 1 / 3, "b": 1 / 3 - 1e-7}})
    assert fuse([run], "combmax", normalization="none").scores.tolist() == [
        0.333333,
        0.142857,
        0.333333343,
        0.333333224,
    ]


def test_the_same_scores_in_another_order_of_runs_are_tied() -> None:
    values = 0.1, 0.2, 0.3  # added from left to right, 0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1
    runs = [Run.from_dict({"q": {"a": left, "b": right}}) for left, right in zip(values, values[::-1], strict=True)]
    assert len(set(fuse(runs, "combsum", normalization="none").scores.tolist())) == 1


def test_equal_scores_have_one_z_score_even_if_their_mean_is_rounded() -> None:
    scores = dict.fromkeys("abc", 0.1)  # the sum of three, divided by three, is not 0.1
    pool = pool_runs([Run.from_dict({"q": scores}), Run.from_dict({"q": {"d": 1.0}})], "z-score", None, 60).pool
    assert pool.score[:, 0].tolist() == pytest.approx([3**-0.5] * 3 + [-(3**0.5)])


@pytest.mark.parametrize("size", [1.7e308, 1.0, 5e-324])
@pytest.mark.parametrize("normalization", ["min-max", "z-score"])
def test_a_normalization_does_not_depend_on_the_size_of_scores(normalization: str, size: float) -> None:
    pool = pool_runs([Run.from_dict({"q": {"a": size, "b": -size}})], normalization, None, 60).pool
    assert pool.score[:, 0].tolist() == ([1.0, 0.0] if normalization == "min-max" else [1.0, -1.0])


def test_sums_too_large_for_a_number_are_refused() -> None:
    run = Run.from_dict({"q": {"a": 1e308, "b": 1.0}})
    with pytest.raises(InputError, match=r"combsum of the scores of document 'a' for query 'q' is too large") as error:
        fuse([run, run], "combsum", normalization="none")
    assert error.value.hint == "normalize the scores: min-max, z-score or rank"


def test_reciprocal_rank_fusion_by_hand() -> None:
    one = Run.from_lists({"q": ["a", "b", "c"]})
    other = Run.from_lists({"q": ["c", "a"]})
    fused = fuse([one, other], k=2)
    assert fused.docs.to_text() == ["a", "c"]
    assert fused.scores.tolist() == [0.0325225, 0.0322665]


def test_the_order_of_the_runs_does_not_matter_if_weights_are_equal() -> None:
    one, other = Run.from_dict({"q": {"a": 3, "b": 1}}), Run.from_dict({"q": {"b": 9, "c": 4}})
    for method in FUSION_METHODS:
        there, back = fuse([one, other], method), fuse([other, one], method)
        assert list(there.docs) == list(back.docs)


def test_a_fusion_of_one_run_keeps_its_order() -> None:
    run = Run.from_dict({"q": {"a": 3, "b": 1, "c": 1}})
    for method in FUSION_METHODS:
        assert fuse([run], method).docs.to_text() == ["a", "c", "b"]


QUERY_STATES = ("answered", "empty", "failed", "missing")


def run_with_query(state: str, name: str) -> Run:
    """A run in which query q is answered, empty, failed or missing, beside another query."""
    rows: dict[str, dict[str, float]] = {"another": {"x": 1.0}}
    if state != "missing":
        rows["q"] = {f"doc-{name}": 1.0} if state == "answered" else {}
    return Run.from_dict(rows, name=name, failed=["q"] if state == "failed" else [])


@pytest.mark.parametrize("states", list(product(QUERY_STATES, repeat=3)), ids=" ".join)
def test_a_query_has_failed_only_if_it_failed_in_every_run_that_has_it(states: tuple[str, ...]) -> None:
    runs = [run_with_query(state, f"r{number}") for number, state in enumerate(states)]
    present = set(states) - {"missing"}
    for method in FUSION_METHODS:
        fused = fuse(runs, method)
        status = dict(zip(fused.queries.to_text(), fused.status.tolist(), strict=True))
        if not present:
            assert "q" not in status
        elif "answered" in present:
            assert status["q"] == Status.ANSWERED
            assert len(fused) == states.count("answered") + 1
        else:
            assert status["q"] == (Status.FAILED if present == {"failed"} else Status.EMPTY)
        assert status["another"] == Status.ANSWERED


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "rff"}, "did you mean rrf"),
        ({"normalization": "minmax"}, "did you mean min-max"),
        ({"weights": [1.0]}, "one weight for each of 2 runs, found 1"),
        ({"weights": [1.0, -1.0]}, "at least 0"),
        ({"weights": [0.0, 0.0]}, "not all 0"),
        ({"method": "combmax", "weights": [1.0, 1.0]}, "takes no weights"),
        ({"weights": [1e308, 1e308]}, "finite"),
        ({"rrf_k": 0.0}, "above 0"),
        ({"rrf_k": math.inf}, "rrf_k: expected a number above 0"),
    ],
)
def test_a_wrong_call_is_a_usage_error(arguments: dict[str, object], message: str) -> None:
    run = Run.from_dict({"q": {"a": 1}})
    with pytest.raises(UsageError, match=message):
        fuse([run, run], **arguments)  # type: ignore[arg-type]  # refused at run time
    with pytest.raises(UsageError, match="no runs"):
        fuse([])


def test_infinite_scores_cannot_be_fused() -> None:
    with pytest.raises(InputError, match="infinite scores"):
        fuse([Run.from_dict({"q": {"a": math.inf}})])
