"""Validation of runs and judgments: read everything, run every check, report by code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rankgauge.core.ids import Interner, concatenate
from rankgauge.core.overlap import IdSide
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError
from rankgauge.io.byte_streams import AnyFile
from rankgauge.io.queries import AnyQueries, read_query_ids
from rankgauge.io.read import SourceRows, as_qrels
from rankgauge.validation import coverage, grades, ids, ranks, results
from rankgauge.validation.findings import Validation, findings_by_code
from rankgauge.validation.options import DEFAULT_OPTIONS, ValidationOptions
from rankgauge.validation.preferences import report_contradictory_preferences
from rankgauge.validation.reading import ValidatedFile, read_for_validation
from rankgauge.validation.scanning import scan_for_validation


def validate_run(
    run: AnyFile | SourceRows | ValidatedFile,
    qrels: Qrels | Mapping[str, Any] | AnyFile | None = None,
    queries: AnyQueries | None = None,
    options: ValidationOptions = DEFAULT_OPTIONS,
) -> Validation:
    """Find everything that is wrong with a run, by itself and against judgments and queries if these are given.

    Raises :class:`InputError` if the file cannot be read at all.
    """
    judged = None if qrels is None else read_qrels_to_check_against(qrels)
    query_ids = None if queries is None else read_query_ids(queries)
    file = scan_for_validation(run, options) if judged is None and query_ids is None else None
    file = file or read_for_validation(run, "run", options)
    table = file.table
    if table is not None and len(table):
        results.report_duplicate_documents(table)
        ranks.report_rank_faults(table)
        for cutoff in options.cutoffs:
            results.report_tie_at_cutoff(table, cutoff)
        results.report_deep_queries(table, options.max_depth)
        results.report_shallow_queries(table, options.min_depth)
        results.report_mixed_tags(table)
        ids.report_invisible_characters(table)
        ids.report_split_queries(table)
        if query_ids is not None:
            coverage.report_coverage(table, query_ids, what="the queries", unknown_code="queries-unknown")
        if judged is not None and query_ids is not None:
            coverage.report_unjudged_queries(table, judged)
        elif judged is not None:
            coverage.report_coverage(table, judged.queries, what="the judgments", unknown_code="queries-unjudged")
        if judged is not None:
            coverage.report_run_documents(table, judged)
    return _validation(file, strict=options.strict)


def validate_qrels(
    qrels: AnyFile | SourceRows | ValidatedFile,
    runs: Sequence[AnyFile | SourceRows] | IdSide = (),
    queries: AnyQueries | None = None,
    options: ValidationOptions = DEFAULT_OPTIONS,
) -> Validation:
    """Find everything that is wrong with judgments, by themselves and against runs and queries if these are given.

    Raises :class:`InputError` if the file cannot be read at all.
    """
    query_ids = None if queries is None else read_query_ids(queries)
    retrieved = runs if isinstance(runs, IdSide) else read_retrieved(runs, options) if runs else None
    file = read_for_validation(qrels, "qrels", options)
    table = file.table
    if table is not None and len(table):
        grades.report_duplicate_judgments(table, by_subtopic=options.by_subtopic)
        if table.judgments == "preferences":  # a level is not a grade
            report_contradictory_preferences(table)
        else:
            grades.report_low_grades(table)
            grades.report_queries_without_relevant(table)
        grades.report_shallow_pools(table, options.min_judged)
        ids.report_invisible_characters(table)
        ids.report_split_queries(table)
        if query_ids is not None:
            coverage.report_unknown_queries(table, query_ids)
        if retrieved is not None:
            coverage.report_unretrieved(table, retrieved)
    return _validation(file, strict=options.strict)


def read_qrels_to_check_against(qrels: Qrels | Mapping[str, Any] | AnyFile) -> Qrels:
    """Judgments to validate a run against."""
    try:
        return as_qrels(qrels)
    except InputError as error:
        hints = [*([error.hint] if error.hint else []), "validate the judgments first: rankgauge qrels validate"]
        raise type(error)(error.message, hint="\nhint: ".join(hints)) from None


def read_retrieved(runs: Sequence[AnyFile | SourceRows], options: ValidationOptions = DEFAULT_OPTIONS) -> IdSide:
    """The results of all runs together; the faults of their lines are reported when they are validated."""
    options = replace(options, format=None, max_places=1)
    tables = [table for run in runs if (table := read_for_validation(run, "run", options).table) is not None]
    queries = concatenate([table.rows.query for table in tables])
    docs = concatenate([table.rows.doc for table in tables])
    intern = Interner()
    query_number = intern(queries)
    return IdSide(intern.ids, query_number, docs)


def _validation(file: ValidatedFile, *, strict: bool) -> Validation:
    table = file.table
    return Validation(
        file=file.faults.source,
        format=file.format,
        sha256=file.sha256,
        rows=0 if table is None else table.row_count,
        queries=0 if table is None else table.query_count,
        findings=findings_by_code(file.faults, strict=strict),
    )
