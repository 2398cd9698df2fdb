"""A gate's verdict: the answer first, then the numbers, then what they can show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgauge.comparison.change_parts import method_sentence, parts_sentence
from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.causes import Bounds, Cause
from rankgauge.comparison.gate.decision import ComparedMeasure, Decision, GateOutcome
from rankgauge.comparison.gate.gate_result import CHANGE_DIGITS, VERDICT_WORDS, GateResult, Verdict
from rankgauge.comparison.label_changes import changes_sentence
from rankgauge.config.bands import Band, Bands
from rankgauge.core.formatting import (
    NumberKind,
    given,
    listing,
    number,
    p_equals,
    percent,
    plural,
    signed,
    span,
    text_of,
)
from rankgauge.errors import printable
from rankgauge.evaluation.caveats import Note
from rankgauge.measures.measure import Measure
from rankgauge.render.document import (
    Cell,
    Check,
    Facts,
    Number,
    Part,
    Range,
    ResultDocument,
    Sentences,
    Table,
    TableColumn,
    Tone,
    Words,
    marked,
    name,
    numbers,
    words,
)
from rankgauge.render.documents.bands import band_cell, band_of, heading, reached, uplift_lines, with_bands
from rankgauge.render.documents.scores import as_dict, caveats, conventions_lines
from rankgauge.stats.joint_tests import POWER

DETECTABLE = "detectable drop"
MAX_AFFECTED = 15  # JSON has all of them
TEXT_COLUMNS = ("query", "question", "text")
VERDICT_TONES: dict[Verdict, Tone] = {"pass": "better", "fail": "worse"}  # others decide neither way
DROP_TONES: dict[GateOutcome, Tone] = {"worse": "worse", "no worse": "better", "unchanged": "better"}
CAUSES: dict[Cause, str] = {
    "retriever": "the retriever got worse",
    "lost documents": "relevant documents are gone; the other queries are no worse",
    "both": "the retriever got worse, and relevant documents are gone",
    "unclear": "relevant documents are gone; whether the retriever got worse too is open",
    "unknown": "the retriever got worse, or documents are gone: the baseline has no runs that show which (--save-run)",
}


def gate_document(result: GateResult, *, notes: Sequence[Note] = (), bands: Bands | None = None) -> ResultDocument:
    """The answer in one sentence, the tables, and their notes; ``notes`` are those of the readers."""

    def data() -> dict[str, Any]:
        scores = as_dict([result.scores], per_query=False, notes=notes)
        return with_bands({**scores, "gate": result.to_dict()}, [result.scores], bands)

    return ResultDocument(
        f"Retrieval gate: {VERDICT_WORDS.get(result.verdict, result.verdict)}",
        lambda: _parts(result, bands),
        data,
        caveats=lambda: caveats([result.scores]),
        checks=lambda: _checks(result),
        properties=lambda: {} if bands is None else _band_properties(result, bands),
    )


def document(result: GateResult) -> ResultDocument:
    """Without bands."""
    return gate_document(result)


def _parts(result: GateResult, bands: Bands | None) -> list[Part]:
    parts: list[Part] = [verdict_sentence(result), *gate_tables(result, bands), *affected_table(result)]
    parts += [Sentences(lines) for lines in (rot_lines(result), growth_lines(result)) if lines]
    if blame := blame_lines(result):
        parts.append(Sentences(blame[1:], title=blame[0]))
    parts += [Sentences([f"note: {note.message}" for note in result.notes], "note")] if result.notes else []
    if result.verdict != "skipped":
        parts.append(Sentences([*uplift_lines([result.scores], bands), *footer(result)], "footnote"))
    return parts


def verdict_sentence(result: GateResult) -> Sentences:
    """The verdict and why, in a sentence whose names are marked."""
    word, tone = VERDICT_WORDS.get(result.verdict, result.verdict), VERDICT_TONES.get(result.verdict, "neutral")
    return Sentences([f"{result.answer(marked)}."], "verdict", tone, word)


def gate_tables(result: GateResult, bands: Bands | None = None) -> list[Table]:
    """What is required, and what is compared; each value with its band if any has one."""
    tables = []
    if result.required and result.verdict != "skipped":
        evaluated = dict(zip(result.scores.requested, result.scores.measures, strict=True))
        required = [(row.requirement.measure, row.value) for row in result.required]
        values = [(evaluated[one].name if isinstance(one, Measure) else "", value) for one, value in required]
        tables.append(_required(result, bands, _bands(result, values, bands)))
    if result.compared:
        reached_bands = _bands(result, [(row.measure, row.now) for row in result.compared], bands)
        tables.append(_compared(result, result.compared, "baseline", bands, reached_bands))
    if result.anchored:
        tables.append(_compared(result, result.anchored, "anchor"))
    return tables


def affected_table(result: GateResult) -> list[Table]:
    """The queries that a user would notice, each named; none if there are none."""
    affected = result.affected
    if not affected:
        return []
    texts = _query_texts(result)
    rows: list[list[Cell]] = [
        [Words(one.kind, "worse"), name(one.query), name(texts.get(one.query, "")), name(one.detail)]
        for one in affected[:MAX_AFFECTED]
    ]
    columns = [*words("", "query"), TableColumn("", is_words=True, may_hide=1), *words("what")]
    if not any(texts.get(one.query) for one in affected):
        rows, columns = [[row[0], row[1], row[3]] for row in rows], [columns[0], columns[1], columns[3]]
    return [Table(columns, rows, "Affected queries", total=len(affected))]


def _query_texts(result: GateResult) -> dict[str, str]:
    """The texts of the queries, if they are known: from a file of queries, or a column of the labels."""
    column = next((result.scores.columns[key] for key in TEXT_COLUMNS if key in result.scores.columns), None)
    known = {} if column is None else dict(zip(result.scores.queries, column.tolist(), strict=True))
    return {query: text for query, text in {**known, **result.evaluation.texts}.items() if isinstance(text, str)}


def _bands(
    result: GateResult, values: Sequence[tuple[str, float | None]], bands: Bands | None
) -> list[Band | None] | None:
    """The band of each value; None if no value has one."""
    found = (
        []
        if bands is None
        else [band_of(result.scores, name, value, bands) if name else None for name, value in values]
    )
    return found if any(found) else None


def _required(result: GateResult, bands: Bands | None, reached_bands: Sequence[Band | None] | None) -> Table:
    columns = [*words("required"), *numbers("value")]
    columns += [] if bands is None or reached_bands is None else [TableColumn(heading(bands), may_hide=1)]
    columns += [*numbers(f"{_confidence(result)} CI"), TableColumn("", is_outcome=True)]
    rows = []
    for place, row in enumerate(result.required):
        kind: NumberKind = "value" if isinstance(row.requirement.measure, Measure) else "given"
        cells: list[Cell] = [Words(str(row.requirement)), Number(row.value, kind)]
        cells += [] if reached_bands is None else [band_cell(reached_bands[place])]
        cells.append(Range(row.low, row.high, digits=CHANGE_DIGITS))
        cells.append(Words("met", "better") if row.met else Words("missed", "worse", strong=True))
        rows.append(cells)
    return Table(columns, rows, "Requirements")


def _compared(
    result: GateResult,
    compared: Sequence[ComparedMeasure],
    baseline: str,
    bands: Bands | None = None,
    reached_bands: Sequence[Band | None] | None = None,
) -> Table:
    """On a terminal, bands and detectable drops are below the table, which fits in 80 columns."""
    columns = [*words(""), *numbers(baseline, "now")]
    columns += [] if bands is None or reached_bands is None else [TableColumn(heading(bands), is_below=True)]
    interval = f"{_confidence(result)} {'CI' if result.rule.two_sided else 'bounds'}"
    columns += [*numbers("change"), TableColumn("", is_outcome=True), *numbers(interval, "p")]
    columns.append(TableColumn(DETECTABLE, is_below=True))
    rows = []
    for place, row in enumerate(compared):
        outcome, decision = row.decision.outcome, row.decision
        cells: list[Cell] = [Words(row.measure), Number(row.before), Number(row.now)]
        cells += [] if reached_bands is None else [band_cell(reached_bands[place])]
        cells += [
            Number(row.change, "difference", CHANGE_DIGITS),
            Words(outcome, DROP_TONES.get(outcome, "neutral"), strong=outcome == "worse"),
            Range(row.interval.low, row.interval.high, "difference", CHANGE_DIGITS),
            Number(decision.p, "p"),
            _detectable(decision),
        ]
        rows.append(cells)
    return Table(columns, rows, f"Change from the {baseline}")


def _detectable(decision: Decision) -> Cell:
    """The drop that would fail with 80% power, or how many queries would have to get worse if few changed."""
    if decision.smallest_drop is None and decision.changes_needed is not None:
        return Words(plural(decision.changes_needed, "query", "queries"))
    return Number(decision.smallest_drop)


# ------------------------------------------------------------------------------------------------------------ checks


def _checks(result: GateResult) -> list[Check]:
    """One per requirement and compared measure, and one of its own for labels that rotted."""
    checks = [*_label_checks(result), *_requirement_checks(result), *_drop_checks(result)]
    checks = checks or [Check("against", "baseline", "passed")]
    if result.verdict != "skipped":
        return checks
    return [Check(check.group, check.name, "skipped", result.reason or "") for check in checks]


def _label_checks(result: GateResult) -> list[Check]:
    """So that labels that rotted are not taken for a drop."""
    if result.rot is None:
        return []
    message = f"labels rotted: {result.rot.summary}"
    return [Check("labels", result.rot.source, "failed", message, "labels", rot_lines(result))]


def _requirement_checks(result: GateResult) -> list[Check]:
    checks = []
    for row in result.required:
        text = str(row.requirement)
        failed = Check("require", text, "failed", f"{text} is missed: {row.value_text}", "requirement")
        checks.append(Check("require", text, "passed") if row.met else failed)
    return checks


def _drop_checks(result: GateResult) -> list[Check]:
    checks = []
    rows = [*(("against", row) for row in result.compared), *(("anchor", row) for row in result.anchored)]
    for group, row in rows:
        evidence = f"{signed(row.change, CHANGE_DIGITS)}, {p_equals(row.decision.p)}"
        if row.decision.outcome == "worse":
            lines, verb = blame_lines(result, of=row.measure), "rose" if row.lower_is_better else "dropped"
            checks.append(Check(group, row.measure, "failed", f"{row.measure} {verb}: {evidence}", "drop", lines))
        else:
            checks.append(Check(group, row.measure, "passed", f"{row.decision.outcome}: {evidence}"))
    return checks


def _band_properties(result: GateResult, bands: Bands) -> dict[str, str]:
    return {f"{heading(bands)} {measure}": band for measure, band in reached(result.scores, bands).items()}


# -------------------------------------------------------------------------------------------------------- sentences


def growth_lines(result: GateResult) -> list[str]:
    """What the labels that changed since the baseline was stored did to each measure; none if they did not change."""
    growth = result.growth
    if growth is None:
        return []
    return [
        changes_sentence(growth.changes, marked),
        method_sentence(growth.method),
        *(parts_sentence(part, CHANGE_DIGITS) for part in growth.parts),
    ]


def blame_lines(result: GateResult, *, of: str | None = None) -> list[str]:
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
    lines.append(f"{count} that the baseline retrieved {verb} {location}: {listing(map(marked, blame.documents))}")
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        text = f"{plural(len(unknown), 'document')} of this run {verb} not in the corpus"
        lines.append(f"{text}: {listing(map(marked, unknown))}")
    touched = plural(len(blame.queries), "query")
    lines += [
        f"{share.measure}: {_part(share.within, share.within_bounds)} in the {touched} that lost them, "
        f"{_part(share.elsewhere, share.elsewhere_bounds)} elsewhere: {share.outcome}"
        for share in blame.shares
        if of in (None, share.measure)
    ]
    return lines


def rot_lines(result: GateResult) -> list[str]:
    """Some of the labels that no longer fit, and what to do."""
    rot = result.rot
    if rot is None:
        return []
    lines = []
    for state, what in (("changed", "text changed"), ("gone", "not in the corpus")):
        documents = dict.fromkeys(label.doc for label in rot.rotted if label.state == state)
        if documents:
            lines.append(f"{what}: {listing(map(marked, documents))}")
    source, corpus = (printable(path, None) for path in (rot.source, rot.corpus))
    return [*lines, f"all of them: rankgauge labels check {source} --corpus {corpus}"]


def _part(change: float, bounds: Bounds) -> str:
    """A part of a change, with its bounds."""
    ends = span(*bounds, CHANGE_DIGITS, sign=True)
    return signed(change, CHANGE_DIGITS) + (f" ({ends})" if ends else "")


def footer(result: GateResult) -> list[str]:
    """How drops were tested, if any were, and under which conventions."""
    baseline = [] if result.baseline is None or result.baseline.description is None else [result.baseline.description]
    tested = [*baseline, how_line(result), *false_alarm_lines(result)] if result.compared else []
    return [*tested, *conventions_lines([result.scores])]


def how_line(result: GateResult) -> str:
    """How it was tested."""
    rule = result.rule
    queries = plural(result.compared[0].decision.n, "query")
    drop = f" of at least {given(rule.margin)}" if rule.margin else ""
    bounds = "" if rule.two_sided else f"; bounds: each is one-sided, {percent(rule.statistics.confidence)}"
    alpha = text_of(rule.alpha, "given", digits=3)
    return (
        f"a drop{drop} fails if p is at most {alpha} ({result.test_description}, {queries}); "
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
    builds = f"at most {text_of(rate, 'share')} of the builds in which nothing changed"
    return [f"false alarms: 95 of 100 baselines like this one fail {builds}"]


def _confidence(result: GateResult) -> str:
    return percent(result.rule.statistics.confidence)


def baseline_document(baseline: Baseline) -> ResultDocument:
    """What a gate compares with."""
    title = f"Baseline: {baseline.run}"
    facts = {
        "runs": [f"{len(baseline.runs):,}"],
        "judgments": [baseline.qrels],
        "queries": [f"{len(baseline.queries):,}"],
        "measures": [", ".join(baseline.measures)],
        "file": [baseline.source or ""],
        "made of": [baseline.description or ""],
        "anchor": ["" if baseline.anchor is None else baseline.anchor.run],
    }
    return ResultDocument(title, lambda: [Facts(facts, title)])
