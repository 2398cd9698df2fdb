"""What gates, routers and rerankers decided, in the form that ``rankgauge pipeline`` reads."""

from __future__ import annotations

from typing import Any

Decision = dict[str, Any]


class Decisions:
    """One object a query: ``expert`` and ``expert_scores``, ``skipped``, ``retrieved_ids`` and ``reranked_ids``."""

    def __init__(self) -> None:
        self._by_query: dict[bytes, Decision] = {}

    def note(self, query: bytes, **values: Any) -> None:
        """Add to what is known of a query."""
        self._by_query.setdefault(query, {}).update(values)

    def knows(self, query: bytes, what: str) -> bool:
        """Whether something was noted of a query."""
        return what in self._by_query.get(query, {})

    def take(self, query: bytes) -> Decision:
        """What was decided for a query, forgotten here."""
        return self._by_query.pop(query, {})


def text(name: bytes) -> str:
    """An id as it stands in JSON."""
    return name.decode("utf-8", "surrogateescape")
