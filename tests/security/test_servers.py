"""What a hostile or broken server over HTTP can do: nothing but fail, once, with one clear message.

What must hold: a server gets nothing before its certificate is checked, and no header, token or body that was meant for
another one; it ends no later than the timeout says and takes no more memory than its limit; a value of the environment
cannot add a header; and what a server refuses is not sent to it for every query.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate_retriever
from rankgauge.errors import InputError, RetrieverError, UsageError
from rankgauge.rag import RetrieverCalls
from rankgauge.retrieval import CallableRetriever, FetchOptions, QueryBatch, fetch_run
from rankgauge.retrieval.engines.http import HttpEngine
from rankgauge.retrieval.engines.http_client import HttpFailure, HttpTimeout, NotDecoded, TooLarge, decoded
from tests.labels.pools import pool_file
from tests.retrieval.engines.loopback import Reply, Request, serving

pytest.importorskip("httpx")

HITS = {"hits": [{"id": "a", "score": 2.5}]}
READ = {"results": "hits", "id": "id", "score": "score"}
CASES = [{"id": f"q{number}", "query": f"text {number}", "relevant_ids": ["a"]} for number in range(40)]
QUERIES = QueryBatch.from_dict({str(case["id"]): str(case["query"]) for case in CASES})

# A key that only this test uses, and certificates of it that are valid until 2100, expired, and of another host.
KEY = """
-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIN+qtc1T4LBrIXX/EyQjIOSFwlC4nSr0O1IEKBLQNKsDoAoGCCqGSM49
AwEHoUQDQgAEmNBJnFtfgKsV/325xKFiXHCcuge7Erd/02bGvt7x6nhJNjiDuJ5C
AsyiuIxf1xN4N3TH5tHonvTIkPqtfe5XVw==
-----END EC PRIVATE KEY-----
"""
CERTIFICATES = {
    "unknown": """
-----BEGIN CERTIFICATE-----
MIIBXTCCAQKgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAkxMjcuMC4w
LjEwIBcNMDAwMTAxMDAwMDAwWhgPMjEwMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CTEyNy4wLjAuMTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJjQSZxbX4CrFf99
ucShYlxwnLoHuxK3f9Nmxr7e8ep4STY4g7ieQgLMoriMX9cTeDd0x+bR6J70yJD6
rX3uV1ejQzBBMA8GA1UdEQQIMAaHBH8AAAEwDwYDVR0TAQH/BAUwAwEB/zAdBgNV
HQ4EFgQUFwIvAs7rT+F/rFEYccFBPqdJ2u4wCgYIKoZIzj0EAwIDSQAwRgIhANzj
lqp3KqfwCzr3qncT6SQWiXerodVr71arWXGqXvuRAiEAg4EHr5vvMtToa3PZ7RV/
tMAlorkndCgNyLkwTzUZzi4=
-----END CERTIFICATE-----
""",
    "expired": """
-----BEGIN CERTIFICATE-----
MIIBWjCCAQCgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAkxMjcuMC4w
LjEwHhcNMDAwMTAxMDAwMDAwWhcNMDEwMTAxMDAwMDAwWjAUMRIwEAYDVQQDDAkx
MjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASY0EmcW1+AqxX/fbnE
oWJccJy6B7sSt3/TZsa+3vHqeEk2OIO4nkICzKK4jF/XE3g3dMfm0eie9MiQ+q19
7ldXo0MwQTAPBgNVHREECDAGhwR/AAABMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0O
BBYEFBcCLwLO60/hf6xRGHHBQT6nSdruMAoGCCqGSM49BAMCA0gAMEUCIQC7GrtE
+HFoJ1230nWfbLwTWsdOtah0Jn9Ks0RFCpUmrAIgFF68/bKdfXKbgHanzUZzVXXY
JtF+DgnZZUUI+sKKOKo=
-----END CERTIFICATE-----
""",
    "other": """
