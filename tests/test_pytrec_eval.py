"""Each query's values against pytrec_eval, which wraps trec_eval 9's own code."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from rankgauge import Conventions, Qrels, Run, evaluate
from rankgauge.measures import parse_measures
from rankgauge.measures import trec_names as trec

pytrec_eval = pytest.importorskip("pytrec_eval")

SKIPPED = {"runid", "dcg", "ideal_dcg", "relstring", "rbp", "rbp_resid", "unj", "yaap", "num_q", "gm_map", "gm_bpref"}


def make(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    rng = random.Random(seed)
    judged: dict[str, dict[str, int]] = {}
    results: dict[str, dict[str, float]] = {}
    for number in range(12):
        query = f"q{number}"
        docs = [f"d{n}" for n in range(60)]
        grades = rng.choice([[0, 1], [0, 1, 2, 3], [-1, 0, 1], [-2, -1, 0, 1, 2]])
        judged[query] = {doc: rng.choice(grades) for doc in rng.sample(docs, rng.randint(2, 40))}
        judged[query][docs[0]] = 0  # pytrec_eval crashes where all grades are negative
        levels = rng.choice([3, 1000])
        results[query] = {doc: rng.randrange(levels) / 7 for doc in rng.sample(docs, rng.randint(1, 50))}
    del results["q3"]
    del judged["q5"]
    return judged, results


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("seed", range(15))
def test_every_query_and_measure_equals_pytrec_eval(seed: int, rel: int) -> None:
    judged, results = make(seed)
    names = {family.name for family in trec.TREC_FAMILIES} - SKIPPED
    theirs: dict[str, dict[str, Any]] = pytrec_eval.RelevanceEvaluator(judged, names, relevance_level=rel).evaluate(
        results
    )
    mine = evaluate(judged, results, sorted(names), conventions=Conventions(query_set="both", rel=rel))
    checked = 0
    for name in next(iter(theirs.values())):
        measure = parse_measures(name)[0]
        measure = measure.but(rel=rel) if dict(measure.parameters).get("rel") is not None else measure
        values = mine.per_query(measure)
        assert set(values) == set(theirs)
        for query, value in values.items():
            assert value is not None
            assert math.isclose(value, theirs[query][name], rel_tol=1e-12, abs_tol=1e-14), (query, name)
            checked += 1
    assert checked > 800


def test_reading_twice_and_evaluating_twice_is_the_same() -> None:
    judged, results = make(99)
    qrels, run = Qrels.from_dict(judged), Run.from_dict(results)
    assert evaluate(qrels, run, "all_trec").over_queries == evaluate(qrels, run, "all_trec").over_queries


def test_the_sum_over_queries_is_made_from_left_to_right() -> None:
    # These sixteen values round to 0.0763 when added one by one, and to 0.0762 when added exactly.
    values = [.145, .11, .08, .07, .09, .115, .135, .025, .02, .04, .12, .03, .02, .09, .08, .05]  # fmt: skip
    judged = {f"{n:02d}": {f"d{i}": 1 for i in range(200)} for n in range(16)}
    results = {
        f"{n:02d}": [f"d{i}" if i < round(value * 200) else f"x{i}" for i in range(200)]
        for n, value in enumerate(values)
    }
    assert f"{evaluate(judged, results, 'P@200')['P@200']:6.4f}" == "0.0763"
