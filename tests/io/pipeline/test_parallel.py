"""Several runs read by threads: the same joins, warnings and errors as one after the other."""

from __future__ import annotations

import gzip
import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, Reading, evaluate_runs
from rankgauge.core.hits import Joined
from rankgauge.io.formats import text_blocks
from rankgauge.io.pipeline import parallel
from rankgauge.io.pipeline.joining import join_any
from rankgauge.io.pipeline.parallel import MAX_THREADS, MIN_BYTES_PER_RUN, thread_count

QRELS = {f"q{n}": {"a": 2, "b": 1, "c": 0} for n in range(20)}
LARGE = MIN_BYTES_PER_RUN


@pytest.fixture
def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several runs are read by threads, however small they are."""
    monkeypatch.setattr(parallel, "MIN_BYTES_PER_RUN", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Runs in several formats; the readers of some warn, and the last ones have scattered queries."""
    rows = [(f"q{n}", doc, 10 - rank - n % 3) for n in range(20) for rank, doc in enumerate("xacb")]
    trec = [f"{query} Q0 {doc} {-score} {score}" for query, doc, score in rows]
    texts = {
        "plain": "".join(f"{line} plain\n" for line in trec),
        "seven": "".join(f"{line} seven columns\n" for line in trec),
        "commas": "query_id,doc_id,score\n" + "".join(f"{query},{doc},{score}\n" for query, doc, score in rows),
        "two": "run,query_id,doc_id,score\n"
        + "".join(f"{tag},{query},{doc},{score}\n" for tag in ("one", "two") for query, doc, score in rows),
        "marked": "\ufeff" + "".join(f"{line} marked\n" for line in trec),
        "scattered": "".join(f"{line} scattered\n" for line in sorted(trec, key=lambda line: line[::-1])),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "packed").write_bytes(gzip.compress(texts["plain"].encode()))
    return [*(tmp_path / name for name in texts), tmp_path / "packed"]


def outcome(runs: list[Path], **options: Any) -> tuple[Any, list[str]]:
    """The scores of runs or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            evaluation = evaluate_runs(QRELS, runs, "nDCG@10 AP", reading=Reading(fingerprint=True, **options))
            result: Any = [scores.to_dict(per_query=True) for scores in evaluation.scores]
        except InputError as error:
            result = str(error)
    return result, [str(warning.message) for warning in caught]


def test_threads_give_the_scores_and_the_warnings_of_reading_in_turn(in_threads: None, runs: list[Path]) -> None:
    expected, messages = outcome(runs, parallel=False)
    assert len(expected) == len(runs) + 1
    assert len(messages) >= 2
    assert outcome(runs) == (expected, messages)


@pytest.mark.parametrize("broken", [(0,), (3,), (2, 4), (6,)])
def test_threads_raise_the_first_error_in_order_after_the_warnings_before_it(
    in_threads: None, runs: list[Path], broken: tuple[int, ...]
) -> None:
    for index in broken:
        runs[index].write_text("q1 Q0 a 1 1 tag more\nq1 Q0 b 2 x tag more\n")
    expected, messages = outcome(runs, parallel=False)
    assert f"{runs[broken[0]]}:2: expected a number as score" in expected
    assert outcome(runs) == (expected, messages)


def test_a_warning_that_a_filter_makes_an_error_is_raised_from_threads(in_threads: None, runs: list[Path]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=r"seven:1: expected 6 columns .*, found 7"):
            evaluate_runs(QRELS, runs, "AP")


def test_an_error_that_is_a_bug_is_raised_from_threads_as_it_is(in_threads: None, runs: list[Path]) -> None:
    with pytest.raises(AttributeError):
        evaluate_runs(QRELS, runs, "AP", reading=Reading(limits=None))  # type: ignore[arg-type]  # a bug


def test_progress_is_reported_by_the_callers_thread_up_to_the_size_of_all_files(
    in_threads: None, runs: list[Path]
) -> None:
    reports: list[tuple[int, int, str]] = []

    def progress(position: int, total: int) -> None:
        reports.append((position, total, threading.current_thread().name))

    size = sum(run.stat().st_size for run in runs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluate_runs(QRELS, runs, "AP", reading=Reading(progress=progress))
    assert {name for *_, name in reports} == {threading.current_thread().name}
    assert reports[-1][:2] == (size, size)


@contextmanager
def default_interrupts() -> Iterator[None]:
    """A shell that starts the tests in the background ignores interrupts."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def test_an_interrupt_ends_all_threads_within_a_block(
    in_threads: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 64)
    paths = [tmp_path / f"run{n}" for n in range(8)]
    for path in paths:
        path.write_text("".join(f"q{n} Q0 a 1 1 tag\n" for n in range(1000)))
    blocks: list[str] = []
    original = join_any

    def slow(qrels: Any, run: Any, reading: Any, compat: Any, progress: Any) -> list[Joined]:
        def slow_progress(position: int) -> None:
            blocks.append(str(run))
            if len(blocks) == 5:
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.02)
            progress(position)

        return original(qrels, run, reading, compat, slow_progress)

    monkeypatch.setattr(parallel, "join_any", slow)
    with default_interrupts(), pytest.raises(KeyboardInterrupt):
        evaluate_runs(QRELS, paths, "AP")
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("rankgauge-reader")]
    assert len(blocks) < 100
    assert set(blocks) <= set(map(str, paths[:3]))


@pytest.mark.parametrize(
    ("sizes", "cores", "expected"),
    [
        ([], 2, 1),
        ([LARGE], 2, 1),
        ([LARGE, LARGE], 1, 1),
        ([LARGE, LARGE], 2, 2),
        ([LARGE, LARGE - 1], 2, 1),
        ([LARGE] * 100, 64, MAX_THREADS),
        ([LARGE] * 3, 64, 3),
        ([LARGE // 8] * 1000, 64, 1),
        ([1] * 1000 + [LARGE] * 2, 64, 2),
        ([LARGE, LARGE, 0], 64, 1),
    ],
    ids=[
        "nothing",
        "one run",
        "one core",
        "two large runs",
        "one of two is large",
        "a hundred large runs",
        "three large runs",
        "a thousand small runs",
        "two large runs among small ones",
        "something that is not a file",
    ],
)
def test_the_number_of_threads_follows_from_the_bytes_of_each_run(sizes: list[int], cores: int, expected: int) -> None:
    assert thread_count(sizes, cores) == expected


def test_threads_share_the_memory_that_one_run_may_use(
    in_threads: None, runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[int] = []
    original = join_any

    def noting(qrels: Any, run: Any, reading: Reading, *more: Any) -> list[Joined]:
        budgets.append(reading.memory)
        return original(qrels, run, reading, *more)

    monkeypatch.setattr(parallel, "join_any", noting)
    outcome(runs, memory=3_000_000)
    assert set(budgets) == {1_000_000}
