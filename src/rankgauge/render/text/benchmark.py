"""A benchmark: for the terminal, as Markdown and as JSON. The answer stands first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rankgauge._version import __version__
from rankgauge.comparison.answer import p_text
from rankgauge.comparison.headline import challenger, headline
from rankgauge.comparison.result import Comparison, Difference
from rankgauge.errors import printable
from rankgauge.evaluation.evaluate import Scores
from rankgauge.measures.spec import Measure
from rankgauge.render.text import comparison, markdown
from rankgauge.render.text import groups as slices
from rankgauge.render.text.bands import bands_of, with_bands
from rankgauge.render.text.grid import Cell, Grid, Show, full
from rankgauge.render.text.markdown import Heading, Part
from rankgauge.render.text.scores import as_dict, best_of, dumped
from rankgauge.render.text.terminal import name, number, table
from rankgauge.report.report import NOTHING, Cost, Report
from rankgauge.validation.findings import Finding, Validation
from rankgauge.validation.findings import as_dict as validation_dict

SCHEMA = "rankgauge.benchmark/1"
LABEL = 13


# ------------------------------------------------------------------------------------------------------------ JSON


def as_json(report: Report) -> str:
    """Everything but times: the same input gives the same text."""
    return dumped(
        {
            "schema": SCHEMA,
            "rankgauge": __version__,
            "title": report.title,
            "answer": answer(report),
            "scores": _scores(report, report.scores),
            "comparison": None if report.comparison is None else report.comparison.to_dict(),
            "failed": dict(report.failed),
            "validation": validation_dict(report.validations),
        }
    )


def evaluation(report: Report, scores: Scores) -> str:
    """The report of one system: its scores with intervals, groups and the value for each query."""
    return dumped(_scores(report, [scores]))


def _scores(report: Report, scores: Any) -> dict[str, Any]:
    """Scores in the schema of ``evaluate``, with all that it can hold."""
    data = as_dict(scores, per_query=True)
    for entry, run in zip(data["runs"], scores, strict=True):
        for measure, found in entry["measures"].items():
            found["ci"] = slices.ci(run.interval(measure, confidence=report.confidence))
        entry["by"] = slices.as_dicts(run, report.by, confidence=report.confidence)
    return with_bands(data, scores, report.bands)


def answer(report: Report) -> list[str]:
    """What a person would say, a sentence each."""
    if report.scores[0].without_relevant.all():
        return [NOTHING]
    if report.comparison is not None:
        return headline(report.comparison)
    one = report.scores[0]
    measure = one.measures[0]
    span = slices.span(one.interval(measure, confidence=report.confidence))
    return [f"{one.run}: {measure.name} {number(one[measure])} ({span}); there is nothing to compare it with."]


# -------------------------------------------------------------------------------------------------------- Markdown


def as_markdown(report: Report) -> str:
    """For people: the answer, the table of modes, how sure it is, groups, what it costs."""
    parts: list[Part] = [Heading(f"Benchmark: {report.title}", 1), *answer(report)]
    parts += [modes(report)]
    if report.comparison is not None:
        parts += [Heading("How sure is that"), comparison.grid(report.comparison)]
        parts += [Heading("Groups of queries"), *comparison.groups(_on_first(report.comparison))] if report.by else []
        parts += [Heading("The queries that moved most"), *_moves(report)]
    parts += [
        Heading("Values with their intervals"),
        slices.intervals_grid(report.scores, confidence=report.confidence),
    ]
    if any(cost != Cost() for cost in report.costs.values()):
        parts += [Heading("What it costs"), costs(report)]
    if report.failed:
        parts += [Heading("What broke"), *(f"{system}: {reason}" for system, reason in report.failed.items())]
    parts += [Heading("To know before trusting it"), *report.remarks] if report.remarks else []
    parts += [Heading("What was found in the files"), *_found(report)]
    parts += [Heading("How to read it"), f"Conventions: {report.scores[0].conventions}."]
    if report.reproduce:
        parts.append(f"Made by: {report.reproduce}. Checked by: rankgauge report verify FOLDER.")
    return markdown.as_markdown(parts)


def _on_first(found: Comparison) -> Comparison:
    """The comparison with the groups of its first measure only."""
    first = found.scores[0].measures[0].name
    return replace(
        found,
        slices=tuple(one for one in found.slices if one.difference.measure == first),
        interactions=tuple(one for one in found.interactions if one.measure == first),
    )


def _moves(report: Report) -> list[str]:
    found = report.comparison
    assert found is not None
    system = challenger(found)
    head = f"{system} − {found.baseline} on {found.scores[0].measures[0].name}:"
    lines = [comparison.query_line(found, moves).strip() for moves in found.moved.get(system, ())]
    return [head, *lines] if lines else [f"{system} and {found.baseline} are the same for every query."]


def modes(report: Report) -> Grid:
    """Measures as rows, systems as columns, the best of each."""
    rows = []
    for measure in report.scores[0].measures:
        best = _best(report, measure)
        leaders = _leaders(report, measure, best)
        cells = [_value(report, one, measure, best) for one in report.scores]
        rows.append([Cell(measure.name), *cells, Cell(", ".join(leaders) if best is not None else "–")])
        if report.bands is not None:
            rows[-1].append(Cell(_band_of_best(report, measure, leaders) or "–"))
    head = ["Metric", *report.names, "Best mode"]
    legend = "bold: the best; ▲ ▼ better, worse than the baseline, and more than luck"
    if report.bands is not None:
        head.append("Band of the best")
        legend += f"; bands of {report.bands.name}, which mean something only on the collection they were made for"
    return Grid(head, rows, legend=legend)


def _best(report: Report, measure: Measure) -> float | None:
    """The best value; none where the systems' means are over different queries."""
    if report.comparison is not None and report.comparison.apart(measure.name):
        return None
    return best_of(measure, [one[measure] for one in report.scores])


