"""Queries that need no retrieval are not sent on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputTypeError, UsageError, shown
from rankgauge.retrieval.base import Identity, Questions, Retriever, answer
from rankgauge.retrieval.decisions import Decisions
from rankgauge.retrieval.loading import is_spec, load

Rule = Callable[[str], bool]
COUNT = re.compile(r"words\s*(>=|<=|>|<|=)\s*(\d+)")
KNOWN = "words>=N (or >, <, <=, =), matches:REGEX, not:REGEX, or module:callable that takes the text"


def rule(text: str) -> Rule:
    """A rule that says whether a query is to be retrieved for: ``words>=3``, ``not:^(hi|thanks)``, ``module:f``."""
    count = COUNT.fullmatch(text.strip())
    if count:
        sign, wanted = count.group(1), int(count.group(2))
        return lambda query: _compare(len(query.split()), sign, wanted)
    kind, mark, pattern = text.partition(":")
    if mark and kind in ("matches", "not"):
        try:
            found = re.compile(pattern, re.IGNORECASE)
        except re.error as error:
            raise UsageError(f"gate {shown(text)}: not a regular expression: {error}") from None
        return lambda query: (found.search(query) is not None) == (kind == "matches")
    if is_spec(text):
        made: Rule = load(text, "gate")
        return made
    raise UsageError(f"no gate {shown(text)}", hint=f"one of {KNOWN}")


def _compare(count: int, sign: str, wanted: int) -> bool:
    return {
        ">=": count >= wanted,
        "<=": count <= wanted,
        ">": count > wanted,
        "<": count < wanted,
        "=": count == wanted,
    }[sign]


class Gated:
    """A retriever behind a rule. A query that is not let through gets an empty answer.

    With ``shadow`` it is retrieved for all the same, for the log alone, so that what the gate costs can be measured.
    """

    def __init__(
        self,
        retriever: Retriever,
        gate: str | Rule,
        *,
        decisions: Decisions | None = None,
        shadow: bool = False,
        version: str = "",
    ) -> None:
        self.name, self._retriever, self._shadow, self._version = retriever.name, retriever, shadow, version
        self._said = gate if isinstance(gate, str) else getattr(gate, "__name__", type(gate).__name__)
        self._rule = rule(gate) if isinstance(gate, str) else gate
        self._decisions = decisions or Decisions()

    def identity(self) -> Identity:
        """The rule and what is behind it."""
        return {"mode": "gated", "gate": self._said, "version": self._version, "of": self._retriever.identity()}

    def retrieve(self, queries: Questions, k: int) -> Run:
        """Answer a batch."""
        through = np.array([self._decide(text) for text in queries.texts], dtype=bool)
        asked = np.arange(len(queries)) if self._shadow else np.flatnonzero(through)
        found = answer(self._retriever, queries.take(asked), k)
        for query, passed in zip(queries.ids, through.tolist(), strict=True):
            self._decisions.note(query, skipped=not passed)
        if self._shadow:
            _note_results(self._decisions, found)
            found = found.select(np.flatnonzero(through))
        return _among(queries, np.flatnonzero(through), found)

    def _decide(self, text: str) -> bool:
        made = self._rule(text)
        if not isinstance(made, (bool, np.bool_)):
            raise InputTypeError(f"gate {self._said} must return True or False, found {type(made).__name__}")
        return bool(made)


def _note_results(decisions: Decisions, run: Run) -> None:
    names = run.docs.to_text()
    for place, query in enumerate(run.queries):
        if not decisions.knows(query, "retrieved_ids"):  # a reranker behind the gate has said it already
            decisions.note(query, retrieved_ids=names[run.offsets[place] : run.offsets[place + 1]])


def _among(queries: Questions, places: Ints, found: Run) -> Run:
    """The answers of some of the queries, the others empty between them."""
    sizes = np.zeros(len(queries), dtype=np.int64)
    sizes[places] = np.diff(found.offsets)
    status = np.full(len(queries), Status.EMPTY, dtype=np.uint8)
    status[places] = found.status
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return replace(found, queries=queries.ids, offsets=offsets, status=status)
