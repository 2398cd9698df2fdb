"""Secrets in the text of foreign errors, in structured data, and of the environment."""

from __future__ import annotations

import base64
import html
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankgauge import secrets
from rankgauge.benchmark.verify import mismatch
from rankgauge.config.config_file import load_config
from rankgauge.config.json_paths import PathNotFound, parse_selector
from rankgauge.errors import InputError, InputTypeError, printable, shown
from rankgauge.labels.machine_answers import verdict_of
from rankgauge.report.manifest import plain_text
from rankgauge.retrieval.asking.failures import NoAnswer, failure_text
from rankgauge.retrieval.engines import http_client
from rankgauge.secrets import (
    MAX_ERROR_CHARACTERS,
    error_text,
    first_line,
    mask_secrets,
    mask_start,
    mask_values,
    register_secret,
    registered_secrets_ignored,
)
from tests.retrieval.engines.loopback import Reply, Request, serving


@pytest.fixture(autouse=True)
def _no_registered_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_REGISTERED", set())


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        # URLs
        ("postgresql://me:pw@host/db refused", "postgresql://host/db refused"),
        ("postgresql://me:p@ss:w/rd@host/db", "postgresql://host/db"),
        ("https://user@example.org/v1", "https://example.org/v1"),
        ("http://localhost:9200/index/a@b", "http://localhost:9200/index/a@b"),
        ("GET /v1?api_key=abc123", "GET /v1?api_key=…"),
        ("GET /v1?key=AIz&q=x%20y&sig=a%2Fb#top", "GET /v1?key=…&q=x%20y&sig=…#top"),
        ("?X-Amz-Signature=ab12&X-Amz-Date=2", "?X-Amz-Signature=…&X-Amz-Date=2"),
        ("?access_token=abc&page=2", "?access_token=…&page=2"),
        # assignments
        ("token=abc123 is invalid", "token=… is invalid"),
        ("api_key: sk-abc, retry", "api_key: …, retry"),
        ("OPENAI_API_KEY=sk-abc", "OPENAI_API_KEY=…"),
        ("Password : hunter2", "Password : …"),
        ("password=it's,so;odd)", "password=…)"),
        ("AccountName=me;AccountKey=abc==;End", "AccountName=me;AccountKey=…"),
        ('sent {"api_key": "sk-123 4"}', 'sent {"api_key": …}'),
        (r"body {\"client_secret\": \"ab c\", \"x\": 1}", r"body {\"client_secret\": …, \"x\": 1}"),
        (r"{'password': 'it\'s', 'x': 1}", "{'password': …, 'x': 1}"),
        ("auth=('me', 'hunter2'), timeout=3", "auth=…, timeout=3"),
        ("{'token': 'cut off in the midd", "{'token': …"),
        # headers
        ("Authorization: Bearer sk-123456 refused", "Authorization: … refused"),
        ("{'Authorization': 'Bearer sk-123456', 'Accept': 'x'}", "{'Authorization': …, 'Accept': 'x'}"),
        ("[(b'authorization', b'Bearer 12'), (b'x-api-key', b'34')]", "[(b'authorization', …), (b'x-api-key', …)]"),
        ("Proxy-Authorization: Basic dTpw, next", "Proxy-Authorization: …, next"),
        ('Authorization: Digest username="u", response="12"', "Authorization: …"),
        ("Cookie: sid=12; theme=dark", "Cookie: …"),
        ("x-api-key: 12", "x-api-key: …"),
        ("Ocp-Apim-Subscription-Key: 12", "Ocp-Apim-Subscription-Key: …"),
        ("headers={'X-Custom': '12'} sent", "headers={…} sent"),
        ("headers: Headers([('X-Custom', '12')])", "headers: Headers({…})"),
        ("header 'Bearer abcdef123456'", "header 'Bearer …'"),
        ("bearer token abcdef123456", "bearer token …"),
        ("sent Basic dXNlcjpwYXNz", "sent Basic …"),
        # shapes
        ("key sk-proj-abcdef1234567890 expired", "key … expired"),
        ("ghp_0123456789abcdefghij", "…"),
        ("AKIAIOSFODNN7EXAMPLE", "…"),
        ("eyJhbGciOi.eyJzdWIiOi.c2lnbmF0", "…"),
        ("-----BEGIN RSA PRIVATE KEY-----\nab\n-----END RSA PRIVATE KEY----- end", "… end"),
        # no secrets
        ("tokens: 3 of 4", "tokens: 3 of 4"),
        ("unexpected token: SELECT", "unexpected token: SELECT"),
        ("basic authentication failed", "basic authentication failed"),
        ("KeyError: 'title'", "KeyError: 'title'"),
        ("max_tokens=512, tokenizer=words", "max_tokens=512, tokenizer=words"),
        ("http://host:80/a?q=key", "http://host:80/a?q=key"),
        ("sk-learn, token-based: no", "sk-learn, token-based: no"),
    ],
)
def test_a_secret_is_masked_and_nothing_else(text: str, masked: str) -> None:
    assert mask_secrets(text) == masked
    assert mask_secrets(masked) == masked


