from __future__ import annotations

import random

import pytest

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import UsageError
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.retrieval.fusion.fusion import fuse
from rankgauge.retrieval.fusion.grid import grid, simplex
from rankgauge.retrieval.fusion.split import Split, is_dev, split
from rankgauge.retrieval.fusion.tune import tune

QUERIES = [f"q{number}" for number in range(60)]
DOCS = [f"d{number}" for number in range(30)]


def made(noise: float, seed: int, name: str) -> Run:
    """A run that finds d0 first, up to noise."""
    chance = random.Random(seed)
    rows = {q: {d: -0.1 * at + noise * chance.gauss(0, 1) for at, d in enumerate(DOCS)} for q in QUERIES}
    return Run.from_dict(rows, name=name)


QRELS = Qrels.from_dict({query: {"d0": 2, "d1": 1} for query in QUERIES})
GOOD, BAD = made(0.1, 1, "good"), made(5.0, 2, "bad")


def test_the_split_is_by_a_hash_of_the_id_and_never_changes() -> None:
    assert [query for query in QUERIES[:8] if is_dev(query)] == ["q1", "q4", "q6", "q7"]
    sides = split(QUERIES)
    assert set(sides.dev) | set(sides.test) == set(QUERIES)
    assert 15 <= len(sides.dev) <= 45
    assert split(QUERIES[:10]).dev == tuple(query for query in QUERIES[:10] if query in sides.dev)


def test_a_query_on_both_sides_is_refused() -> None:
    with pytest.raises(UsageError, match="2 queries are for tuning and for testing, 'q1' for one"):
        split(QUERIES, dev=["q0", "q1", "q2"], test=["q1", "q2", "q3"])
    with pytest.raises(UsageError, match="on both sides, found 2 and 0"):
        Split(("a", "b"), ())
    with pytest.raises(UsageError, match="query 'x', to tune on, has no judgments"):
        split(QUERIES, dev=["x"])


def test_with_one_side_given_the_other_is_the_rest() -> None:
    assert split(["a", "b", "c"], dev=["b"]) == Split(("b",), ("a", "c"))
    assert split(["a", "b", "c"], test=["b"]) == Split(("a", "c"), ("b",))


def test_weights_in_steps_add_up_to_one() -> None:
    assert sorted(simplex(2, 2)) == [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)]
    assert len(list(simplex(3, 10))) == 66
    assert len(grid(2, ["rrf", "weighted"], 10)) == 4 + 10 + 33
    with pytest.raises(UsageError, match="anything to tune"):
        grid(2, ["borda"], 10)
    with pytest.raises(UsageError, match="ways to weigh 6 runs"):
        grid(6, ["weighted"], 50)


def test_the_best_on_the_development_queries_is_taken_and_measured_on_the_test_queries() -> None:
    found = tune(QRELS, [BAD, GOOD], measure="nDCG@3")
    assert found.choice.weights[1] > found.choice.weights[0]
    lines = {line.name: line for line in found.lines}
    assert list(lines) == ["bad", "good", "rrf", "tuned"]
    best = max(
        evaluate(
            {q: {"d0": 2, "d1": 1} for q in found.split.dev},
            fuse([BAD, GOOD], c.method, weights=c.weights, normalise=c.normalise, rrf_k=c.rrf_k),
            "nDCG@3",
        )["nDCG@3"]
        or 0
        for c in grid(2, ["rrf", "weighted"], 10)
    )
    assert lines["tuned"].dev == best
    assert set(found.run.queries.to_text()) == set(found.split.test)
    assert (
        evaluate({q: {"d0": 2, "d1": 1} for q in found.split.test}, found.run, "nDCG@3")["nDCG@3"]
        == lines["tuned"].test
    )


def test_what_is_chosen_does_not_depend_on_the_test_queries() -> None:
    whole = tune(QRELS, [BAD, GOOD])
    spoilt = Qrels.from_dict(
        {query: {"d0": 2, "d1": 1} if query in whole.split.dev else {"d29": 1} for query in QUERIES}
    )
    assert tune(spoilt, [BAD, GOOD]).choice == whole.choice


def test_of_equals_the_plainest_is_taken() -> None:
    found = tune(QRELS, [GOOD, GOOD])
    assert str(found.choice) == "--method rrf --weights 1,1 --rrf-k 60"
    with pytest.raises(UsageError, match="two runs or more"):
        tune(QRELS, [GOOD])
