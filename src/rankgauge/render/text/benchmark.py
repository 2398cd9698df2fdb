"""A benchmark: for the terminal, as Markdown and as JSON. The answer comes first."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from rankgauge._version import __version__
from rankgauge.comparison.remarks import weighted_remarks
from rankgauge.comparison.result import Comparison, Difference
from rankgauge.comparison.sentences import best_challenger, headline
from rankgauge.config.bands.bands import Bands
from rankgauge.core.formatting import MISSING, byte_size, p_equals, percent, plural
from rankgauge.errors import printable
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Measure
from rankgauge.render.text import comparison, groups, markdown
from rankgauge.render.text.bands import bands_of, used, with_bands
from rankgauge.render.text.grid import BETTER, WORSE, Cell, Grid, Show, full
from rankgauge.render.text.markdown import Heading, Part
from rankgauge.render.text.scores import as_dict, best_of, dumped, incomplete_lines, value_text
from rankgauge.render.text.terminal import name, table
from rankgauge.report.report import NO_RELEVANT_DOCUMENT, Cost, Report
from rankgauge.validation.findings import Finding, Validation
from rankgauge.validation.findings import as_dict as validation_dict

BENCHMARK_SCHEMA = "rankgauge.benchmark/1"
LABEL_WIDTH = 17


# ------------------------------------------------------------------------------------------------------------ JSON


def as_json(report: Report) -> str:
    """Everything but times, so that the same input gives the same text."""
    return dumped(
        {
            "schema": BENCHMARK_SCHEMA,
            "rankgauge": __version__,
            "title": report.title,
            "answer": answer(report),
            "scores": _scores(report, report.scores),
            "comparison": None if report.comparison is None else report.comparison.to_dict(),
            "notes": [] if report.reuse is None else [report.reuse],
            "failed": dict(report.failed),
            **({"chunkings": [asdict(row) for row in report.chunkings]} if report.chunkings else {}),
            "validation": validation_dict(report.validations),
        }
    )


def evaluation(report: Report, scores: Scores) -> str:
    """The report of one system: its scores with intervals, groups and the value for each query."""
    return dumped(_scores(report, [scores]))


def _scores(report: Report, scores: Any) -> dict[str, Any]:
    """Scores in the schema of ``evaluate``, with everything that it can hold."""
    data = as_dict(scores, per_query=True)
    for entry, run in zip(data["runs"], scores, strict=True):
        for measure, value in entry["measures"].items():
            value |= groups.interval_dicts(run, measure, confidence=report.confidence)
        entry["by"] = groups.as_dicts(run, report.by, confidence=report.confidence)
    return with_bands(data, scores, report.bands)


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
        parts += [Heading("Differences from the baseline"), comparison.grid(report.comparison)]
        parts += weighted_remarks(report.comparison)
        parts += [Heading("Groups of queries"), *comparison.groups(_on_first(report.comparison))] if report.by else []
        parts += [Heading("Largest changes"), *_largest_changes(report.comparison)]
    parts += [
        Heading("Values with confidence intervals"),
        groups.intervals_grid(report.scores, confidence=report.confidence),
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
    head = f"{compared.scores[0].measures[0].name}, {system} − {compared.baseline}:"
    lines = [comparison.change_line(compared, change).strip() for change in compared.changes.get(system, ())]
    return [head, *lines] if lines else [f"{system} and {compared.baseline} have the same value for every query."]


def systems_grid(report: Report) -> Grid:
    """Measures as rows, systems as columns, the best of each."""
    rows, bands = [], used(report.scores, report.bands)
    for measure in report.scores[0].measures:
        best = _best(report, measure)
        leaders = _leaders(report, measure, best)
        cells = [_value(report, run, measure, best) for run in report.scores]
        rows.append([Cell(measure.name), *cells, Cell(", ".join(leaders) if best is not None else MISSING)])
        if bands is not None:
            rows[-1].append(Cell(_band_of_best(report, bands, measure, leaders) or MISSING))
    head = ["Measure", *report.names, "Best"]
    legend = f"bold: the best; {BETTER} {WORSE} significantly better, worse than the baseline"
    if bands is not None:
        head.append("Band of the best")
        legend += f"; bands of {bands.name}, meaningful only on the collection they were made for"
    return Grid(head, rows, legend="; ".join([legend, *incomplete_lines(report.scores)]))


def chunkings_grid(report: Report, *, show: Show = full) -> Grid:
    """What each system searches."""
    rows = [
        [Cell(show(row.system)), Cell(show(row.chunking)), Cell(row.description), Cell(f"{row.chunks:,}")]
        for row in report.chunkings
    ]
    return Grid(["", "chunking", "split by", "chunks"], rows, words=3)


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


def costs(report: Report, *, show: Show = full) -> Grid:
    """Latency of single calls, and the index."""
    rows = [
        [
            Cell(show(system)),
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


def as_text(report: Report, *, color: bool) -> str:
    """For the terminal."""
    overview = _overview(report)
    blocks = [
        labeled("answer", [printable(line, None) for line in answer(report)]),
        table(overview.head, overview.rows, color=color),
        printable(overview.legend, None),
    ]
    if report.chunkings:
        chunkings = chunkings_grid(report, show=name)
        blocks.append(table(chunkings.head, chunkings.rows, color=color))
    if report.comparison is not None:
        blocks += [_groups(report.comparison), labeled("largest changes", _largest_changes(report.comparison))]
    blocks += [] if report.reuse is None else [labeled("note", [report.reuse])]
    failures = [printable(f"{system}: {reason}", None) for system, reason in report.failed.items()]
    blocks += [labeled("failed", failures), labeled("conventions", [str(report.scores[0].conventions)])]
    return "\n\n".join(block for block in blocks if block) + "\n"


def facts(report: Report) -> str:
    """The collection in one line."""
    source = ((report.manifest or {}).get("data") or {}).get("test collection", {}).get("source")
    documents = [f"{source['documents']:,} documents"] if source else []
    grades = f"grades {report.qrels.grades.min():g} to {report.qrels.max_grade:g}"
    judgments = f"{plural(len(report.qrels), 'judgment')} ({grades})"
    if report.qrels.judgments == "passages":
        judgments = plural(len(report.qrels), "gold passage")
    return f"{report.title}: {', '.join([*documents, plural(len(report.qrels.queries), 'query'), judgments])}"


def checked(validations: tuple[Validation, ...] | list[Validation]) -> str:
    """The findings of validation, each kind once, with what to do."""
    errors, warnings = (sum(getattr(file, kind) for file in validations) for kind in ("errors", "warnings"))
    head = f"{plural(len(validations), 'file')}, {plural(errors, 'error')}, {plural(warnings, 'warning')}"
    files_of: dict[str, list[str]] = {}
    for file in validations:
        for finding in file.findings:
            if finding.severity != "note":
                files_of.setdefault(_finding(finding), []).append(file.file)
    lines = [head, *(f"{', '.join(files)}: {text}" for text, files in files_of.items())]
    return labeled("checked", [printable(line, None) for line in lines])


def _overview(report: Report) -> Grid:
    """Systems as rows: the first measure with its interval, the others, and measured costs."""
    measures = report.scores[0].measures
    best = {measure: _best(report, measure) for measure in measures}
    costs = _cost_columns(report)
    interval_title = f"{percent(report.confidence)} CI"
    head = ["", measures[0].name, interval_title, *(measure.name for measure in measures[1:]), *costs]
    rows = []
    for index, run in enumerate(report.scores):
        first, *others = (_value(report, run, measure, best[measure]) for measure in measures)
        span = Cell(groups.interval_span(run.interval(measures[0], confidence=report.confidence)))
        rows.append([Cell(name(run.run)), first, span, *others, *(column[index] for column in costs.values())])
    legend = []
    compared = report.comparison
    if compared is not None:
        legend.append(f"{BETTER} {WORSE} significantly better, worse than {compared.baseline}; {compared.family}")
    bands = used(report.scores, report.bands)
    if bands is not None:
        texts = [
            _band_of_best(report, bands, measure, _leaders(report, measure, best[measure])) or MISSING
            for measure in measures
        ]
        rows.append([Cell(text) for text in ("band", texts[0], "", *texts[1:], *("" for _ in costs))])
        legend.append(f"band: of the best value, by {bands.name}")
    legend += incomplete_lines(report.scores)
    return Grid(head, rows, legend="; ".join(legend))


def _cost_columns(report: Report) -> dict[str, list[Cell]]:
    """By their titles; a cost that was not measured has no column."""
    costs = [report.costs.get(run.run, Cost()) for run in report.scores]
    columns: dict[str, list[tuple[float | None, str]]] = {
        "p50 / p95 ms": [(cost.p50, f"{_milliseconds(cost.p50)} / {_milliseconds(cost.p95)}") for cost in costs],
        "index": [(cost.index_bytes, byte_size(cost.index_bytes)) for cost in costs],
    }
    return {
        title: [Cell(MISSING if value is None else text) for value, text in column]
        for title, column in columns.items()
        if any(value is not None for value, _ in column)
    }


def _leaders(report: Report, measure: Measure, best: float | None) -> list[str]:
    return [run.run for run in report.scores if run[measure] == best]


def _value(report: Report, scores: Scores, measure: Measure, best: float | None) -> Cell:
    value = scores[measure]
    return Cell(
        value_text(measure, value), best=value is not None and value == best, mark=_mark(report, scores, measure)
    )


def _groups(compared: Comparison) -> str:
    """One line per column of the queries: from the baseline to the best of the others, on the first measure."""
    system, measure = best_challenger(compared), compared.scores[0].measures[0].name
    lines = []
    for by in dict.fromkeys(row.by for row in compared.groups):
        rows = [
            (row.label, row.difference)
            for row in compared.groups
            if row.by == by and (row.difference.system, row.difference.measure) == (system, measure)
        ]
        changes = [f"{name(label)} {_change(row, compared.alpha)}{row.mark(compared.alpha)}" for label, row in rows]
        lines.append(f"by {name(by)}: {'   '.join(changes)}")
    return labeled("groups", [f"{measure}, {name(compared.baseline)} → {name(system)}", *lines]) if lines else ""


def _change(row: Difference, alpha: float) -> str:
    p = f" ({p_equals(row.p_corrected)})" if row.is_significant(alpha) else ""
    return f"{row.baseline or 0.0:.2f} → {row.value or 0.0:.2f}{p}"


def labeled(label: str, lines: list[str]) -> str:
    """Lines with a label before the first."""
    return "\n".join(f"{'' if index else label:<{LABEL_WIDTH}}{line}" for index, line in enumerate(lines))
