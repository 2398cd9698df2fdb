"""Labels by text: the passages of the source documents that answer each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rankgauge.core.formatting import plural
from rankgauge.core.views import HtmlView
from rankgauge.errors import InputError, Note, location, shown


@dataclass(frozen=True)
class GoldPassage:
    """A passage that answers a query: its text, or the characters ``start`` to ``end`` of a document, or both.

    ``source`` and ``line`` say where the label is.
    """

    query: str
    text: str | None
    document: str | None = None
    start: int = 0
    end: int = 0
    source: str = "gold"
    line: int = 0

    @property
    def is_span(self) -> bool:
        """Whether it is known where in a document the text is."""
        return self.document is not None and self.text is not None and len(self.text) == self.end - self.start

    @property
    def place(self) -> str:
        """The file and line of the label."""
        return location(self.source, self.line or None).removesuffix(": ")


@dataclass(frozen=True)
class GoldLabels(HtmlView):
    """The gold passages of all queries, in the order of the input, with texts and columns of the queries.

    ``without_gold`` are queries that the input has without any passage.
    """

    name: str
    passages: Sequence[GoldPassage]
    query_texts: dict[str, str] = field(default_factory=dict)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    without_gold: Sequence[str] = ()
    notes: Sequence[Note] = ()

    def __repr__(self) -> str:
        queries, passages = plural(len(self.queries), "query"), plural(len(self.passages), "passage")
        return f"GoldLabels({self.name!r}, {queries}, {passages})"

    @property
    def queries(self) -> list[str]:
        """The queries that have passages, in the order of the input."""
        return list(dict.fromkeys(passage.query for passage in self.passages))

    def passage_names(self) -> list[str]:
        """The passages of each query, numbered from 1, as the subtopics of ndeval are."""
        counts: dict[str, int] = {}
        names = []
        for passage in self.passages:
            counts[passage.query] = counts.get(passage.query, 0) + 1
            names.append(str(counts[passage.query]))
        return names

    def cases(self) -> list[dict[str, Any]]:
        """Test cases for :func:`rankgauge.evaluate_retriever`, whose result :func:`evaluate_gold` scores."""
        for passage in self.passages:
            if passage.query not in self.query_texts:
                raise InputError(
                    f"{passage.place}: query {shown(passage.query)} has no text to ask a retriever",
                    hint='write {"query_id": "…", "query": "…", "gold": ["…"]}',
                )
        return [{"id": query, "query": self.query_texts[query], "relevant_ids": []} for query in self.queries]

    def renamed(self, ids: dict[str, str]) -> GoldLabels:
        """The labels with other query ids; those that are not in the dict stay."""

        def moved(values: dict[str, Any]) -> dict[str, Any]:
            return {ids.get(query, query): value for query, value in values.items()}

        return replace(
            self,
            passages=[replace(passage, query=ids.get(passage.query, passage.query)) for passage in self.passages],
            query_texts=moved(self.query_texts),
            columns={name: moved(values) for name, values in self.columns.items()},
            without_gold=[ids.get(query, query) for query in self.without_gold],
        )
