"""What ties and unjudged documents could make of each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.core.formatting import given, listing, plural
from rankgauge.errors import printable
from rankgauge.evaluation.audit.audited_values import Values
from rankgauge.evaluation.audit.ties import TieAudit, ties_of
from rankgauge.evaluation.audit.unjudged import NO_BOUNDS, UnjudgedAudit, can_audit_unjudged, top_grade, unjudged_of
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.measures.measure import Measure
from rankgauge.render.document import (
    Cell,
    Number,
    Part,
    ResultDocument,
    Sentences,
    Table,
    Words,
    numbers,
    sentence,
    words,
)
from rankgauge.render.documents.scores import value_cell
from rankgauge.validation.codes import tie_message

NO_UNJUDGED_AUDIT = "unjudged documents are not audited: that needs one grade per document"
MAX_QUERIES_NAMED = 20  # JSON has all of them


@dataclass(frozen=True)
class Audits:
    """The audits of each run; empty if they were not asked for."""

    ties: Sequence[TieAudit] = ()
    unjudged: Sequence[UnjudgedAudit] = ()
    omission: str = ""  # why unjudged documents are not audited, although that was asked for


def audits_of(evaluation: Evaluation, *, ties: bool, unjudged: bool) -> Audits:
    """Audit the joins of an evaluation."""
    if not ties and not unjudged:
        return Audits()
    pairs = [(run, joined.hits) for run, joined in zip(evaluation.scores, evaluation.joined, strict=True)]
    top = top_grade(evaluation.qrels)
    is_possible = all(can_audit_unjudged(run.measures, hits) for run, hits in pairs)
    return Audits(
        ties=[ties_of(run, hits) for run, hits in pairs] if ties else (),
        unjudged=[unjudged_of(run, hits, top) for run, hits in pairs] if unjudged and is_possible else (),
        omission=NO_UNJUDGED_AUDIT if unjudged and not is_possible else "",
    )


def audit_parts(audits: Audits) -> list[Part]:
    """One table per audit and run."""
    return [
        *(part for ties in audits.ties for part in _ties_parts(ties)),
        *(unjudged_table(audit) for audit in audits.unjudged),
        *([sentence(audits.omission)] if audits.omission else []),
    ]


def ties_document(audit: TieAudit) -> ResultDocument:
    """What other orders of tied documents would make of each value."""
    return ResultDocument(f"Ties: {audit.scores.run}", lambda: _ties_parts(audit))


def unjudged_document(audit: UnjudgedAudit) -> ResultDocument:
    """What judgments of the unjudged documents could make of each value."""
    return ResultDocument(f"Unjudged: {audit.scores.run}", lambda: [unjudged_table(audit)])


def _ties_parts(audit: TieAudit) -> list[Part]:
    return [ties_table(audit), Sentences(straddling_lines(audit))]


def ties_table(audit: TieAudit) -> Table:
    """One row per measure."""
    rows = [
        [
            Words(row.measure.shown),
            *(_cell(row.measure, value) for value in (row.reported, row.worst, row.best)),
            Number(row.changed_queries, "count"),
        ]
        for row in audit
    ]
    return Table(
        [*words(""), *numbers("reported", "worst", "best", "changed")],
        rows,
        "What the order of tied documents could change",
        legend=_tie_legend(audit),
        caption=f"ties: {audit.scores.run}",
    )


def _tie_legend(audit: TieAudit) -> str:
    unknown = [row.measure.shown for row in audit if not row.is_known]
    legend = "changed: queries whose value depends on the order"
    return f"{legend}; the best and the worst order are not known for {', '.join(unknown)}" if unknown else legend


def straddling_lines(audit: TieAudit) -> list[str]:
    """One line for each cutoff."""
    queries_at: dict[str, tuple[str, ...]] = {}
    for row in audit:
        if row.straddling:
            condensed = " of the judged documents" if dict(row.measure.parameters).get("judged_only") else ""
            queries_at[f"rank {row.measure.cutoff}{condensed}"] = row.straddling
    return [
        f"{tie_message(rank, judged=True)} in {plural(len(queries), 'query')}: "
        f"{listing(map(printable, queries), MAX_QUERIES_NAMED)}"
        for rank, queries in queries_at.items()
    ]


def unjudged_table(audit: UnjudgedAudit) -> Table:
    """One row per measure, and what the columns mean."""
    rows = [
        [
            Words(row.measure.shown),
            *(_cell(row.measure, value) for value in (row.irrelevant, row.relevant, row.condensed)),
            Number(row.judged.over_queries),
            Words("bounds" if row.bounds else "no bounds"),
        ]
        for row in audit
    ]
    legend = (
        f"{audit.unjudged} of {audit.retrieved} retrieved documents are unjudged: counted as irrelevant, as relevant "
        f"with grade {given(audit.grade)}, or left out"
    )
    legend += "" if all(row.bounds for row in audit) else f"; no bounds: {NO_BOUNDS}"
    return Table(
        [*words(""), *numbers("irrelevant", "relevant", "left out", "Judged@k", "")],
        rows,
        "What unjudged documents could change",
        legend=legend,
        caption=f"unjudged: {audit.scores.run}",
    )


def _cell(measure: Measure, values: Values) -> Cell:
    return value_cell(measure, values.over_queries)


def with_audits(data: dict[str, Any], audits: Audits, *, per_query: bool = False) -> dict[str, Any]:
    """The JSON of scores with ``ties`` and ``unjudged`` in each run, if there are audits."""
    by_key: dict[str, list[dict[str, Any]]] = {
        "ties": [audit.to_dict(per_query=per_query) for audit in audits.ties],
        "unjudged": [audit.to_dict(per_query=per_query) for audit in audits.unjudged],
    }
    runs = [
        {**run, **{key: entries[index] for key, entries in by_key.items() if entries}}
        for index, run in enumerate(data["runs"])
    ]
    return {**data, "runs": runs}