-----BEGIN CERTIFICATE-----
MIIBaTCCAQ+gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAkxMjcuMC4w
LjEwIBcNMDAwMTAxMDAwMDAwWhgPMjEwMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CTEyNy4wLjAuMTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJjQSZxbX4CrFf99
ucShYlxwnLoHuxK3f9Nmxr7e8ep4STY4g7ieQgLMoriMX9cTeDd0x+bR6J70yJD6
rX3uV1ejUDBOMBwGA1UdEQQVMBOCEWVsc2V3aGVyZS5leGFtcGxlMA8GA1UdEwEB
/wQFMAMBAf8wHQYDVR0OBBYEFBcCLwLO60/hf6xRGHHBQT6nSdruMAoGCCqGSM49
BAMCA0gAMEUCIQCZnd6/ZZYTjMtk6wQHa5xCbOqKB4X1zX9k+gKQodYjbQIgGDqz
mqsMcPSRawaltwZ8q2RJGdo8nRwpwS6uZ/H1+2s=
-----END CERTIFICATE-----
""",
}


# ------------------------------------------------------------------------------------------------ certificates


@contextlib.contextmanager
def secure_server(folder: Path, certificate: str) -> Iterator[tuple[str, list[bytes]]]:
    """The address of a server with a certificate, and what it received after the handshake."""
    (folder / "server.pem").write_text(KEY + CERTIFICATES[certificate])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)

        def serve() -> None:
            with contextlib.suppress(OSError):  # the block has ended
                while True:
                    connection, _ = server.accept()
                    connection.settimeout(5)
                    with connection, contextlib.suppress(OSError):
                        secure = context.wrap_socket(connection, server_side=True)
                        received.append(secure.recv(1 << 16))
                        body = json.dumps(HITS).encode()
                        secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                        secure.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"https://127.0.0.1:{server.getsockname()[1]}", received
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize(
    ("certificate", "trusted", "reason"),
    [
        ("unknown", None, "self-signed certificate"),
        ("expired", "expired", "certificate has expired"),
        ("other", "other", "IP address mismatch"),
    ],
)
def test_a_server_whose_certificate_is_not_valid_gets_nothing_and_is_asked_a_few_times_only(
    certificate: str, trusted: str | None, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_OF_TEST", "sesame-1234")
    (tmp_path / "trusted.pem").write_text(CERTIFICATES.get(trusted or "", ""))
    with secure_server(tmp_path, certificate) as (address, received):
        section: dict[str, Any] = {"url": address, **READ, "headers": {"X-Token": "${TOKEN_OF_TEST}"}}
        engine = HttpEngine({**section, "verify": True if trusted is None else str(tmp_path / "trusted.pem")})
        with pytest.raises(HttpFailure, match=f"certificate of the server is not valid: .*{reason}"):
            engine.search("bread", 5)
        with pytest.raises(RetrieverError, match=r"the last 5 calls were refused \(certificate\)") as caught:
            evaluate_retriever(engine, CASES, calls=RetrieverCalls(retries=3), max_failures=None)
        assert "hint: check the certificate of the server, its host name" in str(caught.value)
        assert received == []
        assert HttpEngine({**section, "verify": False}).search("bread", 5) == [("a", 2.5)]
        assert len(received) == 1


def test_a_certificate_that_is_named_is_trusted(tmp_path: Path) -> None:
    (tmp_path / "trusted.pem").write_text(CERTIFICATES["unknown"])
    with secure_server(tmp_path, "unknown") as (address, received):
        engine = HttpEngine({"url": address, **READ, "verify": str(tmp_path / "trusted.pem")})
        assert engine.search("bread", 5) == [("a", 2.5)]
    assert len(received) == 1


# ------------------------------------------------------------------------------------------------ the environment


@pytest.mark.parametrize(
    "value", ["hunter2\r\nX-Admin: 1", "hunter2\n", "hunter2\0", "hunter2\x7f", " hunter2", "hünter2"]
)
@pytest.mark.parametrize("place", ["header", "url", "path"])
def test_a_value_of_the_environment_adds_no_header_and_is_not_shown(
    value: str, place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: Callable[..., Any]
) -> None:
    """Whatever HTTP does not allow is refused before anything is sent; a path may have letters of any language."""
    if "\0" in value:
        monkeypatch.setattr("os.environ", {"VALUE_OF_TEST": value, "HOME": str(tmp_path)})  # which no system allows
    else:
        monkeypatch.setenv("VALUE_OF_TEST", value)
    requests: list[Request] = []

    def answer(request: Request) -> Reply:
        requests.append(request)
        return Reply(HITS)

    with serving(answer) as address:
        host = address.removeprefix("http://")
        sections: dict[str, dict[str, Any]] = {
            "header": {"url": address, "headers": {"X-Token": "${VALUE_OF_TEST}"}},
            "url": {"url": f"http://${{VALUE_OF_TEST}}@{host}/"},
            "path": {"url": f"{address}/${{VALUE_OF_TEST}}"},
        }
        section = sections[place]
        if place != "header" and value.isprintable() and " " not in value:
            HttpEngine({**section, **READ})
            return
        with pytest.raises(UsageError) as caught:
            HttpEngine({**section, **READ})
        (tmp_path / "http.yaml").write_text(json.dumps({"http": {**section, **READ}}))
        (tmp_path / "cases.jsonl").write_text('{"query": "bread", "relevant_ids": ["a"]}\n')
        outcome = command("evaluate", tmp_path / "cases.jsonl", tmp_path / "http.yaml")
    assert outcome.code == 64
    assert requests == []
    assert "nter2" not in str(caught.value) + outcome.out + outcome.err
    assert "check the environment variables in it" in outcome.err


def test_the_name_of_a_header_adds_no_header() -> None:
    with pytest.raises(UsageError, match="is not the name of a header"):
        HttpEngine({"url": "http://127.0.0.1:9", **READ, "headers": {"X-A: 1\r\nX-B": "2"}})


# ------------------------------------------------------------------------------------------------ redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_configured_header_goes_to_another_origin(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_TEST", "sesame-1234")
    here: list[Request] = []
    elsewhere: list[Request] = []

    def answer_elsewhere(request: Request) -> Reply:
        elsewhere.append(request)
        return Reply(HITS)

    with serving(answer_elsewhere) as other:

        def answer(request: Request) -> Reply:
            here.append(request)
            target = "/second" if request.path == "/first" else f"{other}/third"
            return Reply(b"", status, {"Location": target, "Set-Cookie": "session=sesame-1234"})

        with serving(answer) as address:
            headers = {
                "X-Api-Key": "${TOKEN_OF_TEST}",
                "Authorization": "Bearer ${TOKEN_OF_TEST}",
                "Tenant": "sesame-1",
            }
            section = {"url": f"{address}/first", **READ, "headers": headers, "body": {"q": "{query}"}}
            assert HttpEngine({**section, "redirects": True}).search("bread", 5) == [("a", 2.5)]
    assert [request.headers["x-api-key"] for request in here] == ["sesame-1234"] * 2  # the same origin, twice
    assert len(elsewhere) == 1
    assert not {"x-api-key", "authorization", "tenant"} & set(elsewhere[0].headers)
    assert "sesame" not in repr(elsewhere[0])
    assert elsewhere[0].body == ({"q": "bread"} if status in (307, 308) else None)


def test_a_body_with_a_secret_goes_to_no_other_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_TEST", "sesame-1234")
    elsewhere: list[Request] = []
    with (
        serving(lambda request: elsewhere.append(request) or Reply(HITS)) as other,  # type: ignore[func-returns-value]  # that is what or is for
        serving(lambda request: Reply(b"", 307, {"Location": other})) as address,
    ):
        section = {"url": address, **READ, "body": {"key": "${TOKEN_OF_TEST}"}, "redirects": True}
        with pytest.raises(HttpFailure, match=r"redirected to another origin, .*, but the body has a secret"):
            HttpEngine(section).search("bread", 5)
    assert elsewhere == []


def test_redirects_that_never_end_are_a_failure() -> None:
    with (
        serving(lambda request: Reply(b"", 302, {"Location": request.path + "x"})) as address,
        pytest.raises(HttpFailure, match="more than 10 redirects"),
    ):
        HttpEngine({"url": address + "/", **READ, "redirects": True}).search("bread", 5)


# ------------------------------------------------------------------------------------------------ time


def drip_headers(file: Any) -> None:
    file.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(400):
        file.write(b"X-%d: 1\r\n" % number)
        file.flush()
        time.sleep(0.02)


def continue_forever(file: Any) -> None:
    for _ in range(400):
        file.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        file.flush()
        time.sleep(0.02)


def drip_content(file: Any) -> None:
    file.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
    for _ in range(400):
        file.write(b" ")
        file.flush()
        time.sleep(0.02)


@pytest.mark.parametrize("write", [drip_headers, continue_forever, drip_content])
def test_one_timeout_covers_the_whole_exchange(write: Callable[[Any], None], tmp_path: Path) -> None:
    """Each of these servers sends something 50 times per second, for eight seconds."""
    with serving(lambda request: Reply(write=write)) as address:
        (tmp_path / "http.yaml").write_text(f"http: {{url: '{address}', results: hits}}\ntimeout: 0.2\n")
        calls = RetrieverCalls(timeout=0.2, concurrency=2)
        start = time.monotonic()
        with pytest.raises(HttpTimeout, match=r"no complete answer within 0\.2 s"):
            HttpEngine({"url": address, **READ}, timeout=0.2).search("bread", 5)
        of_file = evaluate_retriever(str(tmp_path / "http.yaml"), CASES[:1], max_failures=None)
        of_calls = evaluate_retriever(HttpEngine({"url": address, **READ}), CASES[:2], calls=calls, max_failures=None)
        assert time.monotonic() - start < 5
    assert [failure[:7] for failure in [*of_file.failures.values(), *of_calls.failures.values()]] == ["timeout"] * 3


def test_a_call_that_timed_out_gives_its_connection_back() -> None:
    """The thread of the call ends with it, although the server goes on for eight seconds."""
    writers = iter([drip_headers, drip_headers])
    with serving(lambda request: Reply(HITS, write=next(writers, None))) as address:
        engine = HttpEngine({"url": address, **READ, "max_connections": 1}, timeout=3)
        found = evaluate_retriever(engine, CASES[:2], calls=RetrieverCalls(timeout=0.2), max_failures=None)
        assert len(found.failures) == 2
        assert engine.search("bread", 5) == [("a", 2.5)]


def test_a_timeout_within_http_is_refused_with_what_to_write(tmp_path: Path, command: Callable[..., Any]) -> None:
    (tmp_path / "http.yaml").write_text("http:\n  url: http://127.0.0.1:9\n  results: hits\n  timeout: 3\n")
    (tmp_path / "cases.jsonl").write_text('{"query": "bread", "relevant_ids": ["a"]}\n')
    outcome = command("evaluate", tmp_path / "cases.jsonl", tmp_path / "http.yaml")
    assert outcome.code == 2
    assert "http.yaml:4: expected 'timeout' beside 'http', not in it" in outcome.err
    with pytest.raises(InputError, match="beside 'http'"):
        HttpEngine({"url": "http://127.0.0.1:9", **READ, "timeout": 3})


# ------------------------------------------------------------------------------------------------ memory


def zstd_bomb(size: int) -> bytes:
    compressor = pytest.importorskip("zstandard").ZstdCompressor(level=1).compressobj()
    return b"".join([*(compressor.compress(bytes(1 << 20)) for _ in range(size >> 20)), compressor.flush()])


def test_an_answer_takes_no_more_memory_than_its_limit_however_it_is_encoded() -> None:
    """200 MB of zeros in a few kilobytes, by each encoding and by one within another."""
    resource = pytest.importorskip("resource")
    size = 200 << 20
    bombs = {
        "zstd": zstd_bomb(size),
        "gzip": gzip.compress(bytes(size >> 3), 1),
        "deflate": zlib.compress(bytes(size >> 3), 1),
        "gzip, zstd": zstd_bomb(size),
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for encoding, bomb in bombs.items():
        reply = Reply(bomb, headers={"Content-Encoding": encoding})
        with (
            serving(lambda request, reply=reply: reply) as address,  # type: ignore[misc]  # a default has no type
            pytest.raises(HttpFailure, match=r"more than 1,000,000 bytes \(max_response_bytes\)|incorrect header"),
        ):
            HttpEngine({"url": address, **READ, "max_response_bytes": 1_000_000}).search("bread", 5)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # kilobytes


@pytest.mark.parametrize("encoding", ["", "identity", "gzip", "x-gzip", "deflate", "raw", "zstd", "gzip, zstd"])
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_every_encoding_gives_the_content_and_counts_its_bytes(encoding: str, size: int) -> None:
    content = json.dumps(HITS).encode() * 100
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    encoders: dict[str, Callable[[], bytes]] = {
        "gzip": lambda: gzip.compress(content),
        "x-gzip": lambda: gzip.compress(content),
        "deflate": lambda: zlib.compress(content),
        "raw": lambda: raw.compress(content) + raw.flush(),
        "zstd": lambda: pytest.importorskip("zstandard").compress(content),
        "gzip, zstd": lambda: pytest.importorskip("zstandard").compress(gzip.compress(content)),
    }
    data = encoders.get(encoding, lambda: content)()
    name = "deflate" if encoding == "raw" else encoding
    chunks = [data[begin : begin + size] for begin in range(0, len(data), size)]
    assert decoded(chunks, name, len(content)) == content
    with pytest.raises(TooLarge):
        decoded(chunks, name, len(content) - 1)
    assert decoded([], name, 10) == b""


@pytest.mark.parametrize(
    ("encoding", "data", "message"),
    [
        ("br", b"x", "content encoding 'br': expected gzip, deflate, zstd"),
        ("gzip, " * 5 + "gzip", b"x", "at most 3 of them"),
        ("gzip", gzip.compress(b"[]", mtime=0)[:-3], "content encoding 'gzip': it ends early"),
        ("gzip", b"no gzip at all", "content encoding 'gzip': "),
        ("deflate", b"\xff\xff\xff", "content encoding 'deflate': "),
    ],
)
def test_content_that_cannot_be_decoded_is_a_failure(encoding: str, data: bytes, message: str) -> None:
    with pytest.raises(NotDecoded, match=message):
        decoded([data], encoding, 1000)
    with (
        serving(lambda request: Reply(data, headers={"Content-Encoding": encoding})) as address,
        pytest.raises(HttpFailure, match=message),
    ):
        HttpEngine({"url": address, **READ}).search("bread", 5)


# ------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_token_is_sent_a_few_times_only(status: int, tmp_path: Path) -> None:
    requests: list[Request] = []

    def answer(request: Request) -> Reply:
        requests.append(request)
        return Reply({"error": "unknown token"}, status)

    with serving(answer) as address:
        engine, calls = HttpEngine({"url": address, **READ}, name="mine"), RetrieverCalls(retries=3)
        asks: list[Callable[[], Any]] = [
            lambda: evaluate_retriever(engine, CASES, calls=calls, max_failures=None),
            lambda: fetch_run(
                CallableRetriever(engine, calls=calls),
                QUERIES,
                tmp_path / "run",
                options=FetchOptions(max_failures=None),
            ),
        ]
        for ask in asks:
            requests.clear()
            with pytest.raises(RetrieverError) as caught:
                ask()
            assert len(requests) == 5
            assert f"the last 5 calls were refused (status {status}), so no more were sent:" in str(caught.value)
            assert "hint: check the token: whether the environment variables in headers" in str(caught.value)
        requests.clear()
        concurrent = RetrieverCalls(concurrency=8)
        with pytest.raises(RetrieverError, match="so no more were sent"):
            evaluate_retriever(engine, CASES, calls=concurrent, max_failures=None)
        assert len(requests) <= 5 + 8


def test_the_token_of_a_judge_is_sent_a_few_times_only(tmp_path: Path, command: Callable[..., Any]) -> None:
    requests: list[Request] = []

    def answer(request: Request) -> Reply:
        requests.append(request)
        return Reply({"error": "unknown token"}, 401)

    pool_file(tmp_path)
    with serving(answer) as address:
        section = {"url": address, "model": "m", "prompt": "{query} {text}"}
        (tmp_path / "judge.yaml").write_text(json.dumps(section))  # JSON is YAML
        arguments = ["-o", tmp_path / "j.jsonl", "--judge", tmp_path / "judge.yaml", "--max-failures", 100]
        outcome = command("judge", tmp_path / "pool.jsonl", *arguments)
    assert outcome.code == 1
    assert "the last 5 calls were refused (status 401), so no more were sent" in outcome.err
    assert len(requests) == 5


def test_refusals_of_single_queries_end_nothing() -> None:
    """A server that forbids some queries, but not several in a row, and fails in other ways."""
    statuses = iter([403, 403, 403, 403, 200, 403, 403, 500, 403, 401])

    def answer(request: Request) -> Reply:
        status = next(statuses)
        return Reply(HITS, status)

    with serving(answer) as address:
        found = evaluate_retriever(HttpEngine({"url": address, **READ}), CASES[:10], max_failures=None)
    assert len(found.failures) == 9
