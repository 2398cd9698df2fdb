"""A gate: queries that need no retrieval are not sent to the retriever."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

import numpy as np

from rankgauge.core.run import Run, Status
from rankgauge.errors import InputTypeError, UsageError, shown
from rankgauge.retrieval.base import Identity, QueryBatch, Retriever, retrieve_run
from rankgauge.retrieval.decisions import Decisions
from rankgauge.retrieval.loading import code_identity, is_object_path, load_object
from rankgauge.retrieval.scores import spread_run

GateRule = Callable[[str], bool]
WORD_COUNT_RULE = re.compile(r"words\s*(>=|<=|>|<|=)\s*(\d+)")
WORD_COUNT_COMPARISONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq}
GATE_RULES = "words>=N (or >, <, <=, =), matches:REGEX, not:REGEX, or module:callable that takes the text"


def parse_rule(text: str) -> GateRule:
    """A function that decides whether to retrieve for a query: ``words>=3``, ``not:^(hi|thanks)``, ``module:f``."""
    word_count = WORD_COUNT_RULE.fullmatch(text.strip())
    if word_count:
        compare, limit = WORD_COUNT_COMPARISONS[word_count.group(1)], int(word_count.group(2))
        return lambda query: bool(compare(len(query.split()), limit))
    kind, colon, expression = text.partition(":")
    if colon and kind in ("matches", "not"):
        try:
            pattern = re.compile(expression, re.IGNORECASE)
        except re.error as error:
            raise UsageError(f"gate {shown(text)}: not a regular expression: {error}") from None
        return lambda query: (pattern.search(query) is not None) == (kind == "matches")
    if is_object_path(text):
        rule: GateRule = load_object(text, "gate")
        return rule
    raise UsageError(f"unknown gate {shown(text)}", hint=f"choose one of {GATE_RULES}")


class GatedRetriever:
    """A retriever behind a rule. A query that the rule rejects gets an empty answer.

    With ``shadow`` it is still retrieved, for the log only, so that the cost of the gate can be measured.
    """

    def __init__(
        self,
        retriever: Retriever,
        gate: str | GateRule,
        *,
        decisions: Decisions | None = None,
        shadow: bool = False,
        version: str = "",
    ) -> None:
        self.name, self._retriever, self._shadow, self._version = retriever.name, retriever, shadow, version
        self._rule_name = gate if isinstance(gate, str) else getattr(gate, "__name__", type(gate).__name__)
        self._rule = parse_rule(gate) if isinstance(gate, str) else gate
        is_code = getattr(self._rule, "__module__", None) != __name__
        path = gate if isinstance(gate, str) else None
        self._code = {"code": code_identity(self._rule, path)} if is_code else {}
        self._decisions = decisions or Decisions()

    def identity(self) -> Identity:
        """The rule, with the hashes of its code, and the retriever behind it."""
        return {
            "mode": "gated",
            "gate": self._rule_name,
            "version": self._version,
            **self._code,
            "retriever": self._retriever.identity(),
        }

    def retrieve(self, queries: QueryBatch, k: int) -> Run:
        """Answer a batch."""
        passed = np.array([self._passes(text) for text in queries.texts], dtype=bool)
        passed_rows = np.flatnonzero(passed)
        retrieved_rows = np.arange(len(queries)) if self._shadow else passed_rows
        run = retrieve_run(self._retriever, queries.take(retrieved_rows), k)
        for query, passes in zip(queries.ids, passed.tolist(), strict=True):
            self._decisions.record(query, skipped=not passes)
        if self._shadow:
            _record_results(self._decisions, run)
            run = run.select(passed_rows)
        return spread_run(run, queries.ids, passed_rows, Status.EMPTY)

    def _passes(self, text: str) -> bool:
        decision = self._rule(text)
        if not isinstance(decision, (bool, np.bool_)):
            raise InputTypeError(f"gate {self._rule_name} must return True or False, found {type(decision).__name__}")
        return bool(decision)


def _record_results(decisions: Decisions, run: Run) -> None:
    names = run.docs.to_text()
    for row, query in enumerate(run.queries):
        if not decisions.has(query, "retrieved_ids"):  # a reranker behind the gate has recorded them already
            decisions.record(query, retrieved_ids=names[run.offsets[row] : run.offsets[row + 1]])
