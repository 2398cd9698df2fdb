"""A search server that is asked over HTTP, as a configuration describes it: no Python is needed for it."""

from __future__ import annotations

import json
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
from rankgauge.core.secrets import error_text, mask_secrets
from rankgauge.errors import MissingExtraError, UsageError, printable, shown
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.embedders.named import embedder
from rankgauge.retrieval.engines.http_answers import AnswerReader

SHOWN_BODY = 200  # characters of an answer in an error
ANSWER_KEYS = ("method", "url", "headers", "params", "body", "results", "id", "score", "text", "require")
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

    ``section`` has the request and the paths of the answer: an ``HttpSection``, or a mapping of its keys.
    """

    def __init__(self, section: HttpSection | Mapping[str, Any], *, name: str | None = None) -> None:
        given = section if isinstance(section, HttpSection) else load_section(HttpSection, section)
        self.name = name or given.template or "http"
        self.section = given.resolved()
        self.method = self.section.method or ("GET" if self.section.body is None else "POST")
        self._request = RequestTemplate({"params": self.section.params or {}, "body": self.section.body}, expand)
        self._url = RequestTemplate(self.section.url, expand)
        self._headers = {name: _header(name, text) for name, text in (self.section.headers or {}).items()}
        self._reader = AnswerReader(self.section)
        self._embedder = None if self.section.embedder is None else embedder(self.section.embedder)
        self._embedder_lock = threading.Lock()
        self._check_request()
        self._client = _open_client(self.section, self._headers)
        self.close = weakref.finalize(self, self._client.close)  # also if nobody calls it

    def identity(self) -> Identity:
        """The request and the paths of the answer, without the values of environment variables."""
        values = self.section.model_dump(include=set(ANSWER_KEYS), exclude_defaults=True)
        model = {} if self._embedder is None else {"embedder": dict(self._embedder.identity())}
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

        seconds = self.section.timeout
        deadline = time.monotonic() + seconds
        headers = None if content is None else {"Content-Type": "application/json"}
        try:
            with self._client.stream(self.method, url, content=content, headers=headers) as response:
                return response, self._read(response, place, deadline)
        except httpx.PoolTimeout:
            count = self.section.max_connections
            raise HttpTimeout(f"{place}: none of {count} connections (max_connections) was free") from None
        except httpx.TimeoutException as error:
            raise HttpTimeout(f"{place}: no answer within {seconds:g} s ({type(error).__name__})") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = mask_secrets(printable(str(error), SHOWN_BODY)) or "no reason given"
            raise HttpFailure(f"{place}: {type(error).__name__}: {reason}") from error

    def _read(self, response: Any, place: str, deadline: float) -> bytes:
        """The content of a response; an error if it is too large, or arrives too slowly."""
        limit = self.section.max_response_bytes
        chunks: list[bytes] = []
        size = 0
        for chunk in response.iter_bytes():
            size += len(chunk)
            if size > limit:
                message = f"{place}: the answer has more than {limit:,} bytes (max_response_bytes)"
                raise HttpFailure(message, response)
            if time.monotonic() > deadline:
                raise HttpTimeout(f"{place}: no complete answer within {self.section.timeout:g} s")
            chunks.append(chunk)
        return b"".join(chunks)

    def _fill_url(self, values: Mapping[str, Any], params: Mapping[str, Any]) -> str:
        """The URL of a query."""
        quoted = {name: quote(_as_text(value), safe="", errors="replace") for name, value in values.items()}
        url = str(self._url.fill(quoted))
        query = urlencode({name: _as_text(value) for name, value in params.items()}, errors="replace")
        return f"{url}{'&' if '?' in url else '?'}{query}" if query else url

    def _check_request(self) -> None:
        """Raise unless the request can be sent: a URL that is one, a body that is JSON."""
        url = urlsplit(self._fill_url(SAMPLE_VALUES, {}))
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
    try:
        with httpx.stream("POST", url, content=content, headers=headers, timeout=timeout) as response:
            return int(response.status_code)
    except httpx.TimeoutException as error:
        raise HttpTimeout(f"no answer within {timeout:g} s ({type(error).__name__})") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise HttpFailure(error_text(error)) from None


def shown_url(url: str) -> str:
    """A URL for a message: without user, password, query string and secrets."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return mask_secrets(printable(urlunsplit((parts.scheme, host, parts.path, "", "")), SHOWN_BODY))


def _header(name: str, text: str) -> str:
    """The value of a header; an error, without the value, if HTTP does not allow it."""
    value = expand(text)
    if not (name.isascii() and value.isascii() and value.isprintable()):
        raise UsageError(f"headers: the value of {shown(name)} has characters other than printable ASCII")
    return value


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _status(response: Any) -> str:
    text = f"status {response.status_code} {printable(response.reason_phrase)}".rstrip()
    if response.is_redirect:
        text += f" to {shown_url(response.headers.get('location', ''))} (redirects: true follows it)"
    return text


def _first_line(data: bytes) -> str:
    """The first line of an answer, shortened and without secrets."""
    lines = (line.strip() for line in data[: 20 * SHOWN_BODY].splitlines())
    line = next((line for line in lines if line), b"")
    return shown(mask_secrets(line.decode("utf-8", "surrogateescape")), SHOWN_BODY) if line else "an empty answer"


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
        headers={"User-Agent": "rankgauge", **headers},
        timeout=section.timeout,
        verify=verify,
        follow_redirects=section.redirects,
        limits=httpx.Limits(max_connections=count, max_keepalive_connections=count),
    )


def _import_httpx(purpose: str) -> Any:
    try:
        import httpx
    except ModuleNotFoundError:
        raise MissingExtraError(f"{purpose} require httpx", hint="pip install 'rankgauge[http]'") from None
    return httpx
