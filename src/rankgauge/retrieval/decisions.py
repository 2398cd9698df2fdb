"""What gates, routers and rerankers decided, in the form that ``rankgauge pipeline`` reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankgauge.io.writing import write_atomically

QueryDecision = dict[str, Any]
# Columns of the query file that the pipeline measures compare decisions with.
EXPECTED_COLUMNS = ("optimal_expert", "best_expert", "expected_expert", "needs_retrieval", "retrieval_needed", "needed")


class Decisions:
    """One object per query: ``expert`` and ``expert_scores``, ``skipped``, ``retrieved_ids`` and ``reranked_ids``."""

    def __init__(self) -> None:
        self._by_query: dict[bytes, QueryDecision] = {}

    def record(self, query: bytes, **values: Any) -> None:
        """Add to the decision about a query."""
        self._by_query.setdefault(query, {}).update(values)

    def has(self, query: bytes, field: str) -> bool:
        """Whether a field of the decision about a query is recorded."""
        return field in self._by_query.get(query, {})

    def pop(self, query: bytes) -> QueryDecision:
        """Return the decision about a query and forget it."""
        return self._by_query.pop(query, {})


def id_text(name: bytes) -> str:
    """An id as JSON text."""
    return name.decode("utf-8", "surrogateescape")


def write_decisions(
    decisions: Mapping[str, QueryDecision],
    query_columns: Mapping[str, Mapping[str, Any]],
    out: str | Path,
    *,
    inputs: Iterable[str | Path] = (),
) -> None:
    """Write each query's decision as JSON Lines, with the expected values in the query file (the best expert, …)."""
    expected_columns = {name: values for name, values in query_columns.items() if name in EXPECTED_COLUMNS}
    with write_atomically(out, inputs=inputs) as file:
        for query, decision in decisions.items():
            expected = {name: values[query] for name, values in expected_columns.items() if query in values}
            row = {"query_id": query, **expected, **decision}
            file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n")
