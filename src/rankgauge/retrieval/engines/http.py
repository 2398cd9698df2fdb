"""A search server that is asked over HTTP, as a configuration describes it: no Python is needed for it."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
import weakref
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from rankgauge.config.environment import expand
from rankgauge.config.filling import RequestTemplate
from rankgauge.config.reading import load_section
from rankgauge.config.selectors import PathNotFound
from rankgauge.config.servers import HttpSection
from rankgauge.core.formatting import given
from rankgauge.errors import MissingExtraError, UsageError, printable, shown
from rankgauge.retrieval.asking.calls import call_deadline
from rankgauge.retrieval.asking.pauses import certificate_fault
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.embedders.base import identity_of
from rankgauge.retrieval.embedders.named import embedder
from rankgauge.retrieval.engines.http_answers import AnswerReader
from rankgauge.retrieval.engines.http_exchange import (
    ACCEPTED_ENCODINGS,
    DeadlinePassed,
    Deadlines,
    NotDecoded,
    TooLarge,
    decoded,
)
from rankgauge.secrets import error_text, first_line, mask_secrets

SHOWN_BODY = 200  # characters of an answer in an error
ANSWER_KEYS = ("method", "url", "headers", "params", "body", "results", "id", "score", "text", "require")
DEFAULT_TIMEOUT = 30.0  # seconds
MAX_REDIRECTS = 10
DEFAULT_PORTS = {"http": 80, "https": 443}
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
SAMPLE_VALUES = {"query": "", "k": 1, "vector": [0.0]}


class HttpFailure(RuntimeError):
    """A server did not answer a query; ``response`` has the status and the headers, if there was a response."""

    def __init__(self, message: str, response: Any = None) -> None:
        super().__init__(message)
        self.response = response


class HttpTimeout(TimeoutError):
    """A server did not answer in time."""


class _JsonAnswer(NamedTuple):
    """An answer of a server in JSON."""

    content: Any
    place: str  # the method and the URL, for errors
    response: Any


class HttpEngine:
    """Ask a search server over HTTP. It is safe in threads, which share its connections.

    ``section`` has the request and the paths of the answer: an ``HttpSection``, or a mapping of its keys. An exchange
    may take as long as the call that it belongs to (``RetrieverCalls.timeout``); without such a limit, ``timeout``
    seconds, 30 by default.
    """

    def __init__(
        self, section: HttpSection | Mapping[str, Any], *, name: str | None = None, timeout: float | None = None
    ) -> None:
        given = section if isinstance(section, HttpSection) else load_section(HttpSection, section)
        self.name = name or given.template or "http"
        self.section = given.resolved()
        self.method = self.section.method or ("GET" if self.section.body is None else "POST")
        self._request = RequestTemplate({"params": self.section.params or {}, "body": self.section.body}, expand)
        self._url = RequestTemplate(self.section.url, expand)
        self._timeout = DEFAULT_TIMEOUT if timeout is None else timeout
        self._deadlines = Deadlines()
        self._has_secret_body = "${" in json.dumps(self.section.body)
        self._headers = {name: _header(name, text) for name, text in (self.section.headers or {}).items()}
        self._reader = AnswerReader(self.section)
        self._embedder = None if self.section.embedder is None else embedder(self.section.embedder)
        self._embedder_lock = threading.Lock()
        self._check_request()
        self._client = _open_client(self.section, self._headers)
        self._deadlines.apply_to(self._client)
        self.close = weakref.finalize(self, self._client.close)  # also if nobody calls it

    def identity(self) -> Identity:
        """The request and the paths of the answer, without the values of environment variables."""
        values = self.section.model_dump(include=set(ANSWER_KEYS), exclude_defaults=True)
        model = {} if self._embedder is None else {"embedder": identity_of(self._embedder)}
        return {"mode": "http", **values, "method": self.method, **model}

    def search(self, query: str, k: int) -> list[Any]:
        """The results of one query, best first: ids or documents, with their scores if the answer has them."""
        values: dict[str, Any] = {"query": query, "k": k}
        if self._embedder is not None:
            with self._embedder_lock:
                values["vector"] = self._embedder.embed([b""], [query], "query")[0].tolist()
        answer = self._ask(values)
        try:
            return self._reader.results(answer.content)
        except PathNotFound as error:
            raise HttpFailure(mask_secrets(f"{answer.place}: {error}"), answer.response) from None

    def ask(self, query: str) -> Any:
        """The whole answer to one query, as JSON: for servers that answer something else than results."""
        return self._ask({"query": query, "k": 1}).content

    def _ask(self, values: Mapping[str, Any]) -> _JsonAnswer:
        """The answer to a request; raises unless it is a success in JSON."""
        request = self._request.fill(values)
        content = None if self.section.body is None else json.dumps(request["body"], allow_nan=False).encode("ascii")
        url = self._fill_url(values, request["params"])
        place = f"{self.method} {shown_url(url)}"
        response, data = self._send(url, content, place)
        if not response.is_success:
            raise HttpFailure(f"{place}: {_status(response)}: {_first_line(data)}", response)
        try:
            return _JsonAnswer(json.loads(data), place, response)
        except (ValueError, RecursionError):
            kind = printable(response.headers.get("content-type", "no content type"))
            raise HttpFailure(f"{place}: expected JSON, found {kind}: {_first_line(data)}", response) from None

    def _send(self, url: str, content: bytes | None, place: str) -> tuple[Any, bytes]:
        """The response and its content, whatever its status."""
        import httpx

        now = time.monotonic()
        deadline = call_deadline() or now + self._timeout
        seconds = deadline - now
        headers = None if content is None else {"Content-Type": "application/json"}
        try:
            with self._deadlines.until(deadline):
                options = {"content": content, "headers": headers, "timeout": self._deadlines.left(None)}
                request = self._client.build_request(self.method, url, **options)
                for _ in range(MAX_REDIRECTS + 1):
                    with contextlib.closing(self._client.send(request, stream=True)) as response:
                        if not self.section.redirects or response.next_request is None:
                            return response, self._read(response, place)
                        request = self._redirected(request, response.next_request, place)
            raise HttpFailure(f"{place}: more than {MAX_REDIRECTS} redirects")
        except httpx.PoolTimeout:
            count = self.section.max_connections
            raise HttpTimeout(f"{place}: none of {count} connections (max_connections) was free") from None
        except (DeadlinePassed, httpx.TimeoutException):
            raise HttpTimeout(f"{place}: no complete answer within {given(round(seconds, 2))} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            if (reason := certificate_fault(error)) is not None:
                raise HttpFailure(f"{place}: the certificate of the server is not valid: {reason}") from error
            reason = printable(str(error), SHOWN_BODY) or "no reason given"
            raise HttpFailure(f"{place}: {type(error).__name__}: {reason}") from error

    def _redirected(self, request: Any, following: Any, place: str) -> Any:
        """The request that a redirect leads to, without anything that another origin must not get."""
        if _origin(request.url) == _origin(following.url):
            return following
        if self._has_secret_body and following.method == request.method:
            target = shown_url(str(following.url))
            raise HttpFailure(f"{place}: redirected to another origin, {target}, but the body has a secret (${{NAME}})")
        for name in (*self._headers, "Authorization", "Cookie"):
            if name.lower() != "host":  # which is that of the other origin already
                following.headers.pop(name, None)
        return following

    def _read(self, response: Any, place: str) -> bytes:
        """The content of a response; an error if it is too large, or cannot be decoded."""
        limit = self.section.max_response_bytes
        try:
            return decoded(response.iter_raw(), response.headers.get("content-encoding", ""), limit)
        except TooLarge:
            message = f"{place}: the answer has more than {limit:,} bytes (max_response_bytes)"
            raise HttpFailure(message, response) from None
        except NotDecoded as error:
            raise HttpFailure(mask_secrets(f"{place}: {error}"), response) from None

    def _fill_url(self, values: Mapping[str, Any], params: Mapping[str, Any]) -> str:
        """The URL of a query."""
        quoted = {name: quote(_as_text(value), safe="", errors="replace") for name, value in values.items()}
        url = str(self._url.fill(quoted))
        query = urlencode({name: _as_text(value) for name, value in params.items()}, errors="replace")
        return f"{url}{'&' if '?' in url else '?'}{query}" if query else url

    def _check_request(self) -> None:
        """Raise unless the request can be sent: a URL that is one, a body that is JSON."""
        address = self._fill_url(SAMPLE_VALUES, {})
        if not address.isprintable() or " " in address:
            raise UsageError(
                f"url {shown(self.section.url or '')} has a line break, a space or another character that no URL has",
                hint="check the environment variables in it",
            )
        url = urlsplit(address)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise UsageError(f"url must be http://… or https://…, found {shown(self.section.url or '')}")
        try:
            json.dumps(self._request.fill(SAMPLE_VALUES), allow_nan=False)
        except ValueError:
            raise UsageError("body must be JSON, which has no NaN and no Infinity") from None


def post_json(url: str, content: bytes, *, timeout: float, purpose: str) -> int:
    """Send JSON once, and return the status of the answer; redirects are not followed. Errors do not show the URL."""
    httpx = _import_httpx(purpose)
    headers = {"Content-Type": "application/json", "User-Agent": "rankgauge"}
    deadlines = Deadlines()
    try:
        with httpx.Client(timeout=timeout) as client, deadlines.until(time.monotonic() + timeout):
            deadlines.apply_to(client)
            with client.stream("POST", url, content=content, headers=headers) as response:
                return int(response.status_code)
    except (DeadlinePassed, httpx.TimeoutException):
        raise HttpTimeout(f"no answer within {timeout:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise HttpFailure(error_text(error)) from None


def shown_url(url: str) -> str:
    """A URL for a message: without user, password, query string and secrets."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return printable(urlunsplit((parts.scheme, host, parts.path, "", "")), SHOWN_BODY)


