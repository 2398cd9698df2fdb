"""Answers of an interrupted command: used again while they are fresh, and only on request after a day."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from rankgauge import InputError, evaluate
from rankgauge.benchmark.plan import PlannedSystem, shipped_plan
from rankgauge.benchmark.run import run_benchmark
from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.errors import RetrieverError
from rankgauge.retrieval import CallableRetriever, FetchOptions, QueryBatch, fetch_run
from rankgauge.retrieval.journal import JOURNAL_VERSION
from tests.conftest import Outcome
from tests.retrieval.journals import make_older

Command = Callable[..., Outcome]

TEXTS = {f"q{number}": f"text {number}" for number in range(20)}
QUERIES = QueryBatch.from_dict(TEXTS)
JUDGED = {query: {"a": 1} for query in TEXTS}
SEARCH = """
night, asked = "first", []

def find(text):
    asked.append(text)
    if night == "first":
        if len(asked) > 12:
            raise KeyboardInterrupt
        return ["a", "b"]
    return ["b", "c", "a"]
"""
FETCH = ("runs", "fetch", "--retriever", "my_nightly_search:find", "--queries", "queries.tsv", "-o", "run.trec")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def nights(folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a nightly job whose first night was interrupted, a day and a minute ago."""
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "my_nightly_search", raising=False)
    (folder / "my_nightly_search.py").write_text(SEARCH)
    (folder / "queries.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in TEXTS.items()))
    (folder / "qrels.json").write_text(json.dumps(JUDGED))
    assert command(*FETCH).code == 130
    make_older(folder / "run.trec.journal", hours=24 + 1 / 60)
    sys.modules["my_nightly_search"].night = "second"  # type: ignore[attr-defined]  # a module of this test
    return folder


def reciprocal_rank(folder: Path) -> float | None:
    return evaluate(folder / "qrels.json", folder / "run.trec", "RR")["RR"]


def test_answers_of_two_nights_are_mixed_only_on_request(nights: Path, command: Command) -> None:
    before = (nights / "run.trec.journal").read_bytes()
    stopped = command(*FETCH)
    assert stopped.code == 2
    assert "run.trec.journal: holds 12 answers of an interrupted run, and the oldest is 1 day old" in stopped.err
    assert "--resume" in stopped.err
    assert "--restart" in stopped.err
    assert (nights / "run.trec.journal").read_bytes() == before
    assert not (nights / "run.trec").exists()
    resumed = command(*FETCH, "--resume")
    assert "12 answers reused from the journal, the oldest 1 day old" in resumed.err
    assert reciprocal_rank(nights) == pytest.approx((12 + 8 / 3) / 20)  # neither night's value


def test_a_nightly_job_that_restarts_has_the_answers_of_its_own_night(nights: Path, command: Command) -> None:
    done = command(*FETCH, "--restart")
    assert (done.code, "reused" in done.err) == (0, False)
    assert reciprocal_rank(nights) == pytest.approx(1 / 3)


def test_fresh_answers_are_reused_with_their_age(nights: Path, command: Command) -> None:
    make_older(nights / "run.trec.journal", hours=-3)
    assert "12 answers reused from the journal, the oldest 21 hours old" in command(*FETCH).err


class Failing:
    """A search that fails from the nth query on."""

    def __init__(self, first_failure: int) -> None:
        self.asked, self.first_failure = 0, first_failure

    def find(self, text: str) -> list[str]:
        self.asked += 1
        if self.asked >= self.first_failure:
            raise ValueError("down")
        return ["a"]


def test_a_failed_query_has_no_age_because_it_is_asked_again(tmp_path: Path) -> None:
    out, journal = tmp_path / "run.trec", tmp_path / "run.trec.journal"
    with pytest.raises(RetrieverError, match="down"):
        fetch_run(CallableRetriever(Failing(1).find), QUERIES, out, options=FetchOptions(max_failures=3))
    make_older(journal, hours=100)
    with pytest.raises(RetrieverError, match="down"):
        fetch_run(CallableRetriever(Failing(3).find), QUERIES, out)
    done = fetch_run(CallableRetriever(Failing(99).find), QUERIES, out)
    assert (done.reused.count, done.reused.age < 3600) == (2, True)


def test_a_clock_that_was_set_back_makes_no_answer_old(tmp_path: Path) -> None:
    out = tmp_path / "run.trec"
    with pytest.raises(RetrieverError, match="down"):
        fetch_run(CallableRetriever(Failing(3).find), QUERIES, out)
    make_older(tmp_path / "run.trec.journal", hours=-48)
    assert fetch_run(CallableRetriever(Failing(99).find), QUERIES, out).reused.age == 0


def ranked(text: str, first: str) -> list[str]:
    """A search with a setting."""
    return [first, "z"]


def reversed_ranking(text: str, first: str) -> list[str]:
    """Another search with the same setting."""
    return ["z", first]


def test_a_partial_function_with_other_arguments_is_another_configuration(tmp_path: Path) -> None:
    def identity(source: object) -> object:
        return CallableRetriever(source, name="search").identity()

    assert identity(partial(ranked, first="a")) == identity(partial(ranked, first="a"))
    assert identity(partial(ranked, first="a")) != identity(partial(ranked, first="b"))
    assert identity(partial(ranked, first="a")) != identity(partial(reversed_ranking, first="a"))


def test_a_benchmark_stops_before_it_asks_any_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_two_systems", raising=False)
    (tmp_path / "my_two_systems.py").write_text(
        "asked = []\n"
        "def first(text):\n    asked.append(text)\n    return ['kb-001']\n"
        "def second(text):\n    if len(asked) % 48 == 0 and asked.append(text) is None and len(asked) == 49:\n"
        "        return ['kb-001']\n    raise KeyboardInterrupt\n"
    )
    names = ("first", "second")
    systems = {name: PlannedSystem(RetrieverSettings(mode=f"my_two_systems:{name}")) for name in names}
    plan = shipped_plan(latency=0, systems=systems)
    with pytest.raises(KeyboardInterrupt):
        run_benchmark(plan, tmp_path / "out")
    asked = sys.modules["my_two_systems"].asked
    assert len(asked) == 49
    make_older(tmp_path / "out.partial" / "runs" / "second.jsonl.journal", hours=30)
    with pytest.raises(InputError, match="holds 1 answer of an interrupted run, and it is 1 day old"):
        run_benchmark(plan, tmp_path / "out")
    assert len(asked) == 49


def test_a_journal_says_when_each_query_was_answered(tmp_path: Path) -> None:
    with pytest.raises(RetrieverError, match="down"):
        fetch_run(CallableRetriever(Failing(3).find), QUERIES, tmp_path / "run")
    header, *answers = map(json.loads, (tmp_path / "run.journal").read_text().splitlines())
    assert header["journal"] == JOURNAL_VERSION
    assert all(isinstance(answer["at"], int) for answer in answers)


TWO_SEARCHES = """
asked, limit = {"first": 0, "second": 0}, [5]

def first(text):
    asked["first"] += 1
    return [{"id": "a", "text": "the text of a"}]

def second(text):
    asked["second"] += 1
    if asked["second"] > limit[0]:
        raise KeyboardInterrupt
    return ["b"]
"""


def test_a_fetch_of_several_retrievers_that_stops_does_not_ask_the_finished_ones_again(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "my_two_searches", raising=False)
    (folder / "my_two_searches.py").write_text(TWO_SEARCHES)
    (folder / "queries.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in TEXTS.items()))
    retrievers = ("--retriever", "my_two_searches:first", "--retriever", "my_two_searches:second")
    words = ("runs", "fetch", *retrievers, "--queries", "queries.tsv", "-o", "runs/")
    assert command(*words).code == 130
    asked, limit = sys.modules["my_two_searches"].asked, sys.modules["my_two_searches"].limit
    assert asked == {"first": 20, "second": 6}
    limit[0] = 99
    done = command(*words)
    assert done.code == 0, done.err
    assert asked == {"first": 20, "second": 21}
    assert sorted(path.name for path in (folder / "runs").iterdir()) == ["first.trec", "second.trec"]
    assert len((folder / "runs/first.trec").read_text().splitlines()) == 20
    command(*words)
    assert asked["first"] == 40  # a fetch that was completed is not resumed


def test_a_benchmark_that_stops_does_not_ask_its_finished_systems_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_two_searches", raising=False)
    (tmp_path / "my_two_searches.py").write_text(TWO_SEARCHES)
    systems = {name: PlannedSystem(RetrieverSettings(mode=f"my_two_searches:{name}")) for name in ("first", "second")}
    plan = shipped_plan(latency=0, systems=systems)
    with pytest.raises(KeyboardInterrupt):
        run_benchmark(plan, tmp_path / "out")
    asked, limit = sys.modules["my_two_searches"].asked, sys.modules["my_two_searches"].limit
    limit[0] = 99
    run_benchmark(plan, tmp_path / "out")
    assert asked == {"first": 48, "second": 49}
    assert sorted(path.name for path in (tmp_path / "out/runs").iterdir()) == ["first.jsonl", "second.jsonl"]


def test_a_resumed_run_has_the_latency_of_every_query(tmp_path: Path) -> None:
    slow, queries = Failing(8), tmp_path / "run.jsonl"
    with pytest.raises(RetrieverError, match="down"):
        fetch_run(CallableRetriever(slow.find), QUERIES, queries)
    stored = [json.loads(line) for line in (tmp_path / "run.jsonl.journal").read_text().splitlines()[1:]]
    before = {row["query"]: row["latency"] for row in stored if "failed" not in row}
    assert len(before) == 7
    done = fetch_run(CallableRetriever(Failing(99).find), QUERIES, queries)
    assert done.run.extras is not None
    latencies = done.run.extras.latency_ms
    assert set(latencies) == set(TEXTS)
    assert {query: latencies[query] for query in before} == {query: value * 1000 for query, value in before.items()}


def test_a_live_evaluation_that_is_resumed_has_all_latencies_and_ids_with_white_space(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "my_nightly_search", raising=False)
    (folder / "my_nightly_search.py").write_text(SEARCH)
    cases = [{"query": text, "relevant_ids": ["a"]} for text in TEXTS.values()]  # whose ids are their texts
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    words = ("evaluate", "cases.jsonl", "my_nightly_search:find", "-m", "RR", "-o", "results.jsonl")
    assert command(*words).code == 130
    sys.modules["my_nightly_search"].night = "second"  # type: ignore[attr-defined]  # a module of this test
    assert command(*words).code == 0
    asked = sys.modules["my_nightly_search"].asked  # the query at which it stopped twice
    assert (len(asked), set(asked)) == (21, set(TEXTS.values()))
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    assert len(rows) == 20
    assert all(row["latency_ms"] > 0 for row in rows)
