from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rankgauge.core.ids import Ids
from rankgauge.core.run import Run
from rankgauge.errors import InputError, RetrieverError, UsageError
from rankgauge.io.reading import read_run
from rankgauge.retrieval.base import Questions
from rankgauge.retrieval.decisions import Decisions
from rankgauge.retrieval.engines.callables import Called
from rankgauge.retrieval.engines.gate import Gated
from rankgauge.retrieval.fetch.fetch import fetch
from rankgauge.retrieval.fetch.journal import Journal
from rankgauge.retrieval.fetch.latency import Latency, measure_latency

ASKED = Questions.of({f"q{number}": f"text {number}" if number % 4 else "" for number in range(30)})


class Failing(Exception):
    pass


class Counting:
    """Answers, counts, and fails when it is told to."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.calls, self.fail_at = 0, fail_at

    def search(self, text: str) -> list[tuple[str, float]]:
        self.calls += 1
        if self.calls == self.fail_at:
            raise Failing
        number = len(text)
        return [] if not text else [(f"d{(number * place) % 13}-{place}", 1 / (place + 1)) for place in range(5)]


def made(counting: Counting) -> Called:
    return Called(counting.search, name="counting")


def whole(tmp_path: Path) -> bytes:
    fetch(made(Counting()), ASKED, tmp_path / "whole.trec", k=3)
    return (tmp_path / "whole.trec").read_bytes()


def test_a_run_has_the_queries_in_their_order_and_ranks_from_one(tmp_path: Path) -> None:
    lines = [line.split() for line in whole(tmp_path).decode().splitlines()]
    assert [line[0] for line in lines] == [
        q for q, t in zip(ASKED.ids.to_text(), ASKED.texts, strict=True) if t for _ in "123"
    ]
    assert [line[3] for line in lines[:4]] == ["1", "2", "3", "1"]
    assert {line[5] for line in lines} == {"counting"}
    assert len(read_run(tmp_path / "whole.trec")) == len(lines)
    assert not list(tmp_path.glob("*.journal"))


def test_what_is_returned_is_what_was_written(tmp_path: Path) -> None:
    done = fetch(made(Counting()), ASKED, tmp_path / "r", k=3, tag="mine")
    written = read_run(tmp_path / "r")
    assert (done.run.name, written.name) == ("mine", "mine")
    assert list(done.run.docs) == list(written.docs)
    assert done.run.scores.tolist() == written.scores.tolist()
    assert len(done.run.queries) == 30  # those without an answer too
    with pytest.raises(InputError, match="must be one word"):
        fetch(made(Counting()), ASKED, tmp_path / "r", tag="two words")


@pytest.mark.parametrize("batch", [1, 2, 7, 64])
@pytest.mark.parametrize("fail_at", [1, 2, 9, 30])
def test_stopped_anywhere_and_started_again_it_writes_the_same_bytes(tmp_path: Path, batch: int, fail_at: int) -> None:
    expected = whole(tmp_path)
    out = tmp_path / "run.trec"
    with pytest.raises(RetrieverError, match="counting failed: Failing"):
        fetch(made(Counting(fail_at)), ASKED, out, k=3, batch=batch)
    assert not out.exists()
    again = Counting()
    done = fetch(made(again), ASKED, out, k=3, batch=5)
    assert out.read_bytes() == expected
    assert done.resumed == fail_at - 1  # a function is asked one by one, whatever the batch
    assert again.calls == 30 - done.resumed


@pytest.mark.parametrize("torn", [1, 10, 40])
def test_a_torn_last_line_is_dropped(tmp_path: Path, torn: int) -> None:
    expected = whole(tmp_path)
    out, journal = tmp_path / "run.trec", tmp_path / "run.trec.journal"
    with pytest.raises(RetrieverError, match="counting failed: Failing"):
        fetch(made(Counting(12)), ASKED, out, k=3, batch=1)
    journal.write_bytes(journal.read_bytes()[:-torn])
    done = fetch(made(Counting()), ASKED, out, k=3)
    assert done.resumed < 11
    assert out.read_bytes() == expected


def test_a_torn_header_is_as_no_journal(tmp_path: Path) -> None:
    expected = whole(tmp_path)
    (tmp_path / "run.trec.journal").write_bytes(b'{"journal": "rankga')
    assert fetch(made(Counting()), ASKED, tmp_path / "run.trec", k=3).resumed == 0
    assert (tmp_path / "run.trec").read_bytes() == expected


def test_a_journal_of_another_fetch_is_refused_with_the_reason(tmp_path: Path) -> None:
    out = tmp_path / "run.trec"
    with pytest.raises(RetrieverError, match="counting failed: Failing"):
        fetch(made(Counting(12)), ASKED, out, k=3, batch=1)
    with pytest.raises(InputError, match="belongs to another fetch: k was '3' and is '4'"):
        fetch(made(Counting()), ASKED, out, k=4)
    other = Called(Counting().search, name="counting", version="2")
    with pytest.raises(InputError, match=r"retriever\.version was '' and is '2'"):
        fetch(other, ASKED, out, k=3)
    assert fetch(made(Counting()), ASKED, out, k=4, restart=True).resumed == 0


def test_a_damaged_journal_is_refused(tmp_path: Path) -> None:
    out, journal = tmp_path / "run.trec", tmp_path / "run.trec.journal"
    with pytest.raises(RetrieverError, match="counting failed: Failing"):
        fetch(made(Counting(12)), ASKED, out, k=3, batch=1)
    lines = journal.read_bytes().split(b"\n")
    lines[3] = b'{"query": "q2"}'
    journal.write_bytes(b"\n".join(lines))
    with pytest.raises(InputError, match=":4: damaged"):
        fetch(made(Counting()), ASKED, out, k=3)
    journal.write_bytes(b"something else\n")
    with pytest.raises(InputError, match="its first line is no header"):
        fetch(made(Counting()), ASKED, out, k=3)


def test_a_process_that_is_killed_loses_nothing_that_it_had(tmp_path: Path) -> None:
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
        command = ["-m", "rankgauge", "runs", "fetch", "--mode", "slow_search_module:search", "--queries", "q.jsonl"]
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
    with Journal(tmp_path / "r.journal", {}), pytest.raises(InputError, match="another process is fetching into it"):
        fetch(made(Counting()), ASKED, tmp_path / "r")


def test_decisions_survive_a_stop(tmp_path: Path) -> None:
    def gated(fail_at: int | None, decisions: Decisions) -> Gated:
        return Gated(made(Counting(fail_at)), "words>=1", decisions=decisions)

    first, second = Decisions(), Decisions()
    with pytest.raises(RetrieverError, match="counting failed: Failing"):
        fetch(gated(9, first), ASKED, tmp_path / "r", k=3, batch=1, decisions=first)
    done = fetch(gated(None, second), ASKED, tmp_path / "r", k=3, decisions=second)
    assert [query for query, noted in done.decisions.items() if noted["skipped"]] == [f"q{n}" for n in range(0, 30, 4)]


def test_a_retriever_that_answers_other_queries_is_refused(tmp_path: Path) -> None:
    class Wrong:
        name = "wrong"

        def retrieve(self, queries: Questions, k: int) -> Run:
            return Run.from_lists({"other": ["a"]})

        def identity(self) -> dict[str, str]:
            return {}

    with pytest.raises(InputError, match="answered other queries"):
        fetch(Wrong(), ASKED, tmp_path / "r")


def test_ids_that_a_trec_file_cannot_hold_are_refused_before_the_work(tmp_path: Path) -> None:
    counting = Counting()
    with pytest.raises(InputError, match="query id 'q 1' has white space"):
        fetch(made(counting), Questions(Ids.from_text(["q 1"]), ["x"]), tmp_path / "r")
    assert counting.calls == 0
    with pytest.raises(InputError, match="document id 'd 1' has white space"):
        fetch(Called(lambda text: ["d 1"], name="s"), ASKED, tmp_path / "r")


def test_progress_says_how_many_are_done(tmp_path: Path) -> None:
    said: list[tuple[int, int]] = []
    fetch(made(Counting()), ASKED, tmp_path / "r", batch=8, progress=lambda done, total, _: said.append((done, total)))
    assert said == [(done, 30) for done in range(1, 31)]  # a function is asked one by one


def test_an_input_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("precious")
    with pytest.raises(InputError, match="would overwrite the input"):
        fetch(made(Counting()), ASKED, tmp_path / "corpus", inputs=[tmp_path / "corpus"])
    assert (tmp_path / "corpus").read_text() == "precious"
    with pytest.raises(UsageError, match="at least 1"):
        fetch(made(Counting()), ASKED, tmp_path / "r", k=0)


def test_latency_is_measured_one_query_at_a_time() -> None:
    counting = Counting()
    found = measure_latency(made(counting), ASKED, 3, calls=40, warm=5)
    assert counting.calls == 45
    assert found.calls == 40
    assert found.p50 is not None
    assert found.p99 is not None
    assert 0 <= found.p50 <= found.p99
    assert Latency().to_dict() == {"unit": "ms", "calls": 0, "p50": None, "p95": None, "p99": None}
    assert str(Latency()) == "latency was not measured"
    with pytest.raises(UsageError, match="at least one call"):
        measure_latency(made(counting), ASKED, 3, calls=0)
