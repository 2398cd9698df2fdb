"""A comparison as text: the answer, the table, the groups, the queries that moved and the documents that moved them."""

from __future__ import annotations

from rankgauge.comparison.answer import p_text, signed
from rankgauge.comparison.attribution import Move, Moves
from rankgauge.comparison.compare import SAID
from rankgauge.comparison.result import Comparison, Difference, SliceDifference
from rankgauge.errors import printable
from rankgauge.kpi.bands import Bands
from rankgauge.render.kpi import with_bands
from rankgauge.render.scores import as_dict as scores_as_dict
from rankgauge.render.scores import dumped
from rankgauge.render.terminal import Cell, name, number, table

BETTER, WORSE = "▲", "▼"
SHOWN_DOCUMENTS = 2
TEXT = 44


def as_table(found: Comparison, *, colour: bool, explained: bool = False) -> str:
    """For the terminal."""
    parts = [f"{printable(found.answer(), None)}\n", _differences(found, colour=colour), _legend(found)]
    if found.slices:
        parts += ["", _slices(found, colour=colour)]
    if any(found.moved.values()):
        parts += ["", _moved(found, explained=explained)]
    return "\n".join(parts)


def _head(found: Comparison) -> list[str]:
    said = SAID.get(found.correction, found.correction)
    p = "p" if found.correction == "none" or len(found.differences) == 1 else f"p ({said})"
    return ["", "", "value", "Δ", f"{found.level:.0%}".replace("%", " %"), p, "win/tie/loss"]


def _differences(found: Comparison, *, colour: bool) -> str:
    rows = []
    for measure in found.scores[0].measures:
        base = next(run for run in found.scores if run.run == found.baseline)
        rows.append([Cell(measure.name), Cell(name(found.baseline)), Cell(number(base[measure])), *[Cell("")] * 4])
        rows += [_row(found, row) for row in found.differences if row.measure == measure.name]
    return table(_head(found), rows, colour=colour)


def _row(found: Comparison, row: Difference) -> list[Cell]:
    return [Cell(""), Cell(name(row.system)), Cell(number(row.value)), *_cells(found, row)]


def _cells(found: Comparison, row: Difference) -> list[Cell]:
    low, high = row.interval.low, row.interval.high
    span = "–" if low is None or high is None else f"{signed(low)} … {signed(high)}"
    p = "–" if row.p_corrected is None else p_text(row.p_corrected)
    effect = row.effect
    return [
        Cell("–" if row.difference is None else signed(row.difference)),
        Cell(span),
        Cell(f"{p} {mark(found, row)}"),
        Cell(f"{effect.wins}/{effect.ties}/{effect.losses}"),
    ]


def mark(found: Comparison, row: Difference) -> str:
    """A sign where the difference is more than luck."""
    if not row.significant(found.alpha) or not row.difference:
        return " "
    measure = next(m for m in found.scores[0].measures if m.name == row.measure)
    return BETTER if (row.difference > 0) == (measure.definition.better != "lower") else WORSE


def _legend(found: Comparison) -> str:
    counts = sorted({row.n for row in found.differences})
    queries = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return (
        f"\n{BETTER} {WORSE} better, worse than {name(found.baseline)}; {found.family}; paired over {queries} queries"
    )


def _slices(found: Comparison, *, colour: bool) -> str:
    out = []
    for by in dict.fromkeys(row.by for row in found.slices):
        head = _head(found)
        head[0], head[2] = f"by {by}", "queries"
        rows = [_slice(found, row) for row in found.slices if row.by == by]
        out.append(table(head, rows, colour=colour))
        for test in found.interactions:
            if test.by == by and test.p is not None and test.p < found.alpha:
                p = p_text(test.p, "=")
                out.append(f"the difference on {test.measure} is not the same in every {by} (interaction p {p})")
        against = [row for row in found.slices if row.by == by and row.against]
        if against:
            listed = ", ".join(f"{row.label} on {row.difference.measure}" for row in against)
            out.append(f"against the whole: {printable(listed, None)}")
    return "\n".join(out)


def _slice(found: Comparison, row: SliceDifference) -> list[Cell]:
    label = Cell(f"{name(row.label)} · {row.difference.measure}")
    return [label, Cell(name(row.difference.system)), Cell(str(row.difference.n)), *_cells(found, row.difference)]


def _moved(found: Comparison, *, explained: bool) -> str:
    lines = []
    measure = found.scores[0].measures[0].name
    for system, listed in found.moved.items():
        if listed:
            lines.append(f"moved most: {name(system)} − {name(found.baseline)} on {measure}")
            lines += [_query(found, moves, explained=explained) for moves in listed]
    return "\n".join(lines)


def _query(found: Comparison, moves: Moves, *, explained: bool) -> str:
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


def as_markdown(found: Comparison) -> str:
    """For a pull request or a page."""
    lines = [
        _escaped(found.answer()),
        "",
        "| measure | system | value | Δ | interval | p | win/tie/loss |",
        "|---|---|---|---|---|---|---|",
    ]
    for measure in found.scores[0].measures:
        base = next(run for run in found.scores if run.run == found.baseline)
        lines.append(f"| {_escaped(measure.name)} | {_escaped(found.baseline)} | {number(base[measure])} | | | | |")
        for row in found.differences:
            if row.measure == measure.name:
                cells = [cell.text.strip() for cell in _cells(found, row)]
                lines.append(f"| | {_escaped(row.system)} | {number(row.value)} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"{_escaped(found.family)}. {_escaped(str(found.scores[0].conventions))}."]) + "\n"


def _escaped(text: str) -> str:
    """Text from data in Markdown: nothing in it is obeyed."""
    safe = printable(text, None)
    for sign in "\\`*_{}[]<>|#~":
        safe = safe.replace(sign, "\\" + sign)
    return safe
