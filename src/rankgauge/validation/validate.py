"""Validation of a run and of judgments: read everything, run every check, report by code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.ids import Interner, concatenate
from rankgauge.core.overlap import IdSide
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError
from rankgauge.io.join.inputs import as_qrels
from rankgauge.io.rows import Rows
from rankgauge.io.sources import DEFAULT, Limits
from rankgauge.validation import coverage, grades, ids, ranks, results
from rankgauge.validation.findings import Validation, findings_of
from rankgauge.validation.reading import Source, read
from rankgauge.validation.topics import query_ids


def validate_run(
    run: str | Path | Rows,
    qrels: Qrels | Mapping[str, Any] | str | Path | None = None,
    queries: str | Path | Iterable[str | bytes] | None = None,
    *,
    max_depth: int | None = None,
    min_depth: int | None = None,
    cutoffs: Sequence[int] = results.CUTOFFS,
    format: str | None = None,
    strict: bool = False,
    places: int | None = None,
    limits: Limits = DEFAULT,
) -> Validation:
    """All that is wrong with a run: with its rows, and against judgments and queries where these are given.

    ``places`` is how many places of each fault are kept (all by default); the counts are always those of all.
    Raises :class:`InputError` where the file cannot be read at all.
    """
    judged = None if qrels is None else judgments(qrels)
    topics = None if queries is None else query_ids(queries)
    source = read(run, "run", format=format, places=places, limits=limits)
    table = source.table
    if table is not None and len(table):
        results.duplicates(table)
        ranks.check(table)
        for cutoff in cutoffs:
            results.tie(table, cutoff)
        results.deep(table, max_depth)
        results.shallow(table, min_depth)
        results.tags(table)
        ids.invisible(table)
        ids.scattered(table)
        if topics is not None:
            coverage.run_covers(table, topics, what="the topics", unknown="queries-unknown")
        if judged is not None and topics is not None:
            coverage.run_is_judged(table, judged)
        elif judged is not None:
            coverage.run_covers(table, judged.queries, what="the judgments", unknown="queries-unjudged")
        if judged is not None:
            coverage.run_documents(table, judged)
    return _validation(source, strict=strict)


def validate_qrels(
    qrels: str | Path | Rows,
    runs: Sequence[str | Path | Rows] | IdSide = (),
    queries: str | Path | Iterable[str | bytes] | None = None,
    *,
    min_judged: int | None = None,
    by_subtopic: bool = False,
    format: str | None = None,
    strict: bool = False,
    places: int | None = None,
    limits: Limits = DEFAULT,
) -> Validation:
    """All that is wrong with judgments: with their rows, and against runs and queries where these are given.

    ``places`` is how many places of each fault are kept (all by default); the counts are always those of all.
    Raises :class:`InputError` where the file cannot be read at all.
    """
    topics = None if queries is None else query_ids(queries)
    found = runs if isinstance(runs, IdSide) else retrieved(runs, limits) if runs else None
    source = read(qrels, "qrels", format=format, places=places, limits=limits)
    table = source.table
    if table is not None and len(table):
        grades.duplicates(table, by_subtopic=by_subtopic)
        grades.low_grades(table)
        grades.without_relevant(table)
        grades.shallow(table, min_judged)
        ids.invisible(table)
        ids.scattered(table)
        if topics is not None:
            coverage.judged_are_known(table, topics)
        if found is not None:
            coverage.judged_in_runs(table, found)
    return _validation(source, strict=strict)


def judgments(qrels: Qrels | Mapping[str, Any] | str | Path) -> Qrels:
    """Judgments to validate a run against."""
    try:
        return as_qrels(qrels)
    except InputError as error:
        hints = [*([error.hint] if error.hint else []), "look at the judgments first: rankgauge qrels validate"]
        raise type(error)(error.message, hint="\nhint: ".join(hints)) from None


def retrieved(runs: Sequence[str | Path | Rows], limits: Limits = DEFAULT) -> IdSide:
    """The results of all runs together; what is wrong with their lines is another validation's matter."""
    tables = [source.table for run in runs if (source := read(run, "run", places=1, limits=limits)).table is not None]
    queries = concatenate([table.rows.query for table in tables if table is not None])
    docs = concatenate([table.rows.doc for table in tables if table is not None])
    intern = Interner()
    number = intern(queries)
    return IdSide(intern.ids, number, docs)


def _validation(source: Source, *, strict: bool) -> Validation:
    table = source.table
    return Validation(
        file=source.faults.source,
        format=source.format,
        sha256=source.sha256,
        rows=0 if table is None else len(table),
        queries=0 if table is None or not len(table) else int(np.max(table.query)) + 1,
        findings=findings_of(source.faults, strict=strict),
    )
