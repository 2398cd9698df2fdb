"""What a run is compared with: a run's value for each query, and which judged documents it retrieved.

It is made from a run, or read from the JSON that an earlier run was stored as (``rankgauge.baseline/1``, read by
``stored``). A stored one that was made with other judgments, conventions or queries is refused: a difference would not
be the retriever's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.hits import Hits
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.evaluation.evaluate import Scores
from rankgauge.io.writing import atomic

SCHEMA = "rankgauge.baseline/1"
SCORES = "rankgauge.scores/1"
COMPARED = ("compat", "queries", "no_relevant")  # the conventions on which values depend
LISTED = 3
RENEW = "name the baseline's run file instead, or store a new baseline with `rankgauge gate --write-baseline`"


@dataclass(frozen=True, eq=False)
class Baseline:
    """The values of a run, query by query."""

    source: str | None  # the JSON that it stands in; None where it was made from a run
    run: str
    qrels: str
    qrels_sha256: str | None
    conventions: Mapping[str, str]
    measures: tuple[str, ...]  # canonical names
    queries: tuple[str, ...]
    values: Floats  # queries × measures; NaN where there is none
    retrieved: Mapping[str, tuple[str, ...]]  # query → the judged documents that it got
    run_sha256: str | None = None
    judged_queries: int = 0
    stored: Mapping[str, Any] | None = None  # the run of the scores' schema, as it is written

    @classmethod
    def of(cls, scores: Scores, hits: Hits, qrels: Qrels) -> Baseline:
        """A run as a baseline."""
        rows = np.flatnonzero(scores.averaged)
        documents = qrels.as_documents().docs.take(hits.ordinal).to_text()
        bounds = hits.offsets.tolist()
        return cls(
            source=None,
            run=scores.run,
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
        """Where each query stands."""
        return {query: row for row, query in enumerate(self.queries)}

    def column(self, measure: str) -> Floats:
        """The values of a measure, by its canonical name; raises where there are none."""
        if measure not in self.measures:
            raise InputError.at(
                self.source,
                None,
                f"the baseline has no values of {measure}; it has {', '.join(self.measures)}",
                hint=f"choose others with -m, or {RENEW}",
            )
        return self.values[:, self.measures.index(measure)]

    def refuse_other(self, scores: Scores, qrels: Qrels) -> None:
        """Raise where a difference to these scores could come from anything but the retriever."""
        if self.source is None:
            return
        now = scores.conventions.to_dict()
        for name in COMPARED:
            if self.conventions.get(name) != now[name]:
                was = shown(str(self.conventions.get(name)))
                raise self._refused(f"{name} was {was} and is {shown(now[name])} now: other conventions", None)
        here = {scores.queries[row] for row in np.flatnonzero(scores.averaged).tolist()}
        gone = sorted(set(self.queries) - here)
        new = sorted(here - set(self.queries))
        if self.qrels_sha256 != qrels.sha256:
            said = f"; {_queries(gone, 'no longer judged')}" if gone else ""
            said += f"; {_queries(new, 'judged since')}" if new else ""
            was = f"{str(self.qrels_sha256)[:12]}… then, {qrels.sha256[:12]}… now"
            raise self._refused(f"the judgments changed (sha256 {was}{said}): other labels", RENEW)
        if gone or new:
            said = "; ".join(
                _queries(some, where)
                for some, where in ((gone, "only in the baseline"), (new, "not in the baseline"))
                if some
            )
            raise self._refused(f"other queries have values: {said}", "run the queries that failed or are missing")

    def _refused(self, reason: str, hint: str | None) -> InputError:
        return InputError.at(self.source, None, f"cannot be compared with: {reason}", hint=hint)

    def to_dict(self) -> dict[str, Any]:
        """The JSON schema."""
        return {
            "schema": SCHEMA,
            "scores": {
                "schema": SCORES,
                "conventions": dict(self.conventions),
                "qrels": {"name": self.qrels, "sha256": self.qrels_sha256, "queries": self.judged_queries},
                "runs": [self.stored],
            },
            "retrieved": {query: list(docs) for query, docs in self.retrieved.items()},
        }

    def write(self, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> None:
        """Store it, whole or not at all."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        with atomic(path, inputs=inputs) as file:
            file.write(text.encode("utf-8", "surrogateescape"))


def _queries(some: list[str], where: str) -> str:
    listed = ", ".join(shown(query) for query in some[:LISTED]) + (", …" if len(some) > LISTED else "")
    return f"{len(some)} {'query' if len(some) == 1 else 'queries'} {where} ({listed})"
