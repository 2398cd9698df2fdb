"""A comparison: the answer, the table, the groups, the largest changes and the documents behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rankgauge.comparison.answer_sentences import best_challenger, group_remarks, headline, remarks
from rankgauge.comparison.comparison_result import Comparison, sort_systems
from rankgauge.comparison.differences import Difference
from rankgauge.comparison.document_changes import DocumentChange, QueryChange
from rankgauge.comparison.system_ranking import SystemRanking
from rankgauge.config.bands import Bands
from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import MINUS, MISSING, given, percent, plural, signed, text_of
from rankgauge.core.verdicts import DifferenceOutcome
from rankgauge.errors import Note, printable
from rankgauge.render.document import (
    BETTER,
    NOTHING,
    WORSE,
    Cell,
    ChartData,
    DocumentSection,
    Line,
    Number,
    Part,
    Range,
    Record,
    ResultDocument,
    Rows,
    Sentences,
    ShortLine,
    Table,
    TableColumn,
    Tone,
    Words,
    name,
    numbers,
    words,
)
from rankgauge.render.documents.bands import band_cell, band_of, uplift_lines, used, with_bands
from rankgauge.render.documents.scores import as_dict as scores_as_dict
from rankgauge.render.documents.scores import best_of, caveats, conventions_lines, cost_cells, value_cell
from rankgauge.stats.intervals import exponential

MAX_NAME = 40  # of a query or a document in the largest changes
MAX_EXPLAINED_TEXT = 60
BASELINE, BAND = "baseline", "band"
DETECTABLE = "detectable"  # the minimum detectable difference of each row
DIFFERENCE_TONES: dict[DifferenceOutcome, Tone] = {  # others decide neither way
    "better": "better",
    "worse": "worse",
    "equivalent": "better",
    "no worse": "better",
    "unchanged": "better",
}


@dataclass(frozen=True)
class Extent:
    """How much of a comparison is shown."""

    per_query: bool = False  # in rows and JSON
    explain: bool = False  # every document behind the largest changes
    every_system: bool = False  # the largest changes of each system, not only of the best
    plot: bool = False
    sort: str | None = None


def comparison_document(
    comparison: Comparison, extent: Extent, *, notes: Sequence[Note] = (), bands: Bands | None = None
) -> ResultDocument:
    """The answer first; ``notes`` are those of the readers."""
    ordered = sort_systems(comparison, extent.sort)

    def parts() -> list[Part]:
        made = comparison_parts(ordered, extent, bands=bands)
        made.append(Sentences(conventions_lines(ordered.scores), "footnote"))
        charts = [ChartData("means", (ordered.scores, ordered.confidence)), ChartData("changes", ordered)]
        return [*made, *(charts if extent.plot else [])]

    def data() -> dict[str, Any]:
        found = scores_as_dict(comparison.scores, per_query=extent.per_query, notes=[*notes, *comparison.notes])
        found["comparison"] = comparison.to_dict()
        return with_bands(found, comparison.scores, bands, comparison)

    return ResultDocument(
        "Comparison",
        parts,
        data,
        lambda: Rows(fields(ordered), records(ordered, per_query=extent.per_query)),
        caveats=lambda: [*(note.message for note in comparison.notes), *caveats(comparison.scores)],
    )


def document(comparison: Comparison) -> ResultDocument:
    """With the largest changes of every system."""
    return comparison_document(comparison, Extent(every_system=True))


def comparison_parts(comparison: Comparison, extent: Extent | None = None, *, bands: Bands | None = None) -> list[Part]:
    """The answer, the table, the groups, and the largest changes."""
    first, *others = headline(comparison)
    parts: list[Part] = [Sentences([first, *others], "answer"), comparison_table(comparison, bands=bands)]
    parts.append(Sentences([*remarks(comparison), *uplift_lines(comparison.scores, bands, comparison)]))
    groups = group_parts(comparison)
    parts += [DocumentSection("Groups of queries", groups, folded=True)] if groups else []
    changes = _largest_changes(comparison, extent or Extent())
    title = f"Largest changes in {comparison.shown_primary}"
    return [*parts, *([DocumentSection(title, changes, folded=True, on_pages=False)] if changes else [])]


def group_parts(comparison: Comparison) -> list[Part]:
    """A table and remarks for each column of the queries."""
    parts: list[Part] = []
    for by in dict.fromkeys(row.by for row in comparison.groups):
        parts += [group_table(comparison, by), Sentences(_remarks(comparison, by))]
    return parts


def comparison_table(comparison: Comparison, *, bands: Bands | None = None) -> Table:
    """For each measure the systems, the baseline in its place; with the bands of their values if there are any."""
    shown = used(comparison.scores, bands)
    ranking = comparison.ranking
    letters = {} if ranking is None else ranked_letters(ranking)
    columns = [*words("measure", "system"), *numbers("score")]
    columns += [] if shown is None else [TableColumn(BAND, may_hide=1)]
    columns += [*_difference_columns(comparison), *(numbers("group") if letters else [])]
    rows = []
    for measure in comparison.scores[0].measures:
        unpaired = comparison.has_unpaired_queries(measure.name)
        best = None if unpaired else best_of(measure, [run[measure] for run in comparison.scores])
        for place, run in enumerate(comparison.scores):
            value = run[measure]
            cells: list[Cell] = [Words("" if place else measure.shown), name(run.run)]
            cells.append(value_cell(measure, value, best=value is not None and value == best))
            if shown is not None:
                cells.append(band_cell(band_of(run, measure.name, value, shown)))
            if run.run == comparison.baseline:
                cells += [Words(BASELINE), *[NOTHING] * (len(_difference_columns(comparison)) - 1)]
            else:
                cells += _cells(comparison, comparison[run.run, measure.name])
            if letters:
                cells.append(Words(letters[run.run] if measure.name == comparison.primary else ""))
            rows.append(cells)
    for what, costs in cost_cells(comparison.scores).items():
        before = next(
            cell for run, cell in zip(comparison.scores, costs, strict=True) if run.run == comparison.baseline
        )
        for place, (run, cost) in enumerate(zip(comparison.scores, costs, strict=True)):
            is_baseline = run.run == comparison.baseline
            change = Words(BASELINE) if is_baseline else Words(_cost_change(cost, before))
            cells = [Words("" if place else what), name(run.run), cost, *([] if shown is None else [NOTHING]), change]
            rows.append([*cells, *[NOTHING] * (len(columns) - len(cells))])
    legend = _legend(comparison) + ("" if shown is None else f"; {BAND}: by {shown.name}")
    return Table(columns, rows, f"Compared with {comparison.baseline}", legend)


def _cost_change(cost: Number, before: Number) -> str:
    """How much more a system costs than the baseline; it is not tested."""
    if cost.value is None or before.value is None:
        return MISSING
    change = cost.value - before.value
    return ("+" if change > 0 else MINUS if change < 0 else "") + text_of(abs(change), cost.kind)


def ranked_letters(ranking: SystemRanking) -> dict[str, str]:
    """The letters of each system, below each other."""
    letters = sorted({letter for system in ranking.systems for letter in system.letters})
    if not "".join(letters).isalpha():  # more groups than letters: numbers
        return {system.name: system.letters for system in ranking.systems}
    return {
        system.name: "".join(letter if letter in system.letters else " " for letter in letters)
        for system in ranking.systems
    }


def _difference_columns(comparison: Comparison) -> list[TableColumn]:
    columns = [*numbers("Δ", f"{percent(comparison.confidence)} CI", "p"), TableColumn("win/tie/loss", may_hide=3)]
    return columns + ([TableColumn(DETECTABLE, may_hide=2)] if len(comparison.systems) > 1 else [])


def _cells(comparison: Comparison, row: Difference) -> list[Cell]:
    effect = row.effect
    return [
        difference_cell(row, comparison.alpha),
        difference_range(row),
        Number(row.p_corrected, "p"),
        Words(f"{effect.wins}/{effect.ties}/{effect.losses}"),
        *([detectable_cell(row)] if len(comparison.systems) > 1 else []),
    ]


def detectable_cell(row: Difference) -> Number:
    """The minimum detectable difference, or the ratio of geometric means."""
    if row.is_ratio:
        return Number(None if row.detectable is None else exponential(row.detectable), "ratio")
    return Number(row.detectable, digits=3)


def difference_cell(row: Difference, alpha: float) -> Number:
    """A difference, or the ratio of geometric means, marked if it is significant."""
    value = row.difference if row.difference is None or not row.is_ratio else exponential(row.difference)
    return Number(value, "ratio" if row.is_ratio else "difference", mark=row.mark(alpha))


def difference_range(row: Difference) -> Range:
    """The interval of a difference, or the one end of a one-sided one."""
    interval = row.interval
    if interval.low is None or interval.high is None:
        return Range(None, None)
    low = None if interval.alternative == "less" else exponential(interval.low) if row.is_ratio else interval.low
    high = None if interval.alternative == "greater" else exponential(interval.high) if row.is_ratio else interval.high
    return Range(low, high, "ratio" if row.is_ratio else "difference")


def _legend(comparison: Comparison) -> str:
    counts = sorted({row.n for row in comparison.differences if row.not_comparable is None}) or [0]
    queries = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    unpaired = [
        f"{measure.shown} ({_counts(comparison, measure.name)})"
        for measure in comparison.scores[0].measures
        if comparison.has_unpaired_queries(measure.name)
    ]
    kind, not_asked = comparison.interval_kind, _not_asked(comparison)
    is_marked = any(row.mark(comparison.alpha) for row in comparison.differences)
    texts = [
        *([f"{BETTER} {WORSE} significantly better, worse than {comparison.baseline}"] if is_marked else []),
        *(
            [f"same letter: not distinguishable on {comparison.shown_primary}"]
            if comparison.ranking is not None
            else []
        ),
        comparison.family,
        *([f"intervals are {kind}"] if kind else []),
        f"paired over {queries} queries",
        *(
            [f"scores of {', '.join(unpaired)} are over each system's own queries, Δ over shared queries"]
            if unpaired
            else []
        ),
        *(
            [f"{plural(not_asked, 'query')} not asked of every system: not paired, and 0 in the scores"]
            if not_asked
            else []
        ),
    ]
    return "; ".join(texts)


def _counts(comparison: Comparison, measure: str) -> str:
    """How many queries the mean of each system is over."""
    return ", ".join(f"{printable(run.run, None)} {run.over_queries[measure][1]}" for run in comparison.scores)


def _not_asked(comparison: Comparison) -> int:
    """How many queries that count some system was not asked, as far as that is known."""
    return int(np.logical_or.reduce([run.averaged & ~run.asked for run in comparison.scores]).sum())


def group_table(comparison: Comparison, by: str) -> Table:
    """One row per group, measure and system; the only system that is compared is not repeated."""
    rows, last = [], ("", "")
    for row in comparison.groups:
        if row.by == by:
            difference, label = row.difference, (row.label, row.difference.measure)
            cells: list[Cell] = [NOTHING, NOTHING] if label == last else [name(row.label), Words(difference.shown)]
            cells += [] if len(comparison.systems) == 1 else [name(difference.system)]
            rows.append([*cells, Number(difference.n, "count"), *_cells(comparison, difference)])
            last = label
    titles = [f"by {by}", "measure", *([] if len(comparison.systems) == 1 else ["system"])]
    columns = [*words(*titles), *numbers("queries"), *_difference_columns(comparison)]
    return Table(columns, rows, f"Groups by {by}")


def _remarks(comparison: Comparison, by: str) -> list[str]:
    """The correction of the groups, which differences differ between them, and which have the opposite sign."""
    opposite = [f"{row.label} on {row.difference.shown}" for row in comparison.groups if row.by == by and row.opposite]
    note = [f"significant, and opposite to the overall direction: {', '.join(opposite)}"] if opposite else []
    kind = comparison.group_interval_kind(by)
    intervals = [f"intervals by {by} are {kind}"] if kind else []
    return group_remarks(comparison, by) + intervals + note


def _largest_changes(comparison: Comparison, extent: Extent) -> list[Part]:
    """Of each system if they are explained or there is one; else of the best, which is what most readers want."""
    systems, every = comparison.systems, extent.explain or extent.every_system
    shown = systems if every or len(systems) == 1 else [best_challenger(comparison)]
    parts: list[Part] = []
    for system in shown:
        changes = comparison.changes.get(system, ())
        if changes:
            title = f"Largest changes in {comparison.shown_primary}: {system} − {comparison.baseline}"
            lines = [line for change in changes for line in change_lines(comparison, change, explain=extent.explain)]
            hidden = len(systems) - len(shown)
            more = [f"  of {plural(hidden, 'other system')}: --explain or --format json"] if hidden else []
            parts.append(Sentences([*lines, *more], title=title))
    return parts


def change_lines(comparison: Comparison, change: QueryChange, *, explain: bool = False) -> list[Line]:
    """The change of one query with the documents behind it: in one line, or one each."""
    documents = [document for document in change.documents if document.share]
    texts = list(map(_document, documents))
    start = f"  {signed(change.difference)}  {printable(change.query, MAX_NAME)}"
    quoted = comparison.texts.get(change.query, "")
    if not explain:
        return [ShortLine(start, quoted, texts)]
    from rankgauge.render.formats.wrapping import excerpt

    head = f"{start}  “{excerpt(printable(quoted, None), MAX_EXPLAINED_TEXT)}”" if quoted else start
    return [head, *(f"            {signed(doc.share)}  {text}" for doc, text in zip(documents, texts, strict=True))]


def _document(change: DocumentChange) -> str:
    before, after = (MISSING if rank is None else str(rank) for rank in (change.before, change.after))
    return f"{printable(change.doc, MAX_NAME)} {before}→{after} (grade {given(change.grade)})"


def fields(comparison: Comparison) -> list[str]:
    """The keys of the records: what is compared, the keys that a difference has in JSON, and the test."""
    keys = ["system", "baseline_run", "query", "by", "label"]
    values = [key for key in comparison.to_dict()["differences"][0] if key not in ("system", "ci")]
    return [*keys, *values, "low", "high", "confidence", "test", "correction", "conventions"]


def records(comparison: Comparison, *, per_query: bool) -> Iterator[Record]:
    """One per difference: over all queries, then in each group (``by``, ``label``), then for each query."""
    common: Record = {
        "baseline_run": comparison.baseline,
        "test": comparison.statistics.test,
        "correction": comparison.statistics.correction,
        "conventions": str(comparison.scores[0].conventions),
    }
    data = comparison.to_dict()
    for row in [*data["differences"], *data["groups"]]:
        yield {**row, **{key: row["ci"][key] for key in ("low", "high", "confidence")}, **common}
    if per_query:
        for difference in comparison.differences:
            which = {"system": difference.system, "baseline_run": comparison.baseline, "measure": difference.measure}
            for query, value, base in zip(*comparison.paired(difference.system, difference.measure), strict=True):
                yield {**which, "query": query, "value": value, "baseline": base, "difference": value - base}
