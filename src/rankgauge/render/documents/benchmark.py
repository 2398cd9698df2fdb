"""A report of several systems, with their costs: everything for a page, and a summary in about one screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rankgauge._version import __version__
from rankgauge.comparison.answer_sentences import best_challenger, headline
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.comparison.differences import Difference
from rankgauge.config.bands import Bands
from rankgauge.core.formatting import given, number, p_equals, percent, plural
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.measure import Measure
from rankgauge.render.document import (
    BETTER,
    NO_VALUE,
    NOTHING,
    WORSE,
    Cell,
    DocumentSection,
    Facts,
    Line,
    Number,
    Part,
    ResultDocument,
    Sentences,
    Table,
    TableColumn,
    Words,
    listed,
    name,
    numbers,
    words,
)
from rankgauge.render.documents import comparison
from rankgauge.render.documents.bands import band_cell, bands_of, uplift_lines, used, with_bands
from rankgauge.render.documents.gate import verdict_sentence
from rankgauge.render.documents.scores import (
    as_dict,
    best_of,
    group_dicts,
    incomplete_lines,
    interval_dicts,
    interval_span,
    intervals_table,
    range_cell,
    value_cell,
    value_text,
)
from rankgauge.render.documents.scores import document as evaluation_document
from rankgauge.render.formats import printed_json
from rankgauge.report.report import NO_RELEVANT_DOCUMENT, Report
from rankgauge.retrieval.latency import PERCENTILE_NAMES, Cost
from rankgauge.validation.findings import Finding, Validation
from rankgauge.validation.findings import as_dict as validation_dict

BENCHMARK_SCHEMA = "rankgauge.benchmark/1"
MAX_CAVEATS = 4  # on the terminal; the page has all of them


# ------------------------------------------------------------------------------------------------------------ JSON


def json_texts(report: Report) -> tuple[str, dict[str, str]]:
    """Everything but times, so that the same input gives the same text; and the scores of each system on their own."""
    details = {run.run: _details(report, run) for run in report.scores}
    together = printed_json(
        {
            "schema": BENCHMARK_SCHEMA,
            "rankgauge": __version__,
            "title": report.title,
            "answer": answer(report),
            "scores": _scores(report, report.scores, details),
            "comparison": None if report.comparison is None else report.comparison.to_dict(),
            "notes": [] if report.reuse is None else [report.reuse],
            "failed": dict(report.failed),
            **({"chunkings": [asdict(row) for row in report.chunkings]} if report.chunkings else {}),
            "validation": validation_dict(report.validations),
        }
    )
    return together, {run.run: printed_json(_scores(report, [run], details)) for run in report.scores}


@dataclass(frozen=True)
class _Details:
    """What is computed from the values of one system: its intervals, by measure, and its groups."""

    intervals: dict[str, dict[str, Any]]
    groups: list[dict[str, Any]]


def _details(report: Report, run: Scores) -> _Details:
    intervals = {
        measure.name: interval_dicts(run, measure.name, confidence=report.confidence) for measure in run.measures
    }
    return _Details(intervals, group_dicts(run, report.by, confidence=report.confidence))


def _scores(report: Report, scores: Sequence[Scores], details: Mapping[str, _Details]) -> dict[str, Any]:
    """Scores in the schema of ``evaluate``, with everything that it can hold."""
    data = as_dict(scores, per_query=True)
    for entry, run in zip(data["runs"], scores, strict=True):
        for measure, value in entry["measures"].items():
            value |= details[run.run].intervals[measure]
        entry["by"] = details[run.run].groups
    return with_bands(data, scores, report.bands, report.comparison)


def answer(report: Report) -> list[str]:
    """The result in sentences."""
    if report.scores[0].without_relevant.all():
        return [NO_RELEVANT_DOCUMENT]
    if report.comparison is not None:
        return headline(report.comparison)
    run = report.scores[0]
    measure = run.measures[0]
    span = interval_span(run.interval(measure, confidence=report.confidence))
    value, confidence = value_text(measure, run[measure]), percent(report.confidence)
    return [f"{run.run}: {measure.shown} {value} ({confidence} CI {span}); there is no other system to compare with."]


# ------------------------------------------------------------------------------------------------------- everything


def benchmark_document(report: Report) -> ResultDocument:
    """For people who read it all: the answer, the table of systems, differences, groups and costs."""
    return ResultDocument(f"Benchmark: {report.title}", lambda: _sections(report))


def document(report: Report) -> ResultDocument:
    """What a gate decided, the answer or the scores, failed systems and caveats."""
    compared = None if report.comparison is None else comparison.document(report.comparison)
    inner = evaluation_document(report.evaluation) if compared is None else compared
    verdict = [] if report.gate is None else [verdict_sentence(report.gate)]
    failed = listed("Failed systems", [f"{system}: {reason}" for system, reason in report.failed.items()])
    return ResultDocument(
        report.title,
        lambda: [*verdict, *inner.parts(), *failed],
        caveats=inner.caveats if compared is None else lambda: report.caveats,
    )


def _sections(report: Report) -> list[Part]:
    compared = report.comparison
    parts: list[Part] = [Sentences(answer(report), "answer"), systems_table(report)]
    parts += [DocumentSection("Chunking", [chunkings_table(report)])] if report.chunkings else []
    uplifts = Sentences(uplift_lines(report.scores, report.bands, compared))
    if compared is None:
        parts.append(uplifts)
    else:
        table = comparison.comparison_table(compared)
        differences: list[Part] = [table, uplifts]
        parts.append(DocumentSection("Differences from the baseline", differences))
        parts += (
            [DocumentSection("Groups of queries", comparison.group_parts(_on_first(compared)))] if report.by else []
        )
        parts.append(DocumentSection("Largest changes", [Sentences(_largest_changes(compared))]))
    values = intervals_table(report.scores, confidence=report.confidence)
    parts.append(DocumentSection("Values with confidence intervals", [values]))
    parts += (
        [DocumentSection("Cost", [cost_table(report)])] if any(cost != Cost() for cost in report.costs.values()) else []
    )
    lists = {
        "Failed systems": [f"{system}: {reason}" for system, reason in report.failed.items()],
        "Caveats": report.caveats,
        "Validation": _findings(report),
        "Conventions": [f"{report.scores[0].conventions}."],
        "Reproduce": [f"{report.reproduce}; check with rankgauge benchmark verify FOLDER."] if report.reproduce else [],
    }
    return [*parts, *(DocumentSection(title, [Sentences(lines)]) for title, lines in lists.items() if lines)]


def _on_first(compared: Comparison) -> Comparison:
    """The comparison with the groups of its first measure only."""
    first = compared.scores[0].measures[0].name
    return replace(compared, groups=tuple(row for row in compared.groups if row.difference.measure == first))


def _largest_changes(compared: Comparison) -> list[str]:
    system = best_challenger(compared)
    head = f"{compared.shown_primary}, {system} − {compared.baseline}:"
    changes = compared.changes.get(system, ())
    lines = [_text(line) for change in changes for line in comparison.change_lines(compared, change)]
    return [head, *lines] if lines else [f"{system} and {compared.baseline} have the same value for every query."]


def _text(line: Line) -> str:
    return line.strip() if isinstance(line, str) else line.within(None).strip()


def systems_table(report: Report) -> Table:
    """Measures as rows, systems as columns, the best of each."""
    rows, runs, bands = [], report.scores, used(report.scores, report.bands)
    for measure in report.scores[0].measures:
        best = _best(report, measure)
        leaders = _leaders(report, measure, best)
        cells: list[Cell] = [Words(measure.shown), *(_value(report, run, measure, best) for run in runs)]
        cells.append(name(", ".join(leaders)) if best is not None else NO_VALUE)
        rows.append(cells if bands is None else [*cells, _band_of_best(report, bands, measure, leaders)])
    columns = [*words("Measure"), *(TableColumn(run.run, from_data=True) for run in runs), *numbers("Best")]
    legend = f"{BETTER} {WORSE} significantly better, worse than the baseline"
    if bands is not None:
        columns += numbers("Band of the best")
        legend += f"; bands of {bands.name}, meaningful only on the collection they were made for"
    return Table(columns, rows, "Systems", "; ".join([legend, *incomplete_lines(report.scores)]))


def chunkings_table(report: Report) -> Table:
    """What each system searches."""
    rows: list[list[Cell]] = [
        [name(row.system), name(row.chunking), name(row.description), Number(row.chunks, "count")]
        for row in report.chunkings
    ]
    return Table([*words("system", "chunking", "split by"), *numbers("chunks")], rows, "Chunking")


def _best(report: Report, measure: Measure) -> float | None:
    """The best value; None if the systems' means are over different queries."""
    if report.comparison is not None and report.comparison.has_unpaired_queries(measure.name):
        return None
    return best_of(measure, [run[measure] for run in report.scores])


