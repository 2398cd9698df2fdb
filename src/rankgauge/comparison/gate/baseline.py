"""What a run is compared with: a value for each query, and which judged documents were retrieved.

It is made from a run, or from several of the same system, whose mean it is; or it is read from the JSON that earlier
runs were stored as (``baseline_file``). A stored one that was made with other conventions or queries is refused,
because a difference would not be due to the retriever; so is one that was made with other judgments, unless it has them
(see ``causes``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.comparison.comparability import ResultFacts
from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import listing, plural
from rankgauge.core.hits import Hits
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, shown
from rankgauge.evaluation.conventions import VALUE_CONVENTIONS
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.scores import Scores
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.formats.json_text import json_text

Retrieved = Mapping[str, Mapping[str, int]]  # query → judged document → its rank, in the order of ranks
UNKNOWN_FACTS = ResultFacts()


@dataclass(frozen=True, eq=False)
class BaselineRun:
    """One run of a baseline: its value for each query, and which judged documents it retrieved."""

    name: str
    sha256: str | None
    values: Floats  # queries × measures; NaN if there is none
    retrieved: Retrieved  # the judged documents it retrieved
    stored: Mapping[str, Any]  # the run of the scores' schema, as it is written
    ranking: Run | None = None  # the run itself, if it is known
    facts: ResultFacts = UNKNOWN_FACTS  # how its results were collected


def mean_values(runs: Sequence[BaselineRun]) -> Floats:
    """The mean of the runs, query by query; exactly the value of a query if all runs have the same."""
    return mean_of([run.values for run in runs])


def mean_of(values: Sequence[Floats]) -> Floats:
    """The mean of arrays; exactly a value if all arrays have the same."""
    first = values[0]
    return first + np.mean([one - first for one in values], axis=0) if len(values) > 1 else first


def common_name(runs: Sequence[BaselineRun]) -> str:
    """The name that all runs have, or how many there are."""
    names = {run.name for run in runs}
    return runs[0].name if len(names) == 1 else f"mean of {len(runs)} runs"


def common_sha256(runs: Sequence[BaselineRun]) -> str | None:
    """The hash of the file, if all runs have the same."""
    hashes = {run.sha256 for run in runs}
    return runs[0].sha256 if len(hashes) == 1 else None


def always_retrieved(runs: Sequence[BaselineRun]) -> dict[str, dict[str, int]]:
    """The judged documents that every run retrieved, at their ranks in the first.

    One that is missing now was not missing by chance.
    """
    others = [run.retrieved for run in runs[1:]]
    kept = {
        query: {doc: rank for doc, rank in docs.items() if all(doc in other.get(query, ()) for other in others)}
        for query, docs in runs[0].retrieved.items()
    }
    return {query: docs for query, docs in kept.items() if docs}


BASELINE_SCHEMA = "rankgauge.baseline/4"
SCORES = "rankgauge.scores/1"
PASSAGE_CONVENTIONS = ("coverage", "tolerance")
QUERIES_NAMED = 3
RENEW = "name the baseline's run file instead, or store a new baseline with `rankgauge gate --write-baseline`"


@dataclass(frozen=True, eq=False)
class Baseline(HtmlView):
    """The values of a run, or the mean of several runs of the same system, query by query."""

    source: str | None  # the JSON file; None if it was made from runs
    qrels: str
    qrels_sha256: str | None
    conventions: Mapping[str, Any]
    measures: tuple[str, ...]  # canonical names
    queries: tuple[str, ...]
    runs: tuple[BaselineRun, ...]  # at least one
    judged_queries: int = 0
    judgments: Qrels | None = None  # those that it was made with, if they are known
    anchor: Baseline | None = None  # a fixed one to compare with besides
    description: str | None = None  # which entries of a history it is made of

    def __repr__(self) -> str:
        return f"Baseline({self.run!r} on {self.qrels!r}, {len(self.queries)} queries: {', '.join(self.measures)})"

    @classmethod
    def of(cls, evaluation: Evaluation, *indices: int) -> Baseline:
        """Some runs of an evaluation as a baseline, over the queries that all of them have."""
        first = evaluation.scores[indices[0]]
        averaged = np.logical_and.reduce([evaluation.scores[index].averaged for index in indices])
        rows = np.flatnonzero(averaged)
        return cls(
            source=None,
            qrels=first.qrels,
            qrels_sha256=first.qrels_sha256,
            conventions=first.conventions.to_dict(),
            measures=tuple(measure.name for measure in first.measures),
            queries=tuple(first.queries[row] for row in rows.tolist()),
            runs=tuple(_run_of(evaluation, index, rows.tolist()) for index in indices),
            judged_queries=len(first),
            judgments=storable_judgments(evaluation.qrels),
        )

    @property
    def run(self) -> str:
        """The name of its run, or what it is of several."""
        return common_name(self.runs)

    @property
    def run_sha256(self) -> str | None:
        """The hash of its run's file; None if it has several."""
        return common_sha256(self.runs)

    @cached_property
    def values(self) -> Floats:
        """Queries × measures; NaN if a run has none."""
        return mean_values(self.runs)

    @cached_property
    def retrieved(self) -> Retrieved:
        """The judged documents that every run retrieved, by query."""
        return always_retrieved(self.runs)

    @property
    def facts(self) -> ResultFacts:
        """How its results were collected; of several runs, those of the shallowest."""
        return min((run.facts for run in self.runs), key=lambda facts: facts.limit)

    def with_runs_of(self, other: Baseline) -> Baseline:
        """The baseline with the runs of another one, whose queries and measures are the same, added."""
        return replace(self, runs=(*self.runs, *other.runs))

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each query."""
        return {query: row for row, query in enumerate(self.queries)}

    def only(self, queries: Sequence[str]) -> Baseline:
        """The baseline for some of its queries."""
        kept = [query for query in queries if query in self.row_of]
        rows = [self.row_of[query] for query in kept]
        runs = (replace(run, values=run.values[rows]) for run in self.runs)
        judgments = self.judgments
        if judgments is not None:
            chosen = [at for at, query in enumerate(judgments.queries.to_text()) if query in set(queries)]
            judgments = judgments.select(np.array(chosen, dtype=np.int64))
        return replace(self, queries=tuple(kept), runs=tuple(runs), judgments=judgments)

    def column(self, measure: str) -> Floats:
        """The values of a measure, by its canonical name; raises if there are none."""
        return self.values[:, self._column_of(measure)]

    def scores_like(self, like: Scores, qrels: Qrels) -> Scores:
        """Its values in the shape of a run's scores; refused if judgments, queries or conventions differ."""
        return stored_scores(self, like, qrels)

    def _column_of(self, measure: str) -> int:
        if measure not in self.measures:
            raise self._error(
                f"the baseline has no values for {measure}; it has {', '.join(self.measures)}",
                f"choose others with -m, or {RENEW}",
            )
        return self.measures.index(measure)

    def check_comparable(self, scores: Scores, qrels: Qrels, problem: str = "cannot be compared with this run") -> None:
        """Raise if a difference from these scores could be due to anything but the retriever."""
        if self.source is None:
            return
        self.check_conventions(scores, problem)
        averaged = {scores.queries[row] for row in np.flatnonzero(scores.averaged).tolist()}
        removed = sorted(set(self.queries) - averaged)
        added = sorted(averaged - set(self.queries))
        if self.qrels_sha256 != qrels.sha256:
            details = f"; {_queries(removed, 'no longer judged')}" if removed else ""
            details += f"; {_queries(added, 'newly judged')}" if added else ""
            hashes = f"sha256 {str(self.qrels_sha256)[:12]}… before, {qrels.sha256[:12]}… now"
            raise self._error(f"{problem}: the judgments changed ({hashes}{details})", RENEW)
        if removed or added:
            details = "; ".join(
                _queries(queries, where)
                for queries, where in ((removed, "only in the baseline"), (added, "not in the baseline"))
                if queries
            )
            raise self._error(f"{problem}: other queries have values: {details}", "run the failed or missing queries")

    def check_classes(self, qrels: Qrels) -> None:
        """Raise if a query has an answer now and had none before, or the other way around."""
        if self.judgments is None:
            return
        shared = set(self.judgments.queries.to_text()) & set(qrels.queries.to_text())
        before, now = (set(labels.unanswerable) & shared for labels in (self.judgments, qrels))
        changed = [(sorted(before - now), "now with an answer"), (sorted(now - before), "now without an answer")]
        if before != now:
            details = "; ".join(_queries(queries, where) for queries, where in changed if queries)
            raise self._error(f"cannot be compared with this run: other queries have no answer: {details}", RENEW)

    def check_conventions(self, scores: Scores, problem: str = "cannot be compared with this run") -> None:
        """Raise if values were made in another way."""
        now = scores.conventions.to_dict()
        for name in (*VALUE_CONVENTIONS, "match"):
            default = "exact" if name == "match" else None
            before, after = self.conventions.get(name, default), now.get(name, default)
            if before != after:
                raise self._error(f"{problem}: {name} was {shown(str(before))} and is now {shown(str(after))}", None)
        stored, current = self.conventions.get("passages"), now.get("passages")
        if isinstance(stored, dict) and isinstance(current, dict):
            for name in PASSAGE_CONVENTIONS:
                if stored.get(name) != current[name]:
                    before, after = shown(str(stored.get(name))), shown(str(current[name]))
                    raise self._error(f"{problem}: {name} was {before} and is now {after}", RENEW)

    def _error(self, message: str, hint: str | None) -> InputError:
        return InputError.at(self.source, None, message, hint=hint)

    def to_dict(self, *, keep_runs: bool = False) -> dict[str, Any]:
        """The JSON schema; with ``keep_runs`` the runs themselves too, if they are known."""
        return {
            "schema": BASELINE_SCHEMA,
            "scores": {
                "schema": SCORES,
                "conventions": dict(self.conventions),
                "qrels": {"name": self.qrels, "sha256": self.qrels_sha256, "queries": self.judged_queries},
                "runs": [run.stored for run in self.runs],
            },
            "results": [run.facts.to_dict() for run in self.runs],
            "retrieved": [{query: dict(docs) for query, docs in run.retrieved.items()} for run in self.runs],
            **kept_data(self.judgments, [run.ranking for run in self.runs] if keep_runs or self.source else []),
        }

    def write(self, path: str | Path, *, inputs: Iterable[str | Path] = (), keep_runs: bool = False) -> None:
        """Write it to a file, completely or not at all."""
        text = json_text(self.to_dict(keep_runs=keep_runs), indent=1) + "\n"
        with write_atomically(path, inputs=inputs) as file:
            file.write(text.encode())


