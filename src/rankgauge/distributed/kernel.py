"""The kernel that every engine runs: rows of whole queries and their judgments in, the values of each query out.

    engine → Arrow batches → blocks → score_block → results (a table that any engine can hold) → assembly → Scores

The value of a query depends on its own rows only, so that partitions, batches and retries change nothing. What depends
on the whole collection, such as the largest grade, is in the names of the measures before anything is sent to workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankgauge.core.batch import Batch
from rankgauge.core.hits_builder import HitsBuilder
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats
from rankgauge.errors import UsageError
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import query_values
from rankgauge.evaluation.notes import JoinFacts, number_cutoffs
from rankgauge.io.checks.faults import Faults
from rankgauge.io.pipeline.runs import RunBuilder
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.registry import register
from rankgauge.measures.spec import DEFINITIONS, Definition, Measure


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
        for measure in requested:
            measure.check_judgments(qrels.judgments)
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