def _band_of_best(report: Report, bands: Bands, measure: Measure, leaders: list[str]) -> Words:
    first = next((run for run in report.scores if run.run in leaders), report.scores[0])
    return band_cell(bands_of(first, bands)[measure.name])


def _mark(report: Report, scores: Scores, measure: Measure) -> str:
    compared = report.comparison
    if compared is None or scores.run == compared.baseline:
        return ""
    return compared[scores.run, measure.name].mark(compared.alpha)


def cost_table(report: Report) -> Table:
    """Latency of single calls; the index, tokens and money if a system has them."""
    costs = list(report.costs.values())
    columns = {
        f"{one} ms": [Number(cost.percentiles[one], "milliseconds") for cost in costs] for one in PERCENTILE_NAMES
    }
    columns["calls"] = [Number(cost.calls, "count") for cost in costs]
    others = {
        "index": [Number(cost.index_bytes, "bytes") for cost in costs],
        "build time": [Number(cost.index_seconds, "seconds") for cost in costs],
        "tokens": [Number(cost.mean_tokens, "amount") for cost in costs],
        "total tokens": [Number(cost.total_tokens, "amount") for cost in costs],
        "cost": [Number(cost.mean_cost, "amount") for cost in costs],
        "total cost": [Number(cost.total_cost, "amount") for cost in costs],
    }
    columns |= {title: cells for title, cells in others.items() if any(cell.value is not None for cell in cells)}
    rows: list[list[Cell]] = [
        [name(system), *(cells[row] for cells in columns.values())] for row, system in enumerate(report.costs)
    ]
    built = "; an existing or shared index has no build time" if "index" in columns else ""
    return Table([*words(""), *numbers(*columns)], rows, "Cost", cost_basis(report) + built)


