"""Secrets in the text of foreign errors, in structured data, and of the environment."""

from __future__ import annotations

import json
import time
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.config.reading import load_config
from rankgauge.core import secrets
from rankgauge.core.secrets import MAX_ERROR_CHARACTERS, error_text, mask_secrets, mask_values, register_secret
from rankgauge.errors import InputError


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
