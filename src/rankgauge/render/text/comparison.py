"""A comparison as text: the answer, the table, the groups, the largest changes and the documents behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rankgauge.comparison.attribution import DocumentChange, QueryChange
from rankgauge.comparison.ranking import SystemRanking
from rankgauge.comparison.remarks import group_remarks, remarks
from rankgauge.comparison.result import Comparison, Difference
from rankgauge.comparison.sentences import best_challenger, headline, span_text
from rankgauge.config.bands.bands import Bands
from rankgauge.core.formatting import MISSING, p_value, percent, plural, signed
from rankgauge.errors import Note, printable
from rankgauge.render.text.bands import band_of, uplift_lines, used, with_bands
from rankgauge.render.text.grid import BETTER, WORSE, Cell, Grid, Lines, TerminalPart, full
from rankgauge.render.text.records import Record
from rankgauge.render.text.scores import as_dict as scores_as_dict
from rankgauge.render.text.scores import best_of, conventions_lines, dumped, value_text
from rankgauge.render.text.terminal import PLAIN, Layout, display_width, text_of

__all__ = ["as_json", "as_table", "conventions_lines", "difference_parts", "fields", "grid", "parts", "records"]

DOCUMENTS_SHOWN = 2
MAX_NAME = 40  # of a query or a document in the largest changes
MAX_QUERY_TEXT, MIN_QUERY_TEXT, MAX_EXPLAINED_TEXT = 44, 12, 60
BASELINE, BAND = "baseline", "band"
HIDEABLE = ("win/tie/loss",)


def as_table(
    comparison: Comparison, layout: Layout = PLAIN, *, explain: bool = False, bands: Bands | None = None
) -> str:
    """For the terminal."""
    return text_of(terminal_parts(comparison, layout, explain=explain, bands=bands), layout)


def terminal_parts(
    comparison: Comparison, layout: Layout = PLAIN, *, explain: bool = False, bands: Bands | None = None
) -> list[TerminalPart]:
    """The answer, the table, the groups, and the largest changes."""
    parts: list[TerminalPart] = [Lines(headline(comparison)), grid(comparison, bands=bands)]
    listed = [*remarks(comparison), *uplift_lines(comparison.scores, bands, comparison)]
    parts += [Lines(listed)] if listed else []
    for by in _columns(comparison):
        parts += [group_grid(comparison, by), Lines(_remarks(comparison, by))]
    return parts + _largest_changes(comparison, layout, explain=explain)


def parts(comparison: Comparison, *, bands: Bands | None = None) -> list[str | Grid]:
    """For a page: the answer, the table, the groups and the conventions."""
    return [*difference_parts(comparison, bands=bands), *conventions_lines(comparison.scores)]


def difference_parts(comparison: Comparison, *, bands: Bands | None = None) -> list[str | Grid]:
    """For a page that shows the conventions elsewhere: the answer, the table and the groups."""
    below = [*remarks(comparison), *uplift_lines(comparison.scores, bands, comparison)]
    return [*headline(comparison), grid(comparison, bands=bands), *below, *groups(comparison)]


def groups(comparison: Comparison) -> list[str | Grid]:
    """For a page: a table and remarks for each column of the queries."""
    tables: list[str | Grid] = []
    for by in _columns(comparison):
        tables += [group_grid(comparison, by), *_remarks(comparison, by)]
    return tables


def grid(comparison: Comparison, *, bands: Bands | None = None) -> Grid:
    """For each measure the systems, the baseline in its place; with the bands of their values if there are any."""
    shown = used(comparison.scores, bands)
    ranking = None if comparison.ranking is None else ranked_letters(comparison.ranking)
    head = ["measure", "system", "score", *([] if shown is None else [BAND]), *_difference_head(comparison)]
    head += [] if ranking is None else ["group"]
    rows = []
    for measure in comparison.scores[0].measures:
        unpaired = comparison.has_unpaired_queries(measure.name)
        best = None if unpaired else best_of(measure, [run[measure] for run in comparison.scores])
        for number, run in enumerate(comparison.scores):
            value = run[measure]
            cells = [Cell("" if number else measure.name), Cell(full(run.run))]
            cells.append(Cell(value_text(measure, value), best=value is not None and value == best))
            if shown is not None:
                cells.append(Cell(band_of(run, measure.name, value, shown) or MISSING))
            if run.run == comparison.baseline:
                cells += [Cell(BASELINE), *[Cell("")] * 3]
            else:
                cells += _cells(comparison, comparison[run.run, measure.name])
            if ranking is not None:
                cells.append(Cell(ranking[run.run] if measure.name == comparison.primary else ""))
            rows.append(cells)
    legend = _legend(comparison) + ("" if shown is None else f"; {BAND}: by {shown.name}")
    return Grid(head, rows, words=2, legend=legend, hideable=[*HIDEABLE, BAND])


def ranked_letters(ranking: SystemRanking) -> dict[str, str]:
    """The letters of each system, below each other."""
    letters = sorted({letter for system in ranking.systems for letter in system.letters})
    if not "".join(letters).isalpha():  # more groups than letters: numbers
        return {system.name: system.letters for system in ranking.systems}
    return {
        system.name: "".join(letter if letter in system.letters else " " for letter in letters)
        for system in ranking.systems
    }


def _difference_head(comparison: Comparison) -> list[str]:
    return ["Δ", f"{percent(comparison.confidence)} CI", "p", "win/tie/loss"]


def _cells(comparison: Comparison, row: Difference) -> list[Cell]:
    effect = row.effect
    return [
        Cell(MISSING if row.difference is None else row.text(row.difference), mark=row.mark(comparison.alpha)),
        Cell(span_text(row.interval, row) or MISSING),
        Cell(p_value(row.p_corrected)),
        Cell(f"{effect.wins}/{effect.ties}/{effect.losses}"),
    ]


def _legend(comparison: Comparison) -> str:
    counts = sorted({row.n for row in comparison.differences})
    queries = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    unpaired = [
        measure.name for measure in comparison.scores[0].measures if comparison.has_unpaired_queries(measure.name)
    ]
    kind = comparison.interval_kind
    is_marked = any(row.mark(comparison.alpha) for row in comparison.differences)
    texts = [
        *([f"{BETTER} {WORSE} significantly better, worse than {comparison.baseline}"] if is_marked else []),
        *(["same letter: not distinguishable on " + comparison.primary] if comparison.ranking is not None else []),
        comparison.family,
        *([f"intervals are {kind}"] if kind else []),
        f"paired over {queries} queries",
        *(
            [f"scores of {', '.join(unpaired)} are over each system's own queries, Δ over shared queries"]
            if unpaired
            else []
        ),
    ]
    return "; ".join(texts)


def _columns(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(row.by for row in comparison.groups))


def group_grid(comparison: Comparison, by: str) -> Grid:
    """One row per group, measure and system; the only system that is compared is not repeated."""
    rows, last = [], ("", "")
    for row in comparison.groups:
        if row.by == by:
            difference, label = row.difference, (row.label, row.difference.measure)
            names = [Cell("" if label == last else full(row.label)), Cell("" if label == last else difference.measure)]
            names += [] if len(comparison.systems) == 1 else [Cell(full(difference.system))]
            rows.append([*names, Cell(str(difference.n)), *_cells(comparison, difference)])
            last = label
    head = [f"by {full(by)}", "measure", *([] if len(comparison.systems) == 1 else ["system"]), "queries"]
    return Grid([*head, *_difference_head(comparison)], rows, words=len(head) - 1, hideable=HIDEABLE)


def _remarks(comparison: Comparison, by: str) -> list[str]:
    """The correction of the groups, which differences differ between them, and which have the opposite sign."""
    opposite = [
        f"{row.label} on {row.difference.measure}" for row in comparison.groups if row.by == by and row.opposite
    ]
    note = [f"significant, and opposite to the overall direction: {', '.join(opposite)}"] if opposite else []
    kind = comparison.group_interval_kind(by)
    intervals = [f"intervals by {by} are {kind}"] if kind else []
    return group_remarks(comparison, by) + intervals + note


def _largest_changes(comparison: Comparison, layout: Layout, *, explain: bool) -> list[TerminalPart]:
    """Of each system if they are explained or there is one; else of the best, which is what most readers want."""
    parts: list[TerminalPart] = []
    shown = comparison.systems if explain or len(comparison.systems) == 1 else [best_challenger(comparison)]
    for system in shown:
        changes = comparison.changes.get(system, ())
        if changes:
            title = f"Largest changes in {comparison.primary}: {system} − {comparison.baseline}"
            lines = [line for change in changes for line in change_lines(comparison, change, layout, explain=explain)]
            hidden = len(comparison.systems) - len(shown)
            more = [f"  of {plural(hidden, 'other system')}: --explain or --format json"] if hidden else []
            parts.append(Lines([title, *lines, *more]))
    return parts


def change_lines(
    comparison: Comparison, change: QueryChange, layout: Layout = PLAIN, *, explain: bool = False
) -> list[str]:
    """The change of one query with the documents behind it: in one line as wide as the layout, or one each."""
    documents = [document for document in change.documents if document.share]
    texts = list(map(_document, documents))
    start = f"  {signed(change.difference)}  {printable(change.query, MAX_NAME)}"
    quoted = comparison.texts.get(change.query, "")
    if explain:
        head = f"{start}  “{_excerpt(quoted, MAX_EXPLAINED_TEXT)}”" if quoted else start
        return [head, *(f"            {signed(doc.share)}  {text}" for doc, text in zip(documents, texts, strict=True))]
    return [one_line(start, quoted, texts, layout)]


def one_line(start: str, quoted: str, documents: Sequence[str], layout: Layout) -> str:
    """A query's change with as many of its documents, and as much of its text, as fit in one line."""
    for count in (DOCUMENTS_SHOWN, 1, 0):
        more = len(documents) - count
        listed = "".join(f"   {text}" for text in documents[:count]) + (f"   + {more} more" if more > 0 else "")
        room = MAX_QUERY_TEXT if layout.width is None else layout.chart_width - display_width(start + listed) - 4
        if not quoted and room >= 0:
            return start + listed
        if quoted and room >= MIN_QUERY_TEXT:
            return f"{start}  “{_excerpt(quoted, min(room, MAX_QUERY_TEXT))}”{listed}"
    return start


def _excerpt(text: str, width: int) -> str:
    from rankgauge.render.text.wrapping import excerpt

    return excerpt(printable(text, None), width)


def _document(change: DocumentChange) -> str:
    before, after = (MISSING if rank is None else str(rank) for rank in (change.before, change.after))
    return f"{printable(change.doc, MAX_NAME)} {before}→{after} (grade {change.grade:g})"


def as_json(
    comparison: Comparison, *, per_query: bool = False, notes: Iterable[Note] = (), bands: Bands | None = None
) -> str:
    """Scores in the schema of ``evaluate``, with the comparison beside them; ``notes`` are those of the readers."""
    data = scores_as_dict(comparison.scores, per_query=per_query, notes=[*notes, *comparison.notes])
    data["comparison"] = comparison.to_dict()
    return dumped(with_bands(data, comparison.scores, bands, comparison))


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
