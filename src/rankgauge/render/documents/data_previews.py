"""Data: the first rows of a run (also of one just fetched), judgments, queries or a pool, and facts about the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from rankgauge.core.formatting import given, plural, text_of
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.io.formats.judgment_lines import Judgment
from rankgauge.io.queries import Queries
from rankgauge.labels.pool_files import PoolItem
from rankgauge.render.document import (
    NO_VALUE,
    Cell,
    Facts,
    Number,
    Part,
    ResultDocument,
    Table,
    listed,
    name,
    numbers,
    sentence,
    words,
)
from rankgauge.retrieval.fetch import FetchResult

HEAD_ROWS = 10
MAX_GRADES = 12  # named with their counts


def run_document(run: Run) -> ResultDocument:
    """Queries, results and scores, and the first rankings."""
    sizes = np.diff(run.offsets)
    status = Counter(run.status.tolist())
    few = {label: status[state] for label, state in (("empty", Status.EMPTY), ("failed", Status.FAILED))}
    queries = ", ".join([f"{len(run.queries):,}", *(f"{count:,} {label}" for label, count in few.items() if count)])
    about = {"queries": queries, "results per query": _range(sizes), "scores": _range(run.scores)}
    title = f"{plural(len(run), 'result')} of {plural(len(run.queries), 'query')}"
    return ResultDocument(f"Run {run.name}", lambda: [_first(run), _facts(title, about)])


def fetch_document(result: FetchResult) -> ResultDocument:
    """The run, and what went wrong."""
    run = run_document(result.run)
    failed = listed("Failed queries", [f"{query}: {error}" for query, error in result.failures.items()])
    notes = [note.message for note in result.notes]
    return ResultDocument(run.title, lambda: [*run.parts(), *failed], caveats=lambda: notes)


def _first(run: Run) -> Table:
    first = run.select(np.arange(min(HEAD_ROWS, len(run.queries)))).ranked()
    queries, starts = first.queries.to_text(), first.offsets.tolist()
    rows: list[list[Cell]] = []
    for row in range(min(HEAD_ROWS, len(first))):
        query = int(first.query[row])
        names = [name(queries[query]), name(first.docs.head(row + 1).to_text()[-1])]
        rows.append([*names, Number(row - starts[query] + 1, "count"), Number(float(first.scores[row]), "score")])
    columns = [*words("query", "document"), *numbers("rank", "score")]
    return Table(columns, rows, f"Run {run.name}: first results", total=len(run))


def qrels_document(qrels: Qrels) -> ResultDocument:
    """Queries, documents and grades, and the first judgments."""
    queries, docs = qrels.queries.to_text(), qrels.docs.head(HEAD_ROWS).to_text()
    rows: list[list[Cell]] = [
        [name(queries[int(qrels.query[row])]), name(doc), Number(float(qrels.grades[row]), "given")]
        for row, doc in enumerate(docs)
    ]
    sizes = np.diff(qrels.offsets)
    about = {
        "kind": "" if qrels.judgments == "grades" else qrels.judgments,
        "documents": f"{len(qrels.docs.distinct[1]):,}",
        "judged per query": _range(sizes),
        "grades": _histogram(qrels.grades.tolist()),
        "queries without a relevant document": _none_if_zero(int((_relevant(qrels) == 0).sum())),
        "columns of the queries": ", ".join(qrels.columns),
    }
    columns = [*words("query", "document"), *numbers("grade")]
    table = Table(columns, rows, f"Judgments {qrels.name}: first rows", total=len(qrels.docs))
    title = f"{plural(len(qrels), 'judgment')} of {plural(len(qrels.queries), 'query')}"
    return ResultDocument(f"Judgments {qrels.name}", lambda: [table, _facts(title, about)])


def queries_document(queries: Queries) -> ResultDocument:
    """The first queries with their texts and columns."""
    columns = [*queries.columns]
    rows = []
    for query, text in zip(queries.ids.head(HEAD_ROWS).to_text(), queries.texts, strict=False):
        values = (queries.columns[column].get(query) for column in columns)
        rows.append([name(query), name(text or ""), *(name("" if value is None else str(value)) for value in values)])
    title = plural(len(queries), "query")
    return ResultDocument(title, lambda: [Table(words("query", "text", *columns), rows, title, total=len(queries))])


def pool_document(pool: Sequence[PoolItem]) -> ResultDocument:
    """The documents to judge."""
    sampled = [item for item in pool if item.sampled]
    queries = plural(len({item.query for item in pool}), "query")
    rows = [[name(item.query), name(item.doc), name(item.title or (item.text or ""))] for item in sampled[:HEAD_ROWS]]
    columns = words("query", "document", "title or text")
    parts: list[Part] = [
        sentence(f"{plural(len(sampled), 'document')} of {queries} to judge", "answer"),
        Table(columns, rows, "Pool: first documents", total=len(sampled)),
    ]
    return ResultDocument("Pool", lambda: parts)


def judgments_document(judgments: Sequence[Judgment]) -> ResultDocument:
    """The judgments of people and machines, newest last, and their grades."""
    rows = [
        [
            name(one.query),
            name(one.doc),
            name(one.assessor),
            NO_VALUE if one.grade is None else Number(one.grade, "given"),
        ]
        for one in judgments[:HEAD_ROWS]
    ]
    grades = _histogram(one.grade for one in judgments if one.grade is not None)
    assessors = ", ".join(dict.fromkeys(one.assessor for one in judgments))
    columns = [*words("query", "document", "assessor"), *numbers("grade")]
    table = Table(columns, rows, "First judgments", total=len(judgments))
    facts = _facts(plural(len(judgments), "judgment"), {"grades": grades, "assessors": assessors})
    return ResultDocument("Judgments", lambda: [table, facts])


def _facts(title: str, values: dict[str, str]) -> Facts:
    return Facts({label: [text] for label, text in values.items()}, title)


def _relevant(qrels: Qrels) -> np.ndarray:
    return np.bincount(qrels.query[qrels.grades > 0], minlength=len(qrels.queries))


def _none_if_zero(count: int) -> str:
    return f"{count:,}" if count else ""


def _histogram(grades: Iterable[float]) -> str:
    counts = sorted(Counter(grades).items())
    named = [f"{given(grade)}: {count:,}" for grade, count in counts[:MAX_GRADES]]
    more = len(counts) - len(named)
    return ", ".join([*named, *([plural(more, "more grade")] if more else [])])


def _range(values: np.ndarray) -> str:
    if not len(values):
        return ""
    low, middle, high = (text_of(float(value), "score") for value in (values.min(), np.median(values), values.max()))
    return low if low == high else f"{low} to {high}, median {middle}"
