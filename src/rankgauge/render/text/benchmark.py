"""A benchmark: for the terminal, as Markdown and as JSON. The answer comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rankgauge._version import __version__
from rankgauge.comparison.order import sort_systems
from rankgauge.comparison.remarks import weighted_remarks
from rankgauge.comparison.result import Comparison, Difference
from rankgauge.comparison.sentences import best_challenger, headline
from rankgauge.config.bands.bands import Bands
from rankgauge.core.formatting import MISSING, byte_size, p_equals, percent, plural
from rankgauge.evaluation.order import sorted_runs
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Measure
from rankgauge.render.text import comparison, groups, markdown
from rankgauge.render.text.bands import bands_of, uplift_lines, used, with_bands
from rankgauge.render.text.grid import BETTER, WORSE, Cell, Drawing, Grid, Lines, TerminalPart, full
from rankgauge.render.text.markdown import Heading, Part
from rankgauge.render.text.scores import as_dict, best_of, dumped, incomplete_lines, value_text
from rankgauge.render.text.terminal import LABEL_WIDTH, PLAIN, Layout, text_of
from rankgauge.report.report import NO_RELEVANT_DOCUMENT, Cost, Report
from rankgauge.validation.findings import Finding, Validation
from rankgauge.validation.findings import as_dict as validation_dict

BENCHMARK_SCHEMA = "rankgauge.benchmark/1"
MAX_CAVEATS = 4  # on the terminal; the page has all of them


# ------------------------------------------------------------------------------------------------------------ JSON


def json_texts(report: Report) -> tuple[str, dict[str, str]]:
    """Everything but times, so that the same input gives the same text; and the scores of each system on their own."""
    details = {run.run: _details(report, run) for run in report.scores}
    together = dumped(
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
    return together, {run.run: dumped(_scores(report, [run], details)) for run in report.scores}


@dataclass(frozen=True)
class _Details:
    """What is computed from the values of one system: its intervals, by measure, and its groups."""

    intervals: dict[str, dict[str, Any]]
    groups: list[dict[str, Any]]


def _details(report: Report, run: Scores) -> _Details:
    intervals = {
        measure.name: groups.interval_dicts(run, measure.name, confidence=report.confidence) for measure in run.measures
    }
    return _Details(intervals, groups.as_dicts(run, report.by, confidence=report.confidence))


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
    span = groups.interval_span(run.interval(measure, confidence=report.confidence))
    value, confidence = value_text(measure, run[measure]), percent(report.confidence)
    return [f"{run.run}: {measure.name} {value} ({confidence} CI {span}); there is no other system to compare with."]


# -------------------------------------------------------------------------------------------------------- Markdown


def as_markdown(report: Report) -> str:
    """For people: the answer, the table of systems, differences, groups and costs."""
    parts: list[Part] = [Heading(f"Benchmark: {report.title}", 1), *answer(report)]
    parts += [systems_grid(report)]
    parts += [Heading("Chunking"), chunkings_grid(report)] if report.chunkings else []
    if report.comparison is not None:
        parts += [Heading("Differences from the baseline"), comparison.grid(sort_systems(report.comparison))]
        parts += weighted_remarks(report.comparison)
    parts += uplift_lines(report.scores, report.bands, report.comparison)
    if report.comparison is not None:
        parts += [Heading("Groups of queries"), *comparison.groups(_on_first(report.comparison))] if report.by else []
        parts += [Heading("Largest changes"), *_largest_changes(report.comparison)]
    parts += [
        Heading("Values with confidence intervals"),
        groups.intervals_grid(sorted_runs(report.scores), confidence=report.confidence),
    ]
    if any(cost != Cost() for cost in report.costs.values()):
        parts += [Heading("Cost"), costs(report)]
    if report.failed:
        parts += [Heading("Failed systems"), *(f"{system}: {reason}" for system, reason in report.failed.items())]
    parts += [Heading("Caveats"), *report.caveats] if report.caveats else []
    parts += [Heading("Validation"), *_findings(report)]
    parts += [Heading("Conventions"), f"{report.scores[0].conventions}."]
    if report.reproduce:
        parts += [Heading("Reproduce"), f"{report.reproduce}; verify with rankgauge report verify FOLDER."]
    return markdown.as_markdown(parts)


def _on_first(compared: Comparison) -> Comparison:
    """The comparison with the groups of its first measure only."""
    first = compared.scores[0].measures[0].name
    return replace(
        compared,
        groups=tuple(row for row in compared.groups if row.difference.measure == first),
        interactions=tuple(test for test in compared.interactions if test.measure == first),
    )


def _largest_changes(compared: Comparison) -> list[str]:
    system = best_challenger(compared)
    head = f"{compared.primary}, {system} − {compared.baseline}:"
    changes = compared.changes.get(system, ())
    lines = [line.strip() for change in changes for line in comparison.change_lines(compared, change)]
    return [head, *lines] if lines else [f"{system} and {compared.baseline} have the same value for every query."]


def systems_grid(report: Report) -> Grid:
    """Measures as rows, systems as columns, the best of each."""
    rows, runs, bands = [], sorted_runs(report.scores), used(report.scores, report.bands)
    for measure in report.scores[0].measures:
        best = _best(report, measure)
        leaders = _leaders(report, measure, best)
        cells = [_value(report, run, measure, best) for run in runs]
        rows.append([Cell(measure.name), *cells, Cell(", ".join(leaders) if best is not None else MISSING)])
        if bands is not None:
            rows[-1].append(Cell(_band_of_best(report, bands, measure, leaders) or MISSING))
    head = ["Measure", *(run.run for run in runs), "Best"]
    legend = f"{BETTER} {WORSE} significantly better, worse than the baseline"
    if bands is not None:
        head.append("Band of the best")
        legend += f"; bands of {bands.name}, meaningful only on the collection they were made for"
    return Grid(head, rows, legend="; ".join([legend, *incomplete_lines(report.scores)]))


def chunkings_grid(report: Report) -> Grid:
    """What each system searches."""
    rows = [
        [Cell(full(row.system)), Cell(full(row.chunking)), Cell(row.description), Cell(f"{row.chunks:,}")]
        for row in report.chunkings
    ]
    return Grid(["system", "chunking", "split by", "chunks"], rows, words=3)


def _best(report: Report, measure: Measure) -> float | None:
    """The best value; None if the systems' means are over different queries."""
    if report.comparison is not None and report.comparison.has_unpaired_queries(measure.name):
        return None
    return best_of(measure, [run[measure] for run in report.scores])


