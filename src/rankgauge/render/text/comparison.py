"""A comparison as text: the answer, the table, the groups, the queries that moved and the documents that moved them."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.comparison.answer import between, p_text, signed
from rankgauge.comparison.attribution import Move, Moves
from rankgauge.comparison.remarks import group_remarks, remarks
from rankgauge.comparison.result import Comparison, Difference, SliceDifference
from rankgauge.comparison.statistics import SAID, one_by_one
from rankgauge.config.bands.bands import Bands
from rankgauge.errors import printable
from rankgauge.measures.spec import Measure
from rankgauge.render.text.bands import band_of, heading, used, with_bands
from rankgauge.render.text.grid import BETTER, WORSE, Cell, Grid, Show, full
from rankgauge.render.text.records import Record
from rankgauge.render.text.scores import as_dict as scores_as_dict
from rankgauge.render.text.scores import best_of, dumped
from rankgauge.render.text.terminal import name, number, table

SHOWN_DOCUMENTS = 2
TEXT = 44


def as_table(found: Comparison, *, colour: bool, explained: bool = False, bands: Bands | None = None) -> str:
    """For the terminal."""
    differences = grid(found, show=name, bands=bands)
    table_ = table(differences.head, differences.rows, colour=colour, starred=False)
    parts = [f"{printable(found.answer(), None)}\n", table_, f"\n{printable(_marks(found), None)}"]
    parts += [printable(remark, None) for remark in remarks(found)]
    if found.slices:
        parts += ["", _slices(found, colour=colour)]
    if any(found.moved.values()):
        parts += ["", _moved(found, explained=explained)]
    return "\n".join(parts)


def parts(found: Comparison, *, bands: Bands | None = None) -> list[str | Grid]:
    """For a page: the answer, the table, the groups and the conventions."""
    said = f"conventions: {found.scores[0].conventions}"
    return [found.answer(), grid(found, bands=bands), *remarks(found), *groups(found), said]


def groups(found: Comparison) -> list[str | Grid]:
    """For a page: a table for each column of the queries, and what is to be said of it."""
    sliced: list[str | Grid] = []
    for by in _columns(found):
        sliced += [slice_grid(found, by), *_remarks(found, by)]
    return sliced


def _head(found: Comparison) -> list[str]:
    p = f"p ({found.corrected})" if found.corrected else "p"
    return ["", "", "value", "Δ", f"{found.confidence * 100:g} %", p, "win/tie/loss"]


def grid(found: Comparison, *, show: Show = full, bands: Bands | None = None) -> Grid:
    """For each measure the baseline and, below it, each other system; the bands of their values where there are any."""
    rows, head, shown = [], _head(found), used(found.scores, bands)
    if shown is not None:
        head.insert(3, heading(shown))
    base = next(run for run in found.scores if run.run == found.baseline)

    def values(measure: Measure, value: float | None, best: float | None) -> list[Cell]:
        band = [] if shown is None else [Cell(band_of(base, measure.name, value, shown) or "–")]
        return [Cell(number(value), best=value is not None and value == best), *band]

    own = {run.run: run for run in found.scores}
    for measure in found.scores[0].measures:
        best = None if found.apart(measure.name) else best_of(measure, [run[measure] for run in found.scores])
        first = [Cell(measure.name), Cell(show(found.baseline)), *values(measure, base[measure], best)]
        rows.append([*first, *[Cell("")] * 4])
        rows += [
            [Cell(""), Cell(show(row.system)), *values(measure, own[row.system][measure], best), *_cells(found, row)]
            for row in found.differences
            if row.measure == measure.name
        ]
    legend = "; ".join([*(["bold: the best"] if any(row[2].best for row in rows) else []), _marks(found)])
    return Grid(head, rows, words=2, legend=legend)


def _cells(found: Comparison, row: Difference) -> list[Cell]:
    p = "–" if row.p_corrected is None else p_text(row.p_corrected)
    effect = row.effect
    return [
        Cell("–" if row.difference is None else row.text(row.difference)),
        Cell(between(row.interval, row.text, " … ") or "–"),
        Cell(p, mark=mark(found, row)),
        Cell(f"{effect.wins}/{effect.ties}/{effect.losses}"),
    ]


def mark(found: Comparison, row: Difference) -> str:
    """A sign where the difference is more than luck."""
    if not row.significant(found.alpha) or not row.difference:
        return ""
    measure = next(m for m in found.scores[0].measures if m.name == row.measure)
    return BETTER if (row.difference > 0) == (measure.definition.better != "lower") else WORSE


def _marks(found: Comparison) -> str:
    counts = sorted({row.n for row in found.differences})
    queries = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    apart = [measure.name for measure in found.scores[0].measures if found.apart(measure.name)]
    own = f"; values of {', '.join(apart)} are over each system's own queries, Δ over those of both" if apart else ""
    return f"{BETTER} {WORSE} better, worse than {found.baseline}; {found.family}; paired over {queries} queries{own}"


def _columns(found: Comparison) -> list[str]:
    return list(dict.fromkeys(row.by for row in found.slices))


def _slices(found: Comparison, *, colour: bool) -> str:
    out = []
    for by in _columns(found):
        groups = slice_grid(found, by, show=name)
        out.append(table(groups.head, groups.rows, colour=colour))
        out += [printable(remark, None) for remark in _remarks(found, by)]
    return "\n".join(out)


def slice_grid(found: Comparison, by: str, *, show: Show = full) -> Grid:
    """A row a group, measure and system."""
    head = _head(found)
    head[0], head[2] = f"by {by}", "queries"
    head[5] = "p" if found.correction == "none" else f"p ({SAID[one_by_one(found.correction)]})"
    return Grid(head, [_slice(found, row, show) for row in found.slices if row.by == by], words=2)


def _slice(found: Comparison, row: SliceDifference, show: Show) -> list[Cell]:
    label = Cell(f"{show(row.label)} · {row.difference.measure}")
    return [label, Cell(show(row.difference.system)), Cell(str(row.difference.n)), *_cells(found, row.difference)]


def _remarks(found: Comparison, by: str) -> list[str]:
    """How sure the table of groups is, where groups differ, and which point the other way than the whole."""
    against = [f"{row.label} on {row.difference.measure}" for row in found.slices if row.by == by and row.against]
    return group_remarks(found, by) + ([f"against the whole: {', '.join(against)}"] if against else [])


def _moved(found: Comparison, *, explained: bool) -> str:
    lines = []
    measure = found.scores[0].measures[0].name
    for system, listed in found.moved.items():
        if listed:
            lines.append(f"moved most: {name(system)} − {name(found.baseline)} on {measure}")
            lines += [query_line(found, moves, explained=explained) for moves in listed]
    return "\n".join(lines)


def query_line(found: Comparison, moves: Moves, *, explained: bool = False) -> str:
    """A query that moved, and the documents that moved it."""
    text = found.texts.get(moves.query)
    said = f"  “{printable(text, TEXT)}”" if text else ""
    mattered = [move for move in moves.documents if move.share]
    shown = mattered if explained else mattered[:SHOWN_DOCUMENTS]
    head = f"  {signed(moves.difference)}  {name(moves.query)}{said}"
    if explained:
        return "\n".join([head, *(f"            {signed(move.share)}  {_document(move)}" for move in shown)])
    rest = len(mattered) - len(shown)
    return head + "".join(f"   {_document(move)}" for move in shown) + (f"   + {rest} more" if rest else "")


def _document(move: Move) -> str:
    before, after = ("–" if rank is None else str(rank) for rank in (move.before, move.after))
    return f"{name(move.doc)} {before}→{after} (grade {move.grade:g})"


def as_json(found: Comparison, *, per_query: bool = False, bands: Bands | None = None) -> str:
    """Scores in the schema of ``evaluate``, with the comparison beside them."""
    data = scores_as_dict(found.scores, per_query=per_query, notes=found.notes)
    data["comparison"] = found.to_dict()
    return dumped(with_bands(data, found.scores, bands))


def fields(found: Comparison) -> list[str]:
    """The keys of the records: which difference it is, what JSON says of one, and how it came about."""
    which = ["system", "baseline_run", "query", "by", "label"]
    own = [key for key in found.to_dict()["differences"][0] if key not in ("system", "ci")]
    return [*which, *own, "low", "high", "confidence", "test", "correction", "conventions"]


def records(found: Comparison, *, per_query: bool) -> Iterator[Record]:
    """One a difference: over all queries, then in each group (``by``, ``label``), then of each query."""
    common: Record = {
        "baseline_run": found.baseline,
        "test": found.test,
        "correction": found.correction,
        "conventions": str(found.scores[0].conventions),
    }
    data = found.to_dict()
    for row in [*data["differences"], *data["slices"]]:
        yield {**row, **{key: row["ci"][key] for key in ("low", "high", "confidence")}, **common}
    if per_query:
        for difference in found.differences:
            of = {"system": difference.system, "baseline_run": found.baseline, "measure": difference.measure}
            for query, value, base in zip(*found.paired(difference.system, difference.measure), strict=True):
                yield {**of, "query": query, "value": value, "baseline": base, "difference": value - base}
