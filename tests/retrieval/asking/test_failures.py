"""Retries wait longer and longer, and as long as a server asks for."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.message import Message
from email.utils import formatdate
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError

import pytest

from rankgauge import evaluate_retriever
from rankgauge.rag import RetrieverCalls
from rankgauge.retrieval.asking.failures import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    LONGEST_RETRY_AFTER,
    pause_before_retry,
    retry_after,
)
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.fetch import fetch_run
from rankgauge.retrieval.retriever import QueryBatch


def error_with(**attributes: Any) -> Exception:
    error = OSError("busy")
    for name, value in attributes.items():
        setattr(error, name, value)
    return error


def http_error(seconds: str) -> HTTPError:
    headers = Message()
    headers["Retry-After"] = seconds
    return HTTPError("http://index", 429, "busy", headers, None)


def test_each_pause_is_about_twice_as_long_and_never_longer_than_the_longest() -> None:
    for attempt in range(1, 12):
        longest = min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)
        found = [pause_before_retry(f"query {number}", attempt, OSError()) for number in range(200)]
        assert all(pause is not None and longest / 2 <= pause <= longest for pause in found)
        assert len(set(found)) == 200  # concurrent calls do not return all at once
    assert pause_before_retry("q", 3, OSError()) == pause_before_retry("q", 3, ValueError("other"))


@pytest.mark.parametrize(
    "holder",
    [
        lambda status: error_with(status_code=status),
        lambda status: error_with(response=SimpleNamespace(status_code=status)),
        lambda status: error_with(__cause__=error_with(response=SimpleNamespace(status_code=status))),
        lambda status: HTTPError("http://index", status, "no", Message(), None),
    ],
)
def test_a_request_that_is_wrong_is_not_sent_again(holder: Callable[[int], Exception]) -> None:
    for status in range(400, 500):
        is_temporary = status in (408, 425, 429)
        assert (pause_before_retry("q", 1, holder(status)) is not None) == is_temporary, status
    for status in (200, 301, 500, 502, 503, 599):
        assert pause_before_retry("q", 1, holder(status)) is not None, status


def test_a_status_that_is_not_of_http_says_nothing() -> None:
    for status in ("404", 404.0, None, lambda: 404):
        assert pause_before_retry("q", 1, error_with(status_code=status, status=status)) is not None


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (error_with(retry_after=7), 7.0),
        (error_with(headers={"retry-after": "2.5"}), 2.5),
        (error_with(response=SimpleNamespace(headers={"Retry-After": "3"})), 3.0),
        (http_error("12"), 12.0),
        (error_with(__cause__=http_error("4")), 4.0),
        (error_with(__cause__=error_with(response=SimpleNamespace(headers={"Retry-After": "5"}))), 5.0),
        (error_with(headers={"Retry-After": "soon"}), None),
        (error_with(headers={"Content-Type": "text/html"}), None),
        (error_with(retry_after=-1), 0.0),
        (error_with(retry_after=True), None),
        (error_with(response=None), None),
        (OSError(), None),
    ],
)
def test_the_pause_that_a_server_asks_for_is_found(error: Exception, seconds: float | None) -> None:
    assert retry_after(error) == seconds


def test_a_date_counts_from_now() -> None:
    found = retry_after(error_with(headers={"Retry-After": formatdate(time.time() + 30, usegmt=True)}))
    assert found is not None
    assert 25 < found <= 31
    assert retry_after(error_with(headers={"Retry-After": formatdate(0, usegmt=True)})) == 0


def test_the_pause_of_the_server_is_kept_and_one_that_is_too_long_ends_the_retries() -> None:
    assert pause_before_retry("q", 1, error_with(retry_after=20)) == 20
    assert pause_before_retry("q", 9, error_with(retry_after=0.001)) == pause_before_retry("q", 9, OSError())
    assert pause_before_retry("q", 1, error_with(retry_after=3600)) is None


@pytest.mark.parametrize("path", ["live", "fetch"])
def test_both_paths_wait_and_give_up_alike(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("rankgauge.retrieval.asking.calls.time.sleep", slept.append)
    attempts: list[str] = []

    def busy(query: str) -> list[str]:
        attempts.append(query)
        if query == "for long":
            raise error_with(retry_after=LONGEST_RETRY_AFTER + 1)
        if attempts.count(query) < 3:
            raise error_with(retry_after=attempts.count(query))
        return ["a"]

    calls, queries = RetrieverCalls(retries=4), ["for a moment", "for long"]
    if path == "live":
        cases = [{"id": query, "query": query, "relevant_ids": ["a"]} for query in queries]
        failures = evaluate_retriever(busy, cases, calls=calls, max_failures=None).failures
        assert failures == {"for long": "OSError: busy"}
    else:
        batch = QueryBatch.from_dict({f"q{number}": query for number, query in enumerate(queries)})
        run = CallableRetriever(busy, calls=calls).retrieve(batch, 5)
        assert run.status.tolist() == [0, 2]
        with pytest.raises(Exception, match="1 of 2 queries failed, at most 0 may fail:\n  q1: OSError: busy"):
            fetch_run(CallableRetriever(busy, calls=calls), batch, tmp_path / "run")
        attempts = [*queries[:1] * 3, *queries[1:]]
    assert slept == [1.0, 2.0]
    assert attempts == ["for a moment"] * 3 + ["for long"]
