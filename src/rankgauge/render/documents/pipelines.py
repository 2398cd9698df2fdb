"""Systems and their steps: pipelines, stories, tuned fusion, suites of metrics."""

from __future__ import annotations

import re
from typing import Protocol

from rankgauge.adapters.pipeline.pipeline_log import PipelineReport
from rankgauge.adapters.story.retrieval_quality import RetrievalQuality
from rankgauge.core.formatting import number, plural
from rankgauge.core.result_views import SummaryTable
from rankgauge.lists.suite import SuiteResult
from rankgauge.render.document import (
    NOTHING,
    Cell,
    DocumentSection,
    Number,
    Part,
    Range,
    ResultDocument,
    Sentences,
    Table,
    TableColumn,
    Tone,
    Words,
    name,
    numbers,
    sentence,
    words,
)
from rankgauge.retrieval.tuning import TuningResult


class Summarized(Protocol):
    """A result with a table of its own."""

    def summary_table(self) -> SummaryTable:
        """The table."""


def summary_document(result: Summarized) -> ResultDocument:
    """The result in a sentence, and its table."""
    content = result.summary_table()
    title = re.sub("(?<=[a-z])[A-Z]", lambda capital: f" {capital[0].lower()}", type(result).__name__)
    return ResultDocument(title, lambda: [sentence(content.caption, "answer"), _summary_table(content, title)])


def _summary_table(content: SummaryTable, title: str) -> Table:
    columns = [TableColumn(head, is_words=not place, from_data=True) for place, head in enumerate(content.head)]
    return Table(columns, [[_cell(value) for value in row] for row in content.rows], title)


def _cell(value: object) -> Cell:
    return Number(value) if value is None or isinstance(value, float) else name(str(value))


def document(report: PipelineReport) -> ResultDocument:
    """One line per step, then the confusion table of the experts, and what else is known of each step."""

    def parts() -> list[Part]:
        head = f"{report.name}: {plural(report.queries, 'query')}"
        made: list[Part] = [Sentences([head, *str(report).split("\n")], "answer")]
        if report.routing is not None and report.routing.n:
            made.append(_summary_table(report.routing.summary_table(), "Routing"))
        if report.gate is not None and report.gate.wrongly_skipped:
            made.append(sentence("wrongly skipped: " + ", ".join(report.gate.wrongly_skipped)))
        others = {"Gate": report.gate, "Reranking": report.rerank}
        tables = [_summary_table(step.summary_table(), title) for title, step in others.items() if step is not None]
        return [*made, DocumentSection("Steps", tables, folded=True, on_terminal=False)]

    return ResultDocument(report.name, parts, report.to_dict)


def story_document(result: RetrievalQuality) -> ResultDocument:
    """The verdict in a sentence, and one row per query."""

    def parts() -> list[Part]:
        rows: list[list[Cell]] = [
            [
                name(query.id),
                name(query.text),
                name(query.ranking[0].scene),
                Number(query.rank, "count"),
                Number(query.rr),
                Words(f"{number(query.recall)} @{query.k}"),
            ]
            for query in result.queries
        ]
        columns = [*words("query", "", "first scene"), *numbers("rank", "RR", "recall")]
        word, _, text = str(result).partition(": ")
        tone: Tone = "neutral" if result.passed is None else "better" if result.passed else "worse"
        verdict = Sentences([text], "verdict", tone, word)
        return [verdict, *([Table(columns, rows, "Queries")] if rows else [])]

    return ResultDocument("Retrieval quality", parts, result.to_dict)


def tuning_document(result: TuningResult) -> ResultDocument:
    """The value on the test queries, beside that of each run, and what was chosen."""
    dev, test = plural(len(result.split.dev), "query"), plural(len(result.split.test), "query")

    def parts() -> list[Part]:
        rows: list[list[Cell]] = [[name(score.name), Number(score.dev), Number(score.test)] for score in result.scores]
        answer = f"tuned fusion: {result.measure} {number(result.value)} on {test} that it was not tuned on"
        return [
            sentence(answer, "answer"),
            Table([*words(result.measure), *numbers("dev", "test")], rows, f"{result.measure} of each run"),
            Sentences([f"tuned on {dev}, tested on {test}", *result.notes, f"chosen: {result.choice}"]),
        ]

    return ResultDocument("Tuned fusion", parts, result.to_dict)


def suite_document(result: SuiteResult) -> ResultDocument:
    """Each metric with its interval, if it has one."""
    rows = [
        [
            Words(metric),
            Number(value),
            Range(*result.intervals[metric]) if metric in result.intervals else NOTHING,
        ]
        for metric, value in result.metrics.items()
    ]
    return ResultDocument("Metrics", lambda: [Table([*words(""), *numbers("value", "interval")], rows, "Metrics")])