SECRET = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=8, max_size=30)
PLACES = [
    "401 for https://host/v1?q=1&api_key={}",
    "https://me:{}@host/",
    "Authorization: Bearer {}",
    "{{'Authorization': 'Bearer {}'}}",
    '{{"authorization": "Bearer {}", "x": 1}}',
    "headers={{'X-Custom-Thing': '{}'}}",
    "Cookie: a=1; session={}",
    "password={}",
    "(b'x-api-key', b'{}')",
    "refresh_token: {}\nnext line",
]


@given(SECRET, st.sampled_from(PLACES), st.text(max_size=20), st.text(max_size=20))
def test_no_secret_survives_in_a_known_place(secret: str, place: str, before: str, after: str) -> None:
    for text in (place.format(f"Zq7{secret}"), f"{before} {place.format(f'Zq7{secret}')} {after}"):
        assert f"Zq7{secret}" not in mask_secrets(text)


@pytest.mark.parametrize(
    "unit",
    [
        "://a:b",
        "token",
        "token=",
        "token:,",
        "headers ",
        "a-",
        "bearer ",
        "basic a",
        "cookie: a=b;",
        "\\'",
        "&a-",
        "eyJ",
    ],
)
def test_masking_takes_time_in_proportion_to_the_length(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        begin = time.process_time()
        mask_secrets(text)
        return time.process_time() - begin

    assert min(seconds(96_000) for _ in range(3)) < 32 * max(min(seconds(12_000) for _ in range(3)), 0.002)


@pytest.mark.parametrize("value", ["\\\\\\/x", "/ab+", "a  b", "ééé", "%25%", "&&&&", '"""" x'])
@pytest.mark.parametrize("unit", ["\\", "%", "%25", "&#0", "a ", "é", "+", "/", "w6nD", '"', "\\u", "a\\"])
def test_masking_a_registered_value_takes_time_in_proportion_to_the_length(value: str, unit: str) -> None:
    register_secret(value)

    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        begin = time.process_time()
        mask_secrets(text)
        return time.process_time() - begin

    assert min(seconds(24_000) for _ in range(2)) < 32 * max(seconds(3_000), 0.002)


def test_structured_data_is_masked_by_the_names_of_its_keys() -> None:
    values = {
        "api_key": "sk-123",
        "nested": [{"Password": "hunter2", "max_tokens": 512}],
        "tokenizer": "words",
        "headers": {"X-Custom": ["12", "13"], "Accept": "text/html", "Authorization": "Bearer ${NAME}"},
        "request_headers": [["X-Custom", "12"]],
        "token": None,
        "secret": 1234,
        "url": "https://me:pw@host/",
    }
    assert mask_values(values) == {
        "api_key": "…",
        "nested": [{"Password": "…", "max_tokens": 512}],
        "tokenizer": "words",
        "headers": {"X-Custom": ["…", "…"], "Accept": "text/html", "Authorization": "Bearer ${NAME}"},
        "request_headers": [["…", "…"]],
        "token": None,
        "secret": "…",
        "url": "https://host/",
    }


@given(st.text(min_size=4, max_size=40).filter(lambda text: len(text.strip()) >= 4 and "…" not in text))
@example("0\\\\0")  # two backslashes: two characters in a URL
@example("0 \xa00")  # white space of which JSON escapes a part
def test_a_registered_value_is_masked_however_it_is_written(value: str) -> None:
    register_secret(value)
    value = value.strip()
    for text in (value, json.dumps({"x": f"<{value}>"}), repr({"x": f"<{value}>"}), f"?x={quote_plus(value)}"):
        for form in (value, json.dumps(value)[1:-1], repr(value)[1:-1], quote_plus(value)):
            assert form not in mask_secrets(f"a {text} b")


def test_a_short_value_is_not_registered() -> None:
    register_secret("12")
    assert mask_secrets("12 of 123") == "12 of 123"


def test_an_environment_variable_that_a_configuration_refers_to_is_masked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SEARCH_ACCESS", "plain-looking-value")
    monkeypatch.setenv("OTHER_VARIABLE", "another-value")
    (tmp_path / "rankgauge.yaml").write_text("title: ${MY_SEARCH_ACCESS}\n", encoding="utf-8")
    with pytest.raises(InputError, match="title"):
        load_config(tmp_path / "rankgauge.yaml")
    assert mask_secrets("plain-looking-value another-value") == "… another-value"
    with pytest.raises(InputError, match="title"):
        load_config({"title": "${OTHER_VARIABLE}"})
    assert mask_secrets("another-value") == "…"


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_an_error_of_foreign_code_is_its_type_and_its_masked_first_line() -> None:
    assert error_text(ValueError("\n  token=abc\nsecond line")) == "ValueError: token=…"
    assert error_text(ValueError()) == "ValueError"
    assert error_text(UnprintableError()) == "UnprintableError"
    assert len(error_text(ValueError("x" * 10_000))) == len("ValueError: …") + MAX_ERROR_CHARACTERS


# --------------------------------------------------------------------------------------- a secret at every offset

TOKEN = "Zq7Wk9Xv3Tp2Jh8Rm5Ld6Gy4Nb1Fs0Qc"  # 32 characters, as in the address of a search service
ODD = 'Zq7/Wk9+Xv3 Tp2"Jh8&Rm5\\Ld6é=Gy4'  # characters that every notation escapes in its own way
PIECE = 6  # characters of a secret that must not be shown


def forms_of(secret: str) -> Iterator[str]:
    """A secret as texts can have it: as it is, escaped, and in base64 after and before other bytes."""
    content = secret.encode()
    escaped = json.dumps(secret)[1:-1]
    yield from (secret, quote(secret), quote(secret, safe=""), secret.lower(), quote_plus(secret))
    yield re.sub("%..", lambda escape: escape[0].lower(), quote(secret, safe=""))
    yield from (escaped, json.dumps(escaped)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1])
    yield from (html.escape(secret), quote(quote(secret, safe=""), safe=""))
    for before in range(3):
        for after in range(3):
            text = b"u:"[:before] + content + b"!?"[:after]
            encoded = base64.b64encode(text).decode()
            yield from (encoded, base64.urlsafe_b64encode(text).decode(), quote(encoded, safe=""))


