"""The range of each measure over possible judgments of the unjudged documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats, group_of, offsets_of
from rankgauge.core.hits import Hits
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView
from rankgauge.errors import InputError
from rankgauge.evaluation.audit.audited_values import Values, result_of
from rankgauge.evaluation.audit.ties import ties_in
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, evaluate_runs, query_values
from rankgauge.evaluation.scores import Scores
from rankgauge.io.reading_options import Reading
from rankgauge.measures.families.counts import judged
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames

# Measures that never decrease if a retrieved document gets a higher grade: they do not depend on the other relevant
# documents, as R, the ideal ranking and R-precision's cutoff do. SetRelP depends on R, RBP(max_rel='query') on the
# query's largest grade.
BOUNDED = frozenset("P RR Success RBP ERR SetP NumRet".split())
MAX_DOCUMENTS_IN_MEMORY = 500_000
NO_BOUNDS = (
    "these measures depend on the other relevant documents (R, the ideal ranking), so more relevant documents can "
    "lower the value: scenarios, not bounds"
)


@dataclass(frozen=True, eq=False)
class Scenarios:
    """One measure with all unjudged documents irrelevant, all relevant, or left out."""

    measure: Measure
    irrelevant: Values
    relevant: Values
    condensed: Values
    judged: Values  # Judged@k at the measure's cutoff
    bounds: bool  # whether the true value is between irrelevant and relevant, whatever the missing judgments are

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
class UnjudgedAudit(HtmlView):
    """Each measure under three assumptions about the retrieved documents without a judgment."""

    scores: Scores
    measures: tuple[Scenarios, ...]
    grade: float  # of the unjudged documents if they are all relevant
    unjudged: int  # the number of unjudged documents in the averaged queries
    retrieved: int  # the number of all retrieved documents there

    def __repr__(self) -> str:
        share = f"{self.unjudged:,} of {self.retrieved:,} retrieved documents are unjudged"
        return f"UnjudgedAudit({self.scores.run!r}: {share})"

    def __iter__(self) -> Iterator[Scenarios]:
        return iter(self.measures)

    def __getitem__(self, measure: str | Measure) -> Scenarios:
        return result_of(self.scores, self.measures, measure)

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """The value of ``unjudged`` of a run in the JSON schema ``rankgauge.scores/1``."""
        out: dict[str, Any] = {
            "documents": {"unjudged": self.unjudged, "retrieved": self.retrieved},
            "grade": self.grade,
            "measures": {row.measure.name: row.to_dict() for row in self},
        }
        if per_query:
            out["per_query"] = {
                self.scores.queries[number]: {
                    row.measure.name: {
                        "irrelevant": row.irrelevant.at(number),
                        "relevant": row.relevant.at(number),
                        "condensed": row.condensed.at(number),
                        "judged": row.judged.at(number),
                    }
                    for row in self
                }
                for number in np.flatnonzero(self.scores.averaged).tolist()
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
    """Compute each measure with all unjudged documents of a run irrelevant, all of the top grade, or left out.

    The top grade is the largest of all judgments unless ``grade`` is given. Negative grades count as unjudged. If a
    result has ``bounds``, the true value is between the first two scenarios.
    """
    evaluation = evaluate_runs(qrels, [run], measures, conventions=conventions, reading=reading)
    top = top_grade(evaluation.qrels) if grade is None else grade
    return unjudged_of(evaluation.scores[0], evaluation.joined[0].hits, top)


def top_grade(qrels: Qrels) -> float:
    """The largest grade of all judgments, as ERR and RBP use it; 1 if there is none above 0."""
    return qrels.max_grade or 1.0


def can_audit_unjudged(measures: Iterable[Measure], hits: Hits) -> bool:
    """Whether each document has one grade, which is all that the measures use."""
    if hits.judgments in ("subtopics", "evidence"):
        return all(measure.definition.accepts("grades") for measure in measures)
    return hits.judgments == "grades"


def unjudged_of(scores: Scores, hits: Hits, grade: float) -> UnjudgedAudit:
    """The audit of unjudged documents from scores, the join behind them, and the top grade."""
    if not can_audit_unjudged(scores.measures, hits):
        raise InputError(
            "the audit of unjudged documents needs one grade per document",
            hint="an unjudged document has no subtopic",
        )
    hits = replace(hits, by_group=None)
    if not (np.isfinite(grade) and grade > 0):
        raise InputError(f"grade must be a number above 0, found {grade!r}")
    averaged, condensed = scores.averaged, hits.judged_only()
    plain = [measure.but(judged_only=False) for measure in scores.measures]  # they must see the unjudged documents
    if_relevant = _values_if_relevant(plain, hits, grade)

    def scenarios(index: int, measure: Measure) -> Scenarios:
        how, counted = measure.definition.aggregate, scores.averaged_for(measure)
        return Scenarios(
            measure=measure,
            irrelevant=Values(plain[index](hits), counted, how),
            relevant=Values(if_relevant[:, index], counted, how),
            condensed=Values(plain[index](condensed), counted, how),
            judged=Values(judged(cutoff=measure.cutoff)(hits), counted, "mean"),
            bounds=has_bounds(measure),
        )

    return UnjudgedAudit(
        scores=scores,
        measures=tuple(scenarios(index, measure) for index, measure in enumerate(scores.measures)),
        grade=grade,
        unjudged=int((hits.retrieved - condensed.count)[averaged].sum()),
        retrieved=int(hits.retrieved[averaged].sum()),
    )


def _values_if_relevant(measures: Sequence[Measure], hits: Hits, grade: float) -> Floats:
    """Queries × measures if all unjudged documents are relevant; only those of some queries are in memory at once."""
    blocks = np.cumsum(hits.retrieved) // MAX_DOCUMENTS_IN_MEMORY
    parts = np.split(np.arange(len(hits)), np.flatnonzero(np.diff(blocks)) + 1)
    return np.concatenate(
        [query_values(completed(hits.select(queries), grade), measures) for queries in parts], dtype=np.float64
    )


def has_bounds(measure: Measure) -> bool:
    """Whether the true value is between the scenarios, for grades up to the top one."""
    parameters = dict(measure.parameters)
    depends_on_others = parameters.get("max_rel") == "query" or parameters.get("relative", False)
    return measure.definition.name in BOUNDED and not depends_on_others


# Completed judgments: every unjudged document gets a grade.


def completed(hits: Hits, grade: float) -> Hits:
    """The join in which every retrieved document that is unjudged, or has a negative grade, gets a grade.

    These documents have the ranks that no hit has. Their ties are known only if a hit shares the tie; otherwise each
    counts as untied.
    """
    ends = np.concatenate([[0], np.cumsum(hits.retrieved)])
    query = group_of(ends)
    hit_rows = ends[:-1][hits.query] + hits.rank - 1
    new = np.ones(len(query), dtype=bool)
    new[hit_rows] = False
    rank = np.arange(1, len(query) + 1) - ends[:-1][query]
    grades = np.full(len(query), grade)
    grades[hit_rows] = np.where(hits.grade < 0, grade, hits.grade)
    tie_first, tie_last = rank.copy(), rank.copy()
    ties = ties_in(hits)
    number, position = ties.ranks()
    inside = ends[:-1][ties.query[number]] + ties.first[number] + position - 1
    tie_first[inside] = ties.first[number]
    tie_last[inside] = (ties.first + ties.size - 1)[number]
    # The judgments of a query: the original ones, then one for each new document.
    judged_query = np.concatenate([hits.judged_query, query[new]])
    by = np.argsort(judged_query, kind="stable")
    moved = np.empty(len(by), dtype=np.int64)
    moved[by] = np.arange(len(by))
    ordinal = np.empty(len(query), dtype=np.int64)
    ordinal[hit_rows] = moved[hits.ordinal]
    ordinal[new] = moved[len(hits.judged) :]
    return replace(
        hits,
        offsets=ends.astype(np.int64),
        rank=rank,
        grade=grades,
        ordinal=ordinal,
        tie_first=tie_first,
        tie_last=tie_last,
        judged_offsets=offsets_of(judged_query[by], len(hits)),
        judged=_all_grades(hits, grade, int(new.sum()))[by],
    )


def _all_grades(hits: Hits, grade: float, added: int) -> Floats:
    """The original grades, with negative ones of retrieved documents replaced, followed by the new ones."""
    original = hits.judged.copy()
    original[hits.ordinal[hits.grade < 0]] = grade
    return np.concatenate([original, np.full(added, grade)])
