"""The agreement of two sets of judgments on the order of systems, and the difference of two runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankgauge.comparison.order_agreement import OrderAgreement, QrelsAgreement
from rankgauge.comparison.run_difference import QueryDifference, RunDifference
from rankgauge.core.formatting import given, listing, number, plural
from rankgauge.errors import Note, printable
from rankgauge.measures.measure import Measure
from rankgauge.render.document import (
    NO_VALUE,
    NOTHING,
    Cell,
    DocumentSection,
    Number,
    Part,
    Record,
    ResultDocument,
    Rows,
    Table,
    TableColumn,
    Words,
    name,
    numbers,
    sentence,
    words,
)
from rankgauge.render.documents.scores import conventions_lines, value_text, warning_dicts

AGREEMENT_SCHEMA = "rankgauge.agreement/1"
MAX_SWAPS = 10  # per measure; json, csv and jsonl have all of them
DIFFERENCE_SCHEMA = "rankgauge.diff/1"
DIFFERENCE_FIELDS = ("query", "overlap", "jaccard", "rbo", "first_run", "second_run", "k", "p")
QUERY_CHARACTERS = 100
CHANGED_QUERIES = 3  # whose rankings are shown side by side, if nobody says how many
AGREEMENT_FIELDS = (
    *("measure", "tau", "tau_ap", "pairs", "swaps", "reason"),
    *("better", "worse", "better_first", "worse_first", "better_second", "worse_second"),
    *("first_qrels", "second_qrels", "systems", "conventions"),
)


def agreement_document(agreement: QrelsAgreement, notes: Sequence[Note] = ()) -> ResultDocument:
    """What was compared, the correlations, the pairs that swap, and the conventions."""

    def parts() -> list[Part]:
        swaps = _swap_table(agreement)
        hidden = sum(max(0, len(row.swaps) - MAX_SWAPS) for row in agreement.measures)
        made: list[Part] = [sentence(order_summary(agreement), "answer"), correlation_table(agreement)]
        made += map(sentence, _reasons(agreement))
        made += [swaps] if swaps.rows else []
        made += [sentence(f"{plural(hidden, 'more swapped pair')}: --format json has all of them")] if hidden else []
        return [*made, *(sentence(line, "footnote") for line in conventions_lines(agreement.scores[0]))]

    return ResultDocument(
        "Agreement", parts, lambda: _data(agreement, notes), lambda: Rows(AGREEMENT_FIELDS, _records(agreement))
    )


def document(agreement: QrelsAgreement) -> ResultDocument:
    """Without the notes of readers."""
    return agreement_document(agreement)


def order_summary(agreement: QrelsAgreement) -> str:
    """The judgments, their numbers of queries, and the number of systems."""
    first, second = (
        f"{label} ({plural(count, 'query')})" for label, count in zip(agreement.qrels, agreement.queries, strict=True)
    )
    shared = plural(agreement.shared_queries, "query")
    return f"Order of {len(agreement.systems)} systems by {first} and by {second}; {shared} in both."


def correlation_table(agreement: QrelsAgreement) -> Table:
    """One row per measure."""
    rows: list[list[Cell]] = [
        [
            Words(row.measure.shown),
            Number(row.tau.value, digits=3),
            Number(row.tau_ap.value, digits=3),
            Words(f"{len(row.swaps)} of {row.pairs}"),
        ]
        for row in agreement.measures
    ]
    columns = [*words(""), *numbers("Kendall's tau", "tau-ap", "swapped pairs")]
    return Table(columns, rows, "Agreement on the order of systems")


def _swap_table(agreement: QrelsAgreement) -> Table:
    """One row per swapped pair: which is better by the first judgments, and both values under each."""
    rows = [
        [Words(row.measure.shown), name(f"{swap.better} over {swap.worse}"), *sides]
        for row in agreement.measures
        for swap in row.swaps[:MAX_SWAPS]
        for sides in [[_values(row.measure, swap.better_values[side], swap.worse_values[side]) for side in (0, 1)]]
    ]
    qrels = [TableColumn(label, from_data=True) for label in agreement.qrels]
    return Table([*words("", "swapped pairs"), *qrels], rows, "Swapped pairs")


def _values(measure: Measure, better: float, worse: float) -> Words:
    return Words(f"{value_text(measure, better)} vs. {value_text(measure, worse)}")


def _reasons(agreement: QrelsAgreement) -> list[str]:
    """Why a correlation is missing, once for all measures with the same reason."""
    measures_of: dict[tuple[str, str], list[str]] = {}
    for row in agreement.measures:
        labels = [label for label, one in (("Kendall's tau", row.tau), ("tau-ap", row.tau_ap)) if one.reason]
        if labels:
            missing = f"no {' and no '.join(labels)}", row.tau.reason or row.tau_ap.reason or ""
            measures_of.setdefault(missing, []).append(row.measure.shown)
    return [f"{what} of {', '.join(names)}: {reason}" for (what, reason), names in measures_of.items()]


def _data(agreement: QrelsAgreement, notes: Sequence[Note]) -> dict[str, Any]:
    """The correlations, all values and all swapped pairs."""
    warnings = warning_dicts(notes)
    for label, scores in zip(agreement.qrels, agreement.scores, strict=True):
        warnings += [
            {"code": note.code, "message": note.message, "run": run.run, "qrels": label}
            for run in scores
            for note in run.notes
        ]
    conventions = agreement.scores[0][0].conventions.to_dict()
    return {"schema": AGREEMENT_SCHEMA, "conventions": conventions, **agreement.to_dict(), "warnings": warnings}


def _records(agreement: QrelsAgreement) -> Iterator[Record]:
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


# ---------------------------------------------------------------------------------------- two runs without judgments


def difference_document(
    difference: RunDifference,
    texts: Mapping[str, str] | None = None,
    notes: Sequence[Note] = (),
    *,
    top: int = CHANGED_QUERIES,
) -> ResultDocument:
    """What was compared, the means, and the rankings of the queries that changed most, side by side."""
    known = texts or {}

    def parts() -> list[Part]:
        changed: list[Part] = []
        for query in [query for query in difference.queries if not query.is_same][:top]:
            text = f": {printable(known[query.query], QUERY_CHARACTERS)}" if query.query in known else ""
            values = f"overlap {number(query.overlap, 2)}, RBO {number(query.rbo, 2)}"
            title = f"{printable(query.query)}{text} ({values})"
            changed += [sentence(title), _ranking_table(difference, query)]
        made: list[Part] = [sentence(difference_summary(difference), "answer"), means_of_difference(difference)]
        return [*made, *([DocumentSection("Rankings that changed most", changed, folded=True)] if changed else [])]

    def data() -> dict[str, Any]:
        found = difference.to_dict()
        for row in found["per_query"]:
            row["text"] = known.get(row["query"])
        return {"schema": DIFFERENCE_SCHEMA, **found, "warnings": warning_dicts(notes)}

    return ResultDocument("Difference", parts, data, lambda: Rows(DIFFERENCE_FIELDS, _difference_records(difference)))


def difference_summary(difference: RunDifference) -> str:
    """How many queries have the same top k."""
    first, second = map(printable, difference.names)
    count = len(difference.queries)
    changed = count - difference.same
    parts = [f"{first} and {second}: the top {difference.k} of {changed:,} of {plural(count, 'query')} differ"]
    if difference.reordered:
        parts.append(f"{difference.reordered:,} of them only in order")
    for label, queries in zip((first, second), difference.missing, strict=True):
        if queries:
            parts.append(f"{plural(len(queries), 'query')} missing in {label} ({listing(map(printable, queries))})")
    if difference.failed:
        failed = listing(map(printable, difference.failed))
        parts.append(f"{plural(len(difference.failed), 'query')} failed and left out ({failed})")
    return "; ".join(parts) + "."


def means_of_difference(difference: RunDifference) -> Table:
    """The mean of each value, and how many queries have the same ranking."""
    means, count = difference.means, max(1, len(difference.queries))
    titles = [f"overlap@{difference.k}", f"Jaccard@{difference.k}", f"RBO(p={given(difference.p)})", "same top"]
    values = [Number(means[key], digits=3) for key in ("overlap", "jaccard", "rbo")]
    row: list[Cell] = [Words("mean"), *values, Number(difference.same / count, "share")]
    return Table([*words(""), *numbers(*titles)], [row], "Mean over queries")


def _ranking_table(difference: RunDifference, query: QueryDifference) -> Table:
    """Both rankings side by side, each document with its rank in the other."""
    ranks = [{doc: rank for rank, doc in enumerate(side, 1)} for side in (query.first, query.second)]
    rows = []
    for rank in range(max(len(query.first), len(query.second))):
        cells: list[Cell] = [Number(rank + 1, "count")]
        for side, other, moves in ((query.first, ranks[1], ("gone", "now")), (query.second, ranks[0], ("new", "was"))):
            if rank >= len(side):
                cells += [NO_VALUE, NOTHING]
                continue
            other_rank = other.get(side[rank])
            moved = moves[0] if other_rank is None else "" if other_rank == rank + 1 else f"{moves[1]} {other_rank}"
            cells += [name(side[rank]), Words(moved)]
        rows.append(cells)
    first, second = difference.names
    return Table(words("rank", first, "", second, ""), rows, f"Rankings for {query.query}")


def _difference_records(difference: RunDifference) -> Iterator[Record]:
    """One per query."""
    common: Record = {"k": difference.k, "p": difference.p}
    common |= {"first_run": difference.names[0], "second_run": difference.names[1]}
    for query in difference.queries:
        values = {"overlap": query.overlap, "jaccard": query.jaccard, "rbo": query.rbo}
        yield {**common, "query": query.query, **values}
