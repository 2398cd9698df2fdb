"""Open the judge that a text names: ``module:callable``, ``FILE.py:name``, or a YAML file with a model's address.

Nothing else is ever called: there is no default model and no default address. A model is asked by the chat protocol of
OpenAI, in the way that HTTP retrievers are asked.
"""

from __future__ import annotations

import hashlib
import json
import sys
import uuid
from functools import partial
from pathlib import Path
from typing import Any

from rankgauge.config.config_file import load_judge_section
from rankgauge.config.environment_variables import expand
from rankgauge.config.json_paths import PathNotFound, parse_selector
from rankgauge.config.judges import JudgeSection
from rankgauge.config.request_templates import RequestTemplate
from rankgauge.config.servers import HttpSection
from rankgauge.errors import UsageError, shown
from rankgauge.io.byte_streams import sha256_of_file
from rankgauge.labels.judging_session import DEFAULT_MAX_GRADE
from rankgauge.labels.machine_answers import ModelAnswer, answer_rule
from rankgauge.labels.machine_judging import MachineJudge
from rankgauge.retrieval.asking.failures import NoAnswer
from rankgauge.retrieval.engines.callables import source_identity
from rankgauge.retrieval.engines.http import HttpEngine
from rankgauge.retrieval.engines.http_client import HttpFailure
from rankgauge.retrieval.named_code import FILE_SUFFIX, load_object
from rankgauge.retrieval.open_retriever import is_retriever_file
from rankgauge.secrets import is_secret_name, public_url

JUDGE_CALLS = ("concurrency", "retries")
CODE_NOTE = "judgments are reused if the judge's file is the same; what it imports is not compared"


def open_judge(
    source: str, *, name: str | None = None, max_grade: int = DEFAULT_MAX_GRADE, batch_size: int | None = None
) -> MachineJudge:
    """The judge that a text names, under its own name or a given one.

    The identity of a function is where it is defined, and the hashes of that file and of the file that was named, so
    that a changed prompt is asked again; what these import is not part of it. An object may say more in ``identity()``.
    That of a YAML file is the hash of what is sent: address, model, prompt and options.
    """
    if is_retriever_file(source):
        return _model(source, name, max_grade, batch_size)
    judge = load_object(source, "judge")
    if not callable(judge):
        raise UsageError(f"judge {shown(source)} is not callable", hint="name a function of a query and a text")
    title = name or source.rpartition(":")[2]
    identity = {**source_identity(judge), "named_sha256": _named_sha256(source)}
    return MachineJudge(title, judge, identity, batch_size, max_grade)


def is_code(source: str) -> bool:
    """Whether a judge is a function, rather than a model that a file describes."""
    return not is_retriever_file(source)


def judge_calls(source: str) -> dict[str, Any]:
    """How the file of a model says that it is called; nothing for a function."""
    if not is_retriever_file(source):
        return {}
    section = load_judge_section(source)
    return {key: value for key in JUDGE_CALLS if (value := getattr(section, key)) is not None}


def _model(source: str, name: str | None, max_grade: int, batch_size: int | None) -> MachineJudge:
    if batch_size is not None:
        raise UsageError("a model is sent one text per call", hint="leave out --batch; --concurrency N asks N at once")
    judge = HttpJudge(load_judge_section(source), max_grade=max_grade, folder=Path(source).parent)
    return MachineJudge(name or judge.section.model, judge, judge.identity(), None, max_grade, judge.again)


def _named_sha256(source: str) -> str:
    """The hash of the file that a judge was loaded from, which may hold no more than a partial call of its function.

    Code without a file is new each time: nothing says whether it is the same.
    """
    module = source.rpartition(":")[0]
    path = module if module.endswith(FILE_SUFFIX) else getattr(sys.modules.get(module), "__file__", None)
    return uuid.uuid4().hex if path is None else sha256_of_file(path)


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
        body = RequestTemplate(self._request.body, partial(expand, keeps=is_secret_name)).fill(values)
        address = public_url(expand(self._request.url or "", keeps=is_secret_name))
        again = answer_rule(self._max_grade)
        content = json.dumps([address, body, again], sort_keys=True)
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