def _run_of(evaluation: Evaluation, index: int, rows: list[int]) -> BaselineRun:
    """A run of an evaluation, for some of its queries."""
    if not evaluation.joined:  # scored elsewhere: which documents it retrieved is unknown
        scores = evaluation.scores[index]
        return BaselineRun(scores.run, scores.run_sha256, scores.values[rows], {}, scores.to_dict(per_query=True))
    name = evaluation.joined[index].name
    scores, hits = replace(evaluation.scores[index], run=name), evaluation.joined[index].hits
    ranks = ranks_of(hits, evaluation.qrels)
    return BaselineRun(
        name,
        scores.run_sha256,
        scores.values[rows],
        {query: ranks[query] for query in (scores.queries[row] for row in rows) if query in ranks},
        scores.to_dict(per_query=True),
        evaluation.joined[index].run,
        ResultFacts.of(evaluation.joined[index]),
    )


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


def _queries(queries: list[str], where: str) -> str:
    return f"{plural(len(queries), 'query')} {where} ({query_sample(queries)})"


# What a stored baseline keeps so that it can still be compared when labels change: its judgments, and its runs.

LARGEST = sys.float_info.max  # JSON has no infinite score


def storable_judgments(qrels: Qrels) -> Qrels | None:
    """Judgments of documents; None for those by subtopic, by judges or by text."""
    return None if qrels.by_group is not None else qrels


