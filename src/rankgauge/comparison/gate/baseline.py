"""What a run is compared with: a run's value for each query, and which judged documents it retrieved.

It is made from a run, or read from the JSON that an earlier run was stored as (``rankgauge.baseline/1``, read by
``stored``). A stored one that was made with other judgments, conventions or queries is refused, because a difference
would not be due to the retriever.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.formatting import listing, plural
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.scores import Scores
from rankgauge.io.writing import write_atomically

BASELINE_SCHEMA = "rankgauge.baseline/1"
SCORES = "rankgauge.scores/1"
VALUE_CONVENTIONS = ("compat", "query_set", "no_relevant", "rel", "graded")  # values depend on these
QUERIES_NAMED = 3
RENEW = "name the baseline's run file instead, or store a new baseline with `rankgauge gate --write-baseline`"


@dataclass(frozen=True, eq=False)
class Baseline:
    """The values of a run, query by query."""

    source: str | None  # the JSON file; None if it was made from a run
    run: str
    qrels: str
    qrels_sha256: str | None
    conventions: Mapping[str, Any]
    measures: tuple[str, ...]  # canonical names
    queries: tuple[str, ...]
    values: Floats  # queries × measures; NaN if there is none
    retrieved: Mapping[str, tuple[str, ...]]  # query → the judged documents it retrieved
    run_sha256: str | None = None
    judged_queries: int = 0
    stored: Mapping[str, Any] | None = None  # the run of the scores' schema, as it is written

    @classmethod
    def of(cls, evaluation: Evaluation, index: int) -> Baseline:
        """A run of an evaluation as a baseline."""
        scores, hits = evaluation.scores[index], evaluation.joined[index].hits
        rows = np.flatnonzero(scores.averaged)
        documents = evaluation.qrels.as_documents().docs.take(hits.ordinal).to_text()
        bounds = hits.offsets.tolist()
        return cls(
            source=None,
            run=evaluation.joined[index].name,
            qrels=scores.qrels,
            qrels_sha256=scores.qrels_sha256,
            conventions=scores.conventions.to_dict(),
            measures=tuple(measure.name for measure in scores.measures),
            queries=tuple(scores.queries[row] for row in rows.tolist()),
            values=scores.values[rows],
            retrieved={
                scores.queries[row]: tuple(documents[bounds[row] : bounds[row + 1]])
                for row in rows.tolist()
                if bounds[row] < bounds[row + 1]
            },
            run_sha256=scores.run_sha256,
            judged_queries=len(scores),
            stored=scores.to_dict(per_query=True),
        )

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each query."""
        return {query: row for row, query in enumerate(self.queries)}

    def column(self, measure: str) -> Floats:
        """The values of a measure, by its canonical name; raises if there are none."""
        if measure not in self.measures:
            raise InputError.at(
                self.source,
                None,
                f"the baseline has no values for {measure}; it has {', '.join(self.measures)}",
                hint=f"choose others with -m, or {RENEW}",
            )
        return self.values[:, self.measures.index(measure)]

    def check_comparable(self, scores: Scores, qrels: Qrels) -> None:
        """Raise if a difference from these scores could be due to anything but the retriever."""
        if self.source is None:
            return
        now = scores.conventions.to_dict()
        for name in VALUE_CONVENTIONS:
            if self.conventions.get(name) != now[name]:
                before = shown(str(self.conventions.get(name)))
                raise self._not_comparable(f"{name} was {before} and is now {shown(str(now[name]))}", None)
        averaged = {scores.queries[row] for row in np.flatnonzero(scores.averaged).tolist()}
        removed = sorted(set(self.queries) - averaged)
        added = sorted(averaged - set(self.queries))
        if self.qrels_sha256 != qrels.sha256:
            details = f"; {_queries(removed, 'no longer judged')}" if removed else ""
            details += f"; {_queries(added, 'newly judged')}" if added else ""
            hashes = f"sha256 {str(self.qrels_sha256)[:12]}… before, {qrels.sha256[:12]}… now"
            raise self._not_comparable(f"the judgments changed ({hashes}{details})", RENEW)
        if removed or added:
            details = "; ".join(
                _queries(queries, where)
                for queries, where in ((removed, "only in the baseline"), (added, "not in the baseline"))
                if queries
            )
            raise self._not_comparable(f"other queries have values: {details}", "run the failed or missing queries")

    def _not_comparable(self, reason: str, hint: str | None) -> InputError:
        return InputError.at(self.source, None, f"cannot be compared with this run: {reason}", hint=hint)

    def to_dict(self) -> dict[str, Any]:
        """The JSON schema."""
        return {
            "schema": BASELINE_SCHEMA,
            "scores": {
                "schema": SCORES,
                "conventions": dict(self.conventions),
                "qrels": {"name": self.qrels, "sha256": self.qrels_sha256, "queries": self.judged_queries},
                "runs": [self.stored],
            },
            "retrieved": {query: list(docs) for query, docs in self.retrieved.items()},
        }

    def write(self, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> None:
        """Write it to a file, completely or not at all."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        with write_atomically(path, inputs=inputs) as file:
            file.write(text.encode("utf-8", "surrogateescape"))


def query_sample(queries: list[str]) -> str:
    """The first few queries of a list."""
    return listing((shown(query) for query in queries), QUERIES_NAMED)


def _queries(queries: list[str], where: str) -> str:
    return f"{plural(len(queries), 'query')} {where} ({query_sample(queries)})"
