"""Fusion against plain definitions, one query at a time."""

from __future__ import annotations

import math
import statistics
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, UsageError
from rankgauge.retrieval.fusion.fusion import fuse
from rankgauge.retrieval.fusion.methods import FUSION_METHODS, UNWEIGHTED_METHODS
from rankgauge.retrieval.fusion.normalization import NORMALIZATIONS

Scores = dict[str, float]
Values = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([-2.0, 0.0, 0.25, 1.0, 1.5, 3.0]), max_size=8)
RUNS = st.lists(st.dictionaries(st.sampled_from(["q1", "q2"]), Values, max_size=2), min_size=1, max_size=4)


def ranks(row: Scores) -> dict[str, int]:
    ordered = sorted(row, key=lambda doc: (row[doc], doc.encode()), reverse=True)
    return {doc: place for place, doc in enumerate(ordered, start=1)}


def normalize(row: Scores, normalization: str) -> tuple[Scores, float]:
    if not row:
        return {}, 0.0
    low, high, place = min(row.values()), max(row.values()), ranks(row)
    if normalization == "min-max":
        return {d: 1.0 if high == low else (s - low) / (high - low) for d, s in row.items()}, 0.0
    if normalization == "z-score":
        mean, deviation = statistics.fmean(row.values()), statistics.pstdev(row.values())
        made = {d: (s - mean) / deviation if deviation else 0.0 for d, s in row.items()}
        return made, min(made.values())
    if normalization == "rank":
        return {d: 1 - (place[d] - 1) / len(row) for d in row}, 0.0
    return dict(row), 0.0


def defined(method: str, rows: list[Scores], normalization: str, weights: list[float], rrf_k: float) -> Scores:
    docs = {doc for row in rows for doc in row}
    normalized = [normalize(row, normalization) for row in rows]
    ranks_by_run = [ranks(row) for row in rows]
    out = {}
    for doc in docs:
        returned = [scores[doc] for scores, _ in normalized if doc in scores]
        weighted = [w * scores.get(doc, absent) for w, (scores, absent) in zip(weights, normalized, strict=True)]
        weighted_returned = [
            w * scores[doc] for w, (scores, _) in zip(weights, normalized, strict=True) if doc in scores
        ]
        weighted_ranks = [(w, run[doc]) for w, run in zip(weights, ranks_by_run, strict=True) if doc in run]
        values = {
            "rrf": sum(w / (rrf_k + r) for w, r in weighted_ranks),
            "weighted": sum(weighted) / sum(weights),
            "combsum": sum(weighted),
            "combmnz": sum(weighted) * len(returned),
            "combanz": sum(weighted_returned) / len(returned),
            "combmed": statistics.median(returned),
            "combmax": max(returned),
            "combmin": min(returned),
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
        ({"rrf_k": 0.0}, "above 0"),
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
