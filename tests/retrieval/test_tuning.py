from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence

import pytest

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import UsageError, held_warnings
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.evaluation.query_split import QuerySplit, is_dev, split_queries
from rankgauge.retrieval.fusion import fuse
from rankgauge.retrieval.tuning import fusion_choices, tune, weight_vectors

QUERIES = [f"q{number}" for number in range(60)]
DOCS = [f"d{number}" for number in range(30)]


def made(noise: float, seed: int, name: str) -> Run:
    """A run that finds d0 first, up to noise."""
    chance = random.Random(seed)
    rows = {q: {d: -0.1 * at + noise * chance.gauss(0, 1) for at, d in enumerate(DOCS)} for q in QUERIES}
    return Run.from_dict(rows, name=name)


QRELS = Qrels.from_dict({query: {"d0": 2, "d1": 1} for query in QUERIES})
GOOD, BAD = made(0.1, 1, "good"), made(5.0, 2, "bad")


def judged(queries: Sequence[str], units: Mapping[str, object] | None = None) -> Qrels:
    """Judgments of these queries, of which some belong to units."""
    return Qrels.from_dict({query: {"d0": 1} for query in queries}, columns=units and {"unit": units})


def test_the_split_is_by_a_hash_of_the_id_and_never_changes() -> None:
    assert [query for query in QUERIES[:8] if is_dev(query)] == ["q1", "q4", "q6", "q7"]
    sides = split_queries(QRELS)
    assert set(sides.dev) | set(sides.test) == set(QUERIES)
    assert 15 <= len(sides.dev) <= 45
    assert split_queries(judged(QUERIES[:10])).dev == tuple(query for query in QUERIES[:10] if query in sides.dev)


def test_a_query_on_both_sides_is_refused() -> None:
    with pytest.raises(UsageError, match="2 queries for both tuning and testing, such as 'q1'"):
        split_queries(QRELS, dev=["q0", "q1", "q2"], test=["q1", "q2", "q3"])
    with pytest.raises(UsageError, match="on both sides, found 2 and 0"):
        QuerySplit(("a", "b"), ())
    with pytest.raises(UsageError, match="query 'x', to tune on, has no judgments"):
        split_queries(QRELS, dev=["x"])


def test_with_one_side_given_the_other_is_the_rest() -> None:
    assert split_queries(judged(["a", "b", "c"]), dev=["b"]) == QuerySplit(("b",), ("a", "c"))
    assert split_queries(judged(["a", "b", "c"]), test=["b"]) == QuerySplit(("a", "c"), ("b",))


def test_weights_in_steps_add_up_to_one() -> None:
    assert sorted(weight_vectors(2, 2)) == [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)]
    assert len(list(weight_vectors(3, 10))) == 66
    assert len(fusion_choices(2, ["rrf", "weighted"], 10)) == 4 + 10 + 33
    with pytest.raises(UsageError, match="methods: expected one of rrf, weighted, found 'borda'"):
        fusion_choices(2, ["borda"], 10)
    with pytest.raises(UsageError, match="ways to weight 6 runs"):
        fusion_choices(6, ["weighted"], 50)


def test_the_best_on_the_development_queries_is_taken_and_measured_on_the_test_queries() -> None:
    result = tune(QRELS, [BAD, GOOD], measure="nDCG@3")
    assert result.choice.weights[1] > result.choice.weights[0]
    scores = {score.name: score for score in result.scores}
    assert list(scores) == ["bad", "good", "rrf", "tuned"]
    best = max(
        evaluate(
            {q: {"d0": 2, "d1": 1} for q in result.split.dev},
            fuse([BAD, GOOD], c.method, weights=c.weights, normalization=c.normalization, rrf_k=c.rrf_k),
            "nDCG@3",
        )["nDCG@3"]
        or 0
        for c in fusion_choices(2, ["rrf", "weighted"], 10)
    )
    assert scores["tuned"].dev == best
    assert set(result.run.queries.to_text()) == set(result.split.test)
    assert (
        evaluate({q: {"d0": 2, "d1": 1} for q in result.split.test}, result.run, "nDCG@3")["nDCG@3"]
        == scores["tuned"].test
    )


