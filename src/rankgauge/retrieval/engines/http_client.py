"""Requests over HTTP: sent until a deadline, answered within a budget of bytes. The only file that imports httpx.

httpx limits single operations on a connection, so that a server which sends a byte now and then keeps a client for as
long as it likes. Here every operation gets the time that is left until the deadline of the thread that waits for it.
"""

from __future__ import annotations

import contextlib
import io
import json
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit, urlunsplit

from rankgauge.config.servers import HttpSection
from rankgauge.core.formatting import given
from rankgauge.errors import MissingExtraError, UsageError, printable, shown
from rankgauge.io.byte_streams import zstd_library
from rankgauge.retrieval.asking.calls import call_deadline
from rankgauge.retrieval.asking.failures import certificate_fault
from rankgauge.secrets import first_line, mask_secrets

SHOWN_BODY = 200  # characters of an answer in an error
MAX_REDIRECTS = 10
DEFAULT_PORTS = {"http": 80, "https": 443}
ENCODINGS = ("gzip", "deflate", "zstd")
ACCEPTED_ENCODINGS = "gzip, deflate"  # what is asked for; zstd is decoded if it comes and its library is there
MAX_ENCODINGS = 3
READ_BYTES = 1 << 16
MAX_ZSTD_WINDOW = 8 << 20  # what RFC 9659 allows for HTTP


class HttpFailure(RuntimeError):
    """A server did not answer a query; ``response`` has the status and the headers, if there was a response."""

    def __init__(self, message: str, response: Any = None) -> None:
        super().__init__(message)
        self.response = response


class HttpTimeout(TimeoutError):
    """A server did not answer in time."""


class JsonAnswer(NamedTuple):
    """An answer of a server in JSON."""

    content: Any
    place: str  # the method and the URL, for errors
    response: Any


class HttpClient:
    """Sends the requests of a section over connections that all threads share.

    What belongs to one origin, its headers and the secrets in its body, never follows a redirect to another.
    """

    def __init__(self, section: HttpSection, method: str, headers: Mapping[str, str]) -> None:
        self._section, self._method, self._headers = section, method, headers
        self._has_secret_body = "${" in json.dumps(section.body)
        self._deadlines = Deadlines()
        self._client = _open_client(section, headers)
        self._deadlines.apply_to(self._client)
        self.close = self._client.close

    def ask(self, url: str, content: bytes | None, timeout: float) -> JsonAnswer:
        """The answer to a request; raises unless it is a success in JSON.

        It may take as long as the call that it belongs to; without such a limit, ``timeout`` seconds.
        """
        place = f"{self._method} {shown_url(url)}"
        response, data = self._send(url, content, timeout, place)
        if not response.is_success:
            raise HttpFailure(f"{place}: {_status(response)}: {_first_line(data)}", response)
        try:
            return JsonAnswer(json.loads(data), place, response)
        except (ValueError, RecursionError):
            kind = printable(response.headers.get("content-type", "no content type"))
            raise HttpFailure(f"{place}: expected JSON, found {kind}: {_first_line(data)}", response) from None

    def _send(self, url: str, content: bytes | None, timeout: float, place: str) -> tuple[Any, bytes]:
        """The response and its content, whatever its status."""
        import httpx

        now = time.monotonic()
        deadline = call_deadline() or now + timeout
        seconds = deadline - now
        headers = None if content is None else {"Content-Type": "application/json"}
        try:
            with self._deadlines.until(deadline):
                options = {"content": content, "headers": headers, "timeout": self._deadlines.left(None)}
                request = self._client.build_request(self._method, url, **options)
                for _ in range(MAX_REDIRECTS + 1):
                    with contextlib.closing(self._client.send(request, stream=True)) as response:
                        if not self._section.redirects or response.next_request is None:
                            return response, self._read(response, place)
                        request = self._redirected(request, response.next_request, place)
            raise HttpFailure(f"{place}: more than {MAX_REDIRECTS} redirects")
        except httpx.PoolTimeout:
            count = self._section.max_connections
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
        limit = self._section.max_response_bytes
        try:
            return decoded(response.iter_raw(), response.headers.get("content-encoding", ""), limit)
        except TooLarge:
            message = f"{place}: the answer has more than {limit:,} bytes (max_response_bytes)"
            raise HttpFailure(message, response) from None
        except NotDecoded as error:
            raise HttpFailure(mask_secrets(f"{place}: {error}"), response) from None


