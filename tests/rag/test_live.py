"""A live retriever: called for every test case, failures reported, latencies measured."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, RankgaugeWarning, UsageError, compare, evaluate, evaluate_retriever, gate
from rankgauge.core.run import Status
from rankgauge.errors import RetrieverError
from rankgauge.io import read_log
from rankgauge.io.formats.log_writer import write_log
from rankgauge.io.formats.trec import write_run
from rankgauge.rag import RetrieverCalls, evaluate_retriever_async
from rankgauge.retrieval.asking import failures
from tests.rag.shapes import LangChainDocument

CASES = [{"query": f"q{number}", "relevant_ids": [f"d{number}"]} for number in range(8)]


def search(query: str, k: int) -> list[str]:
    """d0, d1, …: each document is at the rank of its number."""
    return [f"d{number}" for number in range(k)]


async def asearch(query: str, k: int) -> list[str]:
    await asyncio.sleep(0.001)
    return search(query, k)


def failing(query: str, k: int) -> list[str]:
    if query == "q3":
        raise ConnectionError("no route")
    return search(query, k)


@pytest.fixture(autouse=True)
def _quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "FIRST_PAUSE", 0.001)


def test_a_function_is_called_for_every_case() -> None:
    found = evaluate_retriever(search, CASES, k=5)
    wanted = evaluate(
        {str(case["query"]): list(case["relevant_ids"]) for case in CASES},
        {str(case["query"]): search("", 5) for case in CASES},
        "RR P@5 nDCG@5",
    )
    assert (found["RR"], found["P@5"], found.mean_ndcg_at_k) == (wanted["RR"], wanted["P@5"], wanted["nDCG@5"])
    assert [row.query for row in found.per_query_metrics] == [case["query"] for case in CASES]
    assert found.latency_ms is not None
    assert list(found.latency_ms) == ["p50", "p95", "p99", "max"]
    assert str(found).splitlines()[0].endswith("8 queries")


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("timeout", [None, 5.0])
@pytest.mark.parametrize("retriever", [search, asearch, lambda query, k: asearch(query, k)])
def test_every_way_of_calling_gives_the_same_numbers(retriever: Any, concurrency: int, timeout: float | None) -> None:
    plain = evaluate_retriever(search, CASES, 5)
    found = evaluate_retriever(retriever, CASES, 5, calls=RetrieverCalls(concurrency=concurrency, timeout=timeout))
    assert found.scores.values.tolist() == plain.scores.values.tolist()
    assert [row.retrieved for row in found.per_query_metrics] == [row.retrieved for row in plain.per_query_metrics]


def test_a_failed_query_is_not_scored_as_zero() -> None:
    found = evaluate_retriever(failing, CASES, 8, calls=RetrieverCalls(retries=1), max_failures=1)
    others = evaluate_retriever(search, [case for case in CASES if case["query"] != "q3"], 8)
    failed = found.per_query_metrics[3]
    assert found["RR"] == others["RR"]
    assert (failed.status, failed.error, failed.attempts) == (Status.FAILED, "ConnectionError: no route", 2)
    assert math.isnan(failed.mrr)
    assert failed.to_dict()["mrr"] is None
    assert found.failures == {"q3": "ConnectionError: no route"}
    assert "8 queries, 1 failed (q3: ConnectionError: no route)" in str(found)
    assert found.to_dict()["queries"]["failed"] == 1
    assert found.to_pandas()["RR"].isna().tolist() == [number == 3 for number in range(8)]
    assert found.to_polars()["status"].to_list()[3] == "failed"


@pytest.mark.parametrize("retriever", [failing, lambda query, k: failing(query, k)])
def test_a_failure_in_a_thread_is_reported_like_one_in_this_thread(retriever: Any) -> None:
    inline = evaluate_retriever(retriever, CASES, 8, max_failures=1)
    threaded = evaluate_retriever(retriever, CASES, 8, calls=RetrieverCalls(concurrency=4), max_failures=1)
    assert inline.failures == threaded.failures == {"q3": "ConnectionError: no route"}
    assert inline["RR"] == threaded["RR"]


@pytest.mark.parametrize("concurrency", [1, 2])
def test_an_exhausted_iterator_is_a_failure_like_any_other(concurrency: int) -> None:
    def exhausted(query: str) -> list[str]:
        return [next(iter(()))]

    found = evaluate_retriever(exhausted, CASES[:2], calls=RetrieverCalls(concurrency=concurrency), max_failures=None)
    assert all("StopIteration" in why for why in found.failures.values())
    assert len(found.failures) == 2


def test_an_error_reaches_the_caller_within_a_running_loop() -> None:
    async def main() -> None:
        evaluate_retriever(asearch, CASES, id="metadata.source")

    with pytest.raises(InputError, match=r"has no metadata\.source"):
        asyncio.run(main())


def test_if_every_query_fails_there_is_no_mean() -> None:
    found = evaluate_retriever(lambda query: None, CASES[:2], max_failures=None)
    assert found.mean_mrr is None
    assert found.latency_ms is None
    assert found.failures["q0"] == "returned None, expected a list of documents"


def test_too_many_failures_are_an_error_that_names_them() -> None:
    assert evaluate_retriever(failing, CASES, max_failures=1).failures
    with pytest.raises(
        RetrieverError, match="1 of 8 queries failed, at most 0 may fail:\n  q3: ConnectionError: no route"
    ) as caught:
        evaluate_retriever(failing, CASES)
    assert caught.value.result.failures == {"q3": "ConnectionError: no route"}
    assert caught.value.result["RR"] == evaluate_retriever(failing, CASES, max_failures=None)["RR"]
    with pytest.raises(UsageError, match="max_failures: expected a whole number of at least 0, found -1"):
        evaluate_retriever(failing, CASES, max_failures=-1)


def test_a_retry_may_succeed() -> None:
    calls: list[str] = []

    def flaky(query: str) -> list[str]:
        calls.append(query)
        if calls.count(query) < 3:
            raise OSError("once more")
        return ["d0"]

    found = evaluate_retriever(flaky, CASES[:2], calls=RetrieverCalls(retries=2))
    assert not found.failures
    assert [row.attempts for row in found.per_query_metrics] == [3, 3]


@pytest.mark.parametrize("kind", ["thread", "coroutine"])
def test_a_call_that_takes_too_long_is_timed_out_and_the_rest_go_on(kind: str) -> None:
    release = threading.Event()

    def slow(query: str) -> list[str]:
        if query == "q1":
            release.wait(30)
        return ["d0"]

    async def aslow(query: str) -> list[str]:
        if query == "q1":
            await asyncio.sleep(30)
        return ["d0"]

    begin = time.perf_counter()
    retriever = slow if kind == "thread" else aslow
    found = evaluate_retriever(retriever, CASES, calls=RetrieverCalls(timeout=0.2), max_failures=1)
    assert time.perf_counter() - begin < 10
    assert found.failures == {"q1": "timeout"}
    assert "1 failed (q1: timeout)" in str(found)
    release.set()


def test_no_more_calls_run_at_once_than_requested() -> None:
    lock = threading.Lock()
    running, most = 0, 0

    def counted(query: str) -> list[str]:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return ["d0"]

    evaluate_retriever(counted, CASES, calls=RetrieverCalls(concurrency=3))
    assert 1 < most <= 3


def test_by_default_the_retriever_is_called_in_this_thread() -> None:
    connection = sqlite3.connect(":memory:")

    def from_database(query: str) -> list[str]:
        return [str(row[0]) for row in connection.execute("select 'd0'")]

    assert not evaluate_retriever(from_database, CASES[:2]).failures
    connection.close()


def test_a_retriever_may_run_a_loop_of_its_own() -> None:
    assert not evaluate_retriever(lambda query: asyncio.run(asearch(query, 3)), CASES[:2]).failures


def test_within_a_running_loop_both_forms_work() -> None:
    async def main() -> tuple[float | None, float | None, float | None]:
        awaited = await evaluate_retriever_async(asearch, CASES, 5, calls=RetrieverCalls(concurrency=4))
        return awaited["RR"], evaluate_retriever(asearch, CASES, 5)["RR"], evaluate_retriever(search, CASES, 5)["RR"]

    assert len(set(asyncio.run(main()))) == 1


def test_the_async_form_stays_in_the_loop_of_its_client() -> None:
    async def main() -> bool:
        loop = asyncio.get_running_loop()

        async def bound(query: str) -> list[str]:
            assert asyncio.get_running_loop() is loop
            return ["d0"]

        return not (
            await evaluate_retriever_async(bound, CASES[:3], calls=RetrieverCalls(retries=1, timeout=5))
        ).failures

    assert asyncio.run(main())


def test_a_case_may_have_a_k_of_its_own() -> None:
    requested: list[int] = []

    def recording(query: str, k: int) -> list[str]:
        requested.append(k)
        return search(query, 8)

    cases: list[dict[str, Any]] = [
        {"query": "q2", "relevant_ids": ["d2"], "topK": 2},
        {"query": "q3", "relevant_ids": ["d3"]},
    ]
    found = evaluate_retriever(recording, cases, k=4)
    assert requested == [2, 4]
    assert [row.hit_rate for row in found.per_query_metrics] == [0.0, 1.0]
    assert [row.precision_at_k for row in found.per_query_metrics] == [0.0, 0.25]
    assert found["Success@k"] == 0.5
    requested.clear()
    evaluate_retriever(recording, cases, k=4, calls=RetrieverCalls(fetch=20))
    assert requested == [20, 20]


def test_chunks_collapse_and_more_are_fetched_than_k() -> None:
    def chunks(query: str, k: int) -> list[LangChainDocument]:
        return [LangChainDocument("…", {"source": f"d{number // 4}"}, id=str(number)) for number in range(k)]

    cases = [{"query": "q", "relevant_ids": ["d1"]}]
    assert evaluate_retriever(chunks, cases, 2, unit="document").mean_hit_rate == 0.0
    found = evaluate_retriever(chunks, cases, 2, unit="document", calls=RetrieverCalls(fetch=8))
    assert found.mean_hit_rate == 1.0
    assert "8 chunks collapsed into 2 documents: 6 dropped" in str(found)
    assert found.to_dict()["repeated"] == 6


def test_repeated_chunks_are_warned_of_once() -> None:
    with pytest.warns(RankgaugeWarning, match="results repeat an id") as caught:
        found = evaluate_retriever(lambda query: ["d0", "d0", "d0"], CASES)
    assert len(caught) == 1
    assert "16 results repeat an id of the same query: counted once" in str(found)


def test_a_wrong_id_ends_the_evaluation_at_once() -> None:
    calls: list[str] = []

    def nameless(query: str) -> list[LangChainDocument]:
        calls.append(query)
        return [LangChainDocument("…", {"source": "a"})]

    with pytest.raises(InputError, match=r"id of result 1 of query 'q0' is None"):
        evaluate_retriever(nameless, CASES)
    assert calls == ["q0"]
    with pytest.raises(InputError, match="is None"):
        evaluate_retriever(nameless, CASES, calls=RetrieverCalls(concurrency=4))
    assert not evaluate_retriever(nameless, CASES, id="metadata.source").failures


def test_requested_measures_are_the_ones_that_are_printed() -> None:
    found = evaluate_retriever(search, CASES, 5, measures="RR@3 R@2")
    assert str(found).startswith("RR@3 ")
    assert found.mean_precision_at_k is not None


def test_latencies_are_of_the_call_alone() -> None:
    def sleepy(query: str) -> list[str]:
        time.sleep(0.02)
        return ["d0"]

    found = evaluate_retriever(sleepy, CASES, calls=RetrieverCalls(timeout=5))
    assert found.latency_ms is not None
    assert all(row.latency is not None and 0.015 < row.latency < 5 for row in found.per_query_metrics)
    assert found.latency_ms["p50"] <= found.latency_ms["p95"] <= found.latency_ms["p99"] == found.latency_ms["max"]


def test_a_percentile_is_a_time_that_was_measured() -> None:
    found = evaluate_retriever(search, CASES)
    timed = [replace(one, latency=(place + 1) / 1000) for place, one in enumerate(found.per_query_metrics * 25)]
    latencies = replace(found, per_query_metrics=tuple(timed)).latency_ms
    assert latencies is not None
    assert {name: round(value) for name, value in latencies.items()} == {"p50": 100, "p95": 190, "p99": 198, "max": 200}


def test_a_generator_is_timed_to_its_end() -> None:
    def lazily(query: str) -> Any:
        time.sleep(0.02)
        yield "d0"

    found = evaluate_retriever(lazily, CASES[:1])
    assert found.latency_ms is not None
    assert found.latency_ms["p50"] > 15


def test_progress_is_reported_after_every_query() -> None:
    steps: list[tuple[int, int]] = []
    evaluate_retriever(search, CASES[:3], progress=lambda done, total: steps.append((done, total)))
    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_the_line_is_drawn_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankgauge.core.progress.DELAY", 0)
    evaluate_retriever(search, CASES[:2])
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    evaluate_retriever(search, CASES[:2])
    assert capsys.readouterr().err == ""
    evaluate_retriever(search, CASES[:2], progress=True)
    assert "fetching  [██████████··········]  1 of 2 queries" in capsys.readouterr().err


def test_an_interrupt_is_not_a_failure() -> None:
    def interrupted(query: str) -> list[str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_retriever(interrupted, CASES)


def test_cases_come_from_a_file_with_their_columns(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("query,relevant_ids,category\na,d0,x\nb,d9,y\n")
    found = evaluate_retriever(search, tmp_path / "cases.csv", k=2)
    assert found.mean_hit_rate == 0.5
    assert found.to_dict()["retriever"] == "search"
    assert found.to_polars()["category"].to_list() == ["x", "y"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 0}, "k: expected"),
        ({"unit": "page"}, "unit must be"),
        ({"scores": "cosine"}, "scores must be one of similarity, distance, ignore"),
        ({"measures": "ndgc@5"}, "unknown measure"),
    ],
)
def test_wrong_options_are_errors_before_any_call(wrong: dict[str, Any], message: str) -> None:
    def never(query: str) -> list[str]:
        raise AssertionError

    with pytest.raises(UsageError, match=message):
        evaluate_retriever(never, CASES, **wrong)


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"timeout": 0}, {"retries": -1}, {"fetch": 0}])
def test_wrong_call_settings_are_errors(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(wrong))}: expected a"):
        RetrieverCalls(**wrong)


def test_the_interval_of_a_mean_is_that_of_the_scores() -> None:
    found = evaluate_retriever(search, CASES, k=5)
    for measure in found.scores.measures:
        assert found.interval(measure, confidence=0.9) == found.scores.interval(measure, confidence=0.9)
        interval = found.interval(measure)
        assert 0 <= (interval.low or 0) <= (interval.high or 0) <= 1
    assert found.interval("Success@5").method == "wilson"


def test_queries_of_the_same_unit_are_one_observation() -> None:
    cases = [{**case, "unit": f"session {number // 4}"} for number, case in enumerate(CASES)]
    found = evaluate_retriever(search, cases, k=5)
    assert found.scores.columns["unit"].tolist() == [case["unit"] for case in cases]
    assert found.interval("RR").units == 2
    assert evaluate_retriever(search, CASES, k=5).interval("RR").units is None


@pytest.mark.parametrize(
    ("answer", "code"),
    [(["D0", "D1"], "ids-case"), (["other"], "nothing-judged"), (["d0", "d1"], "shallow-run")],
)
def test_the_notes_of_runs_in_files_are_those_of_a_live_retriever(answer: list[str], code: str, tmp_path: Path) -> None:
    found = evaluate_retriever(lambda query: answer, CASES, k=5)
    judged = {str(case["query"]): list(case["relevant_ids"]) for case in CASES}
    (tmp_path / "run").write_text(
        "".join(f"{query} Q0 {name} 0 {-rank} x\n" for query in judged for rank, name in enumerate(answer))
    )
    expected = {note.code: note.message for note in evaluate(judged, tmp_path / "run", "P@5 RR").notes}
    assert expected[code] in found.remarks
    assert expected[code] in str(found)
    assert expected[code] in found.to_dict()["remarks"]


def test_a_query_that_failed_is_not_in_the_remarks_again() -> None:
    found = evaluate_retriever(failing, CASES, 8, max_failures=1)
    assert "q3" not in " ".join(found.remarks)
    assert "8 queries, 1 failed (q3: ConnectionError: no route)" in str(found)


def test_a_measure_for_which_lower_is_better_has_no_value_with_failures_as_zero() -> None:
    found = evaluate_retriever(failing, CASES, 8, measures="RR RBPResidual", max_failures=1)
    assert found.failed_as_zero is not None
    assert found.failed_as_zero["RBPResidual"] is None
    assert found.failed_as_zero["RR"] == pytest.approx((found["RR"] or 0) * 7 / 8)
    assert evaluate_retriever(search, CASES, 8).failed_as_zero is None


def test_a_live_result_is_a_run_for_every_other_function(tmp_path: Path) -> None:
    cases = [{"query": f"q{n}", "relevant_ids": ["d"], "kind": "a" if n % 2 else "b"} for n in range(12)]
    old = evaluate_retriever(lambda query: ["x", "d"] if query != "q3" else [], cases)
    new = evaluate_retriever(lambda query: ["d", "x"], cases)
    assert evaluate(old.qrels, old, "RR AP").values.tolist() == evaluate(old.qrels, old.run, "RR AP").values.tolist()
    assert evaluate(old.qrels, old, "RR")["RR"] == old.mean_mrr
    compared = compare(old.qrels, {"old": old, "new": new}, "RR", by=["kind"])
    assert compared["new", "RR"].difference == pytest.approx(new.mean_mrr - old.mean_mrr)  # type: ignore[operator]  # both exist
    assert [row.label for row in compared.groups] == ["a", "b"]
    assert gate(old.qrels, old, "RR", baseline=new).failed
    write_run(old.run, tmp_path / "old.trec")
    assert evaluate(old.qrels, tmp_path / "old.trec", "RR")["RR"] == old.mean_mrr
    failed = evaluate_retriever(lambda query: None if query == "q3" else ["d"], cases, max_failures=1)
    assert evaluate(failed.qrels, failed, "RR").per_query("RR").keys() == {case["query"] for case in cases} - {"q3"}


def test_the_representation_is_one_line() -> None:
    result = evaluate_retriever(lambda query: ["d"], [{"query": f"q{n}", "relevant_ids": ["d"]} for n in range(50)])
    assert repr(result).startswith("RetrievalResult('<lambda>': P@5 0.20 (")
    assert "\n" not in repr(result)
    assert len(repr(result)) < 250


class ChangingIds:
    """A search whose results have other ids each time."""

    def __init__(self, judged_at: int | None = None) -> None:
        self.asked: list[str] = []
        self.judged_at = judged_at

    def search(self, query: str) -> list[str]:
        self.asked.append(query)
        number = len(self.asked)
        return ["wanted"] if number == self.judged_at else [f"first {number}", f"second {number}"]


UNMATCHED = [{"id": f"q{number}", "query": f"text {number}", "relevant_ids": ["wanted"]} for number in range(3)]


def test_if_nothing_is_judged_the_first_query_is_asked_once_more() -> None:
    source = ChangingIds()
    result = evaluate_retriever(source.search, UNMATCHED, k=2)
    assert source.asked == ["text 0", "text 1", "text 2", "text 0"]
    assert len(result) == 3
    assert "the same query, asked twice, had results with other ids" in str(result)
    assert "--set retriever.id=metadata.source" in str(result)
    assert "'first 1', 'second 1', 'first 2', the judgments 'wanted'" in str(result)


def test_if_something_is_judged_no_query_is_asked_twice() -> None:
    source = ChangingIds(judged_at=3)
    assert "asked twice" not in str(evaluate_retriever(source.search, UNMATCHED, k=2))
    assert len(source.asked) == 3


def test_ids_that_stay_the_same_are_not_said_to_change() -> None:
    result = evaluate_retriever(lambda query: [{"id": "c", "metadata": {"path": "wanted"}}], UNMATCHED, k=1)
    assert "asked twice" not in str(result)
    assert "score results by it with --set retriever.id=metadata.path --set retriever.unit=document" in str(result)
    assert (
        evaluate_retriever(
            lambda query: [{"id": "c", "metadata": {"path": "wanted"}}],
            UNMATCHED,
            k=1,
            id="metadata.path",
            unit="document",
        )["R@1"]
        == 1
    )


def test_a_failing_second_request_changes_nothing() -> None:
    asked: list[str] = []

    def search(query: str) -> list[str]:
        asked.append(query)
        if len(asked) > 3:
            raise ValueError("busy")
        return ["other"]

    result = evaluate_retriever(search, UNMATCHED, k=1, calls=RetrieverCalls(retries=2))
    assert (len(asked), result.failures) == (4, {})
    assert "none of the retrieved documents is judged" in str(result)


def test_answers_of_a_journal_are_not_asked_again_to_compare_ids(tmp_path: Path) -> None:
    asked: list[str] = []

    def search(query: str) -> list[str] | None:
        asked.append(query)
        return None if query == "text 2" else ["other"]

    calls = RetrieverCalls(journal=tmp_path / "asked.journal")
    with pytest.raises(RetrieverError):
        evaluate_retriever(search, UNMATCHED, k=1, calls=calls)
    before = len(asked)
    with pytest.raises(RetrieverError):
        evaluate_retriever(search, UNMATCHED, k=1, calls=calls)
    assert asked[before:] == ["text 2"]


def test_an_asynchronous_retriever_is_asked_again_too() -> None:
    source = ChangingIds()

    async def search(query: str) -> list[str]:
        return source.search(query)

    result = asyncio.run(evaluate_retriever_async(search, UNMATCHED, k=2))
    assert len(source.asked) == 4
    assert "asked twice" in str(result)


def test_what_the_retriever_returned_travels_with_the_run(tmp_path: Path) -> None:
    def returned(query: str, k: int) -> Any:
        if query == "fails":
            raise OSError("gone")
        texts = {"d": "the text", "x": f"of {query}"}  # x comes with two texts
        return [{"id": name, "score": 1.0, "text": texts[name], "metadata": {"source": "f"}} for name in "dx"][:k]

    cases = [{"query": query, "relevant_ids": ["d"]} for query in ("one", "two", "fails")]
    for journal in (None, tmp_path / "journal"):
        result = evaluate_retriever(returned, cases, k=2, max_failures=1, calls=RetrieverCalls(journal=journal))
        extras = result.run.extras
        assert extras is not None
        assert extras.texts == {"d": "the text", "x": None}
        assert extras.metadata == {"d": {"source": "f"}, "x": {"source": "f"}}
        assert extras.latency_ms.keys() == {"one", "two"}
        assert extras.latency_ms["one"] == pytest.approx(1000 * (result.per_query_metrics[0].latency or 0))
        assert (extras.errors, extras.requested_k) == ({"fails": "OSError: gone"}, 2)
    by_document = evaluate_retriever(returned, cases[:1], k=2, unit="document", id="id").run.extras
    assert by_document is not None
    assert by_document.texts == {}  # the text of a chunk is not that of its document


def test_answers_that_were_recorded_once_are_evaluated_again_from_their_log(tmp_path: Path) -> None:
    cases = [{"query": f"q{n}", "relevant_ids": ["d", "e"]} for n in range(5)]
    result = evaluate_retriever(lambda query: None if query == "q3" else ["x", "d"], cases, max_failures=1)
    write_log(tmp_path / "results.jsonl", result.run, result.qrels)
    qrels, run = read_log(tmp_path / "results.jsonl")
    again, before = evaluate(qrels, run, "RR R@2 nDCG@1"), evaluate(result.qrels, result.run, "RR R@2 nDCG@1")
    assert again.values.tolist() == before.values.tolist()
    assert (again["RR"], again.status.tolist()) == (before["RR"], before.status.tolist())
