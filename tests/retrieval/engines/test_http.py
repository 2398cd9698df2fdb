"""A server over HTTP: what is sent, what is read, and what a hostile answer does."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import evaluate_retriever
from rankgauge.benchmark.folder import MANIFEST
from rankgauge.config.json_paths import PathNotFound
from rankgauge.config.retriever_settings import HTTP_TIMEOUT, RetrieverCalls
from rankgauge.config.servers import HttpSection
from rankgauge.core.settings import declared
from rankgauge.errors import InputError, RetrieverError, UsageError
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.engines.http import AnswerReader, HttpEngine
from rankgauge.retrieval.engines.http_client import HttpFailure, HttpTimeout, shown_url
from rankgauge.retrieval.fetch import FetchOptions, fetch_run
from rankgauge.retrieval.open_retriever import open_retriever
from rankgauge.retrieval.retriever import QueryBatch
from rankgauge.secrets import mask_secrets
from tests.retrieval.engines.loopback import Reply, Request, serving

pytest.importorskip("httpx")

HITS = {"hits": [{"id": "a", "score": 2.5, "text": "first"}, {"id": 7, "score": 1, "text": "second"}]}
READ = {"results": "hits", "id": "id", "score": "score"}


def ask(
    reply: Reply | Callable[[Request], Reply], query: str = "bread", timeout: float | None = None, **section: Any
) -> Any:
    """What an engine returns for one query to a server with this reply."""
    with serving(reply if callable(reply) else lambda request: reply) as address:
        engine = HttpEngine({"url": address, **READ, **section}, timeout=timeout)
        return engine.search(query, 5)


def sent(query: str = "bread", path: str = "", **section: Any) -> Request:
    """What a server received."""
    requests: list[Request] = []

    def answer(request: Request) -> Reply:
        requests.append(request)
        return Reply(HITS)

    with serving(answer) as address:
        engine = HttpEngine({"url": address + path, **READ, **section})
        engine.search(query, 5)
    return requests[0]


def test_results_are_pairs_of_id_and_score_in_the_order_of_the_answer() -> None:
    assert ask(Reply(HITS)) == [("a", 2.5), (7, 1)]
    assert ask(Reply(HITS), score=None) == ["a", 7]
    (first, score), _ = ask(Reply(HITS), text="text")
    assert (first.id, first.raw_text, score) == ("a", "first", 2.5)


def test_ids_and_scores_may_be_lists_of_their_own() -> None:
    columns = {"ids": [["a", "b"]], "distances": [[0.1, 0.2]]}
    paths: dict[str, Any] = {"results": None, "id": "ids[0][*]", "score": "distances[0][*]"}
    assert ask(Reply(columns), **paths) == [("a", 0.1), ("b", 0.2)]
    with pytest.raises(HttpFailure, match=r"distances\[0\]\[\*\] has 1 values, ids\[0\]\[\*\] has 2"):
        ask(Reply({"ids": [["a", "b"]], "distances": [[0.1]]}), **paths)
    assert ask(Reply(HITS), results=None, id="$.hits[*].id", score=None) == ["a", 7]


def test_a_request_has_the_query_and_k_where_the_configuration_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_TEST", "sesame-1234")
    request = sent(
        'a/b?c# "d" & {k}\n',
        "/find/{query}?n={k}",
        params={"q": "{query}", "size": "{k}", "exact": True},
        headers={"Authorization": "Bearer ${TOKEN_OF_TEST}"},
    )
    assert (request.method, request.body) == ("GET", None)
    encoded = "a%2Fb%3Fc%23%20%22d%22%20%26%20%7Bk%7D%0A"
    assert request.path == f"/find/{encoded}?n=5&q={encoded.replace('%20', '+')}&size=5&exact=true"
    assert request.headers["authorization"] == "Bearer sesame-1234"
    request = sent('br"ead', body={"query": "{query}", "size": "{k}", "note": "k is {k}", "t": "${TOKEN_OF_TEST}"})
    assert (request.method, request.headers["content-type"]) == ("POST", "application/json")
    assert request.body == {"query": 'br"ead', "size": 5, "note": "k is 5", "t": "sesame-1234"}
    assert sent(method="PUT", body={}).method == "PUT"


@given(st.text(st.sampled_from('ab"{}$\\\n\0é😀\udcff')))
def test_any_query_reaches_the_server_as_it_is(query: str) -> None:
    body = HttpEngine({"url": "http://x", **READ, "body": ["{query}", {"a": "<{query}>"}]})._request.fill(
        {"query": query}
    )
    assert json.loads(json.dumps(body["body"])) == [query, {"a": f"<{query}>"}]


def test_a_vector_is_the_embedders_and_not_scaled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "embedder_of_test.py").write_text("def embed(texts):\n    return [[len(t), 2.5] for t in texts]\n")
    monkeypatch.chdir(tmp_path)
    request = sent("four", body={"vector": "{vector}"}, embedder="embedder_of_test:embed")
    assert request.body == {"vector": [4.0, 2.5]}


def test_the_identity_has_the_request_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_TEST", "sesame-1234")
    section = {
        "url": "https://me:${TOKEN_OF_TEST}@host/x",
        **READ,
        "headers": {"X-Api-Key": "${TOKEN_OF_TEST}", "Tenant": "t1"},
        "body": {"q": "{query}"},
    }
    identity = HttpEngine(section).identity()
    assert json.loads(json.dumps(identity)) == identity
    assert identity == {**section, "mode": "http", "method": "POST"}
    assert "sesame" not in repr(identity)
    assert CallableRetriever(HttpEngine(section)).identity()["source"] == identity


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_wrong_request_is_not_sent_again(status: int) -> None:
    calls: list[Request] = []

    def answer(request: Request) -> Reply:
        calls.append(request)
        return Reply({"error": "no such index"}, status)

    with serving(answer) as address:
        retriever = CallableRetriever(HttpEngine({"url": f"{address}/i", **READ}), calls=RetrieverCalls(retries=3))
        run = retriever.retrieve(QueryBatch.from_dict({"q": "bread"}), 5)
    assert len(calls) == 1
    assert run.status.tolist() == [2]


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503])
def test_a_server_that_is_busy_is_asked_again(status: int) -> None:
    replies = [Reply("busy", status, {"Retry-After": "0"}), Reply(HITS)]
    calls = RetrieverCalls(retries=1)
    with serving(lambda request: replies.pop(0)) as address:
        retriever = CallableRetriever(HttpEngine({"url": address, **READ}), calls=calls)
        run = retriever.retrieve(QueryBatch.from_dict({"q": "bread"}), 5)
    assert run.docs.to_text() == ["a", "7"]


def test_a_failure_names_the_url_the_status_and_what_the_server_says() -> None:
    with pytest.raises(HttpFailure) as caught:
        ask(Reply(b'\n  {"error": "no such index"}\nmore', 404), params={"key": "abc"})
    message = str(caught.value)
    assert message.startswith("GET http://127.0.0.1:")
    assert message.endswith(""": status 404 Not Found: '{"error": "no such index"}'""")
    assert "abc" not in message
    assert caught.value.response.status_code == 404


def test_no_message_has_a_secret_even_if_the_server_repeats_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_TEST", "sesame-1234")
    for reply in (Reply(b"unknown token sesame-1234", 401), Reply(b"<p>sesame-1234</p>"), Reply({"sesame-1234": 1})):
        with pytest.raises(HttpFailure) as caught:
            ask(reply, headers={"X-Token": "${TOKEN_OF_TEST}"})
        assert "sesame" not in str(caught.value)
    assert mask_secrets("sesame-1234!") == "…!"
    assert shown_url("https://me:pw@host:1/path?api_key=abc#x") == "https://host:1/path"


def test_redirects_are_followed_only_if_the_configuration_says_so() -> None:
    def answer(request: Request) -> Reply:
        return Reply(HITS) if request.path == "/new" else Reply(b"", 302, {"Location": "/new"})

    with pytest.raises(HttpFailure, match=r"status 302 Found to /new \(redirects: true follows it\): an empty answer"):
        ask(answer)
    assert ask(answer, redirects=True) == [("a", 2.5), (7, 1)]


def test_an_answer_that_the_configuration_does_not_allow_is_a_failure() -> None:
    require = {"timed_out": False, "shards.failed": 0}
    good = {**HITS, "timed_out": False, "shards": {"failed": 0}}
    assert ask(Reply(good), require=require) == [("a", 2.5), (7, 1)]
    for found, message in (
        ({**good, "timed_out": True}, "timed_out is true, expected false"),
        ({**good, "timed_out": 0}, "timed_out is the number '0', expected false"),
        ({**good, "shards": {"failed": 1}}, "shards.failed is the number '1', expected the number '0'"),
        (HITS, "has no 'timed_out'"),
    ):
        with pytest.raises(HttpFailure, match=message):
            ask(Reply(found), require=require)


# ------------------------------------------------------------------------------------------------ hostile answers


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<!doctype html>\n<title>Log in</title>", "expected JSON, found text/html: '<!doctype html>'"),
        (b"", "expected JSON, found text/html: an empty answer"),
        (b'{"hits": [{"id": "a"', "expected JSON"),
        (b"\xff\xfe\x00", "expected JSON"),
        (b"[" * 100_000, "expected JSON"),
        (b'{"hits": ' + b"9" * 5000 + b"}", "expected JSON"),
        (b"null", r"\$ is null, expected an object with 'hits'"),
        (b'{"error": {"type": "x"}}', r"\$ has no 'hits': it is an object with 'error'"),
        (b'{"hits": {"total": 1}}', "hits is an object with 'total', expected a list of results"),
        (b'{"hits": "none"}', "hits is the text 'none', expected a list of results"),
        (b'{"hits": [{"id": "a", "score": 1}, {"_id": "b"}]}', "id not found in result 2 of hits: .* with '_id'"),
        (b'{"hits": [null]}', "id not found in result 1 of hits: .* is null"),
    ],
)
def test_an_answer_in_another_shape_is_a_failure_of_that_query(content: bytes, message: str) -> None:
    with pytest.raises(HttpFailure, match=message):
        ask(Reply(content, headers={"Content-Type": "text/html"}))


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_an_answer_that_is_too_large_is_not_read(encoding: str) -> None:
    content = b" " * 50_000_000
    reply = Reply(gzip.compress(content, 1), headers={"Content-Encoding": "gzip"})
    with pytest.raises(HttpFailure, match=r"the answer has more than 1,000 bytes \(max_response_bytes\)"):
        ask(reply if encoding == "gzip" else Reply(content), max_response_bytes=1000)


@pytest.mark.parametrize(("section", "limit"), [({"max_response_bytes": 1000}, 1000), ({}, 16 * 1024 * 1024)])
def test_an_answer_may_have_as_many_bytes_as_the_limit_and_not_one_more(section: dict[str, Any], limit: int) -> None:
    content = json.dumps(HITS).encode()
    assert ask(Reply(content.ljust(limit)), **section) == [("a", 2.5), (7, 1)]
    with pytest.raises(HttpFailure, match=f"the answer has more than {limit:,} bytes"):
        ask(Reply(content.ljust(limit + 1)), **section)


@pytest.mark.parametrize(
    "head",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Le", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", b"SSH-2.0-x\r\n"],
)
def test_a_connection_that_ends_early_is_a_failure(head: bytes) -> None:
    with pytest.raises(HttpFailure, match="RemoteProtocolError"):
        ask(Reply(write=lambda file: file.write(head)))


def test_an_answer_that_arrives_too_slowly_is_a_timeout() -> None:
    def drip(file: Any) -> None:
        file.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
        for _ in range(200):
            file.write(b" ")
            file.flush()
            time.sleep(0.02)

    start = time.monotonic()
    with pytest.raises(HttpTimeout, match=r"no complete answer within 0\.3 s"):
        ask(Reply(write=drip), timeout=0.3)
    assert time.monotonic() - start < 2


def test_a_server_that_says_nothing_is_a_timeout() -> None:
    with pytest.raises(HttpTimeout, match=r"no complete answer within 0\.2 s"):
        ask(Reply(write=lambda file: time.sleep(1)), timeout=0.2)


def test_a_server_that_is_not_there_is_a_failure() -> None:
    with serving(lambda request: Reply(HITS)) as address:
        engine = HttpEngine({"url": address, **READ})
    with pytest.raises(HttpFailure, match=r"GET http://127\.0\.0\.1:\d+: ConnectError"):
        engine.search("bread", 5)


@pytest.mark.parametrize(
    ("name", "found"),
    [(None, "null"), ({"a": 1}, "an object with 'a'"), (1.5, "the number '1.5'"), (True, "true"), ("", "the text ''")],
)
def test_an_id_is_text_or_a_whole_number(name: Any, found: str) -> None:
    hits = [{"id": "a", "score": 1}, {"id": name, "score": 1}]
    with pytest.raises(HttpFailure, match=f"id of result 2 is {found}, expected an id: text or a whole number"):
        ask(Reply({"hits": hits}))


def test_a_score_that_is_text_is_one_clear_error() -> None:
    reply = Reply({"hits": [{"id": "a", "score": "high"}]})
    cases = [{"query": "bread", "relevant_ids": ["a"]}]
    with serving(lambda request: reply) as address, pytest.raises(InputError, match="scores='ignore'"):
        evaluate_retriever(HttpEngine({"url": address, **READ}), cases)


def test_a_score_that_is_not_a_number_leaves_the_order_to_the_list() -> None:
    cases = [{"query": "bread", "relevant_ids": ["b"]}]
    reply = Reply(b'{"hits": [{"id": "a", "score": NaN}, {"id": "b", "score": 3.0}, {"id": "c", "score": null}]}')
    with serving(lambda request: reply) as address:
        result = evaluate_retriever(HttpEngine({"url": address, **READ}), cases, measures="RR")
    assert result.run.docs.to_text() == ["a", "b", "c"]
    assert [note.code for note in result.answer_notes] == ["score-order"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["hits", "id", "score"]), inner, max_size=3)
    ),
    max_leaves=15,
)


@given(JSON)
def test_any_answer_has_results_or_is_one_kind_of_failure(document: Any) -> None:
    section = HttpSection.model_validate({"url": "http://x", **READ})
    with contextlib.suppress(PathNotFound):  # and nothing else
        results = AnswerReader(section).results(document)
        assert results == [(hit["id"], hit["score"]) for hit in document["hits"]]


# ------------------------------------------------------------------------------------------------ configuration


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({}, "expected the key 'url', or a 'template', found nothing"),
        ({"url": "ftp://x", **READ}, "expected the URL of a server"),
        ({"url": "http://x"}, "expected the key 'results'"),
        ({"url": "http://x", "id": "id"}, r"expected 'results', or a path with \[\*\], found id"),
        ({"url": "http://x", "results": "a", "id": "b[*]"}, r"expected a path within a result, without \[\*\]"),
        ({"url": "http://x", "results": "a["}, "expected an index, .* in 'results'"),
        ({"url": "http://x", **READ, "body": {"v": "{vector}"}}, "expected the key 'embedder'"),
        ({"url": "http://x", **READ, "embedder": "hashed"}, r"expected \{vector\} in the request"),
        ({"url": "http://x", **READ, "body": "{qury}"}, r"found '\{qury\}'"),
        ({"url": "http://x", **READ, "headers": {"X-Api-Key": "hunter2"}}, "as X-Api-Key, found plain text"),
        ({"url": "http://me:hunter2@x", **READ}, "as user and password, found a user in the URL"),
        ({"url": "http://x", **READ, "timeout": 3}, "expected 'timeout' beside 'http', not in it"),
        ({"url": "http://x", **READ, "settings": {"index": "a"}}, "settings without a template"),
        ({"template": "opensearch"}, "expected one of elasticsearch-bm25, .*, found 'opensearch'"),
        ({"template": "opensearch-bm25"}, "needs the setting 'index': the index to search"),
        ({"template": "opensearch-bm25", "settings": {"indx": "a"}}, "has no setting 'indx'; it has url, index"),
        ({"template": "opensearch-bm25", "settings": {"index": 3}}, "'index' must be text, found '3'"),
    ],
)
def test_a_wrong_section_is_one_clear_error_without_secrets(section: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        HttpEngine(section)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"headers": {"X-Token": "${NOT_SET_IN_TEST}"}}, "NOT_SET_IN_TEST is not set"),
        ({"headers": {"X-Token": "${LINES_OF_TEST}"}}, "'X-Token' has characters other than printable ASCII"),
        ({"url": "${LINES_OF_TEST}"}, r"url '\$\{LINES_OF_TEST\}' has a line break"),
        ({"url": "${WORD_OF_TEST}"}, r"url must be http://… or https://…, found '\$\{WORD_OF_TEST\}'"),
        ({"body": {"x": float("nan")}}, "body must be JSON"),
        ({"verify": "/nowhere/ca.pem"}, "verify: cannot read /nowhere/ca.pem"),
    ],
)
def test_what_only_the_environment_can_tell_is_an_error_before_anything_is_asked(
    section: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES_OF_TEST", "hunter2\n")
    monkeypatch.setenv("WORD_OF_TEST", "hunter2")
    with pytest.raises(UsageError, match=message) as caught:
        HttpEngine({"url": "http://x", **READ, **section})
    assert "hunter2" not in str(caught.value)


def test_a_configuration_file_gives_the_same_run_as_the_engine(tmp_path: Path, command: Callable[..., Any]) -> None:
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "bread"}\n')
    with serving(lambda request: Reply(HITS)) as address:
        (tmp_path / "http.yaml").write_text(f"http:\n  url: {address}\n  results: hits\n  score: score\n")
        done = command(
            "runs", "fetch", "--retriever", tmp_path / "http.yaml", "--queries", tmp_path / "queries.jsonl",
            "-o", tmp_path / "run.trec",
        )  # fmt: skip
    assert done.code == 0, done.err
    assert (tmp_path / "run.trec").read_text() == "q1 Q0 a 1 2.5 http\nq1 Q0 7 2 1 http\n"
    (tmp_path / "http.yaml").write_text("http:\n  url: http://x\n  result: hits\n")
    done = command("runs", "fetch", "--retriever", tmp_path / "http.yaml", "--queries", "q", "-o", tmp_path / "r")
    assert (done.code, "http.yaml:3: expected one of" in done.err) == (2, True)


def test_no_file_and_no_output_has_a_secret(
    tmp_path: Path, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fetch with a manifest, a journal that is left behind, and a benchmark; the server repeats what it gets."""
    monkeypatch.setenv("TOKEN_OF_TEST", "sesame-1234")
    for name, content in (
        ("queries.jsonl", '{"_id": "q1", "text": "bread"}\n{"_id": "q2", "text": "soup"}\n'),
        ("qrels.trec", "q1 0 a 1\nq2 0 7 1\n"),
        ("corpus.jsonl", '{"_id": "a", "text": "bread"}\n{"_id": "7", "text": "soup"}\n'),
    ):
        (tmp_path / name).write_text(content)

    def answer(request: Request) -> Reply:
        fails = "fail" in request.path and request.body["q"] == "soup"
        return Reply({"error": request.headers}, 403) if fails else Reply(HITS)

    with serving(answer) as address:
        section = (
            f"http: {{url: {address}/PATH, results: hits, headers: {{X-Api-Key: '${{TOKEN_OF_TEST}}'}}, "
            "body: {q: '{query}', t: '${TOKEN_OF_TEST}'}}"
        )
        (tmp_path / "good.yaml").write_text(section.replace("PATH", "good"))
        (tmp_path / "fail.yaml").write_text(section.replace("PATH", "fail"))
        retrievers = "".join(f"  {name}: {{{section.replace('PATH', name)}}}\n" for name in ("good", "fail"))
        files = "collection: {corpus: corpus.jsonl, queries: queries.jsonl, qrels: qrels.trec}\n"
        (tmp_path / "rankgauge.yaml").write_text(f"{files}retrievers:\n{retrievers}benchmark: {{latency: 0}}\n")
        outcomes = [
            command(
                "runs", "fetch", "--retriever", tmp_path / f"{name}.yaml", "--queries", tmp_path / "queries.jsonl",
                "-o", tmp_path / f"{name}.trec", "--manifest", tmp_path / f"{name}.json",
            )
            for name in ("good", "fail")
        ]  # fmt: skip
        outcomes.append(command("benchmark", "run", tmp_path / "rankgauge.yaml", "-o", tmp_path / "report"))
    assert [outcome.code for outcome in outcomes] == [0, 1, 2], [outcome.err for outcome in outcomes]
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"good.json", "fail.trec.journal", MANIFEST} <= {path.name for path in written}
    assert [path for path in written if b"sesame" in path.read_bytes()] == []
    assert not any("sesame" in outcome.out + outcome.err for outcome in outcomes)
    assert "${TOKEN_OF_TEST}" in (tmp_path / "good.json").read_text()


def test_a_file_of_certificates_is_found_from_the_folder_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "http.yaml").write_text("http: {url: https://x, results: hits, verify: certificates.pem}\n")
    with pytest.raises(UsageError, match=re.escape(f"verify: cannot read {tmp_path / 'certificates.pem'}: ")):
        open_retriever(str(tmp_path / "http.yaml"))


def test_failed_queries_end_a_fetch_with_the_reason_of_the_server(tmp_path: Path) -> None:
    queries = QueryBatch.from_dict({"q1": "bread", "q2": "soup"})
    with serving(lambda request: Reply({"error": "closed"}, 403)) as address:
        retriever = CallableRetriever(HttpEngine({"url": address, **READ}), name="http")
        with pytest.raises(RetrieverError, match=r"q1: HttpFailure: GET .*: status 403 Forbidden: .*closed"):
            fetch_run(retriever, queries, tmp_path / "run", options=FetchOptions())


def test_the_guide_and_the_help_state_the_default_timeout() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "http.md").read_text(encoding="utf-8")
    assert f"Without it, a query may take {HTTP_TIMEOUT:g} seconds." in guide
    assert f"[default: {HTTP_TIMEOUT:g} over HTTP, " in declared(RetrieverCalls)["timeout"].setting.help
