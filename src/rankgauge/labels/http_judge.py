"""A model behind an endpoint that speaks the chat protocol of OpenAI, as a judge; asked as HTTP retrievers are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from rankgauge.config.judges import JudgeSection
from rankgauge.config.selectors import PathNotFound, parse_selector
from rankgauge.errors import printable, shown
from rankgauge.labels.verdicts import TOKEN_KEYS, Verdict
from rankgauge.retrieval.asking.failures import NoAnswer
from rankgauge.retrieval.engines.http import HttpEngine

CONTENT = parse_selector("choices[0].message.content")
GRADE = re.compile(r"\bgrade\b\W{0,8}(\d+)", re.IGNORECASE)
REASON_CHARACTERS = 1000


class HttpJudge:
    """Ask a model for the grade of a text. It is safe in threads."""

    def __init__(self, section: JudgeSection, *, folder: Path | None = None) -> None:
        self.section = section
        self._engine = HttpEngine(section.request(folder), name=section.model, timeout=section.timeout)

    def identity(self) -> dict[str, Any]:
        """What determines the answers: address, model, prompt and options; no header, and no secret."""
        section = self.section
        return {
            "judge": "http",
            "url": section.url,
            "model": section.model,
            "system": section.system,
            "prompt": section.prompt,
            "options": dict(section.options),
        }

    def __call__(self, query: str, text: str) -> Verdict:
        """The grade that the model gives, with its reason and the tokens that it reports."""
        document = self._engine.ask(self.section.fill_prompt(query, text))
        try:
            content = CONTENT.select(document)
        except PathNotFound as error:
            raise NoAnswer(f"not a chat completion: {error}") from None
        if not isinstance(content, str):
            raise NoAnswer(f"expected text at {CONTENT.text}, found {shown(json.dumps(content))}")
        grade, reason = read_grade(content)
        usage = document.get("usage") if isinstance(document, dict) else None
        tokens = {key: usage[key] for key in TOKEN_KEYS if isinstance(usage, dict) and isinstance(usage.get(key), int)}
        return Verdict(grade, reason, tokens or None)


def read_grade(content: str) -> tuple[float, str | None]:
    """The grade in a model's answer: a number alone, JSON with the key ``grade``, or ``grade: 2`` at its end."""
    text = content.strip()
    if text.isascii() and text.isdigit():
        return float(text), None
    begin, end = text.find("{"), text.rfind("}")
    if 0 <= begin < end:
        try:
            value = json.loads(text[begin : end + 1])
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and isinstance(value.get("grade"), (int, float)):
            reason = value.get("reason")
            return value["grade"], None if reason is None else printable(str(reason), REASON_CHARACTERS)
    grades = GRADE.findall(text)
    if not grades:
        raise NoAnswer(f"the answer has no grade: {shown(text)}")
    return float(grades[-1]), printable(text, REASON_CHARACTERS)
