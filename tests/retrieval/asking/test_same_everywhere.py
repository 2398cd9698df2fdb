"""The same retriever has the same numbers, whoever asks it: a live evaluation, a fetched run, a benchmark."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge import Conventions, RankgaugeWarning, evaluate, evaluate_retriever, read_run
from rankgauge.benchmark.plan import BenchmarkPlan, PlannedSystem
from rankgauge.benchmark.run import run_benchmark
from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.config.settings import Settings
from rankgauge.core.ranking import COMPATS
from rankgauge.core.run import ScoreMeaning, Status
from rankgauge.retrieval.asking.answers import AnswerRules, answer_of
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.fetch import FetchOptions, fetch_run
from rankgauge.retrieval.retriever import QueryBatch

pytestmark = pytest.mark.filterwarnings(f"ignore::{RankgaugeWarning.__module__}.{RankgaugeWarning.__name__}")
MEASURES = ["RR", "AP", "nDCG@5", "P@3"]
IDS = [f"d{number}" for number in range(9)]
SCORES = (0.0, 0.5, 0.5, 1.0, 2.0, -3.0, 1 / 3, 0.1 + 0.2, 0.3, 1e30)
Shape = Callable[[list[str], random.Random], Any]
SHAPES: dict[str, Shape] = {
    "ids": lambda ids, _: ids,
    "similarities": lambda ids, chance: _with_scores(ids, sorted(_scores(ids, chance), reverse=True)),
    "distances": lambda ids, chance: _with_scores(ids, sorted(_scores(ids, chance))),
    "unsorted": lambda ids, chance: _with_scores(ids, _scores(ids, chance)),
    "ties": lambda ids, _: [(name, 1.0) for name in ids],
    "almost ties": lambda ids, chance: [(name, 1.0 + chance.random() * 1e-8) for name in ids],
    "missing scores": lambda ids, chance: [
        {"id": name, "score": 1.0} if chance.random() < 0.5 else {"id": name} for name in ids
    ],
    "no number": lambda ids, chance: [(name, chance.choice([float("nan"), None, 0.5])) for name in ids],
    "duplicates": lambda ids, chance: [(chance.choice(ids), chance.choice(SCORES)) for _ in (*ids, *ids)],
    "mapping": lambda ids, chance: {name: chance.choice(SCORES) for name in ids},
    "wrapped": lambda ids, _: {"results": [{"id": name} for name in ids]},
}


def _scores(ids: list[str], chance: random.Random) -> list[float]:
    return [chance.choice(SCORES) for _ in ids]


def _with_scores(ids: list[str], scores: list[float]) -> list[tuple[str, float]]:
    return list(zip(ids, scores, strict=True))


def answers_of(seed: int) -> dict[str, Any]:
    """The answer to each query, of every shape several times."""
    chance = random.Random(seed)
    answers = {}
    for number, shape in enumerate([*SHAPES.values()] * 3):
        ids = chance.sample(IDS, chance.randrange(len(IDS) + 1))
        answers[f"q{number:02}"] = shape(ids, chance)
    return answers


def expected_order(answer: Any) -> list[str]:
    """By definition: the order of a list; score descending, then id descending, of a mapping."""
    if isinstance(answer, dict) and "results" not in answer:
        return sorted(answer, key=lambda name: (np.float32(answer[name]), name), reverse=True)
    items = answer["results"] if isinstance(answer, dict) else answer
    names = [item["id"] if isinstance(item, dict) else item if isinstance(item, str) else item[0] for item in items]
    return list(dict.fromkeys(names))


def reciprocal_rank(order: list[str], relevant: set[str]) -> float:
    return next((1 / rank for rank, name in enumerate(order, start=1) if name in relevant), 0.0)


def judgments_of(answers: dict[str, Any], seed: int) -> dict[str, list[str]]:
    chance = random.Random(seed)
    return {query: chance.sample(IDS, 2) for query in answers}


@pytest.mark.parametrize("seed", [1, 2])
def test_every_path_gives_the_same_numbers(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Any]
) -> None:
    answers = answers_of(seed)
    judged = judgments_of(answers, seed)
    (tmp_path / "same_everywhere_app.py").write_text(
        f"nan = float('nan')\nANSWERS = {answers!r}\nsearch = ANSWERS.get\n"
    )
    (tmp_path / "cases.jsonl").write_text(
        "".join(
            json.dumps({"id": query, "query": query, "relevant_ids": docs}) + "\n" for query, docs in judged.items()
        )
    )
    (tmp_path / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": query, "text": query}) + "\n" for query in answers)
    )
    (tmp_path / "qrels").write_text("".join(f"{query} 0 {doc} 1\n" for query, docs in judged.items() for doc in docs))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "same_everywhere_app", raising=False)

    live = evaluate_retriever(answers.__getitem__, "cases.jsonl", k=5, measures=MEASURES).scores
    arguments = [word for measure in MEASURES for word in ("-m", measure)]
    app = "same_everywhere_app:search"
    live_cli = command("evaluate", "cases.jsonl", app, "--format", "json", *arguments)
    fetched_cli = command(
        "runs", "fetch", "--retriever", app, "--queries", "queries.jsonl", "--k", "50", "-o", "cli.trec"
    )
    fetched = fetch_run(
        CallableRetriever(answers.__getitem__), QueryBatch.from_dict({q: q for q in answers}), "run.trec", k=50
    )
    plan = BenchmarkPlan(
        "same", None, "queries.jsonl", "qrels",
        {"search": PlannedSystem(RetrieverSettings(mode=app))},
        settings=Settings(measures=tuple(MEASURES)), k=50, latency=0,
    )  # fmt: skip
    report = run_benchmark(plan, "out")

    assert fetched_cli.code == 0, fetched_cli.err
    assert Path("cli.trec").read_text().replace(" search\n", " x\n") == Path("run.trec").read_text().replace(
        f" {fetched.name}\n", " x\n"
    )
    by_cli = json.loads(live_cli.out)["runs"][0]["measures"]
    for measure in MEASURES:
        expected = live.per_query(measure)
        assert evaluate("qrels", "run.trec", MEASURES).per_query(measure) == expected
        assert evaluate("qrels", fetched.run, MEASURES).per_query(measure) == expected
        assert report.scores[0].per_query(measure) == expected
        assert by_cli[measure]["value"] == live[measure]
        for compat in COMPATS:
            assert (
                evaluate("qrels", "run.trec", MEASURES, conventions=Conventions(compat=compat)).per_query(measure)
                == expected
            )
    brute = {query: reciprocal_rank(expected_order(answer), set(judged[query])) for query, answer in answers.items()}
    assert live.per_query("RR") == pytest.approx(brute, abs=0)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(shape=st.sampled_from(sorted(SHAPES)), seed=st.integers(0, 10**6), k=st.integers(1, 10))
def test_a_written_run_has_exactly_the_order_of_the_answer(shape: str, seed: int, k: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    answer = SHAPES[shape](chance.sample(IDS, chance.randrange(len(IDS) + 1)), chance)
    queries = QueryBatch.from_dict({"q": "text"})
    fetched = fetch_run(CallableRetriever(lambda text: answer, name="s"), queries, tmp_path / "run", k=k)
    expected = expected_order(answer)[:k]
    assert fetched.run.docs.to_text() == expected
    for compat in COMPATS:
        assert fetched.run.ranked(compat).docs.to_text() == expected
        if expected:
            assert read_run(tmp_path / "run").ranked(compat).docs.to_text() == expected


@pytest.mark.parametrize(
    ("answer", "scores"),
    [
        ([("b", 3.5), ("a", 1.25)], [3.5, 1.25]),  # given scores that have the order are kept
        ([("b", 1.0), ("a", 1.0)], [1.0, 1.0]),  # so are ties that the tie rule orders this way
        ([("a", 1.0), ("b", 1.0)], [2.0, 1.0]),
        ([("a", 0.1), ("b", 0.2)], [2.0, 1.0]),
        ([("a", 1.0), ("b", 1.0 - 1e-12)], [2.0, 1.0]),  # equal as float32
        ([{"id": "a", "score": 3}, {"id": "b"}], [2.0, 1.0]),
    ],
)
def test_scores_are_kept_if_they_have_the_order_of_the_results(answer: Any, scores: list[float]) -> None:
    ranked = AnswerRules().rank(answer_of(answer), "q")
    assert ranked.run_scores == scores


@pytest.mark.parametrize(
    ("scores", "expected"),
    [(None, "bca"), ("ignore", "bca"), ("similarity", "abc"), ("distance", "bca")],
)
def test_the_meaning_of_scores_can_be_given(scores: ScoreMeaning | None, expected: str) -> None:
    answer = answer_of([("b", 0.1), ("c", 0.1), ("a", 0.4)])
    ranked = AnswerRules(scores=scores).rank(answer, "q")
    assert "".join(ranked.ids) == expected
    assert ranked.fault == ("ascending" if scores is None else None)


def test_a_mapping_of_distances_is_ranked_from_the_lowest() -> None:
    answer = answer_of({"far": 2.0, "near": 0.1})
    assert AnswerRules().rank(answer, "q").ids == ("far", "near")
    nearest = AnswerRules(scores="distance").rank(answer, "q")
    assert (nearest.ids, nearest.scores) == (("near", "far"), (-0.1, -2.0))
    assert AnswerRules(scores="ignore").rank(answer_of(["a"]), "q").scores is None


def test_contradicting_scores_are_reported_once_with_their_counts(tmp_path: Path) -> None:
    answers = {"q1": [("a", 0.1), ("b", 0.2)], "q2": [("a", 0.1), ("b", 0.2)], "q3": [("a", 1), ("b", 3), ("c", 2)],
               "q4": [("a", 2), ("b", 2)]}  # fmt: skip
    cases = [{"id": query, "query": query, "relevant_ids": ["b"]} for query in answers]
    result = evaluate_retriever(answers.__getitem__, cases, k=3)
    queries = QueryBatch.from_dict({query: query for query in answers})
    fetched = fetch_run(CallableRetriever(answers.__getitem__), queries, tmp_path / "run", k=3)
    *messages, replaced = [note.message for note in fetched.notes]
    assert len(messages) == 2
    assert replaced.startswith("the scores of 4 lists that do not give the order are replaced by descending ranks")
    assert messages[0].startswith("scores ascend in 2 of 4 queries, as distances do: the order of the results counts")
    assert messages[1].startswith("scores contradict the order of the results in 1 of 4 queries")
    assert all(message in str(result) for message in messages)
    assert all(message in result.to_dict()["remarks"] for message in messages)
    assert not evaluate_retriever(answers.__getitem__, cases, k=3, scores="ignore").answer_notes


def test_the_notes_of_a_fetch_survive_an_interruption(tmp_path: Path) -> None:
    answers = {"q1": [("a", 0.1), ("b", 0.2)], "q2": ["a", "a", "b"], "q3": ["a"]}
    queries = QueryBatch.from_dict({query: query for query in answers})

    def stopping(query: str) -> Any:
        if query == "q3":
            raise KeyboardInterrupt
        return answers[query]

    def retriever(function: Callable[[str], Any]) -> Any:
        found = CallableRetriever(function, name="s")
        found._source_identity = {}  # the same function, before and after
        return found

    with pytest.raises(KeyboardInterrupt):
        fetch_run(retriever(stopping), queries, tmp_path / "run")
    resumed = fetch_run(retriever(answers.__getitem__), queries, tmp_path / "run")
    assert resumed.reused.count == 2
    assert [note.code for note in resumed.notes] == [
        "results-short",
        "score-order",
        "results-repeated",
        "scores-replaced",
    ]


@pytest.mark.parametrize("failure", [None, ConnectionError("no route"), TimeoutError()])
def test_a_failed_query_is_failed_in_every_path(failure: BaseException | None, tmp_path: Path) -> None:
    def search(query: str) -> list[str] | None:
        if query != "q2":
            return ["a"] if query == "q1" else []
        if failure is not None:
            raise failure
        return None

    cases = [{"id": query, "query": query, "relevant_ids": ["a"]} for query in ("q1", "q2", "q3")]
    queries = QueryBatch.from_dict({query: query for query in ("q1", "q2", "q3")})
    live = evaluate_retriever(search, cases, max_failures=1)
    fetched = fetch_run(CallableRetriever(search), queries, tmp_path / "run", options=FetchOptions(max_failures=1))
    assert live.failures == fetched.failures
    assert fetched.run.status.tolist() == [Status.ANSWERED, Status.FAILED, Status.EMPTY]
    scores = evaluate({query: ["a"] for query in ("q1", "q2", "q3")}, fetched.run, "RR")
    assert scores["RR"] == live["RR"] == 0.5
    assert scores.failed_as_zero == {"RR": 1 / 3}
    assert live.failed_as_zero is not None
    assert live.failed_as_zero["RR"] == 1 / 3
    assert live.to_dict()["measures"]["RR"]["failed_as_zero"] == 1 / 3
    assert scores.to_dict()["measures"]["RR"]["failed_as_zero"] == 1 / 3
    assert "failed as 0   P@5 0.07   R@5 0.33   RR 0.33" in str(live)
    through_engine = evaluate_retriever(CallableRetriever(search), cases, max_failures=1)
    assert through_engine.failures == live.failures
