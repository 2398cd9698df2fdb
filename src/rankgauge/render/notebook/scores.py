"""Views of scores: of one run, of several, of groups of queries, and of a live retriever."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.core.formatting import number, percent, plural
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.groups import GroupSummary
from rankgauge.evaluation.notes import caveat_sentences
from rankgauge.evaluation.order import sorted_runs
from rankgauge.evaluation.scores import Scores
from rankgauge.rag.results import RetrievalResult
from rankgauge.render.notebook.parts import Fold, Footnote, Remarks, Table, ViewPart
from rankgauge.render.text.grid import Cell, Grid
from rankgauge.render.text.groups import interval_span, intervals_grid
from rankgauge.render.text.scores import averaged_line, conventions_lines, grid, query_grid

CONFIDENCE = 0.95
MAX_QUERIES = 20  # of one run, in its table by query


def scores_view(scores: Scores) -> list[ViewPart]:
    """Each measure with its interval, the queries, and what to know of them."""
    return [
        Table(_means(scores), f"{scores.run} on {scores.qrels}"),
        _conventions([scores]),
        *caveats([scores]),
        _queries(scores),
    ]


def score_list_view(scores: Sequence[Scores]) -> list[ViewPart]:
    """Runs as rows, best first; those on other judgments, or with other measures, in tables of their own."""
    parts: list[ViewPart] = []
    tables: dict[tuple[object, ...], list[Scores]] = {}
    for run in scores:
        tables.setdefault((run.qrels, run.measures, run.conventions), []).append(run)
    for runs in map(sorted_runs, tables.values()):
        parts.append(Table(grid(runs).for_page(), f"{plural(len(runs), 'run')} on {runs[0].qrels}"))
        parts += [_conventions(runs), *caveats(runs)]
    return parts


def evaluation_view(evaluation: Evaluation) -> list[ViewPart]:
    """The scores of its runs."""
    return scores_view(evaluation.scores[0]) if len(evaluation.scores) == 1 else score_list_view(evaluation.scores)


def groups_view(groups: Sequence[GroupSummary]) -> list[ViewPart]:
    """One row per group and measure."""
    rows = [
        [
            Cell(group.label),
            Cell(group.measure),
            Cell(str(group.n)),
            Cell(number(group.mean)),
            Cell(interval_span(group.interval)),
            Cell(number(group.median)),
        ]
        for group in groups
    ]
    interval = f"{percent(groups[0].interval.confidence)} CI"
    head = [f"by {groups[0].by}", "measure", "queries", "mean", interval, "median"]
    return [Table(Grid(head, rows, words=2), f"Groups by {groups[0].by}")]


def retrieval_view(result: RetrievalResult) -> list[ViewPart]:
    """Each measure with its interval, latency, failed queries, and what to know of the answers."""
    title = f"{result.scores.run}: {plural(len(result), 'query')}"
    lines = [line for line in str(result).splitlines()[1:] if line not in result.remarks]
    return [
        Table(_means(result.scores), title),
        *(" ".join(line.split()) for line in lines if not line.startswith("weighted")),  # which the table has
        Remarks("Failed queries", [f"{query}: {error}" for query, error in result.failures.items()]),
        Remarks("Caveats", result.remarks),
        _queries(result.scores),
    ]


def caveats(scores: Sequence[Scores], general: Sequence[str] = ()) -> list[ViewPart]:
    """What to know before trusting the numbers."""
    sentences = [*general, *caveat_sentences([(run.run, run.notes) for run in scores])]
    return [Remarks("Caveats", sentences)] if sentences else []


def _means(scores: Scores) -> Grid:
    """Each measure with its interval, without the column of the run's name."""
    means = intervals_grid([scores], confidence=CONFIDENCE)
    return Grid([means.head[0], *means.head[2:]], [[row[0], *row[2:]] for row in means.rows])


def _conventions(scores: Sequence[Scores]) -> Footnote:
    return Footnote("; ".join([averaged_line(scores), *conventions_lines(scores)]))


def _queries(scores: Scores) -> Fold:
    values = query_grid(scores)
    shown = Grid(["query", *values.head[1:]], values.rows[:MAX_QUERIES], legend=values.legend)
    return Fold("Values by query", [Table(shown, f"{scores.run} by query", total=len(values.rows))])
