"""What a run is compared with: the results of one run, or of several of the same system, query by query."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from rankgauge.comparison.comparability import ResultFacts
from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import listing, number
from rankgauge.core.hits import Hits
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Status
from rankgauge.errors import Note, shown
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.scores import Scores

Retrieved = Mapping[str, Mapping[str, int]]  # query → judged document → its rank, in the order of ranks
UNKNOWN_FACTS = ResultFacts()
NUMBER = re.compile(r" \(\d+\)\Z")
QUERIES_NAMED = 3


@dataclass(frozen=True, eq=False)
class Baseline:
    """The scores of one run, or the mean of several runs of one system; queries and measures are those of all."""

    runs: tuple[Scores, ...]  # at least one
    retrieved_by: tuple[Retrieved, ...] = ()  # what each run retrieved; none if the rankings are not known
    facts_of: tuple[ResultFacts, ...] = ()  # how the results of each run were collected

    @classmethod
    def of(cls, evaluation: Evaluation, *indices: int) -> Baseline:
        """Some runs of an evaluation."""
        runs = tuple(evaluation.scores[index] for index in indices)
        if not evaluation.joined:
            others = {scores.run for scores in evaluation.scores}
            runs = tuple(replace(scores, run=_own_name(scores.run, others)) for scores in runs)
            return cls(runs, facts_of=tuple(map(ResultFacts.of_scores, runs)))
        joins = [evaluation.joined[index] for index in indices]
        runs = tuple(replace(scores, run=joined.name) for scores, joined in zip(runs, joins, strict=True))
        retrieved = tuple(ranks_of(joined.hits, evaluation.qrels) for joined in joins)
        return cls(runs, retrieved, tuple(map(ResultFacts.of, joins)))

    @property
    def run(self) -> str:
        """The name that all of its runs have, or how many there are."""
        names = {scores.run for scores in self.runs}
        return self.runs[0].run if len(names) == 1 else f"mean of {len(self.runs)} runs"

    @property
    def run_sha256(self) -> str | None:
        """The hash of the run's file; None if several differ."""
        hashes = {scores.run_sha256 for scores in self.runs}
        return self.runs[0].run_sha256 if len(hashes) == 1 else None

    @cached_property
    def scores(self) -> Scores:
        """The mean of the runs: each query over those that have it, exactly its value if all of these agree."""
        first = self.runs[0]
        if len(self.runs) == 1:
            return first
        averaged = np.stack([scores.averaged for scores in self.runs])
        asked = averaged & np.stack([scores.status != Status.MISSING for scores in self.runs])
        present = np.where(asked.any(axis=0), asked, averaged)
        values = np.stack([scores.values for scores in self.runs])
        known = present[:, :, np.newaxis] & ~np.isnan(values)
        chosen = np.take_along_axis(values, known.argmax(axis=0)[np.newaxis], axis=0)[0]
        differences = np.where(known, values - chosen, 0.0).sum(axis=0)
        count = known.sum(axis=0)
        mean = np.where(count > 0, chosen + differences / np.maximum(count, 1), np.nan)
        status = np.where(asked.any(axis=0), Status.ANSWERED, Status.MISSING).astype(np.uint8)
        return replace(
            first,
            run=self.run,
            run_sha256=self.run_sha256,
            values=mean,
            averaged=np.logical_or.reduce(averaged),
            status=status,
            holds_empty=all(run.holds_empty for run in self.runs),
        )

    @property
    def values(self) -> Floats:
        """Queries × measures; NaN if there is none."""
        return self.scores.values

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each query that has values."""
        scores = self.scores
        return {scores.queries[row]: row for row in np.flatnonzero(scores.averaged & scores.asked).tolist()}

    @cached_property
    def retrieved(self) -> Retrieved:
        """The judged documents that every run retrieved, by query, at their ranks in the first.

        One that is missing now was not missing by chance.
        """
        if not self.retrieved_by:
            return {}
        first, *others = self.retrieved_by
        kept = {
            query: {doc: rank for doc, rank in docs.items() if all(doc in other.get(query, ()) for other in others)}
            for query, docs in first.items()
        }
        return {query: docs for query, docs in kept.items() if docs}

    @property
    def facts(self) -> ResultFacts:
        """How its results were collected; of several runs, those of the shallowest."""
        return min(self.facts_of, key=lambda facts: facts.limit, default=UNKNOWN_FACTS)

    @property
    def has_judged(self) -> bool:
        """Whether it found something: some value is not the worst possible one."""
        for column, measure in enumerate(self.scores.measures):
            low, high = measure.definition.range
            values = self.values[self.scores.averaged, column]
            if bool(
                (np.nan_to_num(values, nan=low) != low).any()
                if measure.definition.direction >= 0
                else (np.nan_to_num(values, nan=high) != high).any()
            ):
                return True
        return False

    def spread_notes(self) -> Iterator[Note]:
        """How far the means of several runs are apart."""
        if len(self.runs) == 1:
            return
        parts = []
        for measure in self.scores.measures:
            values = [value for value in (scores[measure] for scores in self.runs) if value is not None]
            if values:
                parts.append(f"{measure} {number(min(values))} to {number(max(values))}")
        yield Note("repeats", f"the baseline is the mean of {len(self.runs)} runs: {', '.join(parts)}")


def _own_name(name: str, others: Collection[str]) -> str:
    """A name without the number that made it differ from another one."""
    own = NUMBER.sub("", name)
    return own if own in others else name


def ranks_of(hits: Hits, qrels: Qrels) -> dict[str, dict[str, int]]:
    """The rank of each judged document that was retrieved, by query."""
    documents, ranks = qrels.docs.take(hits.ordinal).to_text(), hits.rank.tolist()
    names, bounds = hits.queries.names, hits.offsets.tolist()
    return {
        names[row]: dict(zip(documents[begin:end], ranks[begin:end], strict=True))
        for row, (begin, end) in enumerate(pairwise(bounds))
        if begin < end
    }


def query_sample(queries: list[str]) -> str:
    """The first few queries of a list."""
    return listing((shown(query) for query in queries), QUERIES_NAMED)
