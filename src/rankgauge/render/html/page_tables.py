"""The tables of the page, of typed cells: one macro of the templates draws them all.

Most cells are those of documents. Some only a page can show: a system with its color and shape, a drawing, a chip.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from rankgauge.comparison.answer_sentences import detectable_sizes, group_remarks, interval_text
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.comparison.differences import Difference, GroupDifference
from rankgauge.comparison.system_ranking import RankedPair
from rankgauge.config.bands import Band, Bands
from rankgauge.core.formatting import p_equals, percent, plural
from rankgauge.evaluation.audit.audited_values import Values
from rankgauge.evaluation.audit.ties import TieAudit
from rankgauge.evaluation.audit.unjudged import UnjudgedAudit
from rankgauge.evaluation.query_groups import groups, mean_of
from rankgauge.evaluation.scores import Scores, sorted_runs
from rankgauge.history.entries import SavedMean
from rankgauge.measures.measure import Measure
from rankgauge.render.document import BETTER, NOTHING, Cell, Number, Range, Table, Tone, Words, name
from rankgauge.render.documents.bands import band_words, bands_of, heading
from rankgauge.render.documents.benchmark import cost_basis, cost_table
from rankgauge.render.documents.comparison import DETECTABLE, detectable_cell, difference_cell, difference_range
from rankgauge.render.documents.gate import affected_table, gate_tables
from rankgauge.render.documents.scores import best_of, is_count
from rankgauge.render.html.charts.ranges import forest, largest_distance
from rankgauge.render.html.page_systems import PageSystem, PageSystems
from rankgauge.render.html.page_text import plain
from rankgauge.report.report import Report
from rankgauge.stats.results import Interval

MAX_TABLE_GROUPS = 20
MAX_GROUP_TABLES = 8
OPPOSITE = "significant, and opposite to the overall direction"
TONE_CLASSES: dict[Tone, str] = {"better": "pass", "worse": "fail", "neutral": "undecided", "": "undecided"}
TONE_SIGNS: dict[Tone, str] = {"better": "✓", "worse": "✗", "neutral": "?", "": "?"}

Bools = NDArray[np.bool_]
GroupMean = tuple[float | None, int]  # and the number of queries


@dataclass(frozen=True)
class SystemName:
    """A system with its color and shape."""

    system: PageSystem
    is_clipped: bool = False  # whether a long name is cut


@dataclass(frozen=True)
class Drawn:
    """Markup of our own: a chart of one row, or a link."""

    markup: Markup


@dataclass(frozen=True)
class Chip:
    """A word in a box of its color."""

    text: str


PageCell = Cell | SystemName | Drawn | Chip


@dataclass(frozen=True)
class Styled:
    """A cell with a class of its own, a text that appears on it, or a sign after it."""

    cell: PageCell
    css: str = ""
    hint: str = ""
    sign: str = ""


@dataclass(frozen=True)
class PageColumn:
    """A column: its head, and the class of its cells; ``label`` stands before each where a narrow page has no head."""

    head: PageCell
    css: str = ""
    head_css: str = ""
    is_head: bool = False  # whether its cells are the heads of rows
    span: int = 1  # columns that the head covers; 0 if another one covers this column
    label: str = ""
    hint: str = ""  # appears on the head


@dataclass(frozen=True)
class PageRow:
    """The cells of a row, and its class."""

    cells: Sequence[PageCell | Styled]
    css: str = ""


@dataclass(frozen=True)
class RowGroup:
    """Rows, perhaps under a title with a note."""

    rows: Sequence[PageRow]
    title: str = ""
    note: str = ""
    hint: str = ""


@dataclass(frozen=True)
class PageTable:
    """A table as the templates draw it."""

    name: str  # for screen readers
    columns: Sequence[PageColumn]
    groups: Sequence[RowGroup]
    css: str = ""
    caption: str | Words = ""
    hides_caption: bool = False
    above: Sequence[tuple[str, int]] = ()  # titles of several columns each
    notes: Sequence[str] = ()  # below it

    def drawn(self, row: PageRow) -> Iterator[Markup]:
        """The cells of a row as HTML."""
        for column, cell in zip(self.columns, row.cells, strict=True):
            styled = cell if isinstance(cell, Styled) else Styled(cell)
            best = "best" if getattr(styled.cell, "best", False) else ""
            css = styled.css if styled.css.startswith("n ") else " ".join(filter(None, [column.css, best, styled.css]))
            label = Markup('<span class="label">{}</span>').format(column.label) if column.label else Markup()
            shown = content(styled.cell)
            inner = (label if shown else Markup()) + shown + (f" {styled.sign}" if styled.sign else "")
            yield _element("th" if column.is_head else "td", inner, css, styled.hint, "row" if column.is_head else "")


def _element(tag: str, inner: Markup, css: str, hint: str, scope: str) -> Markup:
    attributes = {"scope": scope, "class": css, "title": plain(hint)}
    text = Markup("").join(Markup(' {}="{}"').format(key, value) for key, value in attributes.items() if value)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), text, inner)


def content(cell: PageCell | str) -> Markup:
    """What is inside a cell, or a caption."""
    match cell:
        case str():
            return escape(plain(cell))
        case SystemName(system, is_clipped):
            swatch = Markup('<svg class="swatch {}" aria-hidden="true"><use href="#{}"/></svg><bdi>{}</bdi>').format(
                system.color, system.shape, plain(system.name)
            )
            return Markup('<span class="clip">{}</span>').format(swatch) if is_clipped else swatch
        case Drawn(markup):
            return markup
        case Chip(text):
            return Markup('<span class="chip {}">{}</span>').format(text, band_words(text))
        case Words() if cell.tone:
            label = f"{cell.text[:1].upper()}{cell.text[1:]}"
            return Markup('<span class="verdict {}"><span aria-hidden="true">{}</span> {}</span>').format(
                TONE_CLASSES[cell.tone], TONE_SIGNS[cell.tone], label
            )
        case Words() if cell.from_data:
            return Markup("<bdi>{}</bdi>").format(plain(cell.text))
        case _:
            text = escape(plain(cell.text))
            mark = Markup(' <i class="{0}" role="img" aria-label="{0}">{1}</i>').format(cell.tone, cell.mark)
            return text + mark if cell.mark else text


def value(measure: Measure, number: float | None, *, best: bool = False) -> Number:
    """The value of a measure in little space."""
    return Number(number, "count" if is_count(measure) else "compact", best=best)


def interval(found: Interval | SavedMean) -> Cell:
    """The interval of a mean; nothing if there is none."""
    return NOTHING if found.low is None and found.high is None else Range(found.low, found.high, "compact")


def columns(*titles: str) -> list[PageColumn]:
    """Columns of numbers."""
    return [PageColumn(Words(title), "n", "n") for title in titles]


def page_table(table: Table, label: str) -> PageTable:
    """A table of a document, whose first column heads its rows."""
    first, *others = table.columns
    title = Words(first.title) if first.title else Drawn(Markup('<span class="visually-hidden">statistic</span>'))
    rows = [PageRow(row) for row in table.rows]
    made = [PageColumn(title, is_head=True), *columns(*(column.title for column in others))]
    return PageTable(label, made, [RowGroup(rows)], caption=table.name, hides_caption=True)


# ---------------------------------------------------------------------------------------------------------- results


def results_table(page_systems: PageSystems, comparison: Comparison | None, bands: Bands | None) -> PageTable:
    """The table below the answer: every system on every measure."""
    confidence = percent(page_systems.confidence)
    band = [] if bands is None else [PageColumn(Words(heading(bands)), "band")]
    if len(page_systems.systems) == 1:
        return _single_table(page_systems, bands, confidence, band)
    made = [
        PageColumn(Words("system"), "system", is_head=True),
        PageColumn(Words("value"), "n value", "n"),
        PageColumn(Words(f"{confidence} CI"), "n muted interval", "n interval"),
    ]
    if comparison is not None:
        kind, correction = comparison.statistics.intervals_of(max(comparison.family_sizes)), comparison.correction_label
        ends = f"{confidence} CI of Δ" + (f" ({kind})" if kind else "")
        made += [
            PageColumn(Words("Δ"), "n difference", "n"),
            PageColumn(Words(ends), "n muted difference-interval", "n"),
            PageColumn(Drawn(Markup('<span class="visually-hidden">chart of Δ</span>')), "forest", "forest"),
            PageColumn(Words(f"p ({correction})" if correction else "p"), "n p", "n", label="p "),
            PageColumn(Words("win/tie/loss"), "n tally", "n"),
        ]
        made += [PageColumn(Words(DETECTABLE), "n mdd", "n mdd")] if len(comparison.systems) > 1 else []
    rows = list(_measure_groups(page_systems, comparison, bands))
    caption = "Results of every system on every measure"
    return PageTable("Results by measure", [*made, *band], rows, "results", caption, hides_caption=True)


def _single_table(
    page_systems: PageSystems, bands: Bands | None, confidence: str, band: Sequence[PageColumn]
) -> PageTable:
    scores, intervals = page_systems.scores[0], page_systems.intervals[0]
    reached = {} if bands is None else bands_of(scores, bands)
    rows = []
    for measure in scores.measures:
        cells: list[PageCell | Styled] = [
            Styled(Words(measure.shown), hint=measure.definition.summary),
            value(measure, scores[measure]),
            interval(intervals[measure.name]),
            Number(scores.over_queries[measure.name][1], "count"),
        ]
        rows.append(PageRow([*cells, *([] if bands is None else [_chip(reached.get(measure.name))])]))
    made = [
        PageColumn(Words("measure"), is_head=True),
        PageColumn(Words("value"), "n value", "n"),
        PageColumn(Words(f"{confidence} CI"), "n muted", "n"),
        PageColumn(Words("queries"), "n muted", "n"),
    ]
    groups_of_rows = [RowGroup(rows)]
    caption = "Results on every measure"
    return PageTable("Results by measure", [*made, *band], groups_of_rows, "single", caption, hides_caption=True)


def _measure_groups(
    page_systems: PageSystems, comparison: Comparison | None, bands: Bands | None
) -> Iterator[RowGroup]:
    """The rows by measure; systems from the best to the worst on the first one."""
    scores = page_systems.scores
    system_bands = [{} if bands is None else bands_of(run_scores, bands) for run_scores in scores]
    places = {run_scores.run: place for place, run_scores in enumerate(sorted_runs(scores))}
    systems = sorted(
        zip(scores, page_systems.systems, page_systems.intervals, system_bands, strict=True),
        key=lambda system: places[system[0].run],
    )
    for measure in scores[0].measures:
        differences = [row for row in comparison.differences if row.measure == measure.name] if comparison else []
        limit = largest_distance(differences)
        unpaired = comparison is not None and comparison.has_unpaired_queries(measure.name)
        best = None if unpaired else best_of(measure, [run_scores[measure] for run_scores in scores])
        rows = []
        for run_scores, system, intervals, band in systems:
            difference = next((row for row in differences if row.system == run_scores.run), None)
            number = run_scores[measure]
            cells: list[PageCell | Styled] = [
                Styled(SystemName(system), hint=system.name),
                value(measure, number, best=number is not None and number == best),
                interval(intervals[measure.name]),
            ]
            cells += [] if comparison is None else _difference_cells(comparison, difference, limit, system.color)
            cells += [] if bands is None else [_chip(band.get(measure.name))]
            rows.append(PageRow(cells, "baseline" if comparison is not None and difference is None else ""))
        queries = max(run_scores.over_queries[measure.name][1] for run_scores in scores)
        note = _group_note(queries, [] if unpaired else differences, unpaired)
        yield RowGroup(rows, measure.shown, note, measure.definition.summary)


def _group_note(queries: int, differences: Sequence[Difference], unpaired: bool) -> str:
    parts = [plural(queries, "query")]
    sizes = detectable_sizes(differences)
    if sizes:
        parts.append(f"minimum detectable difference {sizes} (80% power)")
    if unpaired:
        parts.append("each value covers the system's own queries, Δ only the queries that both systems have")
    return "; ".join(parts)


def _difference_cells(
    comparison: Comparison, row: Difference | None, limit: float, color: str
) -> list[PageCell | Styled]:
    if row is None:
        return [Styled(Words("baseline"), "n muted base"), *[NOTHING] * (4 + (len(comparison.systems) > 1))]
    effect = row.effect
    return [
        difference_cell(row, comparison.alpha),
        _present(difference_range(row)),
        Drawn(forest(row, limit, color)),
        Number(row.p_corrected, "p"),
        Words(f"{effect.wins}/{effect.ties}/{effect.losses}"),
        *([detectable_cell(row)] if len(comparison.systems) > 1 else []),
    ]


def _present(ends: Range) -> Cell:
    return NOTHING if ends.low is None and ends.high is None else ends


def _chip(band: Band | None) -> PageCell:
    return NOTHING if band is None else Chip(band)


# ---------------------------------------------------------------------------------- gates, costs, rankings, groups


def page_gate_tables(report: Report) -> list[PageTable]:
    """The tables of the gate; the outcome moves to the front, where it is visible on any screen."""
    if report.gate is None:
        return []
    tables = gate_tables(report.gate, report.bands)
    return [*map(_gate_table, tables), *map(_affected_table, affected_table(report.gate))]


def _affected_table(table: Table) -> PageTable:
    """The queries that a user would notice, the query first."""
    order = [1, 0, *range(2, len(table.columns))]
    titles = [table.columns[place].title for place in order]
    columns = [PageColumn(Words(title), is_head=not place) for place, title in enumerate(titles)]
    rows = [PageRow([row[place] for place in order], TONE_CLASSES["worse"]) for row in table.rows]
    return PageTable(table.name, columns, [RowGroup(rows)], "affected", table.name)


def _gate_table(table: Table) -> PageTable:
    outcome = next(place for place, column in enumerate(table.columns) if column.is_outcome)
    others = [place for place in range(1, len(table.columns)) if place != outcome]
    made = [PageColumn(Words(table.columns[0].title or "measure"), is_head=True), PageColumn(Words("outcome"))]
    made += [PageColumn(Words(table.columns[place].title), "n", "n") for place in others]
    rows = [
        PageRow([row[0], row[outcome], *(row[place] for place in others)], TONE_CLASSES[_tone(row[outcome])])
        for row in table.rows
    ]
    return PageTable(table.name, made, [RowGroup(rows)], "gate", table.name)


def _tone(cell: Cell) -> Tone:
    return cell.tone if isinstance(cell, Words) else ""


def page_cost_table(report: Report, systems: Sequence[PageSystem]) -> PageTable | None:
    """Latency, the index, tokens and money; None if nothing was measured."""
    table = cost_table(report)
    costs = {name: row[1:] for name, row in zip(report.costs, table.rows, strict=True)}
    rows = [
        PageRow([SystemName(system, is_clipped=True), *costs[system.name]])
        for system in systems
        if system.name in costs
    ]
    made = [PageColumn(Words("system"), is_head=True), *columns(*(column.title for column in table.columns[1:]))]
    caption = f"Cost, {cost_basis(report)}"
    return PageTable("Cost of each system", made, [RowGroup(rows)], caption=caption) if rows else None


def ranking_table(comparison: Comparison | None) -> PageTable | None:
    """Three or more systems with letters, and the matrix of all pairs; None for fewer."""
    ranking = None if comparison is None else comparison.ranking
    if comparison is None or ranking is None:
        return None
    pairs = {(pair.first, pair.second): pair for pair in ranking.pairs}
    names = [system.name for system in ranking.systems]
    measure = comparison.scores[0].measures[0]
    rows = [
        PageRow(
            [
                Styled(name(system.name), hint=system.name),
                value(measure, system.value),
                Words(system.letters),
                *(_pair_cell(pairs.get((system.name, other))) for other in names[1:]),
            ]
        )
        for system in ranking.systems
    ]
    made = [
        PageColumn(Words("system"), is_head=True),
        PageColumn(Words("value"), "n value", "n"),
        PageColumn(Words("letters")),
        *(PageColumn(Drawn(_clipped(other)), "n", "n", hint=other) for other in names[1:]),
    ]
    caption = "Systems from the best to the worst, and the difference of each from the systems below it"
    label = "Ranking and differences of all pairs of systems"
    return PageTable(label, made, [RowGroup(rows)], "matrix", caption, hides_caption=True)


def _clipped(text: str) -> Markup:
    return Markup('<span class="clip"><bdi>{}</bdi></span>').format(plain(text))


def _pair_cell(pair: RankedPair | None) -> PageCell | Styled:
    """The better system of a row minus the system of a column."""
    if pair is None or pair.difference.difference is None:
        return NOTHING
    row = pair.difference
    details = ", ".join(part for part in (interval_text(row), p_equals(row.p_corrected)) if part)
    plain_cell = difference_cell(row, alpha=-1)  # of all pairs only one side is better
    cell = Number(plain_cell.value, plain_cell.kind, mark=BETTER if pair.is_significant else "")
    return Styled(cell, "" if pair.is_significant else "muted", details)


def group_tables(page_systems: PageSystems, by: Sequence[str], comparison: Comparison | None) -> list[list[PageTable]]:
    """For each column of the queries, its tables: one per measure, the first measure first."""
    scores, tables = page_systems.scores, []
    for column in by:
        members = [list(groups(run_scores.columns, column)) for run_scores in scores]
        tables.append(
            [
                _group_table(page_systems, column, index, [*map(partial(_means, index), scores, members)], comparison)
                for index in range(min(len(scores[0].measures), MAX_GROUP_TABLES))
            ]
        )
    return tables


def _means(index: int, scores: Scores, members: Sequence[tuple[str, Bools]]) -> dict[str, GroupMean]:
    """The mean of a measure in each group, by label, and over how many queries."""
    column = np.where(scores.averaged, scores.values[:, index], np.nan)
    values = {label: column[own & ~np.isnan(column)] for label, own in members}
    return {label: (mean_of(own), len(own)) for label, own in values.items()}


def _group_table(
    page_systems: PageSystems,
    by: str,
    index: int,
    means: Sequence[Mapping[str, GroupMean]],
    comparison: Comparison | None,
) -> PageTable:
    measure = page_systems.scores[0].measures[index].name
    by_size = sorted(means[0], key=lambda label: (-means[0][label][1], label))
    differences = {
        (row.label, row.difference.system): row
        for row in (() if comparison is None else comparison.groups)
        if (row.by, row.difference.measure) == (by, measure)
    }
    baseline = page_systems.systems[page_systems.baseline]
    rows = []
    for label in sorted(by_size[:MAX_TABLE_GROUPS]):
        cells: list[PageCell | Styled] = [name(label), Number(max(found[label][1] for found in means), "count")]
        for system, found in zip(page_systems.systems, means, strict=True):
            cells.append(Number(found[label][0], "compact"))
            if comparison is not None and system != baseline:
                cells.append(_group_difference(comparison, differences.get((label, system.name))))
        rows.append(PageRow(cells))
    made = [PageColumn(Words(by), is_head=True), PageColumn(Words("queries"), "n muted", "n")]
    for system in page_systems.systems:
        is_compared = comparison is not None and system != baseline
        head, span = SystemName(system, is_clipped=True), 2 if is_compared else 1
        made.append(PageColumn(head, "n", "n", span=span, hint=system.name))
        made += [PageColumn(NOTHING, "n delta", span=0)] if is_compared else []
    title, omitted = f"{measure} by {by}", len(by_size) - len(rows)
    notes = [f"{plural(omitted, 'smaller group')} not shown."] if omitted else []
    notes += [] if comparison is None else group_remarks(comparison, by)
    return PageTable(title, made, [RowGroup(rows)], "groups", title, notes=notes)


def _group_difference(comparison: Comparison, row: GroupDifference | None) -> PageCell | Styled:
    if row is None:
        return NOTHING
    cell = difference_cell(row.difference, comparison.alpha)
    return Styled(cell, hint=OPPOSITE, sign="⇄") if row.opposite else cell


def sensitivity_table(
    unjudged: Sequence[UnjudgedAudit], ties: Sequence[TieAudit], systems: Sequence[PageSystem]
) -> PageTable | None:
    """How unjudged documents and ties could change each value; None without an audit of unjudged documents."""
    if not unjudged:
        return None
    is_tied, rows, all_bounds = any(audit.tied for audit in ties), [], True
    for index, measure in enumerate(ties[0].scores.measures):
        shown = partial(_audited, measure)
        for unjudged_audit, tie_audit, system in zip(unjudged, ties, systems, strict=True):
            scenario, order = unjudged_audit.measures[index], tie_audit.measures[index]
            cells: list[PageCell | Styled] = [
                Words(f"{measure.shown}{'' if scenario.bounds else '*'}"),
                SystemName(system, is_clipped=True),
                shown(order.reported),
                Number(scenario.judged.over_queries, "compact"),
                *map(shown, (scenario.irrelevant, scenario.relevant, scenario.condensed)),
                *map(shown, (order.worst, order.best) if is_tied else ()),
            ]
            rows.append(PageRow(cells))
            all_bounds = all_bounds and scenario.bounds
    made = [PageColumn(Words("measure"), is_head=True), PageColumn(Words("system"))]
    made += columns("value", "Judged@k", "not relevant", "relevant", "removed", *(["worst", "best"] if is_tied else []))
    notes = [] if all_bounds else [
        "* A scenario, not a bound: the measure depends on which other documents are relevant, so more relevant "
        "documents can lower it."
    ]  # fmt: skip
    notes += [] if is_tied else ["No judged document is tied with another."]
    return PageTable(
        "Unjudged documents and ties",
        made,
        [RowGroup(rows)],
        "sensitivity",
        "How unjudged documents and ties could change each value",
        hides_caption=True,
        above=[("", 4), ("if unjudged documents are", 3), *([("order of ties", 2)] if is_tied else [])],
        notes=notes,
    )


def _audited(measure: Measure, values: Values) -> Number:
    return value(measure, values.over_queries)
