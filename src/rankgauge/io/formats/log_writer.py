"""Logs, written: one JSON object per query with its results and labels, as ``question_log`` reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from rankgauge.core.batch import WHOLE, Batch, Part
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, RunExtras, Status
from rankgauge.errors import InputError
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.formats.json_text import infinite_score, json_bytes, plain_json
from rankgauge.io.formats.named_columns import ASKED_KEY, Kind, normalize_name
from rankgauge.io.text_checks import int_if_exact, replace_lone_surrogates

if TYPE_CHECKING:
    from rankgauge.core.subtopic_judgments import SubtopicJudgments
    from rankgauge.io.queries import Queries

LOG_KEYS = (
    *("query_id", "query", "system", "retrieved", "relevant", "grades", "evidence", "forbidden", "scores"),
    *("latency_ms", "tokens", "cost", "refused", "error"),
)
RESERVED = frozenset(map(normalize_name, LOG_KEYS))
FAILED_TEXT = "failed"
LOG_SUFFIXES = (".jsonl", ".ndjson")
LogRecord = dict[str, Any]


def write_log(
    path: str | Path,
    run: Run | Sequence[Run],
    qrels: Qrels | None = None,
    queries: Queries | Mapping[str, str] | None = None,
    *,
    inputs: Iterable[str | Path] = (),
    own_id: Callable[[str], str] | None = None,
    collection: str | None = None,
) -> None:
    """Write results as a log, completely or not at all: one line per query, and per system if there are several runs.

    A line has the ids and scores of the results, with the texts and metadata that came with them, the relevant
    documents of ``qrels``, the latency or the error, the query's text and columns, its system, and the
    ``collection`` if it is named. Judged queries that no run has are written without results. ``own_id`` is the id
    that a result had when it was returned.
    """
    runs = [run] if isinstance(run, Run) else list(run)
    labels = {} if qrels is None else _labels_by_query(qrels)
    texts, columns = _query_texts(queries), _query_columns(qrels, queries)
    queries_of_runs: set[str] = set()
    with write_atomically(path, inputs=inputs) as out:

        def write(records: Iterable[LogRecord]) -> None:
            for record in records:
                name = record["query_id"]
                text = {"query": replace_lone_surrogates(texts[name])} if name in texts else {}
                others = {key: value for key, value in columns.get(name, {}).items() if key not in record}
                ordered = {"query_id": name, **text, **record, **labels.get(name, {}), **others}
                out.write(json_bytes(ordered) + b"\n")

        for one in runs:
            names = {"system": one.name, **({} if collection is None else {"collection": collection})}
            is_named = len(runs) > 1 or collection is not None
            records = [{**record, **(names if is_named else {})} for record in _result_records(one, own_id)]
            queries_of_runs.update(record["query_id"] for record in records)
            # A reader sees from the first line that it is a log: first come the queries with labels and results.
            write(record for record in records if record["query_id"] in labels)
            write(record for record in records if record["query_id"] not in labels)
        write({"query_id": name} for name in labels if name not in queries_of_runs)


def is_log_name(out: str | Path) -> bool:
    """Whether results are written to a file as a log, by its name; otherwise as a TREC run."""
    return str(out).casefold().endswith(LOG_SUFFIXES)


def write_log_rows(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """One object per query, with its results or its relevant documents."""
    if kind == "qrels":
        qrels = Qrels.build(rows.query, rows.doc, rows.value).with_queries(rows.empty)
        qrels = qrels.with_forbidden(rows.forbidden).with_evidence(rows.evidence).with_columns(rows.columns)
        columns = _query_columns(qrels, None)
        for name, relevant in _labels_by_query(qrels).items():
            out.write(json_bytes({"query_id": name, **relevant, **columns.get(name, {})}) + b"\n")
        return
    run = replace(Run.build(rows.query, rows.doc, rows.value).with_empty(rows.empty), extras=rows.extras)
    for record in _result_records(run.marked_failed(rows.failed)):
        out.write(json_bytes(record) + b"\n")


def _result_records(run: Run, own_id: Callable[[str], str] | None = None) -> Iterator[LogRecord]:
    """What a run and its extras have of each query, best first."""
    extras = run.extras or RunExtras()
    texts, metadata = extras.texts, {doc: plain_json(dict(values)) for doc, values in extras.metadata.items()}
    infinite = np.flatnonzero(np.isinf(run.scores))
    if len(infinite):
        raise infinite_score(run.docs[int(infinite[0])], run.queries[int(run.query[infinite[0]])])
    best = run.ranked()
    docs, scores, offsets = best.docs.to_text(), best.scores.tolist(), best.offsets.tolist()
    for row, query in enumerate(best.queries.to_text()):
        retrieved, place = [], slice(offsets[row], offsets[row + 1])
        given = extras.given.get(query)
        for doc, score in zip(docs[place], scores[place], strict=True):
            result: LogRecord = {"id": doc if own_id is None else own_id(doc)}
            if given is None or doc in given:
                result["score"] = int_if_exact(score if given is None else given[doc])
            if (text := texts.get(doc)) is not None:
                result["text"] = replace_lone_surrogates(text)
            if doc in metadata:
                result["metadata"] = metadata[doc]
            retrieved.append(result)
        record: LogRecord = {"query_id": query, "retrieved": retrieved}
        asked = extras.requested_k if extras.requested_k is not None else extras.logged_k
        if asked is not None:
            record[ASKED_KEY] = asked
        latency = extras.latency_ms.get(query)
        if latency is not None and math.isfinite(latency):
            record["latency_ms"] = latency
        numbers = {"tokens": extras.tokens.get(query), "cost": extras.cost.get(query)}
        record |= {name: int_if_exact(value) for name, value in numbers.items() if value is not None}
        if query in extras.refused:
            record["refused"] = extras.refused[query]
        columns = {name: int_if_exact(of.numbers[query]) for name, of in extras.numbers.items() if query in of.numbers}
        record |= {name: number for name, number in columns.items() if normalize_name(name) not in RESERVED}
        if best.status[row] == Status.FAILED:
            record["error"] = replace_lone_surrogates(extras.errors.get(query) or FAILED_TEXT)
        yield record


def _labels_by_query(qrels: Qrels) -> dict[str, LogRecord]:
    """The relevant documents of each judged query: their ids, or ids and grades if these differ from 1."""
    if qrels.judgments not in ("grades", "subtopics", "evidence") or _differ_by_subtopic(qrels):
        raise InputError(f"a log holds one grade per document, not the {qrels.judgments} of these judgments")
    docs, grades, offsets = qrels.docs.to_text(), qrels.grades.tolist(), qrels.offsets.tolist()
    labels: dict[str, LogRecord] = {}
    for query, (begin, end) in zip(qrels.queries.to_text(), pairwise(offsets), strict=True):
        graded = {doc: int_if_exact(grade) for doc, grade in zip(docs[begin:end], grades[begin:end], strict=True)}
        is_plain = all(grade == 1 for grade in graded.values())
        labels[query] = {"relevant": list(graded) if is_plain else graded}
    for query, pieces in _evidence_by_query(qrels).items():
        labels[query]["evidence"] = pieces
        if qrels.judgments == "evidence":
            del labels[query]["relevant"]
    for query, forbidden in qrels.forbidden.items():
        if query in labels:
            labels[query]["forbidden"] = list(forbidden)
    return labels


def _differ_by_subtopic(qrels: Qrels) -> bool:
    """Whether a document has another grade for one subtopic than for another, which a log cannot hold."""
    if qrels.judgments == "grades":
        return False
    judgments = cast("SubtopicJudgments", qrels.by_group)
    is_evidence = judgments.level > 0
    return bool((judgments.level != qrels.grades[judgments.ordinal])[is_evidence].any())


def _evidence_by_query(qrels: Qrels) -> dict[str, list[list[str]]]:
    """The pieces of evidence of each query, or its subtopics: the documents that have each."""
    if qrels.judgments not in ("subtopics", "evidence"):
        return {}
    judgments = cast("SubtopicJudgments", qrels.by_group)
    pieces: dict[str, dict[int, list[str]]] = {}
    docs, names = qrels.docs.to_text(), qrels.queries.to_text()
    rows = (judgments.query, judgments.group, judgments.ordinal, judgments.level)
    for query, group, ordinal, level in zip(*(column.tolist() for column in rows), strict=True):
        if level > 0:
            pieces.setdefault(names[query], {}).setdefault(group, []).append(docs[ordinal])
    return {query: list(groups.values()) for query, groups in pieces.items()}


def _query_texts(queries: Queries | Mapping[str, str] | None) -> Mapping[str, str]:
    if queries is None or isinstance(queries, Mapping):
        return queries or {}
    return queries.known_texts()


def _query_columns(qrels: Qrels | None, queries: Queries | Mapping[str, str] | None) -> dict[str, LogRecord]:
    """The columns of each query that a log keeps: plain values under names that mean nothing else there."""
    columns: dict[str, Mapping[str, Any]] = {}
    if qrels is not None:
        names = qrels.queries.to_text()
        columns = {name: dict(zip(names, values.tolist(), strict=True)) for name, values in qrels.columns.items()}
    if queries is not None and not isinstance(queries, Mapping):
        columns |= queries.columns
    by_query: dict[str, LogRecord] = {}
    for name, values in columns.items():
        for query, value in values.items() if normalize_name(name) not in RESERVED else ():
            if isinstance(value, (str, int, float)) and (plain := plain_json(value)) is not None:
                by_query.setdefault(query, {})[replace_lone_surrogates(name)] = plain
    return by_query
