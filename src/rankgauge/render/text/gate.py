"""A gate's verdict for people and for programs: the answer first, then the numbers, then how far they go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rankgauge.comparison.gate.blame import Cause
from rankgauge.comparison.gate.result import GateResult, short, signed
from rankgauge.config.bands.bands import Bands
from rankgauge.errors import shown
from rankgauge.evaluation.notes import Note
from rankgauge.render.text import scores as scores_render
from rankgauge.render.text.bands import band_of, heading, with_bands
from rankgauge.render.text.terminal import BOLD, PLAIN, Cell, number, table

LISTED = 3
MEANS: dict[Cause, str] = {
    "retriever": "the retriever got worse",
    "ids or corpus": "ids or the corpus changed; other queries show no significant drop",
    "both": "the retriever got worse, and ids or the corpus changed",
    "unclear": "the retriever got worse, or ids changed (--corpus tells which); other queries show no significant drop",
}


def as_json(result: GateResult, *, notes: Iterable[Note] = (), bands: Bands | None = None) -> str:
    """The schema of scores with a ``gate`` beside them."""
    data = {**scores_render.as_dict([result.scores], per_query=False, notes=notes), "gate": result.to_dict()}
    return scores_render.dumped(with_bands(data, [result.scores], bands))


def as_text(result: GateResult, *, colour: bool = False, bands: Bands | None = None) -> str:
    """The answer in one sentence, the tables, and what must be known of them."""
    sentence = result.sentence
    if colour:
        verdict, mark, rest = sentence.partition(":")
        sentence = f"{BOLD}{verdict}{PLAIN}{mark}{rest}"
    parts = [sentence]
    for head, *rows in tables(result, bands):
        parts.append(table(head, [list(map(Cell, row)) for row in rows], colour=False))
    parts += ["\n".join(lines) for lines in ([*blame_lines(result, shown)], [*note_lines(result)]) if lines]
    if result.compared:
        parts.append(how_line(result))
    return "\n\n".join(parts) + "\n"


def verdict_lines(result: GateResult) -> tuple[str, ...]:
    """The verdict, and below it what it rests on, a line a measure."""
    lines = [
        f"{name}: " + ", ".join(f"{title} {cell}".strip() for title, cell in zip(head[1:], cells, strict=True) if cell)
        for head, *rows in tables(result)
        for name, *cells in rows
    ]
    return (result.sentence, *lines)


def tables(result: GateResult, bands: Bands | None = None) -> list[list[list[str]]]:
    """A head and rows for what is required, and for what is compared; each value with its band where any has one."""
    found = []
    if result.required and result.verdict != "skipped":
        names = [result.scores.measures[result.scores.asked.index(row.requirement.measure)] for row in result.required]
        values = [(measure.name, row.value) for measure, row in zip(names, result.required, strict=True)]
        found.append(_banded(result, _required(result), 2, values, bands))
    if result.compared:
        values = [(row.measure, row.now) for row in result.compared]
        found.append(_banded(result, _compared(result), 3, values, bands))
    return found


def _banded(
    result: GateResult,
    rows: list[list[str]],
    place: int,
    values: Sequence[tuple[str, float | None]],
    bands: Bands | None,
) -> list[list[str]]:
    """A head and rows with a column of bands at a place; without one where no value has a band."""
    reached = [] if bands is None else [band_of(result.scores, name, value, bands) for name, value in values]
    if bands is None or not any(reached):
        return rows
    column = [heading(bands), *(band or "–" for band in reached)]
    return [[*row[:place], cell, *row[place:]] for row, cell in zip(rows, column, strict=True)]


def _required(result: GateResult) -> list[list[str]]:
    return [
        ["required", "value", f"{_level(result)} interval", ""],
        *(
            [str(row.requirement), number(row.value), _interval(row.low, row.high), "met" if row.met else "MISSED"]
            for row in result.required
        ),
    ]


def _compared(result: GateResult) -> list[list[str]]:
    rows = [["", "baseline", "now", "change", f"{_level(result)} interval", "p", "", "detectable drop"]]
    for row in result.compared:
        outcome = row.decision.outcome
        low, high = row.interval
        rows.append(
            [
                row.measure,
                number(row.before),
                number(row.now),
                signed(row.change),
                "–" if low is None else f"{signed(low)} to {signed(high)}",
                short(row.decision.p).removeprefix("= "),
                "WORSE" if outcome == "worse" else outcome,
                number(row.decision.smallest_drop),
            ]
        )
    return rows


def blame_lines(result: GateResult, show: Callable[[str], str], *, of: str | None = None) -> list[str]:
    """Whether it was the retriever, or the ids; of one measure or of all."""
    found = result.blame
    if found is None:
        return []
    lines = [f"cause: {MEANS[found.cause]}"]
    if not found.documents:
        where = "in this run or in the corpus" if found.corpus else "in this run"
        return [f"{lines[0]}; all relevant documents that the baseline retrieved are still {where}"]
    count = _count(len(found.documents), "relevant document", "relevant documents")
    where = "neither in this run nor in the corpus" if found.corpus and not found.strangers else "nowhere in this run"
    verb = "is" if len(found.documents) == 1 else "are"
    lines.append(f"{count} that the baseline retrieved {verb} {where}: {_some(found.documents, show)}")
    if found.strangers:
        said = _count(len(found.strangers), "document of this run is", "documents of this run are")
        lines.append(f"{said} not in the corpus: {_some(found.strangers, show)}")
    touched = _count(len(found.queries), "query", "queries")
    lines += [
        f"{share.measure}: {signed(share.within)} in the {touched} that lost them, "
        f"{signed(share.elsewhere)} elsewhere ({share.outcome})"
        for share in found.shares
        if of in (None, share.measure)
    ]
    return lines


def _some(names: Sequence[str], show: Callable[[str], str]) -> str:
    return ", ".join(show(one) for one in names[:LISTED]) + (", …" if len(names) > LISTED else "")


def note_lines(result: GateResult) -> list[str]:
    """What so many queries cannot show."""
    return [f"note: {note.message}" for note in result.notes]


def how_line(result: GateResult) -> str:
    """How it was tested."""
    rule = result.rule
    queries = _count(result.compared[0].decision.n, "query", "queries")
    measures = _count(len(result.compared), "measure", "measures")
    drop = f"of at least {rule.margin:g} " if rule.margin else ""
    return (
        f"a drop {drop}fails where p is at most {rule.alpha:g} (paired over {queries}, one-sided, "
        f"max-T over {measures}); detectable: a true drop that would fail in {rule.power:.0%} of such builds"
    )


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None else f"{number(low)} to {number(high)}"


def _level(result: GateResult) -> str:
    return f"{100 * (1 - result.rule.alpha):g}%"


def _count(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
