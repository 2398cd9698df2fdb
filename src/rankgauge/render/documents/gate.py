"""A gate's verdict: the answer first, then the numbers, then what they can show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.comparison.comparability import DEPTH_HINT
from rankgauge.comparison.gate.changed_queries import DocumentMove, QueryList
from rankgauge.comparison.gate.compared_measures import ComparedMeasure
from rankgauge.comparison.gate.gate_result import CHANGE_DIGITS, GateResult, Verdict
from rankgauge.config.bands import Band, Bands
from rankgauge.core.formatting import (
    MISSING,
    NumberKind,
    given,
    listing,
    number,
    p_equals,
    percent,
    plural,
    signed,
    text_of,
)
from rankgauge.errors import printable
from rankgauge.evaluation.caveats import FORBIDDEN_UNSEEN, QUERIES_MISSING, Note
from rankgauge.measures.measure import Measure
from rankgauge.render.document import (
    Cell,
    Check,
    Number,
    Part,
    Range,
    ResultDocument,
    Sentences,
    ShortLine,
    State,
    Table,
    TableColumn,
    Tone,
    Words,
    marked,
    name,
    numbers,
    words,
)
from rankgauge.render.documents.bands import band_cell, band_of, band_words, heading, reached, uplift_lines, with_bands
from rankgauge.render.documents.comparison import DIFFERENCE_TONES, MAX_NAME
from rankgauge.render.documents.scores import as_dict, caveats, class_text, conventions_lines
from rankgauge.stats.detectable import POWER

DETECTABLE = "detectable drop"
MAX_AFFECTED = 15  # JSON has more
DOCUMENT_CHARACTERS = 60  # of a document's text beside its id
VERDICT_TONES: dict[Verdict, Tone] = {"pass": "better", "fail": "worse"}  # others decide neither way


def gate_document(result: GateResult, *, notes: Sequence[Note] = (), bands: Bands | None = None) -> ResultDocument:
    """The answer in one sentence, the tables, and their notes; ``notes`` are those of the readers."""

    def data() -> dict[str, Any]:
        scores = as_dict([result.scores], per_query=False, notes=notes)
        return with_bands({**scores, "gate": result.to_dict()}, [result.scores], bands)

    return ResultDocument(
        f"Retrieval gate: {result.verdict}",
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
    parts += query_parts(result)
    if lines := lost_lines(result):
        parts.append(Sentences(lines[1:], title=lines[0]))
    guards = [note for note in result.scores.notes if note.code in guard_codes(result)]
    notes = [*(f"note: {note.message}" for note in (*guards, *result.notes)), *hint_lines(result)]
    parts += [Sentences(notes, "note")] if notes else []
    if result.reason is None:
        parts.append(Sentences([*uplift_lines([result.scores], bands), *footer(result)], "footnote"))
    return parts


def guard_codes(result: GateResult) -> tuple[str, ...]:
    """The caveats that belong beside the verdict, because a guard did not see everything."""
    return (FORBIDDEN_UNSEEN, QUERIES_MISSING) if result.guards_leaks else (FORBIDDEN_UNSEEN,)


def verdict_sentence(result: GateResult) -> Sentences:
    """The verdict and why, in a sentence whose names are marked; then the queries that got worse although it passed."""
    word, tone = result.verdict, VERDICT_TONES.get(result.verdict, "neutral")
    second = result.second_line(marked)
    lines = [f"{result.answer(marked)}.", *([] if second is None else [second])]
    return Sentences(lines, "verdict", tone, word)


def hint_lines(result: GateResult) -> list[str]:
    """What to do if nothing could be decided."""
    if any(row.reason is not None for row in result.rows):
        return [f"hint: {DEPTH_HINT}"]
    joined = result.evaluation.joined
    if result.verdict == "nothing to judge" and joined and not joined[0].hits.retrieved.any():
        return ["hint: every answer is empty: check that the search reaches its index"]
    if result.verdict == "nothing to judge":
        return ["hint: `rankgauge runs validate RESULTS --labels LABELS` compares the ids of both sides"]
    return []


def query_parts(result: GateResult) -> list[Sentences]:
    """The queries behind what failed or is undecided: of several measures that dropped, those of the first.

    Those that the table of affected queries has are not repeated, nor the losses that a requirement of every query
    already names.
    """
    if result.verdict not in ("fail", "undecided"):
        return []
    named = {one.measure for one in result.affected}
    missed = {query.query for one in result.query_lists if one.kind == "each" for query in one.queries}
    lists: dict[tuple[str, object], QueryList] = {}
    for one in result.query_lists:
        if result.measure_of(one.measure).definition.name in named or one.measure in named:
            continue
        is_drop = one.kind in ("drop", "undecided")
        if is_drop and one.total == len(one.queries) and {query.query for query in one.queries} <= missed:
            continue
        lists.setdefault(("drop", one.group) if is_drop else (one.kind, one.check), one)
    return [Sentences(query_lines(result, one), title=query_title(one)) for one in lists.values()]


def query_title(one: QueryList) -> str:
    """What the queries of a list have in common."""
    count, of = f"{one.total:,}", plural(one.of, "query")
    match one.kind:
        case "each":
            return f"{one.check}: missed by {count} of {of}"
        case "requirement":
            return f"{one.check}: {count} of {of} miss it by themselves"
        case _:
            return f"{one.check}: {count} of {of} got worse"


def query_lines(result: GateResult, one: QueryList) -> list[ShortLine]:
    """One line per query: its change or its value, its text, and the documents that it lost or lacks."""
    lines = []
    for query in one.queries:
        is_change = query.before is not None and query.now is not None
        value = signed((query.now or 0) - (query.before or 0)) if is_change else number(query.now)
        documents = [document_text(move, result.document_texts) for move in query.documents]
        start = f"  {value}  {printable(query.query, MAX_NAME)}"
        lines.append(ShortLine(start, result.texts.get(query.query, ""), documents))
    hidden = one.total - len(one.queries)
    return [*lines, *([ShortLine(f"  {hidden:,} more: --set output.changes=N")] if hidden and lines else [])]


def document_text(move: DocumentMove, texts: Mapping[str, str]) -> str:
    """A document with its rank before and now, and its first words if they may be shown."""
    doc = printable(move.doc, MAX_NAME)
    if move.before is not None:
        text = f"{doc} {move.before}→{MISSING if move.now is None else move.now}"
    else:
        text = f"{doc} {'not retrieved' if move.now is None else f'at rank {move.now}'}"
    if move.doc not in texts:
        return text
    from rankgauge.render.formats.wrapping import excerpt

    return f"{text} “{excerpt(printable(texts[move.doc], None), DOCUMENT_CHARACTERS)}”"


def gate_tables(result: GateResult, bands: Bands | None = None) -> list[Table]:
    """What is required, and what is compared; each value with its band if any has one."""
    tables = []
    if result.required:
        evaluated = dict(zip(result.scores.requested, result.scores.measures, strict=True))
        required = [(row.requirement.measure, row.value) for row in result.required]
        values = [(evaluated[one].name if isinstance(one, Measure) else "", value) for one, value in required]
        tables.append(_required(result, bands, _bands(result, values, bands)))
    if result.compared:
        reached_bands = _bands(result, [(row.measure, row.now) for row in result.compared], bands)
        tables.append(_compared(result, result.compared, bands, reached_bands))
    for by, measure in dict.fromkeys((row.group.by, row.measure) for row in result.grouped if row.group is not None):
        rows = [row for row in result.grouped if row.group is not None and (row.group.by, row.measure) == (by, measure)]
        tables.append(_compared(result, rows, group=by))
    return tables


def affected_table(result: GateResult) -> list[Table]:
    """The queries that a user would notice, each named; none if there are none."""
    affected = result.affected
    if not affected:
        return []
    texts = result.texts
    rows: list[list[Cell]] = [
        [Words(one.kind, "worse"), name(one.query), name(texts.get(one.query, "")), name(one.detail)]
        for one in affected[:MAX_AFFECTED]
    ]
    columns = [*words("", "query"), TableColumn("", is_words=True, may_hide=1), *words("what")]
    if not any(texts.get(one.query) for one in affected):
        rows, columns = [[row[0], row[1], row[3]] for row in rows], [columns[0], columns[1], columns[3]]
    return [Table(columns, rows, "Affected queries", total=len(affected))]


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
        cells: list[Cell] = [Words(row.title), Number(row.value, kind)]
        cells += [] if reached_bands is None else [band_cell(reached_bands[place])]
        cells.append(Range(row.low, row.high, digits=CHANGE_DIGITS))
        cells.append(Words("met", "better") if row.met else Words("missed", "worse", strong=True))
        rows.append(cells)
    return Table(columns, rows, "Requirements")


def _compared(
    result: GateResult,
    compared: Sequence[ComparedMeasure],
    bands: Bands | None = None,
    reached_bands: Sequence[Band | None] | None = None,
    group: str | None = None,
) -> Table:
    """On a terminal, bands and detectable drops are below the table, which fits in 80 columns."""
    columns = [*words("" if group is None else group), *numbers("before", "now")]
    columns += [] if bands is None or reached_bands is None else [TableColumn(heading(bands), is_below=True)]
    interval = f"{_confidence(result)} {'CI' if result.rule.two_sided else 'bounds'}"
    columns += [*numbers("change"), TableColumn("", is_outcome=True), *numbers(interval, "p")]
    columns.append(TableColumn(DETECTABLE, is_below=True))
    rows = []
    for place, row in enumerate(compared):
        outcome, decision = row.decision.outcome, row.decision
        cells: list[Cell] = [
            Words(row.measure) if row.group is None else name(row.group.label),
            Number(row.before),
            Number(row.now),
        ]
        cells += [] if reached_bands is None else [band_cell(reached_bands[place])]
        cells += [
            Number(None if row.reason is not None else row.change, "difference", CHANGE_DIGITS),
            Words(outcome, DIFFERENCE_TONES.get(outcome, "neutral"), strong=outcome == "worse"),
            Range(row.interval.low, row.interval.high, "difference", CHANGE_DIGITS),
            Number(decision.p, "p"),
            _detectable(row),
        ]
        rows.append(cells)
    if group is None:
        return Table(columns, rows, "Change from the baseline")
    title = f"{compared[0].measure} by {group}"
    return Table(columns, rows, f"Change from the baseline: {title}", caption=title)


def _detectable(row: ComparedMeasure) -> Cell:
    """The drop that would fail with 80% power, or how many queries would have to get worse if few changed."""
    decision = row.decision
    if decision.outcome == "undecided":
        return Words("none" if row.queries_needed is None else f"none with fewer than {row.queries_needed:,} queries")
    if decision.smallest_drop is None and decision.changes_needed is not None:
        return Words(plural(decision.changes_needed, "query", "queries"))
    return Number(decision.smallest_drop)


# ------------------------------------------------------------------------------------------------------------ checks


def _checks(result: GateResult) -> list[Check]:
    """One per requirement and compared measure, and one of its own for whatever else failed or cannot be decided."""
    if result.reason is not None:
        return [Check("results", "labels", "failed", result.reason, result.verdict, hint_lines(result))]
    checks = [*_answer_checks(result), *_held_checks(result)]
    return [*checks, *_requirement_checks(result), *_drop_checks(result)]


def _answer_checks(result: GateResult) -> list[Check]:
    """A retriever that failed, and results of which none is judged."""
    checks = []
    if result.has_too_many_failures:
        message = f"the retriever failed for {plural(len(result.failed_queries), 'query')}"
        details = [listing(map(marked, result.failed_queries))]
        checks.append(Check("results", "answers", "failed", message, "retriever", details))
    if result.lost_too_many:
        message = f"{plural(len(result.lost_queries), 'query')} of the baseline without a value"
        details = [listing(map(marked, result.lost_queries))]
        checks.append(Check("results", "queries", "failed", message, "lost", details))
    if result.guards_leaks and result.not_asked:
        message = f"{plural(len(result.not_asked), 'labeled query')} not in the results may leak"
        checks.append(
            Check("results", "leaks", "failed", message, result.verdict, [listing(map(marked, result.not_asked))])
        )
    if result.lost_everything:
        checks.append(Check("results", "judged", "failed", "none of the retrieved documents is judged", "results"))
    return checks


def _details(result: GateResult, check: str) -> list[str]:
    """The queries behind a check."""
    details: list[str] = []
    for one in result.query_lists:
        if one.check == check:
            details += [query_title(one), *(line.within(None) for line in query_lines(result, one))]
    return details


def _held_checks(result: GateResult) -> list[Check]:
    """One per requirement that every query, or those that carry it, must meet."""
    checks = []
    held = result.held
    for requirement in () if held is None else held.requirements:
        text = str(requirement)
        missed = [miss for miss in held.in_state("missed") if miss.requirement == requirement] if held else []
        message = f"missed by {plural(len(missed), 'query')}"
        state: State = "failed" if missed else "passed"
        details = _details(result, text) if missed else []
        checks.append(Check("each", text, state, f"{text} is {message}" if missed else "", "requirement", details))
    return checks


def _requirement_checks(result: GateResult) -> list[Check]:
    checks = []
    for row in result.required:
        message = f"{row.title} is missed: {row.value_text}"
        details = [] if row.met else _details(result, row.title)
        failed = Check("require", row.title, "failed", message, "requirement", details)
        checks.append(Check("require", row.title, "passed") if row.met else failed)
    return checks


def _drop_checks(result: GateResult) -> list[Check]:
    checks = []
    for row in result.rows:
        evidence = f"{signed(row.change, CHANGE_DIGITS)}, {p_equals(row.decision.p)}"
        match row.decision.outcome:
            case "worse":
                lines = [*_details(result, row.title), *lost_lines(result)]
                verb = "rose" if row.lower_is_better else "dropped"
                checks.append(Check("against", row.title, "failed", f"{row.title} {verb}: {evidence}", "drop", lines))
            case "not comparable":
                message = f"not comparable: {row.reason}"
                checks.append(Check("against", row.title, "failed", message, "not comparable", hint_lines(result)))
            case "undecided":
                state: State = "failed" if result.rule.undecided == "fail" else "skipped"
                message = f"undecided: {row.worse} of {plural(row.decision.n, 'query')} got worse, too few to decide"
                checks.append(Check("against", row.title, state, message, "undecided", _details(result, row.title)))
            case outcome:
                checks.append(Check("against", row.title, "passed", f"{outcome}: {evidence}"))
    return checks


def _band_properties(result: GateResult, bands: Bands) -> dict[str, str]:
    return {f"{heading(bands)} {measure}": band_words(band) for measure, band in reached(result.scores, bands).items()}


# -------------------------------------------------------------------------------------------------------- sentences


def lost_lines(result: GateResult) -> list[str]:
    """The relevant documents that are gone, by the query that lost them; none if nothing got worse."""
    lost = result.lost
    if lost is None:
        return []
    place = "in this run or in the corpus" if lost.is_checked else "in this run"
    if not lost.of_query:
        return [f"documents: all relevant documents that the baseline retrieved are still {place}"]
    count, verb = plural(len(lost.documents), "relevant document"), "is" if len(lost.documents) == 1 else "are"
    where = "neither in this run nor in the corpus" if lost.is_checked and not lost.unknown else "nowhere in this run"
    lines = [f"documents: {count} that the baseline retrieved {verb} {where}"]
    lines += [
        f"{marked(query)}: {listing(map(marked, docs))}" for query, docs in [*lost.of_query.items()][:MAX_AFFECTED]
    ]
    if len(lost.of_query) > MAX_AFFECTED:
        lines.append(f"{plural(len(lost.of_query) - MAX_AFFECTED, 'query')} more: --format json")
    if lost.unknown:
        verb = "is" if len(lost.unknown) == 1 else "are"
        text = f"{plural(len(lost.unknown), 'document')} of this run {verb} not in the corpus"
        lines.append(f"{text}: {listing(map(marked, lost.unknown))}")
    if not lost.is_checked:
        lines.append("whether they were removed or renamed: --set gate.corpus=FILE")
    return lines


def footer(result: GateResult) -> list[str]:
    """How drops were tested, if any were, and under which conventions."""
    tested = [how_line(result)] if result.compared else []
    return [*tested, *conventions_lines([result.scores])]


def how_line(result: GateResult) -> str:
    """How it was tested."""
    rule = result.rule
    classes = class_text(result.scores)  # of which each measure has its own
    queries = f"{plural(sum(result.scores.class_sizes), 'query')}{classes}" if classes else _tested_queries(result)
    drop = f" of at least {given(rule.margin)}" if rule.margin else ""
    bounds = "" if rule.two_sided else f"; bounds: each is one-sided, {percent(rule.statistics.confidence)}"
    alpha = text_of(rule.alpha, "given", digits=3)
    return (
        f"a drop{drop} fails if p is at most {alpha} ({result.test_description}, {queries}); "
        f"{DETECTABLE}: a true drop that would fail with {percent(POWER)} power, or how many queries would have to "
        f"get worse{bounds}"
    )


def _tested_queries(result: GateResult) -> str:
    """How many queries the measures were tested on; a range if they differ, as those of leaks may."""
    rows = [row for row in result.compared if row.reason is None] or result.compared
    counts = sorted({row.decision.n for row in rows})
    return plural(counts[0], "query") if len(counts) == 1 else f"{counts[0]:,} to {plural(counts[-1], 'query')}"


def _confidence(result: GateResult) -> str:
    return percent(result.rule.statistics.confidence)