def _band_of_best(report: Report, measure: Measure, leaders: list[str]) -> str | None:
    assert report.bands is not None
    first = next((one for one in report.scores if one.run in leaders), report.scores[0])
    return bands_of(first, report.bands)[measure.name]


def _mark(report: Report, scores: Scores, measure: Measure) -> str:
    found = report.comparison
    if found is None or scores.run == found.baseline:
        return ""
    return comparison.mark(found, found[scores.run, measure.name])


def costs(report: Report, *, show: Show = full) -> Grid:
    """Milliseconds of single calls, and the index."""
    rows = [
        [
            Cell(show(system)),
            *(Cell(_milliseconds(value)) for value in (cost.p50, cost.p95, cost.p99)),
            Cell(str(cost.calls)),
            Cell(_megabytes(cost.index_bytes)),
            Cell("–" if cost.index_seconds is None else f"{cost.index_seconds:.2f} s"),
        ]
        for system, cost in report.costs.items()
    ]
    legend = "single calls, one query at a time, warm; an index that was there already, or is shared, has no build time"
    return Grid(["", "p50 ms", "p95 ms", "p99 ms", "calls", "index", "built in"], rows, legend=legend)


def _milliseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _megabytes(size: int | None) -> str:
    return "–" if size is None else f"{size / 1e6:.1f} MB"


def _found(report: Report) -> list[str]:
    lines = [f"{file.file}: {_finding(one)}" for file in report.validations for one in file.findings]
    return lines or ["Nothing to complain of."]


def _finding(one: Finding) -> str:
    return f"{one.severity} {one.code} ({one.count:,}): {one.message}. {one.action}"


# -------------------------------------------------------------------------------------------------------- terminal


def as_text(report: Report, *, colour: bool) -> str:
    """For the terminal."""
    overview = _overview(report)
    blocks = [
        labelled("answer", [printable(line, None) for line in answer(report)]),
        table(overview.head, overview.rows, colour=colour),
        printable(overview.legend, None),
    ]
    if report.comparison is not None:
        blocks += [_groups(report), labelled("moved most", _moves(report))]
    blocks += [labelled("broken", [printable(f"{system}: {reason}", None) for system, reason in report.failed.items()])]
    blocks += [labelled("conventions", [str(report.scores[0].conventions)])]
    return "\n\n".join(block for block in blocks if block) + "\n"


def facts(report: Report) -> str:
    """What it was run on."""
    source = ((report.manifest or {}).get("data") or {}).get("test collection", {}).get("source")
    documents = [f"{source['documents']:,} documents"] if source else []
    judged = f"{len(report.qrels):,} judgments (grades {report.qrels.grades.min():g} to {report.qrels.max_grade:g})"
    said = [*documents, f"{len(report.qrels.queries):,} queries", judged]
    return f"{report.title}: {', '.join(said)}"