def kept_data(judgments: Qrels | None, rankings: Sequence[Run | None]) -> dict[str, Any]:
    """For JSON; a key without content is left out."""
    data: dict[str, Any] = {}
    if judgments is not None:
        data["judgments"] = _by_query(judgments, judgments.grades)
        if judgments.unanswerable:
            data["unanswerable"] = judgments.unanswerable
        if judgments.forbidden:
            data["forbidden"] = {query: list(docs) for query, docs in judgments.forbidden.items()}
    if any(ranking is not None for ranking in rankings):
        data["rankings"] = [None if ranking is None else _ranking(ranking) for ranking in rankings]
    return data


def _ranking(run: Run) -> dict[str, Any]:
    failed = np.flatnonzero(run.status == Status.FAILED)
    scores = _by_query(run, np.clip(run.scores, -LARGEST, LARGEST))
    return {"name": run.name, "scores": scores, "failed": run.queries.take(failed).to_text()}


def _by_query(table: Qrels | Run, numbers: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, dict[str, float]]:
    docs, values, bounds = table.docs.to_text(), numbers.tolist(), table.offsets.tolist()
    return {
        query: dict(zip(docs[begin:end], values[begin:end], strict=True))
        for query, begin, end in zip(table.queries.to_text(), bounds[:-1], bounds[1:], strict=True)
    }


# A baseline as one of the systems: its values query by query, without the rankings behind them.


def stored_scores(stored: Baseline, like: Scores, qrels: Qrels) -> Scores:
    """Its scores in the shape of a run's; refused if judgments, queries or conventions differ."""
    stored.check_comparable(like, qrels)
    return aligned_scores(stored, like)


def aligned_scores(stored: Baseline, like: Scores) -> Scores:
    """The values of a baseline for the queries and measures of other scores."""
    rows = [stored.row_of.get(query) for query in like.queries]
    known = np.array([row is not None for row in rows], dtype=bool)
    values = np.full(like.values.shape, np.nan)
    columns = [stored.column(measure.name) for measure in like.measures]
    values[known] = np.column_stack(columns)[[row for row in rows if row is not None]]
    return replace(
        like,
        run=stored.run,
        run_sha256=stored.run_sha256,
        values=values,
        averaged=known,
        status=np.full(len(like), Status.ANSWERED, dtype=np.uint8),
        notes=(),
    )
