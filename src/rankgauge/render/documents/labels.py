"""Labels: agreement of assessors, estimates from few labels, labels that no longer fit, and gold passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rankgauge.core.formatting import given, listing, percent, plural
from rankgauge.errors import Note, printable
from rankgauge.labels.assessors import AGREEMENT_NAMES, RaterAgreement
from rankgauge.labels.estimates import LabelEstimates, SampledEstimate
from rankgauge.labels.gold.gold_labels import GoldLabels
from rankgauge.labels.gold.resolved_labels import ResolvedLabels
from rankgauge.render.document import (
    Cell,
    Number,
    Part,
    Range,
    Record,
    ResultDocument,
    Rows,
    Table,
    TableColumn,
    Words,
    listed,
    name,
    numbers,
    sentence,
    words,
)
from rankgauge.render.documents.scores import warning_dicts
from rankgauge.stats.results import Interval
from rankgauge.validation.label_rot import LABEL_STATES, LabelCheck

LABEL_CHECK_SCHEMA = "rankgauge.label-check/1"
LABEL_CHECK_FIELDS = ("query", "doc", "grade", "state")
MAX_QUERIES = 20  # rows of the table of labels that no longer fit
MAX_DOCUMENTS = 10  # named below it
HEAD_ROWS = 10  # of gold passages
SAMPLED_SCHEMA = "rankgauge.sampled-estimate/1"
SAMPLED_FIELDS = ("run", "measure", "estimate", "low", "high", "confidence", "method", "reason", "queries")
LABEL_AGREEMENT_SCHEMA = "rankgauge.label-agreement/1"
LABEL_ESTIMATE_SCHEMA = "rankgauge.label-estimate/1"
LABEL_AGREEMENT_FIELDS = (
    *("first", "second", "by", "group", "statistic", "value", "low", "high", "confidence", "reason"),
    *("documents", "queries"),
)
LABEL_ESTIMATE_FIELDS = (
    *("run", "measure", "estimate", "low", "high", "confidence", "weight", "human_queries", "machine_queries"),
    *("human_estimate", "human_low", "human_high", "machine_estimate", "machine_low", "machine_high"),
)


def raters_document(agreements: Sequence[RaterAgreement], notes: Sequence[Note] = ()) -> ResultDocument:
    """Each pair of raters: the statistics, the confusion table, the groups."""
    return ResultDocument(
        "Agreement of assessors",
        lambda: _agreement_parts(agreements),
        lambda: {
            "schema": LABEL_AGREEMENT_SCHEMA,
            "agreement": [agreement.to_dict() for agreement in agreements],
            "warnings": warning_dicts(notes),
        },
        lambda: Rows(LABEL_AGREEMENT_FIELDS, agreement_records(agreements)),
    )


def rater_document(agreement: RaterAgreement) -> ResultDocument:
    """One pair of assessors."""
    return raters_document([agreement])


def _agreement_parts(agreements: Sequence[RaterAgreement]) -> list[Part]:
    parts: list[Part] = []
    for agreement in agreements:
        if agreement.group is None:
            names = " and ".join(map(printable, agreement.names))
            counts = f"{plural(agreement.documents, 'document')} of {plural(agreement.queries, 'query')}"
            is_judged = agreement.table is not None
            parts += [sentence(f"{names}: {counts} judged by both." if is_judged else f"{names}: {counts}.")]
            parts += [_statistics_table(agreement)]
            grouped = [row for row in agreements if row.names == agreement.names and row.group is not None]
            parts += [_confusion_table(agreement)] if is_judged else []
            parts += [_groups_table(grouped)] if grouped else []
    return parts


def _statistics_table(agreement: RaterAgreement) -> Table:
    """One row per statistic."""
    values = agreement.values
    rows: list[list[Cell]] = [
        [Words(AGREEMENT_NAMES[key]), Number(one.estimate, digits=3), _range(one)] for key, one in values.items()
    ]
    confidence = next(iter(values.values())).confidence
    return Table([*words(""), *numbers("value", f"{percent(confidence)} CI")], rows, "Agreement of assessors")


def _groups_table(agreements: Sequence[RaterAgreement]) -> Table:
    """One row per group."""
    keys = list(agreements[0].values)
    rows: list[list[Cell]] = [
        [
            name(": ".join(map(printable, agreement.group or ()))),
            Number(agreement.documents, "count"),
            *(_with_ends(agreement.values[key]) for key in keys),
        ]
        for agreement in agreements
    ]
    columns = [*words(""), *numbers("documents", *(AGREEMENT_NAMES[key] for key in keys))]
    return Table(columns, rows, "Agreement of assessors by group")


def _confusion_table(agreement: RaterAgreement) -> Table:
    """How often each grade of the first met each grade of the second."""
    assert agreement.table is not None
    first, second = agreement.names
    grades = [*map(given, agreement.grades)]
    rows: list[list[Cell]] = [
        [name(f"{first} {grade}"), *(Number(count, "count") for count in counts)]
        for grade, counts in zip(grades, agreement.table.tolist(), strict=True)
    ]
    columns = [*words(""), *(TableColumn(f"{second} {grade}", from_data=True) for grade in grades)]
    return Table(columns, rows, "Grades of both")


def agreement_records(agreements: Sequence[RaterAgreement]) -> Iterator[Record]:
    """One per pair or group and statistic."""
    for agreement in agreements:
        by, label = agreement.group or (None, None)
        for key, one in agreement.values.items():
            yield {
                "first": agreement.names[0],
                "second": ", ".join(agreement.names[1:]),
                "by": by,
                "group": label,
                "statistic": key,
                "value": one.estimate,
                "low": one.low,
                "high": one.high,
                "confidence": one.confidence,
                "reason": one.reason,
                "documents": agreement.documents,
                "queries": agreement.queries,
            }


def estimates_document(estimates: LabelEstimates, notes: Sequence[Note] = ()) -> ResultDocument:
    """One row per run and measure: the estimate, and what people's or the machine's labels give alone."""
    return ResultDocument(
        "Estimates",
        lambda: _estimate_parts(estimates),
        lambda: {
            "schema": LABEL_ESTIMATE_SCHEMA,
            "human_queries": estimates.human_queries,
            "machine_queries": estimates.machine_queries,
            "target": "queries like these",
            "estimates": [row.to_dict() for row in estimates.rows],
            "warnings": warning_dicts([*estimates.notes, *notes]),
        },
        lambda: Rows(LABEL_ESTIMATE_FIELDS, estimate_records(estimates)),
        caveats=lambda: [note.message for note in estimates.notes],
    )


def document(estimates: LabelEstimates) -> ResultDocument:
    """Without the notes of readers."""
    return estimates_document(estimates)


def _estimate_parts(estimates: LabelEstimates) -> list[Part]:
    confidence = percent(estimates.rows[0].estimate.interval.confidence)
    queries = plural(estimates.human_queries, "query")
    every = estimates.human_queries + estimates.machine_queries
    text = (
        f"Human labels for {queries}, machine labels for {estimates.machine_queries:,} more. Estimated is the mean of "
        f"all queries like these {every:,}. Errors of the machine do not bias it, if the queries with human labels are "
        "a random sample."
    )
    rows: list[list[Cell]] = [
        [
            name(row.run),
            Words(row.measure),
            Number(row.estimate.estimate, digits=3),
            _range(row.estimate.interval),
            _with_ends(row.human),
            _with_ends(row.machine),
            Number(row.estimate.weight, digits=2),
        ]
        for row in estimates.rows
    ]
    titles = ["estimate", f"{confidence} CI", "human labels alone", "machine labels alone", "weight"]
    return [sentence(text), Table([*words("run", "measure"), *numbers(*titles)], rows, "Estimates")]


def estimate_records(estimates: LabelEstimates) -> Iterator[Record]:
    """One per run and measure."""
    for row in estimates.rows:
        interval = row.estimate.interval
        record: Record = {"run": row.run, "measure": row.measure, "estimate": interval.estimate, "low": interval.low}
        record |= {"high": interval.high, "confidence": interval.confidence, "weight": row.estimate.weight}
        record |= {"human_queries": row.estimate.labeled, "machine_queries": row.estimate.unlabeled}
        for label, one in (("human", row.human), ("machine", row.machine)):
            record |= {f"{label}_estimate": one.estimate, f"{label}_low": one.low, f"{label}_high": one.high}
        yield record


def _range(interval: Interval) -> Range:
    return Range(interval.low, interval.high, reason=interval.reason)


def _with_ends(interval: Interval) -> Number:
    return Number(interval.estimate, digits=3, ends=(interval.low, interval.high))


def sampled_document(rows: Sequence[SampledEstimate]) -> ResultDocument:
    """Estimates from a sampled pool: one row per run and value."""
    first = rows[0].interval

    def parts() -> list[Part]:
        cells: list[list[Cell]] = [
            [name(row.run), Words(row.measure), Number(row.interval.estimate, digits=3), _range(row.interval)]
            for row in rows
        ]
        columns = [*words("run", "measure"), *numbers("estimate", f"{percent(first.confidence)} CI")]
        text = f"Estimated from a random sample of the documents of {plural(first.n, 'query')}."
        return [sentence(text), Table(columns, cells, "Estimates")]

    return ResultDocument(
        "Estimates",
        parts,
        lambda: {"schema": SAMPLED_SCHEMA, "estimates": [row.to_dict() for row in rows]},
        lambda: Rows(SAMPLED_FIELDS, (row.to_dict() for row in rows)),
    )


# ------------------------------------------------------------------------------------- labels that no longer fit


def check_document(check: LabelCheck) -> ResultDocument:
    """The answer, the queries whose labels rotted, and some of these labels."""
    return ResultDocument(
        "Labels",
        lambda: _check_parts(check),
        lambda: _check_data(check),
        lambda: Rows(LABEL_CHECK_FIELDS, _check_records(check, every=True)),
    )


def _check_parts(check: LabelCheck) -> list[Part]:
    parts: list[Part] = [sentence(_check_sentence(check), "answer", "worse" if check.rotted else "better")]
    rotted = [(query, counts) for query, counts in check.by_query.items() if counts["changed"] or counts["gone"]]
    if rotted:
        rows: list[list[Cell]] = [
            [name(query), Number(counts.total(), "count"), *(Number(counts[state], "count") for state in LABEL_STATES)]
            for query, counts in rotted[:MAX_QUERIES]
        ]
        columns = [*words("query"), *numbers("labels", *LABEL_STATES)]
        parts.append(Table(columns, rows, "Labels that no longer fit, by query"))
        more = len(rotted) - MAX_QUERIES
        if more > 0:
            parts.append(sentence(f"{plural(more, 'more query')} with such labels: --format json lists all."))
    for state, what in (("changed", "Text changed"), ("gone", "Not in the corpus")):
        labels = [label for label in check.rotted if label.state == state]
        if labels:
            pairs = (f"{printable(label.query)} {printable(label.doc)}" for label in labels)
            parts.append(sentence(f"{what}: {listing(pairs, MAX_DOCUMENTS)}"))
    return parts


def _check_sentence(check: LabelCheck) -> str:
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


def _check_data(check: LabelCheck) -> dict[str, Any]:
    """Counts, over all labels and by query, and every label that no longer fits."""
    return {
        "schema": LABEL_CHECK_SCHEMA,
        "labels": {"file": check.source, "count": len(check.labels)},
        "corpus": check.corpus,
        "counts": {state: check.counts[state] for state in LABEL_STATES},
        "queries": [
            {"query": query, "labels": counts.total(), **{state: counts[state] for state in LABEL_STATES}}
            for query, counts in check.by_query.items()
        ],
        "rotted": [dict(zip(LABEL_CHECK_FIELDS, row.values(), strict=True)) for row in _check_records(check)],
    }


def _check_records(check: LabelCheck, *, every: bool = False) -> list[Record]:
    """One row per label that no longer fits, or per label."""
    return [
        {"query": label.query, "doc": label.doc, "grade": label.grade, "state": label.state}
        for label in (check.labels if every else check.rotted)
    ]


# ------------------------------------------------------------------------------------------------------ gold passages


def gold_document(labels: GoldLabels) -> ResultDocument:
    """The first passages, and what is missing."""
    rows = [
        [name(passage.query), name(passage.document or ""), name(passage.text or "")]
        for passage in labels.passages[:HEAD_ROWS]
    ]
    queries, passages = plural(len(labels.queries), "query"), plural(len(labels.passages), "passage")
    title = f"{labels.name}: {passages} of {queries}"
    table = Table(words("query", "document", "passage"), rows, title, total=len(labels.passages))
    without = [f"{plural(len(labels.without_gold), 'query')} without a passage"] if labels.without_gold else []
    without += [f"{plural(len(labels.unanswerable), 'query')} without an answer"] if labels.unanswerable else []
    return ResultDocument(title, lambda: [table], caveats=lambda: [*without, *(note.message for note in labels.notes)])


def resolved_document(resolved: ResolvedLabels) -> ResultDocument:
    """How many passages some chunk contains, and which are in none."""
    total, missing = len(resolved.labels.passages), len(resolved.matches.missing)
    found = f"{total - missing:,} of {plural(total, 'passage')} are in the chunks; {len(resolved.split):,} are split"
    absent = listed("In no chunk", [note.message for note in resolved.missing_notes()])
    return ResultDocument("Labels", lambda: [sentence(f"{found}.", "answer"), *absent])