def shown_url(url: str) -> str:
    """A URL for a message: without user, password, query string and secrets."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return printable(urlunsplit((parts.scheme, host, parts.path, "", "")), SHOWN_BODY)


class DeadlinePassed(Exception):
    """The exchange took too long."""


class TooLarge(Exception):
    """An answer has more bytes than it may have."""


class NotDecoded(Exception):
    """The content of a response cannot be decoded; the message says why."""


class Deadlines:
    """The deadline of each thread that waits for a server."""

    def __init__(self) -> None:
        self._local = threading.local()

    @contextlib.contextmanager
    def until(self, deadline: float) -> Iterator[None]:
        """Operations of this thread end at a moment of ``time.monotonic``."""
        self._local.deadline = deadline
        try:
            yield
        finally:
            self._local.deadline = None

    def left(self, timeout: float | None) -> float | None:
        """The seconds that an operation of this thread may take."""
        deadline: float | None = getattr(self._local, "deadline", None)
        if deadline is None:
            return timeout
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise DeadlinePassed
        return seconds if timeout is None else min(seconds, timeout)

    def apply_to(self, client: Any) -> None:
        """Make all connections of an httpx client end their operations in time, also those of proxies.

        httpx passes no setting on to httpcore, whose interface of a network backend this is.
        """
        for transport in (client._transport, *client._mounts.values()):
            if transport is not None:
                transport._pool._network_backend = _Backend(transport._pool._network_backend, self)


class _Backend:
    """A network backend of httpcore whose streams keep to the deadline."""

    def __init__(self, backend: Any, deadlines: Deadlines) -> None:
        self._backend, self._deadlines = backend, deadlines

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> _Stream:
        stream = self._backend.connect_tcp(host, port, timeout=self._deadlines.left(timeout), **options)
        return _Stream(stream, self._deadlines)

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _Stream:
    """A connection; each of its operations ends at the deadline."""

    def __init__(self, stream: Any, deadlines: Deadlines) -> None:
        self._stream, self._deadlines = stream, deadlines

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data: bytes = self._stream.read(max_bytes, timeout=self._deadlines.left(timeout))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for begin in range(0, len(buffer), READ_BYTES):
            self._stream.write(buffer[begin : begin + READ_BYTES], timeout=self._deadlines.left(timeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> _Stream:
        left = self._deadlines.left(timeout)
        stream = self._stream.start_tls(ssl_context, server_hostname=server_hostname, timeout=left)
        return _Stream(stream, self._deadlines)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _ByteSource(Protocol):
    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; nothing at the end."""


def decoded(chunks: Iterable[bytes], encodings: str, limit: int) -> bytes:
    """The content of a response as it was before its server encoded it.

    At no step may there be more bytes than the limit, and never are more than a few kilobytes decoded at once.
    """
    names = [name for part in encodings.lower().split(",") if (name := part.strip()) not in ("", "identity")]
    unknown = next((name for name in names if name.removeprefix("x-") not in ENCODINGS), None)
    if unknown is not None or len(names) > MAX_ENCODINGS:
        expected = f"expected {', '.join(ENCODINGS)}, at most {MAX_ENCODINGS} of them"
        raise NotDecoded(f"content encoding {shown(encodings)}: {expected}")
    stream: _ByteSource = _Limited(_Chunks(chunks), limit)
    try:
        for name in reversed(names):
            stream = _Limited(_decoder(stream, name), limit)
        parts = iter(lambda: stream.read(READ_BYTES), b"")
        return b"".join(parts)
    except MissingExtraError as error:
        raise NotDecoded(error.message) from None
    except (DeadlinePassed, TooLarge, OSError):
        raise
    except Exception as error:
        if not names or _is_of_connection(error):
            raise
        raise NotDecoded(f"content encoding {shown(encodings)}: {error}") from None


def _decoder(stream: _ByteSource, encoding: str) -> _ByteSource:
    if encoding.endswith("zstd"):
        decompressor = zstd_library("the answer").ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW)
        decoder: _ByteSource = decompressor.stream_reader(stream, read_across_frames=True)
        return decoder
    return _Inflated(stream, is_gzip=encoding != "deflate")


def _is_of_connection(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] in ("httpx", "httpcore")


class _Chunks(io.RawIOBase):
    """The chunks of a response as a stream."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks, self._rest = iter(chunks), b""

    def read(self, size: int = READ_BYTES, /) -> bytes:
        """Up to ``size`` bytes."""
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._rest = chunk
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


class _Limited:
    """A stream that may not have more bytes than a limit."""

    def __init__(self, stream: _ByteSource, limit: int) -> None:
        self._stream, self._left = stream, limit

    def read(self, size: int = READ_BYTES, /) -> bytes:
        """Up to ``size`` bytes; an error if the stream has more than it may have."""
        data = self._stream.read(min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise TooLarge
        return data


class _Inflated:
    """A stream of gzip, or of deflate: with the header of zlib or without it, as servers send both."""

    def __init__(self, stream: _ByteSource, *, is_gzip: bool) -> None:
        self._stream = stream
        self._waiting = b"" if is_gzip else stream.read(1) + stream.read(1)
        has_zlib_header = self._waiting[:1] == b"\x78" and int.from_bytes(self._waiting, "big") % 31 == 0
        window = zlib.MAX_WBITS if has_zlib_header else -zlib.MAX_WBITS
        self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS if is_gzip else window)
        self._is_empty = True

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes."""
        while not self._inflate.eof:
            data = self._waiting or self._stream.read(READ_BYTES)
            found = self._inflate.decompress(data, size)
            self._waiting = self._inflate.unconsumed_tail
            self._is_empty = self._is_empty and not data
            if found or self._is_empty:
                return found
            if not data:
                raise EOFError("it ends early")
        return b""


def _origin(url: Any) -> str:
    return f"{url.scheme}://{url.host}:{url.port or DEFAULT_PORTS.get(url.scheme)}"


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
