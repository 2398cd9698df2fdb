"""The agreement of two sets of judgments on the order of systems, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rankgauge.comparison.order_agreement import OrderAgreement, QrelsAgreement
from rankgauge.core.formatting import number, plural
from rankgauge.errors import Note
from rankgauge.measures.spec import Measure
from rankgauge.render.text.grid import Cell, Grid, full
from rankgauge.render.text.records import Record
from rankgauge.render.text.scores import conventions_lines, dumped, value_text

AGREEMENT_SCHEMA = "rankgauge.agreement/1"
MAX_SWAPS = 10  # per measure; json, csv and jsonl have all of them
AGREEMENT_FIELDS = (
    *("measure", "tau", "tau_ap", "pairs", "swaps", "reason"),
    *("better", "worse", "better_first", "worse_first", "better_second", "worse_second"),
    *("first_qrels", "second_qrels", "systems", "conventions"),
)


def parts(agreement: QrelsAgreement) -> list[str | Grid]:
    """What was compared, the correlations, the pairs that swap, and the conventions."""
    swaps = swap_grid(agreement)
    hidden = sum(max(0, len(row.swaps) - MAX_SWAPS) for row in agreement.measures)
    out: list[str | Grid] = [summary(agreement), correlation_grid(agreement), *_reasons(agreement)]
    out += [swaps] if swaps.rows else []
    out += [f"{plural(hidden, 'more swapped pair')}: --format json has all of them"] if hidden else []
    return [*out, *conventions_lines(agreement.scores[0])]


def summary(agreement: QrelsAgreement) -> str:
    """The judgments, their numbers of queries, and the number of systems."""
    first, second = (
        f"{label} ({plural(count, 'query')})" for label, count in zip(agreement.qrels, agreement.queries, strict=True)
    )
    shared = plural(agreement.shared_queries, "query")
    return f"Order of {len(agreement.systems)} systems by {first} and by {second}; {shared} in both."


def correlation_grid(agreement: QrelsAgreement) -> Grid:
    """One row per measure."""
    rows = [
        [
            Cell(row.measure.name),
            Cell(number(row.tau.value, 3)),
            Cell(number(row.tau_ap.value, 3)),
            Cell(f"{len(row.swaps)} of {row.pairs}"),
        ]
        for row in agreement.measures
    ]
    return Grid(["", "Kendall's tau", "tau-ap", "swapped pairs"], rows)


def swap_grid(agreement: QrelsAgreement) -> Grid:
    """One row per swapped pair: which is better by the first judgments, and both values under each."""
    rows = [
        [Cell(row.measure.name), Cell(f"{full(swap.better)} over {full(swap.worse)}"), *sides]
        for row in agreement.measures
        for swap in row.swaps[:MAX_SWAPS]
        for sides in [[_values(row.measure, swap.better_values[side], swap.worse_values[side]) for side in (0, 1)]]
    ]
    return Grid(["", "swapped pairs", *map(full, agreement.qrels)], rows, words=2, named_columns=True)


def _values(measure: Measure, better: float, worse: float) -> Cell:
    return Cell(f"{value_text(measure, better)} vs. {value_text(measure, worse)}")


def _reasons(agreement: QrelsAgreement) -> list[str]:
    """Why a correlation is missing, once for all measures with the same reason."""
    measures_of: dict[tuple[str, str], list[str]] = {}
    for row in agreement.measures:
        labels = [label for label, one in (("Kendall's tau", row.tau), ("tau-ap", row.tau_ap)) if one.reason]
        if labels:
            missing = f"no {' and no '.join(labels)}", row.tau.reason or row.tau_ap.reason or ""
            measures_of.setdefault(missing, []).append(row.measure.name)
    return [f"{what} of {', '.join(names)}: {reason}" for (what, reason), names in measures_of.items()]


def as_json(agreement: QrelsAgreement, *, notes: Iterable[Note] = ()) -> str:
    """The correlations, all values and all swapped pairs, with full precision."""
    warnings = [{"code": note.code, "message": note.message} for note in notes]
    for label, scores in zip(agreement.qrels, agreement.scores, strict=True):
        warnings += [
            {"code": note.code, "message": note.message, "run": run.run, "qrels": label}
            for run in scores
            for note in run.notes
        ]
    conventions = agreement.scores[0][0].conventions.to_dict()
    return dumped({"schema": AGREEMENT_SCHEMA, "conventions": conventions, **agreement.to_dict(), "warnings": warnings})


def records(agreement: QrelsAgreement) -> Iterator[Record]:
    """One per measure, followed by one per swapped pair, which has ``better`` and ``worse``."""
    common: Record = {
        "first_qrels": agreement.qrels[0],
        "second_qrels": agreement.qrels[1],
        "systems": len(agreement.systems),
        "conventions": str(agreement.scores[0][0].conventions),
    }
    for row in agreement.measures:
        yield from ({**common, **record} for record in _measure_records(row))


def _measure_records(row: OrderAgreement) -> Iterator[Record]:
    yield {
        "measure": row.measure.name,
        "tau": row.tau.value,
        "tau_ap": row.tau_ap.value,
        "pairs": row.pairs,
        "swaps": len(row.swaps),
        "reason": row.tau.reason or row.tau_ap.reason,
    }
    for swap in row.swaps:
        yield {
            "measure": row.measure.name,
            "better": swap.better,
            "worse": swap.worse,
            "better_first": swap.better_values[0],
            "worse_first": swap.worse_values[0],
            "better_second": swap.better_values[1],
            "worse_second": swap.worse_values[1],
        }
