"""Which labels still fit their corpus, for people and for programs."""

from __future__ import annotations

from rankgauge.core.formatting import listing, plural
from rankgauge.errors import printable
from rankgauge.render.text.grid import Cell, Grid, full
from rankgauge.render.text.records import Record
from rankgauge.render.text.scores import dumped
from rankgauge.validation.label_rot import LABEL_STATES, LabelCheck

LABEL_CHECK_SCHEMA = "rankgauge.label-check/1"
LABEL_CHECK_FIELDS = ("query", "doc", "grade", "state")
MAX_QUERIES = 20  # rows of the table
MAX_DOCUMENTS = 10  # named below it


def check_parts(check: LabelCheck) -> list[str | Grid]:
    """The answer, the queries whose labels rotted, and some of these labels."""
    parts: list[str | Grid] = [sentence(check)]
    rotted = [(query, counts) for query, counts in check.by_query.items() if counts["changed"] or counts["gone"]]
    if rotted:
        rows = [
            [Cell(full(query)), Cell(f"{counts.total():,}"), *(Cell(f"{counts[state]:,}") for state in LABEL_STATES)]
            for query, counts in rotted[:MAX_QUERIES]
        ]
        more = len(rotted) - MAX_QUERIES
        parts.append(Grid(["query", "labels", *LABEL_STATES], rows))
        if more > 0:
            parts.append(f"{plural(more, 'more query')} with such labels: --format json lists all.")
    for state, what in (("changed", "Text changed"), ("gone", "Not in the corpus")):
        labels = [label for label in check.rotted if label.state == state]
        if labels:
            pairs = (f"{printable(label.query)} {printable(label.doc)}" for label in labels)
            parts.append(f"{what}: {listing(pairs, MAX_DOCUMENTS)}")
    return parts


def sentence(check: LabelCheck) -> str:
    """How many labels fit, and why the others do not."""
    counts, corpus, total = check.counts, printable(check.corpus, None), len(check.labels)
    unverified = counts["unverified"]
    unknown = f"{plural(unverified, 'label')} without a text hash cannot be verified" if unverified else ""
    if check.rotted:
        fitting = f"{counts['fits']:,} still {_fit(counts['fits'])}" if counts["fits"] else ""
        return "; ".join(filter(None, (check.summary, fitting, unknown))) + "."
    if unverified:
        known = f"{plural(counts['fits'], 'label')} {_fit(counts['fits'])} {corpus}; " if counts["fits"] else ""
        return f"{known}{unknown}, except that every document is there."
    return f"All {plural(total, 'label')} {_fit(total)} {corpus}."


def _fit(count: int) -> str:
    return "fits" if count == 1 else "fit"


def check_json(check: LabelCheck) -> str:
    """Counts, over all labels and by query, and every label that no longer fits."""
    return dumped(
        {
            "schema": LABEL_CHECK_SCHEMA,
            "labels": {"file": check.source, "count": len(check.labels)},
            "corpus": check.corpus,
            "counts": {state: check.counts[state] for state in LABEL_STATES},
            "queries": [
                {"query": query, "labels": counts.total(), **{state: counts[state] for state in LABEL_STATES}}
                for query, counts in check.by_query.items()
            ],
            "rotted": [dict(zip(LABEL_CHECK_FIELDS, row.values(), strict=True)) for row in check_records(check)],
        }
    )


def check_records(check: LabelCheck, *, every: bool = False) -> list[Record]:
    """One row per label that no longer fits, or per label."""
    return [
        {"query": label.query, "doc": label.doc, "grade": label.grade, "state": label.state}
        for label in (check.labels if every else check.rotted)
    ]