def _band_of_best(report: Report, bands: Bands, measure: Measure, leaders: list[str]) -> str | None:
    first = next((run for run in report.scores if run.run in leaders), report.scores[0])
    return bands_of(first, bands)[measure.name]


def _mark(report: Report, scores: Scores, measure: Measure) -> str:
    compared = report.comparison
    if compared is None or scores.run == compared.baseline:
        return ""
    return compared[scores.run, measure.name].mark(compared.alpha)


def costs(report: Report) -> Grid:
    """Latency of single calls, and the index."""
    rows = [
        [
            Cell(full(system)),
            *(Cell(_milliseconds(value)) for value in (cost.p50, cost.p95, cost.p99)),
            Cell(str(cost.calls)),
            Cell(byte_size(cost.index_bytes)),
            Cell(MISSING if cost.index_seconds is None else f"{cost.index_seconds:.2f} s"),
        ]
        for system, cost in report.costs.items()
    ]
    legend = "single calls, one query at a time, warm; an existing or shared index has no build time"
    return Grid(["", "p50 ms", "p95 ms", "p99 ms", "calls", "index", "build time"], rows, legend=legend)


def _milliseconds(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _findings(report: Report) -> list[str]:
    lines = [f"{file.file}: {_finding(finding)}" for file in report.validations for finding in file.findings]
    return lines or ["No findings."]


def _finding(finding: Finding) -> str:
    return f"{finding.severity} {finding.code} ({finding.count:,}): {finding.message}. {finding.action}"


# -------------------------------------------------------------------------------------------------------- terminal


def as_text(report: Report, layout: Layout = PLAIN, *, ending: Sequence[Lines] = ()) -> str:
    """For the terminal, in about one screen: the answer, the table, the caveats, and what is next (``ending``)."""
    parts: list[TerminalPart] = [Lines(answer(report)), _overview(report)]
    parts += [chunkings_grid(report)] if report.chunkings else []
    compared = report.comparison
    blocks = [
        Lines([f"{system}: {reason}" for system, reason in report.failed.items()], "Failed"),
        Lines(uplift_lines(report.scores, report.bands, compared), "Targets"),
        Lines(_first(_caveats(report)), "Caveats"),
        Lines([] if compared is None else _group_lines(compared), "Groups"),
        Lines([] if compared is None else _change_lines(compared, layout), "Changes"),
        Lines([str(report.scores[0].conventions)], "Scoring"),
        *ending,
    ]
    footer = "\n".join(text_of([block], layout) for block in blocks if block.lines)
    return text_of([*parts, Drawing(footer)], layout, elsewhere="open the page") + "\n"


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


def _change_lines(compared: Comparison, layout: Layout) -> list[str]:
    """The largest gain and the largest loss of the best challenger."""
    changes = compared.changes.get(best_challenger(compared), ())
    extremes = [pick(changes, key=lambda change: change.difference) for pick in (max, min)] if changes else []
    narrow = layout if layout.width is None else replace(layout, width=layout.chart_width - LABEL_WIDTH)
    return [comparison.change_lines(compared, change, narrow)[0].strip() for change in dict.fromkeys(extremes)]


def facts(report: Report) -> str:
    """The collection in one line."""
    source = ((report.manifest or {}).get("data") or {}).get("test collection", {}).get("source")
    documents = [f"{source['documents']:,} documents"] if source else []
    low, high = report.qrels.grades.min(), report.qrels.max_grade
    grades = f"grade {high:g}" if low == high else f"grades {low:g} to {high:g}"
    judgments = f"{plural(len(report.qrels), 'judgment')} ({grades})"
    if report.qrels.judgments == "passages":
        judgments = plural(len(report.qrels), "gold passage")
    return f"{report.title}: {', '.join([*documents, plural(len(report.qrels.queries), 'query'), judgments])}"


def findings_text(validation: Validation, layout: Layout) -> str:
    """The findings of an invalid file, with what to do."""
    shown = [_finding(finding) for finding in validation.findings if finding.severity != "note"]
    return text_of([Lines([f"{validation.file}: {text}" for text in shown])], layout)


def _overview(report: Report) -> Grid:
    """Systems as rows, the best first: the first measure with its interval, the others, measured costs, and groups."""
    measures, compared = report.scores[0].measures, report.comparison
    runs = sorted_runs(report.scores)
    best = {measure: _best(report, measure) for measure in measures}
    ranking = {} if compared is None or compared.ranking is None else comparison.ranked_letters(compared.ranking)
    columns: dict[str, list[Cell]] = {}
    for measure in measures:
        columns[measure.name] = [_value(report, run, measure, best[measure]) for run in runs]
        if measure == measures[0]:
            spans = [groups.interval_span(run.interval(measure, confidence=report.confidence)) for run in runs]
            columns[f"{percent(report.confidence)} CI"] = list(map(Cell, spans))
    costs = _cost_columns(report, runs)
    columns |= costs
    legend = []
    if compared is not None:
        is_marked = any(cell.mark for column in columns.values() for cell in column)
        legend += [f"{BETTER} {WORSE} significantly better, worse than {compared.baseline}"] if is_marked else []
    if compared is not None and ranking:
        columns["group"] = [Cell(ranking[run.run]) for run in runs]
        legend.append(f"same letter: not distinguishable on {measures[0].name}; {compared.statistics.description}")
    elif compared is not None:
        legend.append(compared.family)
    rows = [[Cell(full(run.run)), *(column[row] for column in columns.values())] for row, run in enumerate(runs)]
    if (bands := used(report.scores, report.bands)) is not None:
        band_cells = _band_cells(report, bands, best)
        rows.append([Cell("band"), *(band_cells.get(title, Cell("")) for title in columns)])
        legend.append(f"band: of the best value, by {bands.name}")
    hideable = [*reversed(list(costs)[1:]), *(measure.name for measure in reversed(measures[1:])), *list(costs)[:1]]
    return Grid(["system", *columns], rows, legend="; ".join(legend), hideable=hideable)


def _band_cells(report: Report, bands: Bands, best: Mapping[Measure, float | None]) -> dict[str, Cell]:
    """The band of the best value of each measure."""
    return {
        measure.name: Cell(_band_of_best(report, bands, measure, _leaders(report, measure, value)) or MISSING)
        for measure, value in best.items()
    }


def _cost_columns(report: Report, runs: Sequence[Scores]) -> dict[str, list[Cell]]:
    """By their titles; a cost that was not measured has no column."""
    costs = [report.costs.get(run.run, Cost()) for run in runs]
    columns: dict[str, list[tuple[float | int | None, str]]] = {
        "p50 ms": [(cost.p50, _milliseconds(cost.p50)) for cost in costs],
        "p95 ms": [(cost.p95, _milliseconds(cost.p95)) for cost in costs],
        "index": [(cost.index_bytes, byte_size(cost.index_bytes)) for cost in costs],
    }
    return {
        title: [Cell(text) for _, text in column]
        for title, column in columns.items()
        if any(value is not None for value, _ in column)
    }


def _leaders(report: Report, measure: Measure, best: float | None) -> list[str]:
    return [run.run for run in report.scores if run[measure] == best]


def _value(report: Report, scores: Scores, measure: Measure, best: float | None) -> Cell:
    value = scores[measure]
    is_best = value is not None and value == best
    return Cell(value_text(measure, value), best=is_best, mark=_mark(report, scores, measure))


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
    return f"{row.baseline or 0.0:.2f} → {row.value or 0.0:.2f}{p}"
