"""What ties and unjudged documents could make of each value, in tables and in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.core.formatting import listing, plural
from rankgauge.evaluation.audit.ties import TieAudit, TieRange, ties_of
from rankgauge.evaluation.audit.unjudged import NO_BOUNDS, UnjudgedAudit, top_grade, unjudged_of
from rankgauge.evaluation.audit.values import Values
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.measures.spec import Measure
from rankgauge.render.text.terminal import Cell, name, number, table
from rankgauge.validation.codes import tie_message

MAX_QUERIES_NAMED = 20  # JSON has all of them


@dataclass(frozen=True)
class Audits:
    """The audits of each run; empty if they were not asked for."""

    ties: Sequence[TieAudit] = ()
    unjudged: Sequence[UnjudgedAudit] = ()


def audits_of(evaluation: Evaluation, *, ties: bool, unjudged: bool) -> Audits:
    """Audit the joins of an evaluation."""
    if not ties and not unjudged:
        return Audits()
    pairs = [(run, joined.hits) for run, joined in zip(evaluation.scores, evaluation.joined, strict=True)]
    top = top_grade(evaluation.qrels)
    return Audits(
        ties=[ties_of(run, hits) for run, hits in pairs] if ties else (),
        unjudged=[unjudged_of(run, hits, top) for run, hits in pairs] if unjudged else (),
    )


def tables(audits: Audits, *, color: bool) -> list[str]:
    """One table per audit and run."""
    return [
        *(ties_table(audit, color=color) for audit in audits.ties),
        *(unjudged_table(audit, color=color) for audit in audits.unjudged),
    ]


def ties_table(audit: TieAudit, *, color: bool) -> str:
    """One row per measure, then the queries in which a tie straddles a cutoff."""
    rows = [
        [
            Cell(one.measure.name),
            *(_cell(one.measure, value) for value in (one.reported, one.worst, one.expected, one.best)),
            Cell(str(one.changed_queries)),
            Cell(_how(one, audit.samples)),
        ]
        for one in audit
    ]
    head = [
        f"ties: {name(audit.scores.run)}",
        "reported",
        "worst",
        "expected",
        "best",
        "queries changed",
        "expected by",
    ]
    return "\n".join([table(head, rows, color=color), *_straddling(audit)])


def _how(one: TieRange, samples: int) -> str:
    if one.method != "Monte Carlo":
        return one.method
    return f"{samples} random orders" + (", as worst and best" if one.range == "sampled" else "")


def _straddling(audit: TieAudit) -> list[str]:
    """One line for each cutoff."""
    at: dict[str, tuple[str, ...]] = {}
    for one in audit:
        if one.straddling:
            condensed = " of the judged" if dict(one.measure.parameters).get("judged_only") else ""
            at[f"rank {one.measure.cutoff}{condensed}"] = one.straddling
    return [
        f"{tie_message(rank, judged=True)} in {plural(len(queries), 'query')}: "
        f"{listing(map(name, queries), MAX_QUERIES_NAMED)}"
        for rank, queries in at.items()
    ]


def unjudged_table(audit: UnjudgedAudit, *, color: bool) -> str:
    """One row per measure, then what the columns mean."""
    rows = [
        [
            Cell(one.measure.name),
            *(_cell(one.measure, value) for value in (one.irrelevant, one.relevant, one.condensed)),
            Cell(number(one.judged.over_queries)),
            Cell("bounds" if one.bounds else "no bounds"),
        ]
        for one in audit
    ]
    head = [f"unjudged: {name(audit.scores.run)}", "irrelevant", "relevant", "left out", "Judged@k", ""]
    lines = [
        f"{audit.unjudged} of {audit.retrieved} retrieved documents are unjudged: counted as irrelevant, as relevant "
        f"with grade {audit.grade:g}, or left out"
    ]
    if not all(one.bounds for one in audit):
        lines.append(f"no bounds: {NO_BOUNDS}")
    return "\n".join([table(head, rows, color=color), *lines])


def _cell(measure: Measure, values: Values) -> Cell:
    return Cell(number(values.over_queries, whole=measure.definition.aggregate == "sum"))


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
