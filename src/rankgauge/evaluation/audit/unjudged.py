"""What the documents that nobody judged could make of each measure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.core.hits import Hits
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError
from rankgauge.evaluation.audit.completion import completed
from rankgauge.evaluation.audit.values import Values, result_of
from rankgauge.evaluation.conventions import Conventions, MeasureNames
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, evaluate_runs
from rankgauge.evaluation.scores import Scores
from rankgauge.io.options import Reading
from rankgauge.measures.families.judged import judged
from rankgauge.measures.spec import Measure

# Measures that never fall where a retrieved document gets a higher grade: they take nothing from what else is relevant,
# as R, the ideal ranking and R-precision's cutoff do. SetRelP takes R, RBP(max_rel='query') the query's largest grade.
BOUNDED = frozenset("P RR Success RBP ERR SetP NumRet".split())
NO_BOUNDS = (
    "these depend on what else is relevant (R, the ideal ranking), so more relevant documents can lower the value: "
    "scenarios, not bounds"
)


@dataclass(frozen=True, eq=False)
class Scenarios:
    """One measure where the unjudged documents are all irrelevant, all relevant, or left out."""

    measure: Measure
    irrelevant: Values
    relevant: Values
    condensed: Values
    judged: Values  # Judged@k at the measure's cutoff
    bounds: bool  # whether the true value lies between irrelevant and relevant, whatever the judgments would be

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "irrelevant": self.irrelevant.over_queries,
            "relevant": self.relevant.over_queries,
            "condensed": self.condensed.over_queries,
            "judged": self.judged.over_queries,
            "bounds": self.bounds,
            **({} if self.bounds else {"why": NO_BOUNDS}),
        }


@dataclass(frozen=True, eq=False)
class UnjudgedAudit:
    """Each measure under three assumptions on the retrieved documents that have no judgment."""

    scores: Scores
    measures: tuple[Scenarios, ...]
    grade: float  # of the unjudged documents where they are all relevant
    unjudged: int  # how many there are, in the queries that are averaged
    retrieved: int  # of so many

    def __iter__(self) -> Iterator[Scenarios]:
        return iter(self.measures)

    def __getitem__(self, measure: str | Measure) -> Scenarios:
        return result_of(self.scores, self.measures, measure)

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """What stands under ``unjudged`` of a run, in the JSON schema ``rankgauge.scores/1``."""
        out: dict[str, Any] = {
            "documents": {"unjudged": self.unjudged, "retrieved": self.retrieved},
            "grade": self.grade,
            "measures": {one.measure.name: one.to_dict() for one in self},
        }
        if per_query:
            out["per_query"] = {
                self.scores.queries[row]: {
                    one.measure.name: {
                        "irrelevant": one.irrelevant.at(row),
                        "relevant": one.relevant.at(row),
                        "condensed": one.condensed.at(row),
                        "judged": one.judged.at(row),
                    }
                    for one in self
                }
                for row in np.flatnonzero(self.scores.averaged).tolist()
            }
        return out


def audit_unjudged(
    qrels: AnyQrels,
    run: AnyRun,
    measures: MeasureNames | None = None,
    *,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
    grade: float | None = None,
) -> UnjudgedAudit:
    """Each measure where the unjudged documents of a run are all irrelevant, all of the top grade, or left out.

    The top grade is the largest of all judgments unless ``grade`` says another. A document with a negative grade is
    unjudged too. Where a result says ``bounds``, the true value lies between the first two scenarios.
    """
    found = evaluate_runs(qrels, [run], measures, conventions=conventions, reading=reading)
    top = top_grade(found.qrels) if grade is None else grade
    return unjudged_of(found.scores[0], found.joined[0].hits, top)


def top_grade(qrels: Qrels) -> float:
    """The largest grade of all judgments, as ERR and RBP take it: 1 where there is none above 0."""
    return qrels.max_grade or 1.0


def unjudged_of(scores: Scores, hits: Hits, grade: float) -> UnjudgedAudit:
    """The same of scores, the join that they were made of, and the top grade."""
    if not (np.isfinite(grade) and grade > 0):
        raise InputError(f"the grade of relevant documents must be a number above 0, found {grade!r}")
    everything, known = completed(hits, grade), hits.judged_only()
    averaged = scores.averaged

    def scenarios(measure: Measure) -> Scenarios:
        how = measure.definition.aggregate
        plain = measure.but(judged_only=False)  # what it leaves out is the question here
        return Scenarios(
            measure=measure,
            irrelevant=Values(plain(hits), averaged, how),
            relevant=Values(plain(everything), averaged, how),
            condensed=Values(plain(known), averaged, how),
            judged=Values(judged(cutoff=measure.cutoff)(hits), averaged, "mean"),
            bounds=has_bounds(measure),
        )

    return UnjudgedAudit(
        scores=scores,
        measures=tuple(scenarios(measure) for measure in scores.measures),
        grade=grade,
        unjudged=int((hits.retrieved - known.count)[averaged].sum()),
        retrieved=int(hits.retrieved[averaged].sum()),
    )


def has_bounds(measure: Measure) -> bool:
    """Whether the true value lies between the scenarios, for grades up to the top one."""
    parameters = dict(measure.parameters)
    takes_others = parameters.get("max_rel") == "query" or parameters.get("relative", False)
    return measure.definition.name in BOUNDED and not takes_others
