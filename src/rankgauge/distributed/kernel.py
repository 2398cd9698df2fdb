"""The kernel that every engine runs: rows of whole queries and their judgments in, the values of each query out.

    engine → Arrow batches → blocks → score_block → results (a table that any engine can hold) → assembly → Scores

The value of a query depends on its own rows only, so that partitions, batches and retries change nothing. What depends
on the whole collection, such as the largest grade, is in the names of the measures before anything is sent to workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.batch import Batch
from rankgauge.core.hits_builder import HitsBuilder
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.evaluation.caveats import JoinFacts, number_cutoffs
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import query_values
from rankgauge.io.faults import Faults
from rankgauge.io.formats import arrow
from rankgauge.io.pipeline.run_pipeline import RunBuilder
from rankgauge.measures.measure import DEFINITIONS, Definition, Measure
from rankgauge.measures.names import parse_measure
from rankgauge.measures.registry import register


@dataclass(frozen=True)
class Task:
    """What to compute for each query. Measures travel by name; those that a worker cannot know come along."""

    measure_names: tuple[str, ...]
    requested_names: tuple[str, ...]
    conventions: Conventions
    source: str  # what messages call the run's table
    own_definitions: tuple[Definition, ...] = ()
    has_ranks_only: bool = False  # the table has ranks instead of scores

    @classmethod
    def of(
        cls, requested: Sequence[Measure], qrels: Qrels, conventions: Conventions, source: str, has_ranks_only: bool
    ) -> Task:
        """The task for some measures; ``qrels`` are all judgments, or whatever has the same collection-wide facts."""
        if conventions.split is not None:
            raise UsageError("a distributed evaluation scores all queries", hint="leave out the split")
        if conventions.forbid:
            raise UsageError("rules need the metadata of results, which a distributed evaluation has not")
        for measure in requested:
            measure.check_judgments(qrels.judgments)
            if measure.definition.needs_answers:
                raise UsageError(
                    f"{measure} depends on all queries of a run, and on refusals or metadata that a table of results "
                    "has not: a distributed evaluation does not compute it",
                    hint="evaluate a log, or test cases and results, on one machine; a sample of the queries will do",
                )
        names = tuple(measure.frozen(qrels).name for measure in requested)
        definitions = dict.fromkeys(measure.definition for measure in requested)
        own = tuple(one for one in definitions if not one.kernel.__module__.startswith("rankgauge."))
        requested_names = tuple(measure.name for measure in requested)
        return cls(names, requested_names, conventions, source, own, has_ranks_only)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the process that computes them."""
        for definition in self.own_definitions:
            if definition.name not in DEFINITIONS:
                register(definition)
        return self._parse(self.measure_names)

    @property
    def requested(self) -> tuple[Measure, ...]:
        """The measures as they were asked for, before anything of the judgments was put in."""
        return self._parse(self.requested_names)

    def _parse(self, names: Sequence[str]) -> tuple[Measure, ...]:
        return tuple(parse_measure(name, compat=self.conventions.compat) for name in names)

    @cached_property
    def cutoffs(self) -> list[int]:
        """The cutoffs at which ties are noted."""
        return number_cutoffs(self.measures)


@dataclass(frozen=True, eq=False)
class BlockScores:
    """The values of the judged queries of a block, the facts behind the caveats, and the queries without judgments."""

    facts: JoinFacts
    values: Floats
    unjudged: Ids


def score_block(qrels: Qrels, rows: Batch, task: Task) -> BlockScores:
    """Score whole queries; ``qrels`` has the judgments of these queries, and those of no other."""
    faults, builder = Faults(task.source), HitsBuilder(qrels, task.conventions.compat)
    faults.has_lines = False  # the rows of a table that lies elsewhere have no numbers
    run = RunBuilder(faults, builder)
    run.add(rows)
    faults.raise_errors()
    hits, queries = builder.build(), run.result().queries
    return BlockScores(
        facts=JoinFacts.of(hits, task.cutoffs),
        values=query_values(hits, task.measures),
        unjudged=queries.take(np.flatnonzero(builder.numbers(queries) < 0)),
    )


# From sorted Arrow batches to blocks of whole queries, and from a block to its rows and judgments.
#
# A batch may end anywhere; a block ends where a query of a run ends, and has at least ``BLOCK_ROWS`` rows unless it
# is the last. Memory is that of one block and of one query, however large a partition is.

