"""A search server that is asked over HTTP, as a configuration describes it: no Python is needed for it."""

from __future__ import annotations

import json
import re
import threading
import weakref
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from rankgauge.config.config_file import load_section
from rankgauge.config.environment_variables import expand
from rankgauge.config.json_paths import PathNotFound, Selector, describe, parse_selector
from rankgauge.config.request_templates import CASE, RequestTemplate, case_values
from rankgauge.config.retriever_settings import HTTP_TIMEOUT
from rankgauge.config.servers import HttpSection
from rankgauge.errors import UsageError, shown
from rankgauge.retrieval.asking.documents import Document
from rankgauge.retrieval.embedders import embedder
from rankgauge.retrieval.embedders.embedder import identity_of
from rankgauge.retrieval.engines.http_client import HttpClient, HttpFailure, JsonAnswer
from rankgauge.retrieval.retriever import Identity
from rankgauge.secrets import mask_secrets

ANSWER_KEYS = ("method", "url", "headers", "params", "body", "results", "id", "score", "text", "require")
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
SAMPLE_VALUES = {"query": "", "k": 1, "vector": [0.0]}


class HttpEngine:
    """Ask a search server over HTTP. It is safe in threads, which share its connections.

    ``section`` has the request and the paths of the answer: an ``HttpSection``, or a mapping of its keys. An exchange
    may take as long as the call that it belongs to (``RetrieverCalls.timeout``); without such a limit, ``timeout``
    seconds; None is the default of ``retriever.timeout``.
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
        self._timeout = HTTP_TIMEOUT if timeout is None else timeout
        headers = {name: _header(name, text) for name, text in (self.section.headers or {}).items()}
        self._reader = AnswerReader(self.section)
        self._embedder = None if self.section.embedder is None else embedder(self.section.embedder)
        self._embedder_lock = threading.Lock()
        self.case_fields = self._request.case_fields | self._url.case_fields
        self._check_request()
        self._client = HttpClient(self.section, self.method, headers)
        self.close = weakref.finalize(self, self._client.close)  # also if nobody calls it

    def identity(self) -> Identity:
        """The request and the paths of the answer, without the values of environment variables."""
        values = self.section.model_dump(include=set(ANSWER_KEYS), exclude_defaults=True)
        model = {} if self._embedder is None else {"embedder": identity_of(self._embedder)}
        return {"mode": "http", **values, "method": self.method, **model}

    def search(self, query: str, k: int, case: Mapping[str, Any] | None = None) -> list[Any]:
        """The results of one query, best first: ids or documents, with their scores if the answer has them.

        ``case`` has the fields of a test case that the request names, as in {case.tenant}.
        """
        values: dict[str, Any] = {"query": query, "k": k, **case_values(case or {})}
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

    def _ask(self, values: Mapping[str, Any]) -> JsonAnswer:
        """The answer to a request; raises unless it is a success in JSON."""
        missing = sorted(name for name in self.case_fields if f"{CASE}{name}" not in values)
        if missing:
            raise UsageError(
                f"the request of {shown(self.name)} needs {{case.{missing[0]}}}, a field of a test case",
                hint="ask it with test cases that have this key, or leave it out of the request",
            )
        request = self._request.fill(values)
        content = None if self.section.body is None else json.dumps(request["body"], allow_nan=False).encode("ascii")
        return self._client.ask(self._fill_url(values, request["params"]), content, self._timeout)

    def _fill_url(self, values: Mapping[str, Any], params: Mapping[str, Any]) -> str:
        """The URL of a query."""
        quoted = {name: quote(_as_text(value), safe="", errors="replace") for name, value in values.items()}
        url = str(self._url.fill(quoted))
        query = urlencode({name: _as_text(value) for name, value in params.items()}, errors="replace")
        return f"{url}{'&' if '?' in url else '?'}{query}" if query else url

    def _check_request(self) -> None:
        """Raise unless the request can be sent: a URL that is one, a body that is JSON."""
        sample = {**SAMPLE_VALUES, **case_values(dict.fromkeys(self.case_fields, ""))}
        address = self._fill_url(sample, {})
        if not address.isprintable() or " " in address:
            raise UsageError(
                f"url {shown(self.section.url or '')} has a line break, a space or another character that no URL has",
                hint="check the environment variables in it",
            )
        url = urlsplit(address)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise UsageError(f"url must be http://… or https://…, found {shown(self.section.url or '')}")
        try:
            json.dumps(self._request.fill(sample), allow_nan=False)
        except ValueError:
            raise UsageError("body must be JSON, which has no NaN and no Infinity") from None


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


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


# Results from the JSON of a server's answer, found by the paths of a configuration.

DEFAULT_ID = "id"


class AnswerReader:
    """Reads results from the JSON of an answer."""

    def __init__(self, section: HttpSection) -> None:
        self._list = None if section.results is None else parse_selector(section.results)
        self._id = parse_selector(section.id or DEFAULT_ID)
        self._score = None if section.score is None else parse_selector(section.score)
        self._text = None if section.text is None else parse_selector(section.text)
        self._required = [(parse_selector(path), value) for path, value in (section.require or {}).items()]

    def results(self, document: Any) -> list[Any]:
        """The results of an answer, best first; raise PathNotFound if a path leads nowhere."""
        for selector, expected in self._required:
            found = selector.select(document)
            if found != expected or isinstance(found, bool) is not isinstance(expected, bool):
                raise PathNotFound(f"{selector.text} is {describe(found)}, expected {describe(expected)}")
        if self._list is None:
            return self._from_columns(document)
        items = self._list.select(document)
        if not isinstance(items, list):
            raise PathNotFound(f"{self._list.text} is {describe(items)}, expected a list of results")
        select = partial(_select, items, self._list.text)
        return _results(self._checked_ids(select(self._id) or []), select(self._score), select(self._text))

    def _from_columns(self, document: Any) -> list[Any]:
        """Results whose ids, scores and texts are selected from the top."""
        ids = self._id.select(document)
        others = [None if selector is None else selector.select(document) for selector in (self._score, self._text)]
        for selector, values in zip((self._score, self._text), others, strict=True):
            if selector is not None and values is not None and len(values) != len(ids):
                raise PathNotFound(f"{selector.text} has {len(values)} values, {self._id.text} has {len(ids)}")
        return _results(self._checked_ids(ids), *others)

    def _checked_ids(self, ids: list[Any]) -> list[Any]:
        """The ids; raise PathNotFound if one is neither text nor a whole number."""
        for number, name in enumerate(ids, 1):
            if not isinstance(name, (str, int)) or isinstance(name, bool) or name == "":
                found = f"{self._id.text} of result {number} is {describe(name)}"
                raise PathNotFound(f"{found}, expected an id: text or a whole number")
        return ids


def _select(items: list[Any], list_path: str, selector: Selector | None) -> list[Any] | None:
    """A value of each result; None without a selector."""
    if selector is None:
        return None
    values = []
    for number, item in enumerate(items):
        try:
            values.append(selector.select(item))
        except PathNotFound as error:
            raise PathNotFound(f"{selector.text} not found in result {number + 1} of {list_path}: {error}") from None
    return values


def _results(ids: list[Any], scores: list[Any] | None, texts: list[Any] | None) -> list[Any]:
    documents = ids
    if texts is not None:
        documents = [
            Document(name, text if isinstance(text, str) else "", {"document_id": name})
            for name, text in zip(documents, texts, strict=True)
        ]
    return documents if scores is None else list(zip(documents, scores, strict=True))