FORMS = list(dict.fromkeys(form for secret in (TOKEN, ODD) for form in forms_of(secret)))


def assert_hidden(text: str, form: str) -> None:
    """No piece of a form of a secret is shown, except what its first and last bytes share with their neighbors."""
    for start in range(2, len(form) - PIECE - 3):
        assert form[start : start + PIECE] not in text, (text, form)


def path_error(text: str) -> str:
    with pytest.raises(PathNotFound) as caught:
        parse_selector("hits").select({text: 1})
    return str(caught.value)


SHORTENERS: dict[str, tuple[int, Callable[[str], str]]] = {
    "shown": (60, shown),
    "bytes": (60, lambda text: shown(text.encode())),
    "printable": (200, lambda text: printable(text, 200)),
    "line": (200, lambda text: first_line("\n" + text, 200)),
    "error": (MAX_ERROR_CHARACTERS, lambda text: error_text(ValueError(text))),
    "failure": (MAX_ERROR_CHARACTERS, lambda text: failure_text(NoAnswer(text))),
    "timeout": (MAX_ERROR_CHARACTERS, lambda text: failure_text(TimeoutError(text))),
    "answer": (http_client.SHOWN_BODY, lambda text: http_client._first_line(text.encode())),
    "url": (http_client.SHOWN_BODY - 9, lambda text: http_client.shown_url(f"http://h/{quote(text, safe='%')}")),
    "keys": (30, path_error),
    "difference": (59, lambda text: mismatch(text, None)),
    "reason": (300, lambda text: str(verdict_of((1, text), 3).reason)),
    "report": (300, plain_text),
    "type error": (60, lambda text: str(InputTypeError(f"found {shown(text)}"))),
}