@pytest.mark.slow
@pytest.mark.parametrize(("measure", "better"), [("nDCG@3", max), ("FirstRel", min), ("RBPResidual", min)])
def test_the_best_is_the_lowest_if_lower_is_better(measure: str, better: Callable[[Iterable[float]], float]) -> None:
    result = tune(QRELS, [BAD, GOOD], measure=measure)
    values = []
    for c in fusion_choices(2, ["rrf", "weighted"], 10):
        fused = fuse([BAD, GOOD], c.method, weights=c.weights, normalization=c.normalization, rrf_k=c.rrf_k)
        value = evaluate({query: {"d0": 2, "d1": 1} for query in result.split.dev}, fused, measure)[measure]
        assert value is not None
        values.append(value)
    tuned = {score.name: score.dev for score in result.scores}["tuned"]
    assert tuned == better(values)
    assert min(values) < max(values)


def test_what_is_chosen_does_not_depend_on_the_test_queries() -> None:
    result = tune(QRELS, [BAD, GOOD])
    changed = Qrels.from_dict(
        {query: {"d0": 2, "d1": 1} if query in result.split.dev else {"d29": 1} for query in QUERIES}
    )
    assert tune(changed, [BAD, GOOD]).choice == result.choice


@pytest.mark.slow
def test_the_winner_of_pure_chance_is_reported_by_its_held_out_value() -> None:
    """Both runs are noise: the best of 47 choices looks good where it was chosen, and only there."""
    gains = []
    for seed in range(12):
        runs = [made(1e6, 2 * seed + 1, "one"), made(1e6, 2 * seed + 2, "other")]
        result = tune(QRELS, runs, measure="nDCG@3")
        tuned, first = result.scores[-1], result.scores[0]
        assert result.value == result.to_dict()["value"] == tuned.test
        assert None not in (tuned.dev, tuned.test, first.dev, first.test)
        gains.append((tuned.dev - first.dev, tuned.test - first.test))  # type: ignore[operator]  # checked above
    on_dev, held_out = (sum(column) / len(gains) for column in zip(*gains, strict=True))
    assert on_dev > 0.01
    assert held_out < on_dev / 2


def test_units_are_never_divided() -> None:
    units = {query: f"u{number // 3}" for number, query in enumerate(QUERIES)}
    sides = split_queries(judged(QUERIES, units))
    assert not {units[query] for query in sides.dev} & {units[query] for query in sides.test}
    assert set(sides.dev) | set(sides.test) == set(QUERIES)
    alone = {query: units[query] for query in QUERIES[:6]}
    assert set(split_queries(judged(QUERIES, alone)).dev) - set(alone) == set(filter(is_dev, QUERIES[6:]))
    labels: dict[str, object] = {**units, "q0": None}
    tuned = tune(judged(QUERIES, labels), [BAD, GOOD], methods=["rrf"]).split
    assert set(tuned.dev) - {"q0"} == set(sides.dev) - {"q0"}
    assert ("q0" in tuned.dev) == is_dev("q0")
    with pytest.raises(UsageError, match="1 unit for both tuning and testing, such as 'u0'"):
        split_queries(judged(QUERIES, units), dev=["q0"])


def test_the_number_of_choices_is_a_note() -> None:
    result = tune(QRELS, [BAD, GOOD])
    sentence = f"47 choices were tried on these {len(result.split.dev)} queries; the more are tried, the more likely a "
    assert result.notes == result.to_dict()["notes"] == [f"{sentence}chance winner"]


def test_among_equals_the_simplest_is_taken() -> None:
    result = tune(QRELS, [GOOD, GOOD])
    assert str(result.choice) == "--method rrf --weights 1,1 --rrf-k 60"
    with pytest.raises(UsageError, match="at least two runs"):
        tune(QRELS, [GOOD])


def test_only_the_tuned_run_is_worth_a_warning_about_its_scores() -> None:
    close, clear = {"d0": 1.0, "d1": 1 - 1e-9, "d2": 0.0}, {"d0": 1.0, "d1": 0.5}
    other = {query: {"d0": 1.0, "d1": 1.0, "d2": 0.0} for query in ("q0", "q1")}
    for queries, is_warned in ((("q0", "q1"), False), (("q1", "q0"), True)):
        runs = [Run.from_dict(dict(zip(queries, (close, clear), strict=True))), Run.from_dict(other)]
        with held_warnings() as messages:
            tune(QRELS, runs, methods=["weighted"], dev=["q0"], test=["q1"])
        assert bool(messages) is is_warned
