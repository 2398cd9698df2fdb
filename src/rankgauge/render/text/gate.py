"""A gate's verdict for people and for programs: the answer first, then the numbers, then what they can show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rankgauge.comparison.gate.blame import Bounds, Cause
from rankgauge.comparison.gate.decide import Decision
from rankgauge.comparison.gate.result import CHANGE_DIGITS, ComparedMeasure, GateResult
from rankgauge.comparison.versions.sentences import changes_sentence, method_sentence, parts_sentence
from rankgauge.config.bands.bands import Bands
from rankgauge.core.formatting import MISSING, listing, number, p_value, percent, plural, signed, span
from rankgauge.errors import printable, shown
from rankgauge.evaluation.notes import Note
from rankgauge.render.text import scores as scores_render
from rankgauge.render.text.bands import band_of, heading, uplift_lines, with_bands
from rankgauge.render.text.grid import Cell, Grid, Lines, TerminalPart, VerdictLine
from rankgauge.render.text.terminal import PLAIN, Layout, text_of
from rankgauge.stats.detectable import POWER

DETECTABLE = "detectable drop"
PASSED = {"pass": True, "fail": False}  # neither for other verdicts
CAUSES: dict[Cause, str] = {
    "retriever": "the retriever got worse",
    "lost documents": "relevant documents are gone; the other queries are no worse",
    "both": "the retriever got worse, and relevant documents are gone",
    "unclear": "relevant documents are gone; whether the retriever got worse too is open",
    "unknown": "the retriever got worse, or documents are gone: the baseline has no runs that show which (--save-run)",
}


def as_json(result: GateResult, *, notes: Iterable[Note] = (), bands: Bands | None = None) -> str:
    """The schema of scores with a ``gate`` beside them."""
    data = {**scores_render.as_dict([result.scores], per_query=False, notes=notes), "gate": result.to_dict()}
    return scores_render.dumped(with_bands(data, [result.scores], bands))


def as_text(result: GateResult, layout: Layout = PLAIN, *, bands: Bands | None = None) -> str:
    """The answer in one sentence, the tables, and their notes."""
    parts: list[TerminalPart] = [VerdictLine(result.sentence, PASSED.get(result.verdict))]
    parts += [_grid(*table) for table in tables(result, bands)]
    blocks = (rot_lines(result, shown), growth_lines(result, shown), blame_lines(result, shown), note_lines(result))
    parts += [Lines(lines) for lines in blocks if lines]
    if result.verdict != "skipped":
        parts.append(Lines([*uplift_lines([result.scores], bands), *footer(result)]))
    return text_of(parts, layout) + "\n"


def _grid(head: list[str], *rows: list[str]) -> Grid:
    """A table for the terminal. One of changes has bands and detectable drops below it, to fit in 80 columns."""
    below = [n for n, title in enumerate(head) if DETECTABLE in head and (title == DETECTABLE or _is_band(title))]
    listed = {head[n]: [f"{row[0]} {row[n]}" for row in rows if row[n] != MISSING] for n in below}
    legend = [f"{title}: {', '.join(values)}" for title, values in listed.items() if values]
    columns = [n for n in range(len(head)) if n not in below]
    cells = [[Cell(row[n]) for n in columns] for row in rows]
    titles = [head[n] for n in columns]
    return Grid(titles, cells, legend="; ".join(legend), hideable=list(filter(_is_band, titles)))


def _is_band(title: str) -> bool:
    return title.startswith("band")


def tables(result: GateResult, bands: Bands | None = None) -> list[list[list[str]]]:
    """A head and rows for what is required, and for what is compared; each value with its band if any has one."""
    out = []
    if result.required and result.verdict != "skipped":
        names = [
            result.scores.measures[result.scores.requested.index(row.requirement.measure)] for row in result.required
        ]
        values = [(measure.name, row.value) for measure, row in zip(names, result.required, strict=True)]
        out.append(_with_bands(result, _required(result), 2, values, bands))
    if result.compared:
        values = [(row.measure, row.now) for row in result.compared]
        out.append(_with_bands(result, _compared(result, result.compared, "baseline"), 3, values, bands))
    if result.anchored:
        out.append(_compared(result, result.anchored, "anchor"))
    return out


def growth_lines(result: GateResult, show: Callable[[str], str]) -> list[str]:
    """What the labels that changed since the baseline was stored did to each measure; none if they did not change."""
    growth = result.growth
    if growth is None:
        return []
    return [
        changes_sentence(growth.changes, show),
        method_sentence(growth.method),
        *(parts_sentence(part, CHANGE_DIGITS) for part in growth.parts),
    ]


def _with_bands(
    result: GateResult,
    rows: list[list[str]],
    column: int,
    values: Sequence[tuple[str, float | None]],
    bands: Bands | None,
) -> list[list[str]]:
    """A head and rows with a column of bands inserted; without one if no value has a band."""
    reached = [] if bands is None else [band_of(result.scores, name, value, bands) for name, value in values]
    if bands is None or not any(reached):
        return rows
    cells = [heading(bands), *(band or MISSING for band in reached)]
    return [[*row[:column], cell, *row[column:]] for row, cell in zip(rows, cells, strict=True)]


def _required(result: GateResult) -> list[list[str]]:
    return [
        ["required", "value", f"{_confidence(result)} CI", ""],
        *(
            [
                str(row.requirement),
                number(row.value),
                span(row.low, row.high, CHANGE_DIGITS) or MISSING,
                "met" if row.met else "MISSED",
            ]
            for row in result.required
        ),
    ]


def _compared(result: GateResult, compared: Sequence[ComparedMeasure], baseline: str) -> list[list[str]]:
    interval = f"{_confidence(result)} {'CI' if result.rule.two_sided else 'bounds'}"
    rows = [["", baseline, "now", "change", "", interval, "p", DETECTABLE]]
    for row in compared:
        outcome = row.decision.outcome
        rows.append(
            [
                row.measure,
                number(row.before),
                number(row.now),
                signed(row.change, CHANGE_DIGITS),
                "WORSE" if outcome == "worse" else outcome,
                span(row.interval.low, row.interval.high, CHANGE_DIGITS, sign=True) or MISSING,
                p_value(row.decision.p),
                _detectable(row.decision),
            ]
        )
    return rows


def _detectable(decision: Decision) -> str:
    """The drop that would fail with 80% power, or how many queries would have to get worse if few changed."""
    if decision.smallest_drop is None and decision.changes_needed is not None:
        return f"{decision.changes_needed} queries"
    return number(decision.smallest_drop)


def blame_lines(result: GateResult, show: Callable[[str], str], *, of: str | None = None) -> list[str]:
    """Whether the retriever or the ids are the cause, for one measure or for all."""
    blame = result.blame
    if blame is None:
        return []
    unclear = "the retriever got worse, or ids changed: --corpus shows which"
    lines = [f"cause: {unclear if blame.cause == 'unclear' and not blame.corpus else CAUSES[blame.cause]}"]
    if blame.cause == "unknown":
        return lines
    if not blame.documents:
        location = "in this run or in the corpus" if blame.corpus else "in this run"
        return [f"{lines[0]}; all relevant documents that the baseline retrieved are still {location}"]
    count, unknown = plural(len(blame.documents), "relevant document"), blame.unknown_documents
    location = "neither in this run nor in the corpus" if blame.corpus and not unknown else "nowhere in this run"
    verb = "is" if len(blame.documents) == 1 else "are"
    lines.append(f"{count} that the baseline retrieved {verb} {location}: {listing(map(show, blame.documents))}")
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        text = f"{plural(len(unknown), 'document')} of this run {verb} not in the corpus"
        lines.append(f"{text}: {listing(map(show, unknown))}")
    touched = plural(len(blame.queries), "query")
    lines += [
        f"{share.measure}: {_part(share.within, share.within_bounds)} in the {touched} that lost them, "
        f"{_part(share.elsewhere, share.elsewhere_bounds)} elsewhere: {share.outcome}"
        for share in blame.shares
        if of in (None, share.measure)
    ]
    return lines


def rot_lines(result: GateResult, show: Callable[[str], str]) -> list[str]:
    """Some of the labels that no longer fit, and what to do."""
    rot = result.rot
    if rot is None:
        return []
    lines = []
    for state, what in (("changed", "text changed"), ("gone", "not in the corpus")):
        documents = dict.fromkeys(label.doc for label in rot.rotted if label.state == state)
        if documents:
            lines.append(f"{what}: {listing(map(show, documents))}")
    source, corpus = (printable(path, None) for path in (rot.source, rot.corpus))
    return [*lines, f"all of them: rankgauge labels check {source} --corpus {corpus}"]


def _part(change: float, bounds: Bounds) -> str:
    """A part of a change, with its bounds."""
    ends = span(*bounds, CHANGE_DIGITS, sign=True)
    return signed(change, CHANGE_DIGITS) + (f" ({ends})" if ends else "")


def note_lines(result: GateResult) -> list[str]:
    """What this number of queries cannot show."""
    return [f"note: {note.message}" for note in result.notes]


def footer(result: GateResult) -> list[str]:
    """How drops were tested, if any were, and under which conventions."""
    baseline = [] if result.baseline is None or result.baseline.description is None else [result.baseline.description]
    tested = [*baseline, how_line(result), *false_alarm_lines(result)] if result.compared else []
    return [*tested, *scores_render.conventions_lines([result.scores])]


def how_line(result: GateResult) -> str:
    """How it was tested."""
    rule = result.rule
    queries = plural(result.compared[0].decision.n, "query")
    drop = f" of at least {rule.margin:g}" if rule.margin else ""
    bounds = "" if rule.two_sided else f"; bounds: each is one-sided, {percent(rule.statistics.confidence)}"
    return (
        f"a drop{drop} fails if p is at most {rule.alpha:.3g} ({result.test_description}, {queries}); "
        f"{DETECTABLE}: a true drop that would fail with {percent(POWER)} power, or how many queries would have to "
        f"get worse{bounds}; {_noise(result)}"
    )


def _noise(result: GateResult) -> str:
    """What is known of how much runs of the same system differ."""
    runs = 1 if result.baseline is None else len(result.baseline.runs)
    known = [(row.measure, row.noise) for row in result.compared if row.noise is not None]
    if not known:
        if result.baseline is not None and result.baseline.repeats is not None:
            return "run-to-run noise unknown (no commit of the baseline was saved three times)"
        return f"run-to-run noise unknown ({plural(runs, 'baseline run')})"
    noisy = [f"{measure} {number(noise.deviation)}" for measure, noise in known if noise.between]
    deviations = f"standard deviation {', '.join(noisy)}" if noisy else "none"
    return f"run-to-run noise of {plural(runs, 'baseline run')}: {deviations}"


def false_alarm_lines(result: GateResult) -> list[str]:
    """How often the gate would fail if nothing changed, if the baseline shows it."""
    rate = result.false_alarm_rate
    if rate is None:
        return []
    builds = f"at most {percent(round(rate, 3))} of the builds in which nothing changed"
    return [f"false alarms: 95 of 100 baselines like this one fail {builds}"]


def _confidence(result: GateResult) -> str:
    return percent(result.rule.statistics.confidence)