def checked(validations: tuple[Validation, ...] | list[Validation]) -> str:
    """What validation found, each kind once, with what to do."""
    errors, warnings = (sum(getattr(file, what) for file in validations) for what in ("errors", "warnings"))
    files = f"{len(validations)} file{'s' * (len(validations) != 1)}"
    head = f"{files}, {errors or 'no'} error{'s' * (errors != 1)}, {warnings or 'no'} warning{'s' * (warnings != 1)}"
    told: dict[str, list[str]] = {}
    for file in validations:
        for one in file.findings:
            if one.severity != "note":
                told.setdefault(_finding(one), []).append(file.file)
    lines = [head, *(f"{', '.join(files)}: {said}" for said, files in told.items())]
    return labelled("checked", [printable(line, None) for line in lines])


def _overview(report: Report) -> Grid:
    """Systems as rows: the first measure with its interval, the others, and what was measured of costs."""
    measures = report.scores[0].measures
    best = {measure: _best(report, measure) for measure in measures}
    costs = _cost_columns(report)
    head = ["", measures[0].name, f"{report.confidence * 100:g} %", *(one.name for one in measures[1:]), *costs]
    rows = []
    for place, one in enumerate(report.scores):
        first, *others = (_value(report, one, measure, best[measure]) for measure in measures)
        span = Cell(slices.span(one.interval(measures[0], confidence=report.confidence)))
        rows.append([Cell(name(one.run)), first, span, *others, *(column[place] for column in costs.values())])
    legend = []
    found = report.comparison
    if found is not None:
        legend.append(f"▲ ▼ better, worse than {found.baseline}; {found.family}")
    if report.bands is not None:
        reached = [_band_of_best(report, one, _leaders(report, one, best[one])) for one in measures]
        if any(reached):
            texts = [band or "–" for band in reached]
            rows.append([Cell(text) for text in ("band", texts[0], "", *texts[1:], *("" for _ in costs))])
            legend.append(f"band: that of the best value, by {report.bands.name}")
    return Grid(head, rows, legend="; ".join(legend))


def _cost_columns(report: Report) -> dict[str, list[Cell]]:
    """By their titles; what nobody measured has no column."""
    costs = [report.costs.get(one.run, Cost()) for one in report.scores]
    columns: dict[str, list[tuple[float | None, str]]] = {
        "p50 / p95 ms": [(one.p50, f"{_milliseconds(one.p50)} / {_milliseconds(one.p95)}") for one in costs],
        "index": [(one.index_bytes, _megabytes(one.index_bytes)) for one in costs],
    }
    return {
        title: [Cell("–" if value is None else text) for value, text in column]
        for title, column in columns.items()
        if any(value is not None for value, _ in column)
    }


def _leaders(report: Report, measure: Measure, best: float | None) -> list[str]:
    return [one.run for one in report.scores if one[measure] == best]


def _value(report: Report, scores: Scores, measure: Measure, best: float | None) -> Cell:
    value = scores[measure]
    return Cell(number(value), best=value is not None and value == best, mark=_mark(report, scores, measure))


def _groups(report: Report) -> str:
    """One line a column of the queries: from the baseline to the best of the others, on the first measure."""
    found = report.comparison
    assert found is not None
    system, measure = challenger(found), found.scores[0].measures[0].name
    lines = []
    for by in dict.fromkeys(row.by for row in found.slices):
        rows = [
            (one.label, one.difference)
            for one in found.slices
            if one.by == by and (one.difference.system, one.difference.measure) == (system, measure)
        ]
        said = "   ".join(
            f"{name(label)} {_change(row, found.alpha)}{comparison.mark(found, row)}" for label, row in rows
        )
        lines.append(f"by {name(by)}: {said}")
    return labelled("groups", [f"{name(found.baseline)} → {name(system)} on {measure}", *lines]) if lines else ""


def _change(row: Difference, alpha: float) -> str:
    p = f" (p {p_text(row.p_corrected or 0.0, '=')})" if row.significant(alpha) else ""
    return f"{row.baseline or 0.0:.2f} → {row.value or 0.0:.2f}{p}"


def labelled(label: str, lines: list[str]) -> str:
    """Lines behind a label."""
    return "\n".join(f"{label if not place else '':<{LABEL}}{line}" for place, line in enumerate(lines))