BLOCK_ROWS = 1 << 17  # large enough that the fixed cost of a block is small
RUN, QUERY, DOC, VALUE, GRADE, KIND = "run", "query", "doc", "value", "grade", "kind"  # the columns of a batch
JUDGED_QUERY, JUDGMENT, RESULT = 0, 1, 2  # the kinds of rows


def query_blocks(batches: Iterable[Any], block_rows: int = BLOCK_ROWS) -> Iterator[tuple[str | None, Any]]:
    """Blocks of whole queries of one run: its name and a table; the batches are sorted by run and query."""
    held: list[Any] = []
    rows = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        last = int(_ids(batch, QUERY).changes()[-1])  # where the last query begins
        continues = bool(held) and last == 0 and _key(held[-1], -1) == _key(batch, 0)
        if rows + last >= block_rows and not continues:
            yield from _by_run([*held, batch.slice(0, last)])
            held, rows = [batch.slice(last)], batch.num_rows - last
        else:
            held.append(batch)
            rows += batch.num_rows
    if held:
        yield from _by_run(held)


def _by_run(batches: list[Any]) -> Iterator[tuple[str | None, Any]]:
    table = arrow.library("a distributed evaluation").Table.from_batches(batches)
    if RUN not in table.column_names:
        yield None, table
        return
    begins = _ids(table, RUN).changes().tolist()
    for begin, end in zip(begins, [*begins[1:], table.num_rows], strict=True):
        yield table.column(RUN)[begin].as_py() or "", table.slice(begin, end - begin)


def _key(batch: Any, row: int) -> tuple[Any, ...]:
    return tuple(batch.column(name)[row].as_py() for name in (RUN, QUERY) if name in batch.schema.names)


def _ids(table: Any, name: str) -> Ids:
    return arrow.ids_from_column(name, name, table.column(name))


def block_inputs(table: Any, task: Task, qrels: Qrels | None) -> tuple[Qrels, Batch]:
    """The judgments and the rows of a block; without ``qrels``, the judgments are among the rows."""
    kinds = table.column(KIND).to_numpy()
    part = table.take(np.flatnonzero(kinds == RESULT)) if len(kinds) and kinds.min() < RESULT else table
    rows = _result_rows(part, task)
    if qrels is None:
        return task.conventions.judgments(block_judgments(table)), rows
    queries = _ids(table, QUERY)
    queries = queries.take(queries.changes())
    _, numbers = qrels.query_index.find(queries, np.zeros(len(queries), dtype=np.int64))
    return qrels.select(numbers), rows


def _result_rows(table: Any, task: Task) -> Batch:
    """The results of a block; raises if one of them has no query, no document or no number."""
    queries, docs = _ids(table, QUERY), _ids(table, DOC)
    _check_ids(task.source, queries, docs)
    values = floats_of(table.column(VALUE))
    bad_rows = np.flatnonzero(np.isnan(values))
    if len(bad_rows):
        row, what = int(bad_rows[0]), "rank" if task.has_ranks_only else "score"
        raise InputError.at(
            task.source,
            None,
            f"expected a number as {what} of document {shown(docs[row])} for query {shown(queries[row])}, "
            "found NaN or nothing",
        )
    return Batch(np.arange(len(queries)) + 1, queries, docs, values, has_ranks_only=task.has_ranks_only)


def block_judgments(table: Any) -> Qrels:
    """The judgments among the rows of a block, and the queries that are judged without having any."""
    kinds = table.column(KIND).to_numpy()
    judgments = table.take(np.flatnonzero(kinds == JUDGMENT))
    queries, docs = _ids(judgments, QUERY), _ids(judgments, DOC)
    _check_ids("judgments", queries, docs)
    qrels = Qrels.from_columns(queries, docs, floats_of(judgments.column(GRADE)))
    known = set(qrels.queries)
    marked = dict.fromkeys(_ids(table.take(np.flatnonzero(kinds == JUDGED_QUERY)), QUERY))
    return qrels.with_queries([query for query in marked if query not in known])


def _check_ids(source: str, queries: Ids, docs: Ids) -> None:
    if len(queries) and not queries.length.all():
        raise InputError.at(source, None, "expected a query id, found nothing")
    if len(docs) and not docs.length.all():
        row = int(np.flatnonzero(docs.length == 0)[0])
        raise InputError.at(source, None, f"expected a document id for query {shown(queries[row])}, found nothing")


def floats_of(column: Any) -> Floats:
    """The numbers of a column; a null is NaN."""
    return np.array(column.to_numpy(), dtype=np.float64)
