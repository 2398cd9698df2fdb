"""What ties and unjudged documents could make of each value, in tables and in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgauge.evaluation.audit.ties import TieAudit, TieRange
from rankgauge.evaluation.audit.unjudged import NO_BOUNDS, UnjudgedAudit
from rankgauge.evaluation.audit.values import Values
from rankgauge.measures.spec import Measure
from rankgauge.render.text.terminal import Cell, name, number, table

LISTED = 20  # queries; JSON has all of them


def ties_table(audit: TieAudit, *, colour: bool) -> str:
    """A row a measure, then the queries in which a tie straddles a cutoff."""
    rows = [
        [
            Cell(one.measure.name),
            *(_cell(one.measure, value) for value in (one.reported, one.worst, one.expected, one.best)),
            Cell(str(one.moved)),
            Cell(_how(one, audit.samples)),
        ]
        for one in audit
    ]
    head = [f"ties: {name(audit.scores.run)}", "reported", "worst", "expected", "best", "queries moved", "expected by"]
    return "\n".join([table(head, rows, colour=colour), *_straddling(audit)])


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
        f"a tie with a judged document straddles {rank} in {len(queries)} {'query' if len(queries) == 1 else 'queries'}"
        f": {', '.join(map(name, queries[:LISTED]))}{', …' if len(queries) > LISTED else ''}"
        for rank, queries in at.items()
    ]


def unjudged_table(audit: UnjudgedAudit, *, colour: bool) -> str:
    """A row a measure, then what the columns mean."""
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
    return "\n".join([table(head, rows, colour=colour), *lines])


def _cell(measure: Measure, values: Values) -> Cell:
    return Cell(number(values.over_queries, whole=measure.definition.aggregate == "sum"))


def with_audits(
    data: dict[str, Any],
    *,
    ties: Sequence[TieAudit] = (),
    unjudged: Sequence[UnjudgedAudit] = (),
    per_query: bool = False,
) -> dict[str, Any]:
    """The JSON of scores with ``ties`` and ``unjudged`` in each run, where there are audits, one a run."""
    found: dict[str, list[dict[str, Any]]] = {
        "ties": [audit.to_dict(per_query=per_query) for audit in ties],
        "unjudged": [audit.to_dict(per_query=per_query) for audit in unjudged],
    }
    runs = [
        {**run, **{key: audits[place] for key, audits in found.items() if audits}}
        for place, run in enumerate(data["runs"])
    ]
    return {**data, "runs": runs}
