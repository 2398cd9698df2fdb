"""A model behind an endpoint that speaks the chat protocol of OpenAI, as a judge; asked as HTTP retrievers are."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from rankgauge.config.environment import expand
from rankgauge.config.filling import RequestTemplate
from rankgauge.config.judges import JudgeSection
from rankgauge.config.selectors import PathNotFound, parse_selector
from rankgauge.config.servers import SECRET_HEADERS, HttpSection
from rankgauge.errors import shown
from rankgauge.labels.verdicts import ModelAnswer, answer_rule
from rankgauge.retrieval.asking.failures import NoAnswer
from rankgauge.retrieval.engines.http import HttpEngine, HttpFailure

CONTENT = parse_selector("choices[0].message.content")
REFUSED_STATUSES = (400, 422)  # of an endpoint that does not know a key of the request


class HttpJudge:
    """Ask a model for the grade of a text, as JSON with a schema if the endpoint takes one. It is safe in threads."""

    def __init__(self, section: JudgeSection, *, max_grade: int, folder: Path | None = None) -> None:
        self.section, self._max_grade, self._folder = section, max_grade, folder
        self._request = section.request(folder, max_grade)
        self._engine = self._engine_of(self._request)
        self._has_schema = section.structured and "response_format" not in section.options
        self._is_accepted = False  # whether a request with a schema had an answer
        self._lenient: HttpEngine | None = None  # for an endpoint that refuses a schema

    def _engine_of(self, request: HttpSection) -> HttpEngine:
        return HttpEngine(request, name=self.section.model, timeout=self.section.timeout)

    def identity(self) -> dict[str, Any]:
        """The hash of what is sent: address, model, prompt and options, with variables filled in; no header, no secret.

        A variable is a secret if its name ends as that of a secret header does (KEY, TOKEN, …).
        """
        values = {"query": self.section.fill_prompt("{query}", "{text}"), "k": 1}
        body = RequestTemplate(self._request.body, partial(expand, keeps=_is_secret)).fill(values)
        again = answer_rule(self._max_grade)
        content = json.dumps([_public_url(self._request), body, again], sort_keys=True)
        return {"judge": "http", "sent_sha256": hashlib.sha256(content.encode("ascii")).hexdigest()}

    def __call__(self, query: str, text: str) -> ModelAnswer:
        """What the model writes, and the tokens that it reports."""
        return self._ask(self.section.fill_prompt(query, text))

    def again(self, query: str, text: str) -> ModelAnswer:
        """Ask once more, with the form of an answer stated."""
        return self._ask(f"{self.section.fill_prompt(query, text)}\n\n{answer_rule(self._max_grade)}")

    def _ask(self, prompt: str) -> ModelAnswer:
        engine = self._lenient or self._engine
        may_be_refused = self._has_schema and engine is self._engine and not self._is_accepted
        try:
            document = engine.ask(prompt)
        except HttpFailure as error:
            if not may_be_refused or getattr(error.response, "status_code", None) not in REFUSED_STATUSES:
                raise
            # The same request without a schema is another call, which counts: it is made by whoever counts calls.
            self._lenient = self._lenient or self._engine_of(self.section.request(self._folder))
            raise NoAnswer(f"response_format was refused: {error}") from None
        self._is_accepted |= engine is self._engine
        try:
            content = CONTENT.select(document)
        except PathNotFound as error:
            raise NoAnswer(f"not a chat completion: {error}") from None
        if not isinstance(content, str):
            raise NoAnswer(f"expected text at {CONTENT.text}, found {shown(json.dumps(content))}")
        usage = document.get("usage") if isinstance(document, dict) else None
        return ModelAnswer(content, usage if isinstance(usage, dict) else None)


def _public_url(request: HttpSection) -> str:
    """The address without user, password, and parameters that are secrets."""
    url = urlsplit(expand(request.url or "", keeps=_is_secret))
    query = urlencode([(name, value) for name, value in parse_qsl(url.query, True) if not _is_secret(name)])
    return urlunsplit((url.scheme, url.netloc.rpartition("@")[2], url.path, query, ""))


def _is_secret(name: str) -> bool:
    return name.lower().endswith(SECRET_HEADERS)