@pytest.mark.parametrize("name", SHORTENERS)
def test_no_piece_of_a_secret_is_shown_wherever_the_text_around_it_is_cut(name: str) -> None:
    register_secret(TOKEN)
    register_secret(ODD)
    limit, shorten = SHORTENERS[name]
    for number, form in enumerate(FORMS):
        step = 1 if name == "shown" else 7  # the others shorten with the same function: each form at other offsets
        for offset in {0, 1, *range(max(0, limit - len(form) - 1 + number % step), limit + 2, step)}:
            before = ("word " * 80)[: offset - 1] + " " if offset else ""
            assert_hidden(shorten(f"{before}{form} tail"), form)


def test_no_piece_of_a_password_is_in_an_error_of_a_database() -> None:
    psycopg = pytest.importorskip("psycopg")
    from rankgauge.config.servers import PostgresSection
    from rankgauge.retrieval.engines.postgres_client import MESSAGE_CHARACTERS, connection_string, server_message

    dsn = f"host=127.0.0.1 password={TOKEN} dbname=x"
    connection_string(PostgresSection.model_construct(dsn=dsn, connect_timeout=1))
    for offset in range(MESSAGE_CHARACTERS - len(TOKEN) - 2, MESSAGE_CHARACTERS + 2):
        message = server_message(psycopg.OperationalError("x" * offset + TOKEN + " refused"))
        assert_hidden(message, TOKEN)


@pytest.mark.parametrize("offset", range(44))
def test_a_cut_shows_the_mask_or_the_text_before_it(offset: int) -> None:
    register_secret(TOKEN)
    assert printable("x" * offset + TOKEN + "y" * 50, 40) == printable("x" * offset + "…" + "y" * 50, 40)


@given(
    st.lists(st.sampled_from([TOKEN, "plain ", "x" * 90, quote(ODD, safe=""), "token=abc ", "é"]), max_size=40),
    st.integers(1, 20),
)
@example([TOKEN] * 12, 5)
def test_the_start_of_a_masked_text_is_the_same_if_only_a_window_of_it_is_masked(parts: list[str], limit: int) -> None:
    register_secret(TOKEN)
    register_secret(ODD)
    text = "".join(parts)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(secrets, "MAX_OPEN_CHARACTERS", 16)
        patched.setattr(secrets, "MAX_NOTATION", 3)
        for window in (text, text.encode()):
            assert mask_start(window, limit) == mask_secrets(text)[:limit]


def test_the_start_of_a_very_long_text_costs_what_it_shows() -> None:
    begin = time.process_time()
    for _ in range(20):
        shown("token " * 2_000_000)
    assert time.process_time() - begin < 5


def test_the_password_of_a_url_is_a_secret_of_its_own() -> None:
    register_secret("postgresql://me:p%40ssword-17@host:5432/db")
    for text in ("p%40ssword-17", "p@ssword-17", "user me, p@ssword-17"):
        assert "ssword" not in mask_secrets(text)


def test_results_of_stored_files_do_not_depend_on_the_environment() -> None:
    register_secret("docs")
    with registered_secrets_ignored():
        assert shown("docs-17 token=abc") == "'docs-17 token=…'"
    assert shown("docs-17") == "'…-17'"