def _header(name: str, text: str) -> str:
    """The value of a header; an error, without the value, if HTTP does not allow it."""
    if not HEADER_NAME.fullmatch(name):
        raise UsageError(f"headers: {shown(name)} is not the name of a header")
    value = expand(text)
    if not (value.isascii() and value.isprintable() and value == value.strip()):
        raise UsageError(
            f"headers: the value of {shown(name)} has characters other than printable ASCII, or spaces around it",
            hint="check the environment variables in it: a line break at the end is a common mistake",
        )
    return value


def _origin(url: Any) -> str:
    return f"{url.scheme}://{url.host}:{url.port or DEFAULT_PORTS.get(url.scheme)}"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _status(response: Any) -> str:
    text = f"status {response.status_code} {printable(response.reason_phrase)}".rstrip()
    if response.is_redirect:
        text += f" to {shown_url(response.headers.get('location', ''))} (redirects: true follows it)"
    return text


def _first_line(data: bytes) -> str:
    """The first line of an answer, shortened and without secrets."""
    line = first_line(data, SHOWN_BODY)
    return shown(line, SHOWN_BODY) if line else "an empty answer"


def _open_client(section: HttpSection, headers: Mapping[str, str]) -> Any:
    """A client with its pool of connections."""
    import ssl

    httpx = _import_httpx("HTTP retrievers")
    count = section.max_connections
    verify: bool | ssl.SSLContext = section.verify is not False
    if isinstance(section.verify, str):
        try:
            verify = ssl.create_default_context(cafile=section.verify)
        except OSError as error:
            path = printable(section.verify, None)
            raise UsageError(f"verify: cannot read {path}: {error.strerror or error}") from None
    return httpx.Client(
        headers={"User-Agent": "rankgauge", "Accept-Encoding": ACCEPTED_ENCODINGS, **headers},
        verify=verify,
        limits=httpx.Limits(max_connections=count, max_keepalive_connections=count),
    )


def _import_httpx(purpose: str) -> Any:
    try:
        import httpx
    except ModuleNotFoundError:
        raise MissingExtraError(f"{purpose} require httpx", hint="pip install 'rankgauge[http]'") from None
    return httpx