def cost_basis(report: Report) -> str:
    """How the times were measured: by a benchmark, or along with the results."""
    return "as recorded with the results" if report.manifest is None else "single calls, one query at a time, warm"


def _findings(report: Report) -> list[str]:
    lines = [f"{file.file}: {_finding(finding)}" for file in report.validations for finding in file.findings]
    return lines or ["No findings."]


def _finding(finding: Finding) -> str:
    return f"{finding.severity} {finding.code} ({finding.count:,}): {finding.message}. {finding.action}"


# ----------------------------------------------------------------------------------------------------------- summary


def summary_document(report: Report, ending: Mapping[str, Sequence[str]] | None = None) -> ResultDocument:
    """In about one screen: the answer, the table, the caveats, and what is next (``ending``)."""

    def parts() -> list[Part]:
        compared = report.comparison
        made: list[Part] = [Sentences(answer(report), "answer"), _overview(report)]
        made += [chunkings_table(report)] if report.chunkings else []
        facts: dict[str, Sequence[Line]] = {
            "Failed": [f"{system}: {reason}" for system, reason in report.failed.items()],
            "Targets": uplift_lines(report.scores, report.bands, compared),
            "Caveats": _first(_caveats(report)),
            "Groups": [] if compared is None else _group_lines(compared),
            "Changes": [] if compared is None else _change_lines(compared),
            "Scoring": [str(report.scores[0].conventions)],
        }
        return [*made, Facts({**facts, **(ending or {})}, "About this benchmark")]

    return ResultDocument(report.title, parts, elsewhere="open the page")


def _caveats(report: Report) -> list[str]:
    """The caveats about the runs, and what only validation found."""
    known = {note.code for run in report.scores for note in run.notes} | {note.code for note in report.input_notes}
    known |= {"no-common-document"} if "nothing-judged" in known else set()  # the same, found by the evaluation
    files_of: dict[str, list[str]] = {}
    for file in report.validations:
        for finding in file.findings:
            if finding.severity != "note" and finding.code not in known:
                files_of.setdefault(_finding(finding), []).append(file.file)
    caveats = [text for text in report.caveats if text != report.reuse]
    caveats += [] if report.reuse is None else [report.reuse]
    return [*caveats, *(f"{', '.join(files)}: {text}" for text, files in files_of.items())]


def _first(caveats: list[str]) -> list[str]:
    more = len(caveats) - MAX_CAVEATS
    if more <= 0:
        return caveats
    *first, last = caveats[:MAX_CAVEATS]
    return [*first, f"{last}; {more} more on the page"]


def _change_lines(compared: Comparison) -> list[Line]:
    """The largest gain and the largest loss of the best challenger."""
    changes = compared.changes.get(best_challenger(compared), ())
    extremes = [pick(changes, key=lambda change: change.difference) for pick in (max, min)] if changes else []
    return [comparison.change_lines(compared, change)[0] for change in dict.fromkeys(extremes)]


def collection_sentence(report: Report) -> str:
    """The collection in one line."""
    source = ((report.manifest or {}).get("data") or {}).get("test collection", {}).get("source")
    documents = [f"{source['documents']:,} documents"] if source else []
    low, high = report.qrels.grades.min(), report.qrels.max_grade
    grades = f"grade {given(high)}" if low == high else f"grades {given(low)} to {given(high)}"
    judgments = f"{plural(len(report.qrels), 'judgment')} ({grades})"
    if report.qrels.judgments == "passages":
        judgments = plural(len(report.qrels), "gold passage")
    return f"{report.title}: {', '.join([*documents, plural(len(report.qrels.queries), 'query'), judgments])}"