QUERY_LENGTHS = range(100, 190, 3)  # the token begins at each of them, and an address is cut at 200 characters
SERVER = "http: {url: 'ADDRESS/search/{query}/${TOK}/x', results: hits, id: id}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A collection with a query of each length, and a server that answers only the shortest one.

    The token is in its address; what it says of a failure repeats the address, and the token in base64.
    """
    pytest.importorskip("httpx")
    monkeypatch.setenv("TOK", TOKEN)
    monkeypatch.chdir(tmp_path)
    queries = [{"_id": f"q{length}", "text": "bread " + "a" * (length - 6)} for length in QUERY_LENGTHS]
    for name, rows in (("queries", queries), ("corpus", [{"_id": "d1", "text": "bread"}])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qrels.trec").write_text("".join(f"q{length} 0 d1 1\n" for length in QUERY_LENGTHS))

    def answer(request: Request) -> Reply:
        if len(request.path) < 150:
            return Reply({"hits": [{"id": "d1"}]})
        return Reply({"refused": request.path[60:] + base64.b64encode(b"u:" + TOKEN.encode()).decode()}, 400)

    with serving(answer) as address:
        server = SERVER.replace("ADDRESS", address)
        (tmp_path / "server.yaml").write_text(server)
        (tmp_path / "rankgauge.yaml").write_text(
            "collection: {corpus: corpus.jsonl, queries: queries.jsonl, qrels: qrels.trec}\nmeasures: [RR]\n"
            f"retrievers: {{lexical: {{mode: lexical}}, server: {{{server}}}}}\nbenchmark: {{latency: 0}}\n"
        )
        yield tmp_path


def assert_no_piece(folder: Path, outputs: str) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    for text in [outputs, *(path.read_text(encoding="utf-8", errors="replace") for path in files)]:
        assert_hidden(text, TOKEN)


def test_a_token_in_an_address_is_in_no_file_or_output_of_a_fetch(folder: Path, command: Callable[..., Any]) -> None:
    arguments = ["runs", "fetch", "--retriever", "server.yaml", "--queries", "queries.jsonl", "-o", "run.trec"]
    stopped = command(*arguments)
    finished = command(*arguments, "--max-failures", 999, "--manifest", "run.json")
    assert stopped.code == 1, stopped.err
    assert "refused" in (folder / "run.json").read_text() + finished.err
    assert_no_piece(folder, stopped.out + stopped.err + finished.out + finished.err)


def test_a_token_in_an_address_is_in_no_file_or_output_of_a_benchmark(
    folder: Path, command: Callable[..., Any]
) -> None:
    done = command("benchmark", "run", "rankgauge.yaml", "--max-failures", 999, "-o", "out")
    assert "refused" in (folder / "out" / "ExperimentManifest.json").read_text(), done.err
    assert_no_piece(folder, done.out + done.err)
    verified = command("benchmark", "verify", "out")
    assert verified.code == 0, verified.out + verified.err


def test_a_token_in_an_address_is_in_no_output_of_a_live_evaluation(folder: Path, command: Callable[..., Any]) -> None:
    cases = [{"query": "a" * length, "relevant_ids": ["d1"]} for length in QUERY_LENGTHS[12:]]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    for form in ("table", "json"):
        done = command("evaluate", "cases.jsonl", "server.yaml", "--format", form)
        assert "HttpFailure: GET http" in done.out + done.err
        assert_no_piece(folder, done.out + done.err)


def test_an_error_of_a_users_module_is_masked_on_the_terminal(
    folder: Path, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    register_secret(TOKEN)
    (folder / "broken_search.py").write_text(f"raise RuntimeError('x' * 280 + '{TOKEN}' + ' refused')\n")
    for debug in (False, True):
        if debug:
            monkeypatch.setenv("RANKGAUGE_DEBUG", "1")
        done = command(
            "runs", "fetch", "--retriever", "./broken_search.py:find", "--queries", "queries.jsonl", "-o", "r"
        )
        assert done.code != 0
        assert_hidden(done.out + done.err, TOKEN)
