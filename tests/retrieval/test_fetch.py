from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from rankgauge.config.retriever_settings import RetrieverCalls
from rankgauge.core.formatting import milliseconds
from rankgauge.core.ids import Ids
from rankgauge.core.run import Run, latency_percentiles
from rankgauge.errors import InputError, RetrieverError, UsageError
from rankgauge.io.corpus.corpus import InMemoryCorpus
from rankgauge.io.queries import read_queries
from rankgauge.io.read import read_run
from rankgauge.rag.live import evaluate_retriever
from rankgauge.retrieval.asking.answers import AnswerFacts, RankedResults
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.engines.rerank import CallableReranker, DocumentTexts, RerankedRetriever
from rankgauge.retrieval.fetch import FetchOptions, fetch_run
from rankgauge.retrieval.journal import Journal
from rankgauge.retrieval.latency import Latency, measure_latency
from rankgauge.retrieval.retriever import AnswerHandler, Decisions, QueryBatch

QUERIES = QueryBatch.from_dict({f"q{number}": f"text {number}" if number % 4 else "" for number in range(30)})


class Failing(Exception):
    pass


class Counting:
    """A retriever that counts its calls, and fails at one of them."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.calls, self.fail_at = 0, fail_at

    def search(self, text: str) -> list[tuple[str, float]]:
        self.calls += 1
        if self.calls == self.fail_at:
            raise Failing
        number = len(text)
        return [] if not text else [(f"d{(number * place) % 13}-{place}", 1 / (place + 1)) for place in range(5)]


def counting_retriever(counting: Counting) -> CallableRetriever:
    return CallableRetriever(counting.search, name="counting")


def complete_run(tmp_path: Path) -> bytes:
    fetch_run(counting_retriever(Counting()), QUERIES, tmp_path / "whole.trec", k=3)
    return (tmp_path / "whole.trec").read_bytes()


def test_a_run_has_the_queries_in_their_order_and_ranks_from_one(tmp_path: Path) -> None:
    lines = [line.split() for line in complete_run(tmp_path).decode().splitlines()]
    assert [line[0] for line in lines] == [
        q for q, t in zip(QUERIES.ids.to_text(), QUERIES.texts, strict=True) if t for _ in "123"
    ]
    assert [line[3] for line in lines[:4]] == ["1", "2", "3", "1"]
    assert {line[5] for line in lines} == {"counting"}
    assert len(read_run(tmp_path / "whole.trec")) == len(lines)
    assert not list(tmp_path.glob("*.journal"))


def test_the_returned_run_is_the_written_run(tmp_path: Path) -> None:
    done = fetch_run(counting_retriever(Counting()), QUERIES, tmp_path / "r", k=3, options=FetchOptions(tag="mine"))
    written = read_run(tmp_path / "r")
    assert (done.run.name, written.name) == ("mine", "mine")
    assert list(done.run.docs) == list(written.docs)
    assert done.run.scores.tolist() == written.scores.tolist()
    assert len(done.run.queries) == 30  # including those without results
    with pytest.raises(InputError, match="must be one word"):
        fetch_run(counting_retriever(Counting()), QUERIES, tmp_path / "r", options=FetchOptions(tag="two words"))


def test_texts_that_come_with_results_are_kept_over_an_interruption(tmp_path: Path) -> None:
    calls: list[str] = []

    def search(text: str) -> list[dict[str, Any]]:
        calls.append(text)
        if len(calls) == 3:
            raise Failing
        return [{"id": "same", "text": "one text"}, {"id": "other", "text": f"a text for {text}"}, {"id": text}]

    queries = QueryBatch.from_dict({f"q{number}": f"t{number}" for number in range(4)})
    with pytest.raises(RetrieverError):
        fetch_run(CallableRetriever(search), queries, tmp_path / "r")
    done = fetch_run(CallableRetriever(search), queries, tmp_path / "r")
    assert done.reused.count == 2
    assert done.run.extras is not None
    assert done.run.extras.texts == {"same": "one text", "other": None}  # None: it came with two texts
    collapsed = fetch_run(CallableRetriever(search, unit="document", id="id"), queries, tmp_path / "r")
    assert collapsed.run.extras is not None
    assert not collapsed.run.extras.texts


@pytest.mark.parametrize("batch", [1, 2, 7, 64])
@pytest.mark.parametrize("fail_at", [1, 2, 9, 30])
def test_an_interrupted_fetch_resumes_and_writes_the_same_bytes(tmp_path: Path, batch: int, fail_at: int) -> None:
    expected = complete_run(tmp_path)
    out = tmp_path / "run.trec"
    with pytest.raises(RetrieverError, match=r"at most 0 may fail:\n  .*: Failing"):
        fetch_run(counting_retriever(Counting(fail_at)), QUERIES, out, k=3, options=FetchOptions(batch_size=batch))
    assert not out.exists()
    again = Counting()
    done = fetch_run(counting_retriever(again), QUERIES, out, k=3, options=FetchOptions(batch_size=5))
    assert out.read_bytes() == expected
    assert done.reused.count == fail_at - 1  # a function gets one query at a time, whatever the batch size
    assert again.calls == 30 - done.reused.count


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_an_incomplete_last_line_is_dropped(tmp_path: Path, cut: int) -> None:
    expected = complete_run(tmp_path)
    out, journal = tmp_path / "run.trec", tmp_path / "run.trec.journal"
    with pytest.raises(RetrieverError, match=r"at most 0 may fail:\n  .*: Failing"):
        fetch_run(counting_retriever(Counting(12)), QUERIES, out, k=3, options=FetchOptions(batch_size=1))
    answered = b"".join(journal.read_bytes().splitlines(keepends=True)[:-1])  # without the failed query
    journal.write_bytes(answered[:-cut])
    done = fetch_run(counting_retriever(Counting()), QUERIES, out, k=3)
    assert done.reused.count < 11
    assert out.read_bytes() == expected


def test_an_incomplete_header_counts_as_no_journal(tmp_path: Path) -> None:
    expected = complete_run(tmp_path)
    (tmp_path / "run.trec.journal").write_bytes(b'{"journal":"rankga')
    assert fetch_run(counting_retriever(Counting()), QUERIES, tmp_path / "run.trec", k=3).reused.count == 0
    assert (tmp_path / "run.trec").read_bytes() == expected


def test_a_journal_of_another_fetch_is_refused_with_the_reason(tmp_path: Path) -> None:
    out = tmp_path / "run.trec"
    with pytest.raises(RetrieverError, match=r"at most 0 may fail:\n  .*: Failing"):
        fetch_run(counting_retriever(Counting(12)), QUERIES, out, k=3, options=FetchOptions(batch_size=1))
    with pytest.raises(InputError, match="belongs to another fetch: k was '3', is now '4'"):
        fetch_run(counting_retriever(Counting()), QUERIES, out, k=4)
    other = CallableRetriever(Counting().search, name="counting", version="2")
    with pytest.raises(InputError, match=r"retriever\.version was '', is now '2'"):
        fetch_run(other, QUERIES, out, k=3)
    done = fetch_run(counting_retriever(Counting()), QUERIES, out, k=4, options=FetchOptions(resume=False))
    assert done.reused.count == 0


def test_a_damaged_journal_is_refused(tmp_path: Path) -> None:
    out, journal = tmp_path / "run.trec", tmp_path / "run.trec.journal"
    with pytest.raises(RetrieverError, match=r"at most 0 may fail:\n  .*: Failing"):
        fetch_run(counting_retriever(Counting(12)), QUERIES, out, k=3, options=FetchOptions(batch_size=1))
    lines = journal.read_bytes().split(b"\n")
    lines[3] = b'{"query": "q2"}'
    journal.write_bytes(b"\n".join(lines))
    with pytest.raises(InputError, match=":4: damaged"):
        fetch_run(counting_retriever(Counting()), QUERIES, out, k=3)
    journal.write_bytes(b"something else\n")
    with pytest.raises(InputError, match="is not a journal that rankgauge wrote"):
        fetch_run(counting_retriever(Counting()), QUERIES, out, k=3)
    assert journal.read_bytes() == b"something else\n"
    journal.write_bytes(b'{"journal":"rankgauge.journal/3", broken\n')
    with pytest.raises(InputError, match="its first line is not a header"):
        fetch_run(counting_retriever(Counting()), QUERIES, out, k=3)


@pytest.mark.slow
def test_a_killed_process_loses_no_answer(tmp_path: Path) -> None:
    (tmp_path / "slow_search_module.py").write_text(
        "import os, time\n"
        "def search(text, k):\n"
        "    time.sleep(float(os.environ.get('SLOW', '0')))\n"
        "    return [(f'd{len(text)}-{n}', 1 / (n + 1)) for n in range(k)]\n"
    )
    (tmp_path / "q.jsonl").write_text(
        "".join(json.dumps({"_id": f"q{n}", "text": "x" * n}) + "\n" for n in range(1, 60))
    )

    def start(out: str, slow: str) -> subprocess.Popen[bytes]:
        command = "-m rankgauge runs fetch --retriever slow_search_module:search --queries q.jsonl".split()
        return subprocess.Popen(
            [sys.executable, *command, "--k", "5", "--batch", "2", "-o", out],
            cwd=tmp_path,
            env={**os.environ, "SLOW": slow},
            stderr=subprocess.DEVNULL,
        )

    assert start("whole.trec", "0").wait() == 0
    for _ in range(2):
        process = start("run.trec", "0.02")
        journal = tmp_path / "run.trec.journal"
        before = journal.stat().st_size if journal.exists() else 0
        end = time.monotonic() + 30
        while time.monotonic() < end and not (journal.exists() and journal.stat().st_size > before + 400):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "run.trec").exists()
    assert start("run.trec", "0").wait() == 0
    assert (tmp_path / "run.trec").read_bytes() == (tmp_path / "whole.trec").read_bytes()
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {
        "slow_search_module.py",
        "q.jsonl",
        "whole.trec",
        "run.trec",
    }


def test_two_processes_cannot_fetch_into_the_same_file(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with Journal(tmp_path / "r.journal", {}), pytest.raises(InputError, match="another process is using it"):
        fetch_run(counting_retriever(Counting()), QUERIES, tmp_path / "r")


def test_decisions_survive_an_interruption(tmp_path: Path) -> None:
    reranker = CallableReranker(lambda query, texts: [1.0] * len(texts), "same", version="1")
    texts = DocumentTexts(InMemoryCorpus({f"d{number}-{place}": "" for number in range(13) for place in range(5)}))

    def reranked(fail_at: int | None, decisions: Decisions) -> RerankedRetriever:
        retriever = counting_retriever(Counting(fail_at))
        return RerankedRetriever(retriever, reranker, texts, top=3, decisions=decisions)

    first, second = Decisions(), Decisions()
    with pytest.raises(RetrieverError, match=r"at most 0 may fail:\n  .*: Failing"):
        fetch_run(reranked(9, first), QUERIES, tmp_path / "r", k=3, options=FetchOptions(batch_size=1), decisions=first)
    done = fetch_run(reranked(None, second), QUERIES, tmp_path / "r", k=3, decisions=second)
    assert [query for query, decision in done.decisions.items() if not decision["reranked_ids"]] == [
        f"q{n}" for n in range(0, 30, 4)
    ]


def test_a_retriever_that_answers_other_queries_is_refused(tmp_path: Path) -> None:
    class Wrong:
        name = "wrong"

        def retrieve(self, queries: QueryBatch, k: int) -> Run:
            return Run.from_lists({"other": ["a"]})

        def identity(self) -> dict[str, str]:
            return {}

    with pytest.raises(InputError, match="did not answer exactly the queries of its batch"):
        fetch_run(Wrong(), QUERIES, tmp_path / "r")


def test_ids_that_a_trec_file_cannot_hold_are_refused_before_the_work(tmp_path: Path) -> None:
    counting = Counting()
    with pytest.raises(InputError, match="query id 'q 1' contains white space"):
        fetch_run(counting_retriever(counting), QueryBatch(Ids.from_text(["q 1"]), ["x"]), tmp_path / "r")
    assert counting.calls == 0
    with pytest.raises(InputError, match="document id 'd 1' contains white space"):
        fetch_run(CallableRetriever(lambda text: ["d 1"], name="s"), QUERIES, tmp_path / "r")


def test_progress_reports_the_number_of_answers(tmp_path: Path) -> None:
    reports: list[tuple[int, int]] = []
    fetch_run(
        counting_retriever(Counting()),
        QUERIES,
        tmp_path / "r",
        options=FetchOptions(batch_size=8),
        progress=lambda done, total, _: reports.append((done, total)),
    )
    assert reports == [(done, 30) for done in range(1, 31)]  # a function gets one query at a time


def test_an_input_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("precious")
    with pytest.raises(InputError, match="would overwrite the input"):
        fetch_run(
            counting_retriever(Counting()),
            QUERIES,
            tmp_path / "corpus",
            options=FetchOptions(inputs=[tmp_path / "corpus"]),
        )
    assert (tmp_path / "corpus").read_text() == "precious"
    with pytest.raises(UsageError, match="at least 1"):
        fetch_run(counting_retriever(Counting()), QUERIES, tmp_path / "r", k=0)


def test_latency_is_measured_one_query_at_a_time() -> None:
    counting = Counting()
    latency = measure_latency(counting_retriever(counting), QUERIES, 3, calls=40, warm_up=5)
    assert counting.calls == 45
    assert latency.calls == 40
    assert latency.p50 is not None
    assert latency.p99 is not None
    assert latency.max is not None
    assert 0 <= latency.p50 <= latency.p99 <= latency.max
    assert str(latency).endswith(f"max {milliseconds(latency.max)} over 40 calls")
    assert Latency().to_dict() == {"unit": "ms", "calls": 0, "p50": None, "p95": None, "p99": None, "max": None}
    assert str(Latency()) == "latency was not measured"
    with pytest.raises(UsageError, match="at least one call"):
        measure_latency(counting_retriever(counting), QUERIES, 3, calls=0)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([7.0], (7, 7, 7, 7)),
        ([4.0, 1.0, 3.0, 2.0], (2, 4, 4, 4)),
        (list(range(100, 0, -1)), (50, 95, 99, 100)),
        (list(range(1, 102)), (51, 96, 100, 101)),
    ],
)
def test_a_percentile_is_a_time_that_was_measured_by_nearest_rank(
    times: list[float], expected: tuple[float, float, float, float]
) -> None:
    assert latency_percentiles(times) == dict(zip(("p50", "p95", "p99", "max"), expected, strict=True))


def test_the_latency_of_a_retriever_is_the_percentiles_of_its_times(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = [0.001, 0.004, 0.002, 0.003]
    clock = iter([time for second in seconds for time in (0.0, second)])
    run = Run.from_lists({"q0": ["a"]})

    class Stored:
        name = "stored"

        def retrieve(self, queries: QueryBatch, k: int) -> Run:
            return run

        def identity(self) -> dict[str, str]:
            return {}

    monkeypatch.setattr("rankgauge.retrieval.latency.time.perf_counter", lambda: next(clock))
    latency = measure_latency(Stored(), QUERIES, 3, calls=4, warm_up=0)
    assert latency == Latency(4, **latency_percentiles([1000 * second for second in seconds]))
    assert (latency.p50, latency.p95) == (2.0, 4.0)  # no interpolation between two times


def test_the_evaluation_of_a_live_retriever_uses_the_same_percentiles(monkeypatch: pytest.MonkeyPatch) -> None:
    result = evaluate_retriever(Counting().search, [{"id": "q", "query": "text", "relevant": ["d0-0"]}])
    monkeypatch.setattr("rankgauge.rag.retrieval_result.latency_percentiles", lambda times: {"p50": float(len(times))})
    assert result.latency_ms == {"p50": 1.0}


def test_a_slow_query_holds_up_no_other_and_answers_are_saved_as_they_arrive(tmp_path: Path) -> None:
    """The first query is answered last, when the journal has all others."""
    out, journal = tmp_path / "run.trec", tmp_path / "run.trec.journal"
    others_saved = threading.Event()

    def search(text: str) -> list[str]:
        if text == "slow":
            assert others_saved.wait(30)
        return [f"d-{text}"]

    def progress(answered: int, total: int, seconds: float) -> None:
        if answered == total - 1:
            assert len(journal.read_bytes().splitlines()) == total  # a header, and every answer but one
            others_saved.set()

    retriever = CallableRetriever(search, name="s", calls=RetrieverCalls(concurrency=2))
    queries = QueryBatch.from_dict({"first": "slow", **{f"q{number}": str(number) for number in range(30)}})
    done = fetch_run(retriever, queries, out, options=FetchOptions(batch_size=4), progress=progress)
    assert not done.failures
    assert read_run(out).docs.to_text() == ["d-slow", *(f"d-{number}" for number in range(30))]


def test_answers_that_arrive_after_a_fetch_has_ended_are_dropped(tmp_path: Path) -> None:
    """A handler that is called once more must not write to the closed journal."""
    kept: list[Any] = []

    class Late:
        name = "late"

        def identity(self) -> dict[str, str]:
            return {}

        def retrieve(self, queries: QueryBatch, k: int) -> Run:
            raise NotImplementedError

        def retrieve_each(self, queries: QueryBatch, k: int, handle: AnswerHandler) -> None:
            kept.append(handle)
            handle(0, RankedResults(("d",)), AnswerFacts())
            raise KeyboardInterrupt

    queries = QueryBatch.from_dict({"q1": "a", "q2": "b"})
    with pytest.raises(KeyboardInterrupt):
        fetch_run(Late(), queries, tmp_path / "r")
    before = (tmp_path / "r.journal").read_bytes()
    kept[0](1, RankedResults(("d",)), AnswerFacts())
    assert (tmp_path / "r.journal").read_bytes() == before


@pytest.mark.parametrize("batch", [1, 4])
def test_texts_and_metadata_survive_an_interruption(tmp_path: Path, batch: int) -> None:
    calls: list[str] = []

    def search(text: str) -> list[dict[str, Any]]:
        calls.append(text)
        if len(calls) == 4:
            raise KeyboardInterrupt
        metadata = {"day": date(2026, 1, 2), "part": 1}
        return [{"id": name, "score": 1.0, "text": f"text of {name}", "metadata": metadata} for name in ("a", text[-1])]

    queries, options = QueryBatch.from_dict({f"q{n}": f"find {n}" for n in range(6)}), FetchOptions(batch_size=batch)
    retriever = CallableRetriever(search, name="mine")
    with pytest.raises(KeyboardInterrupt):
        fetch_run(retriever, queries, tmp_path / "run.trec", k=2, options=options)
    journal = (tmp_path / "run.trec.journal").read_text()
    assert journal.count("text of a") == 1  # each text is kept once
    result = fetch_run(retriever, queries, tmp_path / "run.trec", k=2, options=options)
    assert result.reused.count
    extras = result.run.extras
    assert extras is not None
    assert extras.texts == {name: f"text of {name}" for name in "a012345"}
    assert {name: str(values["day"]) for name, values in extras.metadata.items()} == dict.fromkeys(
        "a012345", "2026-01-02"
    )
    assert extras.requested_k == 2


def test_a_fetch_into_a_log_keeps_the_texts_that_a_trec_run_drops(tmp_path: Path) -> None:
    retriever = CallableRetriever(lambda text: [{"id": "a", "text": "words"}] if text != "b" else None, name="mine")
    queries, options = QueryBatch.from_dict({"q1": "a", "q2": "b"}), FetchOptions(max_failures=1)
    dropped = fetch_run(retriever, queries, tmp_path / "run.trec", k=2, options=options).notes
    assert [note.code for note in dropped if "the texts of 1 document" in note.message] == ["texts-dropped"]
    result = fetch_run(retriever, queries, tmp_path / "run.jsonl", k=2, options=options)
    assert "texts-dropped" not in [note.code for note in result.notes]
    run = read_run(tmp_path / "run.jsonl")
    assert run.extras is not None
    assert result.run.extras is not None
    assert (run.extras.texts, run.extras.errors) == ({"a": "words"}, result.run.extras.errors)
    assert run.status.tolist() == result.run.status.tolist()
    assert read_queries(tmp_path / "run.jsonl").known_texts() == {"q1": "a", "q2": "b"}
