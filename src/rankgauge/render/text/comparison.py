"""A comparison as text: the answer, the table, the groups, the largest changes and the documents behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rankgauge.comparison.attribution import DocumentChange, QueryChange
from rankgauge.comparison.ranking import SystemRanking
from rankgauge.comparison.remarks import group_remarks, remarks
from rankgauge.comparison.result import Comparison, Difference, GroupDifference
from rankgauge.comparison.sentences import span_text
from rankgauge.comparison.statistics import CORRECTION_LABELS, separately_corrected
from rankgauge.config.bands.bands import Bands
from rankgauge.core.formatting import MISSING, p_value, signed
from rankgauge.errors import Note, printable
from rankgauge.measures.spec import Measure
from rankgauge.render.text.bands import band_of, heading, used, with_bands
from rankgauge.render.text.grid import BETTER, WORSE, Cell, Grid, Show, full
from rankgauge.render.text.records import Record
from rankgauge.render.text.scores import as_dict as scores_as_dict
from rankgauge.render.text.scores import best_of, conventions_lines, dumped, value_text
from rankgauge.render.text.terminal import name, table

__all__ = ["as_json", "as_table", "conventions_lines", "difference_parts", "fields", "grid", "parts", "records"]

DOCUMENTS_SHOWN = 2
MAX_QUERY_TEXT = 44


def as_table(comparison: Comparison, *, color: bool, explain: bool = False, bands: Bands | None = None) -> str:
    """For the terminal."""
    differences = grid(comparison, show=name, bands=bands)
    text = table(differences.head, differences.rows, color=color, starred=False)
    parts = [f"{printable(comparison.answer(), None)}\n", text, f"\n{printable(_legend(comparison), None)}"]
    parts += [printable(remark, None) for remark in remarks(comparison)]
    if comparison.ranking is not None:
        ranked = ranking_grid(comparison.ranking, comparison, show=name)
        parts += ["", table(ranked.head, ranked.rows, color=color), printable(str(ranked.legend), None)]
    if comparison.groups:
        parts += ["", _group_tables(comparison, color=color)]
    if any(comparison.changes.values()):
        parts += ["", _largest_changes(comparison, explain=explain)]
    return "\n".join(parts)


def parts(comparison: Comparison, *, bands: Bands | None = None) -> list[str | Grid]:
    """For a page: the answer, the table, the groups and the conventions."""
    return [*difference_parts(comparison, bands=bands), *conventions_lines(comparison.scores)]


def difference_parts(comparison: Comparison, *, bands: Bands | None = None) -> list[str | Grid]:
    """The same without the conventions."""
    ranking = [] if comparison.ranking is None else [ranking_grid(comparison.ranking, comparison)]
    return [comparison.answer(), grid(comparison, bands=bands), *ranking, *remarks(comparison), *groups(comparison)]


def groups(comparison: Comparison) -> list[str | Grid]:
    """For a page: a table and remarks for each column of the queries."""
    tables: list[str | Grid] = []
    for by in _columns(comparison):
        tables += [group_grid(comparison, by), *_remarks(comparison, by)]
    return tables


def _head(comparison: Comparison) -> list[str]:
    p = f"p ({comparison.correction_label})" if comparison.correction_label else "p"
    return ["", "", "value", "Δ", comparison.interval_label, p, "win/tie/loss"]


def grid(comparison: Comparison, *, show: Show = full, bands: Bands | None = None) -> Grid:
    """For each measure the baseline, then each other system; with the bands of their values if there are any."""
    rows, head, shown = [], _head(comparison), used(comparison.scores, bands)
    if shown is not None:
        head.insert(3, heading(shown))
    base = next(run for run in comparison.scores if run.run == comparison.baseline)

    def values(measure: Measure, value: float | None, best: float | None) -> list[Cell]:
        band = [] if shown is None else [Cell(band_of(base, measure.name, value, shown) or MISSING)]
        return [Cell(value_text(measure, value), best=value is not None and value == best), *band]

    scores_of = {run.run: run for run in comparison.scores}
    for measure in comparison.scores[0].measures:
        unpaired = comparison.has_unpaired_queries(measure.name)
        best = None if unpaired else best_of(measure, [run[measure] for run in comparison.scores])
        first = [Cell(measure.name), Cell(show(comparison.baseline)), *values(measure, base[measure], best)]
        rows.append([*first, *[Cell("")] * 4])
        rows += [
            [
                Cell(""),
                Cell(show(row.system)),
                *values(measure, scores_of[row.system][measure], best),
                *_cells(comparison, row),
            ]
            for row in comparison.differences
            if row.measure == measure.name
        ]
    legend = "; ".join([*(["bold: the best"] if any(row[2].best for row in rows) else []), _legend(comparison)])
    return Grid(head, rows, words=2, legend=legend)


def _cells(comparison: Comparison, row: Difference) -> list[Cell]:
    effect = row.effect
    return [
        Cell(MISSING if row.difference is None else row.text(row.difference)),
        Cell(span_text(row.interval, row) or MISSING),
        Cell(p_value(row.p_corrected), mark=row.mark(comparison.alpha)),
        Cell(f"{effect.wins}/{effect.ties}/{effect.losses}"),
    ]


def _legend(comparison: Comparison) -> str:
    counts = sorted({row.n for row in comparison.differences})
    queries = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    unpaired = [
        measure.name for measure in comparison.scores[0].measures if comparison.has_unpaired_queries(measure.name)
    ]
    note = ""
    if unpaired:
        note = f"; values of {', '.join(unpaired)} are over each system's own queries, Δ over shared queries"
    marks = f"{BETTER} {WORSE} significantly better, worse than {comparison.baseline}"
    return f"{marks}; {comparison.family}; paired over {queries} queries{note}"


def ranking_grid(ranking: SystemRanking, comparison: Comparison, *, show: Show = full) -> Grid:
    """The systems from the best to the worst, with letters."""
    measure = comparison.scores[0].measures[0]
    rows = [
        [Cell(show(system.name)), Cell(value_text(measure, system.value)), Cell(system.letters)]
        for system in ranking.systems
    ]
    legend = "systems that share a letter cannot be distinguished; all pairs are one family"
    return Grid(["ranking", ranking.measure, "letters"], rows, words=1, legend=legend)


def _columns(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(row.by for row in comparison.groups))


def _group_tables(comparison: Comparison, *, color: bool) -> str:
    out = []
    for by in _columns(comparison):
        rows = group_grid(comparison, by, show=name)
        out.append(table(rows.head, rows.rows, color=color))
        out += [printable(remark, None) for remark in _remarks(comparison, by)]
    return "\n".join(out)


def group_grid(comparison: Comparison, by: str, *, show: Show = full) -> Grid:
    """One row per group, measure and system."""
    head, correction = _head(comparison), separately_corrected(comparison.statistics).correction
    head[0], head[2] = f"by {by}", "queries"
    head[4] = comparison.group_interval_label(by)
    head[5] = "p" if correction == "none" else f"p ({CORRECTION_LABELS[correction]})"
    return Grid(head, [_group_row(comparison, row, show) for row in comparison.groups if row.by == by], words=2)


def _group_row(comparison: Comparison, row: GroupDifference, show: Show) -> list[Cell]:
    label = Cell(f"{show(row.label)} · {row.difference.measure}")
    return [label, Cell(show(row.difference.system)), Cell(str(row.difference.n)), *_cells(comparison, row.difference)]


def _remarks(comparison: Comparison, by: str) -> list[str]:
    """The correction of the groups, which differences differ between them, and which have the opposite sign."""
    opposite = [
        f"{row.label} on {row.difference.measure}" for row in comparison.groups if row.by == by and row.opposite
    ]
    note = [f"significant, and opposite to the overall direction: {', '.join(opposite)}"] if opposite else []
    return group_remarks(comparison, by) + note


def _largest_changes(comparison: Comparison, *, explain: bool) -> str:
    lines = []
    measure = comparison.scores[0].measures[0].name
    for system, changes in comparison.changes.items():
        if changes:
            lines.append(f"Largest changes in {measure}: {name(system)} − {name(comparison.baseline)}")
            lines += [change_line(comparison, change, explain=explain) for change in changes]
    return "\n".join(lines)


def change_line(comparison: Comparison, change: QueryChange, *, explain: bool = False) -> str:
    """The change of one query, and the documents behind it."""
    text = comparison.texts.get(change.query)
    quoted = f"  “{printable(text, MAX_QUERY_TEXT)}”" if text else ""
    documents = [document for document in change.documents if document.share]
    shown_documents = documents if explain else documents[:DOCUMENTS_SHOWN]
    head = f"  {signed(change.difference)}  {name(change.query)}{quoted}"
    if explain:
        shares = (f"            {signed(document.share)}  {_document(document)}" for document in shown_documents)
        return "\n".join([head, *shares])
    more = len(documents) - len(shown_documents)
    return head + "".join(f"   {_document(doc)}" for doc in shown_documents) + (f"   + {more} more" if more else "")


def _document(change: DocumentChange) -> str:
    before, after = (MISSING if rank is None else str(rank) for rank in (change.before, change.after))
    return f"{name(change.doc)} {before}→{after} (grade {change.grade:g})"


def as_json(
    comparison: Comparison, *, per_query: bool = False, notes: Iterable[Note] = (), bands: Bands | None = None
) -> str:
    """Scores in the schema of ``evaluate``, with the comparison beside them; ``notes`` are those of the readers."""
    data = scores_as_dict(comparison.scores, per_query=per_query, notes=[*notes, *comparison.notes])
    data["comparison"] = comparison.to_dict()
    return dumped(with_bands(data, comparison.scores, bands))


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