def findings_document(validation: Validation) -> ResultDocument:
    """The findings of an invalid file, with what to do."""
    shown = [_finding(finding) for finding in validation.findings if finding.severity != "note"]
    return ResultDocument("Findings", lambda: [Sentences([f"{validation.file}: {text}" for text in shown])])


def _overview(report: Report) -> Table:
    """Systems as rows, as they were given: the measures, the first with its interval, measured costs, and groups."""
    measures, compared = report.scores[0].measures, report.comparison
    runs = report.scores
    best = {measure: _best(report, measure) for measure in measures}
    ranking = {} if compared is None or compared.ranking is None else comparison.ranked_letters(compared.ranking)
    costs = _cost_columns(report, runs)
    columns: dict[str, Sequence[Cell]] = {}
    for measure in measures:
        columns[measure.shown] = [_value(report, run, measure, best[measure]) for run in runs]
        if measure == measures[0]:
            intervals = [run.interval(measure, confidence=report.confidence) for run in runs]
            columns[f"{percent(report.confidence)} CI"] = [*map(range_cell, intervals)]
    columns |= costs
    legend = []
    if compared is not None:
        is_marked = any(cell.mark for column in columns.values() for cell in column)
        legend += [f"{BETTER} {WORSE} significantly better, worse than {compared.baseline}"] if is_marked else []
    if compared is not None and ranking:
        columns["group"] = [Words(ranking[run.run]) for run in runs]
        legend.append(f"same letter: not distinguishable on {measures[0].shown}; {compared.statistics.description}")
    elif compared is not None:
        legend.append(compared.family)
    rows = [[name(run.run), *(column[row] for column in columns.values())] for row, run in enumerate(runs)]
    if (bands := used(report.scores, report.bands)) is not None:
        band_cells = _band_cells(report, bands, best)
        rows.append([Words("band"), *(band_cells.get(title, NOTHING) for title in columns)])
        legend.append(f"band: of the best value, by {bands.name}")
    first_hidden = [*reversed(list(costs)[1:]), *(one.shown for one in reversed(measures[1:])), *list(costs)[:1]]
    order = {title: len(first_hidden) - place for place, title in enumerate(first_hidden)}
    head = [*words("system"), *(TableColumn(title, may_hide=order.get(title, 0)) for title in columns)]
    return Table(head, rows, "Systems", "; ".join(legend))


def _band_cells(report: Report, bands: Bands, best: Mapping[Measure, float | None]) -> dict[str, Words]:
    """The band of the best value of each measure."""
    return {
        measure.shown: _band_of_best(report, bands, measure, _leaders(report, measure, value))
        for measure, value in best.items()
    }


def _cost_columns(report: Report, runs: Sequence[Scores]) -> dict[str, Sequence[Cell]]:
    """By their titles; a cost that was not measured has no column."""
    costs = [report.costs.get(run.run, Cost()) for run in runs]
    columns = {
        "p50 ms": [Number(cost.p50, "milliseconds") for cost in costs],
        "p95 ms": [Number(cost.p95, "milliseconds") for cost in costs],
        "index": [Number(cost.index_bytes, "bytes") for cost in costs],
        "tokens": [Number(cost.mean_tokens, "amount") for cost in costs],
        "cost": [Number(cost.mean_cost, "amount") for cost in costs],
    }
    return {title: column for title, column in columns.items() if any(cell.value is not None for cell in column)}


def _leaders(report: Report, measure: Measure, best: float | None) -> list[str]:
    return [run.run for run in report.scores if run[measure] == best]


def _value(report: Report, scores: Scores, measure: Measure, best: float | None) -> Number:
    value = scores[measure]
    is_best = value is not None and value == best
    return value_cell(measure, value, best=is_best, mark=_mark(report, scores, measure))


def _group_lines(compared: Comparison) -> list[str]:
    """One line per column of the queries: from the baseline to the best of the others, on the first measure."""
    system, measure = best_challenger(compared), compared.primary
    lines = []
    for by in dict.fromkeys(row.by for row in compared.groups):
        rows = [
            (row.label, row.difference)
            for row in compared.groups
            if row.by == by and (row.difference.system, row.difference.measure) == (system, measure)
        ]
        changes = [f"{label} {_change(row, compared.alpha)}{row.mark(compared.alpha)}" for label, row in rows]
        lines.append(f"by {by}, {compared.baseline} → {system}: {', '.join(changes)}")
    return lines


def _change(row: Difference, alpha: float) -> str:
    p = f" ({p_equals(row.p_corrected)})" if row.is_significant(alpha) else ""
    return f"{number(row.baseline or 0.0, 2)} → {number(row.value or 0.0, 2)}{p}"
