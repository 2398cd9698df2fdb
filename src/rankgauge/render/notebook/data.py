"""Views of data: the first rows of a run or of judgments, and facts about the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from rankgauge.core.formatting import plural
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.io.queries import Queries
from rankgauge.labels.records import Judgment, PoolItem
from rankgauge.render.notebook.parts import Lead, Table, ViewPart, facts
from rankgauge.render.text.grid import Cell, Grid

HEAD_ROWS = 10
MAX_GRADES = 12  # named with their counts


def run_view(run: Run) -> list[ViewPart]:
    """Queries, results and scores, and the first rankings."""
    sizes = np.diff(run.offsets)
    status = Counter(run.status.tolist())
    few = {name: status[state] for name, state in (("empty", Status.EMPTY), ("failed", Status.FAILED)) if status[state]}
    queries = ", ".join([f"{len(run.queries):,}", *(f"{count:,} {name}" for name, count in few.items())])
    shown = _first(run)
    return [
        Table(shown, f"Run {run.name}: first results", total=len(run)),
        facts(
            f"{plural(len(run), 'result')} of {plural(len(run.queries), 'query')}",
            {
                "queries": queries,
                "results per query": _range(sizes),
                "scores": _range(run.scores),
            },
        ),
    ]


def _first(run: Run) -> Grid:
    first = run.select(np.arange(min(HEAD_ROWS, len(run.queries)))).ranked()
    queries, starts = first.queries.to_text(), first.offsets.tolist()
    rows = []
    for row in range(min(HEAD_ROWS, len(first))):
        query = int(first.query[row])
        cells = (queries[query], first.docs.head(row + 1).to_text()[-1])
        rows.append([*map(Cell, cells), Cell(str(row - starts[query] + 1)), Cell(f"{first.scores[row]:.6g}")])
    return Grid(["query", "document", "rank", "score"], rows, words=2)


def qrels_view(qrels: Qrels) -> list[ViewPart]:
    """Queries, documents and grades, and the first judgments."""
    queries, docs = qrels.queries.to_text(), qrels.docs.head(HEAD_ROWS).to_text()
    rows = [
        [Cell(queries[int(qrels.query[row])]), Cell(doc), Cell(f"{qrels.grades[row]:g}")]
        for row, doc in enumerate(docs)
    ]
    grid = Grid(["query", "document", "grade"], rows, words=2)
    sizes = np.diff(qrels.offsets)
    kind = "" if qrels.judgments == "grades" else qrels.judgments
    return [
        Table(grid, f"Judgments {qrels.name}: first rows", total=len(qrels.docs)),
        facts(
            f"{plural(len(qrels), 'judgment')} of {plural(len(qrels.queries), 'query')}",
            {
                "kind": kind,
                "documents": f"{len(qrels.docs.distinct[1]):,}",
                "judged per query": _range(sizes),
                "grades": _histogram(qrels.grades.tolist()),
                "queries without a relevant document": _none_if_zero(int((_relevant(qrels) == 0).sum())),
                "columns of the queries": ", ".join(qrels.columns),
            },
        ),
    ]


def queries_view(queries: Queries) -> list[ViewPart]:
    """The first queries with their texts and columns."""
    columns = [*queries.columns]
    rows = []
    for query, text in zip(queries.ids.head(HEAD_ROWS).to_text(), queries.texts, strict=False):
        values = (queries.columns[name].get(query) for name in columns)
        rows.append([Cell(query), Cell(text or ""), *(Cell("" if value is None else str(value)) for value in values)])
    grid = Grid(["query", "text", *columns], rows, words=2 + len(columns))
    return [Table(grid, plural(len(queries), "query"), total=len(queries))]


def pool_view(pool: Sequence[PoolItem]) -> list[ViewPart]:
    """The documents to judge."""
    sampled = [item for item in pool if item.sampled]
    queries = plural(len({item.query for item in pool}), "query")
    rows = [[Cell(item.query), Cell(item.doc), Cell(item.title or (item.text or ""))] for item in sampled[:HEAD_ROWS]]
    grid = Grid(["query", "document", "title or text"], rows, words=3)
    return [
        Lead(f"{plural(len(sampled), 'document')} of {queries} to judge"),
        Table(grid, "Pool: first documents", total=len(sampled)),
    ]


def judgments_view(judgments: Sequence[Judgment]) -> list[ViewPart]:
    """The judgments of people and machines, newest last, and their grades."""
    rows = [
        [Cell(one.query), Cell(one.doc), Cell(one.assessor), Cell("–" if one.grade is None else f"{one.grade:g}")]
        for one in judgments[:HEAD_ROWS]
    ]
    grades = _histogram(one.grade for one in judgments if one.grade is not None)
    assessors = ", ".join(dict.fromkeys(one.assessor for one in judgments))
    return [
        Table(Grid(["query", "document", "assessor", "grade"], rows, words=3), "First judgments", total=len(judgments)),
        facts(plural(len(judgments), "judgment"), {"grades": grades, "assessors": assessors}),
    ]


def _relevant(qrels: Qrels) -> np.ndarray:
    return np.bincount(qrels.query[qrels.grades > 0], minlength=len(qrels.queries))


def _none_if_zero(count: int) -> str:
    return f"{count:,}" if count else ""


def _histogram(grades: Iterable[float]) -> str:
    counts = sorted(Counter(grades).items())
    named = [f"{grade:g}: {count:,}" for grade, count in counts[:MAX_GRADES]]
    more = len(counts) - len(named)
    return ", ".join([*named, *([plural(more, "more grade")] if more else [])])


def _range(values: np.ndarray) -> str:
    if not len(values):
        return ""
    low, middle, high = (f"{value:.6g}" for value in (values.min(), np.median(values), values.max()))
    return low if low == high else f"{low} to {high}, median {middle}"
