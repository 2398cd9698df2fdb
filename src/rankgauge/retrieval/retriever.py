"""What a retriever is: the protocol, the queries that it receives, and the decisions that it records."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.run import Run
from rankgauge.errors import UsageError
from rankgauge.io.atomic_files import write_atomically
from rankgauge.retrieval.asking.event_loops import run_with_loop

if TYPE_CHECKING:
    from rankgauge.io.queries import Queries
    from rankgauge.retrieval.asking.answers import AnswerFacts, RankedResults

Identity = Mapping[str, Any]
AnswerHandler = Callable[[int, "RankedResults", "AnswerFacts"], None]


@dataclass(frozen=True, eq=False)
class QueryBatch:
    """Queries as a retriever receives them: ids and texts, in order, and the other fields of each by its id."""

    ids: Ids
    texts: Sequence[str]
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, texts: Mapping[str, str]) -> QueryBatch:
        """From ``{query id: text}``."""
        return cls(Ids.from_text(texts, "query id"), list(texts.values()))

    @classmethod
    def from_queries(cls, queries: Queries) -> QueryBatch:
        """From a query file; a query without a text has an empty one."""
        if not any(queries.texts):
            raise UsageError(
                "the queries have no texts to retrieve with", hint="add a column named text, query or question"
            )
        fields: dict[str, dict[str, Any]] = {}
        for name, values in queries.columns.items():
            for query, value in values.items():
                fields.setdefault(query, {})[name] = value
        return cls(queries.ids, [text or "" for text in queries.texts], fields)

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: Ints) -> QueryBatch:
        """The queries at the given rows."""
        return QueryBatch(self.ids.take(rows), [self.texts[row] for row in rows.tolist()], self.fields)


@runtime_checkable
class Retriever(Protocol):
    """Answer a batch of queries with a run of at most ``k`` documents each, made by :mod:`.ranked_scores`.

    Every query is in the run, in the given order; a query without results is empty there. An answer depends only on
    its own query, never on the batch. ``retrieve`` may be a coroutine.
    """

    name: str

    def retrieve(self, queries: QueryBatch, k: int) -> Run | Awaitable[Run]:
        """Answer a batch."""

    def identity(self) -> Identity:
        """Everything that determines the answers, as JSON: the kind, its parameters, content hashes."""


@runtime_checkable
class StreamingRetriever(Protocol):
    """A retriever that passes on each answer as soon as it has arrived, so that no query waits for a batch."""

    def retrieve_each(self, queries: QueryBatch, k: int, handle: AnswerHandler) -> None:
        """Answer every query, and pass on each answer with the row of its query, in any order."""


def retrieve_run(retriever: Retriever, queries: QueryBatch, k: int) -> Run:
    """Answer a batch with any retriever; the result of a coroutine is awaited."""
    result = retriever.retrieve(queries, k)
    return run_with_loop(_wait_for(result)) if inspect.isawaitable(result) else result


async def _wait_for(result: Awaitable[Run]) -> Run:
    return await result


# What rerankers decided, in the form that ``rankgauge pipeline`` reads.

QueryDecision = dict[str, Any]


class Decisions:
    """One object per query, with ``retrieved_ids`` and ``reranked_ids``."""

    def __init__(self) -> None:
        self._by_query: dict[bytes, QueryDecision] = {}

    def record(self, query: bytes, **values: Any) -> None:
        """Add to the decision about a query."""
        self._by_query.setdefault(query, {}).update(values)

    def pop(self, query: bytes) -> QueryDecision:
        """Return the decision about a query and forget it."""
        return self._by_query.pop(query, {})


def id_text(name: bytes) -> str:
    """An id as JSON text."""
    return name.decode("utf-8", "surrogateescape")


def write_decisions(
    decisions: Mapping[str, QueryDecision], out: str | Path, *, inputs: Iterable[str | Path] = ()
) -> None:
    """Write each query's decision as JSON Lines."""
    with write_atomically(out, inputs=inputs) as file:
        for query, decision in decisions.items():
            row = {"query_id": query, **decision}
            file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n")
