"""Agreement of assessors, and estimates from few labels, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rankgauge.comparison.order_agreement import QrelsAgreement
from rankgauge.core.formatting import number, percent, plural, span
from rankgauge.errors import Note, printable
from rankgauge.labels.agreement import AGREEMENT_NAMES, RaterAgreement
from rankgauge.labels.estimates import LabelEstimates
from rankgauge.render.text.agreement import correlation_grid
from rankgauge.render.text.agreement import summary as order_summary
from rankgauge.render.text.grid import Cell, Grid, full
from rankgauge.render.text.records import Record
from rankgauge.render.text.scores import dumped
from rankgauge.stats.results import Interval

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


def agreement_parts(agreements: Sequence[RaterAgreement], order: QrelsAgreement | None) -> list[str | Grid]:
    """Each pair of raters: the statistics, the confusion table, the groups; then the effect on the order of runs."""
    out: list[str | Grid] = []
    for agreement in agreements:
        if agreement.group is None:
            names = " and ".join(map(printable, agreement.names))
            counts = f"{plural(agreement.documents, 'document')} of {plural(agreement.queries, 'query')}"
            out += [f"{names}: {counts} judged by both." if agreement.table is not None else f"{names}: {counts}."]
            out += [_statistics_grid([agreement])]
            grouped = [row for row in agreements if row.names == agreement.names and row.group is not None]
            if agreement.table is not None:
                out += [_confusion_grid(agreement)]
            if grouped:
                out += [_statistics_grid(grouped)]
    if order is not None:
        out += [order_summary(order), correlation_grid(order)]
    return out


def _statistics_grid(agreements: Sequence[RaterAgreement]) -> Grid:
    """One row per statistic, or one per group."""
    if agreements[0].group is None:
        values = agreements[0].values
        rows = [
            [Cell(AGREEMENT_NAMES[key]), Cell(number(one.estimate, 3)), Cell(_span(one))] for key, one in values.items()
        ]
        confidence = next(iter(values.values())).confidence
        return Grid(["", "value", f"{percent(confidence)} CI"], rows)
    keys = list(agreements[0].values)
    rows = [
        [
            Cell(": ".join(map(printable, agreement.group or ()))),
            Cell(f"{agreement.documents:,}"),
            *(Cell(f"{number(agreement.values[key].estimate, 3)} {_brackets(agreement.values[key])}") for key in keys),
        ]
        for agreement in agreements
    ]
    return Grid(["", "documents", *(AGREEMENT_NAMES[key] for key in keys)], rows)


def _confusion_grid(agreement: RaterAgreement) -> Grid:
    """How often each grade of the first met each grade of the second."""
    assert agreement.table is not None
    first, second = map(full, agreement.names)
    grades = [f"{grade:g}" for grade in agreement.grades]
    rows = [
        [Cell(f"{first} {grade}"), *(Cell(f"{int(count):,}") for count in counts)]
        for grade, counts in zip(grades, agreement.table.tolist(), strict=True)
    ]
    return Grid(["", *(f"{second} {grade}" for grade in grades)], rows, named_columns=True)


def agreement_json(
    agreements: Sequence[RaterAgreement], order: QrelsAgreement | None, notes: Iterable[Note] = ()
) -> str:
    """Everything, with full precision."""
    rows = [agreement.to_dict() for agreement in agreements]
    warnings = [{"code": note.code, "message": note.message} for note in notes]
    systems = None if order is None else order.to_dict()
    return dumped({"schema": LABEL_AGREEMENT_SCHEMA, "agreement": rows, "order": systems, "warnings": warnings})


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


def estimate_parts(estimates: LabelEstimates) -> list[str | Grid]:
    """One row per run and measure: the estimate, and what people's or the machine's labels give alone."""
    confidence = percent(estimates.rows[0].estimate.interval.confidence)
    queries = plural(estimates.human_queries, "query")
    out: list[str | Grid] = [
        f"Human labels for {queries}, machine labels for {estimates.machine_queries:,} more. The estimate is "
        "consistent whatever the machine's errors are, if the human queries are a random sample."
    ]
    rows = [
        [
            Cell(full(row.run)),
            Cell(row.measure),
            Cell(number(row.estimate.estimate, 3)),
            Cell(_span(row.estimate.interval)),
            Cell(f"{number(row.human.estimate, 3)} {_brackets(row.human)}"),
            Cell(f"{number(row.machine.estimate, 3)} {_brackets(row.machine)}"),
            Cell(number(row.estimate.weight, 2)),
        ]
        for row in estimates.rows
    ]
    head = ["run", "measure", "estimate", f"{confidence} CI", "human labels alone", "machine labels alone", "weight"]
    return [*out, Grid(head, rows, words=2)]


def estimate_json(estimates: LabelEstimates, notes: Iterable[Note] = ()) -> str:
    """Everything, with full precision."""
    warnings = [{"code": note.code, "message": note.message} for note in (*estimates.notes, *notes)]
    return dumped(
        {
            "schema": LABEL_ESTIMATE_SCHEMA,
            "human_queries": estimates.human_queries,
            "machine_queries": estimates.machine_queries,
            "estimates": [row.to_dict() for row in estimates.rows],
            "warnings": warnings,
        }
    )


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


def _span(interval: Interval) -> str:
    return interval.reason or span(interval.low, interval.high)


def _brackets(interval: Interval) -> str:
    text = span(interval.low, interval.high)
    return f"({text})" if text else ""
