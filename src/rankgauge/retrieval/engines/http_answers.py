"""Results from the JSON of a server's answer, found by the paths of a configuration."""

from __future__ import annotations

from functools import partial
from typing import Any

from rankgauge.config.selectors import PathNotFound, Selector, describe, parse_selector
from rankgauge.config.servers import HttpSection
from rankgauge.retrieval.asking.documents import Document

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
