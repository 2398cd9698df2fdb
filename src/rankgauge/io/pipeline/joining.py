"""Judgments joined with whatever a caller has as results: the way into every number.

A source is read batch by batch and never becomes a run in memory, unless its rankings are kept. What is in memory
already is joined as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import listing, plural
from rankgauge.core.hits import Hits, Joined
from rankgauge.core.hits_builder import join
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run, RunExtras, Status
from rankgauge.errors import InputError, Note, escape_id, printable, shown
from rankgauge.io.byte_streams import is_dataset
from rankgauge.io.pipeline import run_pipeline
from rankgauge.io.pipeline.run_pipeline import (
    ALL_ROWS,
    Progress,
    RunReader,
    RunRows,
    first_results,
    part_sha256,
    run_name,
)
from rankgauge.io.read import as_run
from rankgauge.io.reading_options import Reading
from rankgauge.io.sources import Source, is_graded, open_results

if TYPE_CHECKING:
    from rankgauge.core.id_overlap import Near

FEW_JUDGED = 10  # ids are examined if fewer than one in this many of the documents that could be judged is judged …
EXAMINED_ROWS = 1 << 18  # … in the first rows of a run
SHOWN_NAMES = 5
SWAPPED = "values-swapped"
SWAPPED_VALUES = (
    "the judgments have fractions as grades, and the results only whole numbers as scores: are they swapped? judgments "
    "come first, then results"
)


def join_any(
    qrels: Qrels, data: Any, reading: Reading, compat: Compat, progress: Progress | None = None
) -> list[Joined]:
    """Join judgments with a run, a dict, a frame or a path; a path or a lazy table may hold several runs."""
    if _is_source(data, reading):
        hashed = reading.fingerprint or reading.keep_rankings
        with open_results(data, "run", format=reading.run_format, limits=reading.limits, hashed=hashed) as source:
            return join_source(qrels, source, reading, compat, progress)
    is_kept = reading.fingerprint or reading.keep_rankings or bool(reading.keep_top)
    if isinstance(data, Mapping) and not is_kept and is_graded(data):
        joined = _join_dict(qrels, data, compat) if "dict" in run_pipeline.SHORTCUTS else None
        if joined is not None:
            return [joined]
    run = as_run(data, reading)
    return [join_run(qrels, run, (), reading, compat, has_names=isinstance(data, Mapping) and is_graded(data))]


def _is_source(data: Any, reading: Reading) -> bool:
    """Whether something is read batch by batch."""
    if isinstance(data, (str, Path)):
        return not is_dataset(data)
    if isinstance(data, (Run, Mapping)) or reading.fingerprint or reading.keep_rankings:
        return False
    from rankgauge.io.formats.frames import is_lazy_table

    return is_lazy_table(data)


def join_source(
    qrels: Qrels, source: Source, reading: Reading, compat: Compat, progress: Progress | None = None
) -> list[Joined]:
    """Join judgments with each run of a source."""
    depth = ALL_ROWS if reading.keep_rankings else reading.keep_top
    reader = RunReader(source, reading, qrels=qrels, compat=compat, kept_depth=depth, progress=progress)
    read = reader.read()
    sha256, notes = source.sha256(), tuple(reader.faults.notes("note"))

    def joined(run: RunRows) -> Joined:
        assert run.hits is not None
        name, digest = run_name(run, source), part_sha256(sha256, run, read)
        kept = run.run(name, digest) if depth else None
        whole = kept if reading.keep_rankings else None

        def results() -> Run:
            return first_results(source, run, reading, EXAMINED_ROWS) if whole is None else _first_queries(whole)

        sample = tuple(run.queries.head(3))
        top = None if reading.keep_rankings else kept
        holds_empty = source.format in run_pipeline.HOLDS_EMPTY
        count, extras = len(run.queries), run.extras
        found = Joined(run.hits, name, count, sample, digest, notes, whole, top, extras, holds_empty=holds_empty)
        return _with_notes(qrels, found, run.queries, results, results if source.format == "json" else None)

    return list(map(joined, read))


def _join_dict(qrels: Qrels, results: Mapping[str, Mapping[str, SupportsFloat]], compat: Compat) -> Joined | None:
    """Join judgments with ``{query: {document: score}}`` as it is; None if it is left to the pipeline."""
    from rankgauge.io.pipeline.dict_lookup import dict_hits, first_judged_queries

    hits = dict_hits(qrels, results, compat)
    if hits is None:
        return None
    sample = tuple(str(query).encode("utf-8", "surrogateescape") for query in islice(results, 3))
    joined = Joined(hits, "run", len(results), sample, holds_empty=True)
    queries = Ids.from_text(results, "query id")
    first = partial(first_judged_queries, qrels, results, EXAMINED_ROWS)
    return _with_notes(qrels, joined, queries, first, partial(Run.from_dict, results))


def join_run(
    qrels: Qrels, run: Run, notes: tuple[Note, ...], reading: Reading, compat: Compat, *, has_names: bool = False
) -> Joined:
    """Join judgments with a run in memory; ``notes`` are those on its file."""
    joined = Joined(
        join(qrels, run, compat=compat),
        run.name,
        len(run.queries),
        tuple(run.queries.head(3)),
        sha256=run.sha256 if reading.fingerprint else None,
        notes=notes,
        run=run if reading.keep_rankings else None,
        top=run if reading.keep_top and not reading.keep_rankings else None,
        extras=run.extras,
        holds_empty=run.holds_empty,
    )
    named = (lambda: run) if has_names else None
    return _with_notes(qrels, joined, run.queries, lambda: _first_queries(run), named)


def _with_notes(
    qrels: Qrels, joined: Joined, queries: Ids, results: Callable[[], Run], named: Callable[[], Run] | None
) -> Joined:
    """The join with notes about ids that nearly match; results are requested only if few of them match.

    ``named`` are the results if each query has ``{name: number}``, whose names need not be documents.
    """
    results = cache(results)
    is_missing = joined.hits.status == Status.MISSING
    has_unmatched = bool(is_missing.any()) and joined.queries > len(is_missing) - int(is_missing.sum())
    has_few_judged = _has_few_judged(joined.hits)
    has_fractions = joined.hits.judgments == "grades" and _are_whole(qrels.grades) is False
    has_paths = _has_unretrieved_paths(qrels, joined.hits)
    has_wholes = not has_few_judged and _has_unretrieved_wholes(qrels, joined.hits)
    if not (has_unmatched or has_few_judged or has_fractions or has_paths or has_wholes):
        return joined
    notes = _near_queries(qrels, queries) if has_unmatched else ()
    path_notes = _path_notes(qrels, results(), joined.hits) if has_paths else ()
    notes += _document_notes(qrels, results(), joined.hits, path_notes) if has_few_judged else path_notes
    if named is not None and has_few_judged and not len(joined.hits.rank) and len(notes) == 1:  # nothing says why
        _check_names_are_documents(qrels, joined.name, named())
    notes += _whole_notes(qrels, results()) if has_wholes else ()
    if has_fractions and _scores_look_like_grades(results()):
        notes += (Note(SWAPPED, SWAPPED_VALUES),)
    return replace(joined, notes=joined.notes + notes)


def _check_names_are_documents(qrels: Qrels, name: str, run: Run) -> None:
    """Raise if each query has the same names, none of which any label has: they are those of measures."""
    names = run.docs.take(np.arange(run.offsets[1])).to_text() if len(run.queries) > 1 else []
    every = set(run.docs)
    is_repeated = len(names) * len(run.queries) == len(run.docs) and len(every) == len(names)
    if not names or not is_repeated or _are_from_ranks(run) or not every.isdisjoint(qrels.docs):
        return
    named = listing(map(shown, names), SHOWN_NAMES)
    raise InputError(
        f"run {shown(name)}: every query has a number of {named}, and no label has such an id: expected documents",
        hint=f"values of measures are scores: a table with the columns query,{printable(names[0])}, without labels",
    )


def _are_whole(values: Floats) -> bool:
    return bool(np.all(np.floor(values) == values))


def _scores_look_like_grades(run: Run) -> bool:
    """Whether all scores are whole numbers, and not those that a list without scores gets, from its length to 1."""
    if not len(run.scores) or not _are_whole(run.scores):
        return False
    return not _are_from_ranks(run)


def _are_from_ranks(run: Run) -> bool:
    """Whether the scores are those of lists without scores, from the length of each to 1."""
    return np.array_equal(run.scores, np.repeat(run.offsets[1:], np.diff(run.offsets)) - np.arange(len(run.scores)))


def _has_few_judged(hits: Hits) -> bool:
    """Whether almost none of the documents that could be judged are."""
    possible = int(np.minimum(np.diff(hits.judged_offsets), hits.retrieved).sum())
    return FEW_JUDGED * len(hits.rank) < possible


def _first_queries(run: Run) -> Run:
    """The results of the first queries."""
    queries = np.flatnonzero(run.offsets[:-1] < EXAMINED_ROWS)
    return run if len(queries) == len(run.queries) else run.select(queries)


# -- why few ids match: they may differ only in case, quotation marks, leading zeros or Unicode normalization --------


def _near_queries(qrels: Qrels, queries: Ids) -> tuple[Note, ...]:
    """A note for each difference in spelling without which queries of a run would be judged ones."""
    from rankgauge.core.id_overlap import IdOverlap, queries_only  # few runs need it

    overlap = IdOverlap(queries_only(qrels.queries), queries_only(queries))
    return tuple(_near_notes(overlap.near_queries, "query", qrels.queries, queries))


def _document_notes(qrels: Qrels, run: Run, hits: Hits, known: tuple[Note, ...]) -> tuple[Note, ...]:
    """A note for each difference in spelling without which documents of a run would be judged for their query.

    ``known`` are others that say why few ids match. If none is judged, there is one more, with ids of both sides.
    """
    from rankgauge.core.id_overlap import IdOverlap, IdSide, nothing_judged  # few runs need it

    overlap = IdOverlap(IdSide(qrels.queries, qrels.query, qrels.docs), IdSide(run.queries, run.query, run.docs))
    notes = (*_near_notes(overlap.near_documents, "document", qrels.docs, run.docs), *known)
    if len(hits.rank) or hits.judgments == "passages":
        return notes
    extras = run.extras or RunExtras()
    returned = () if notes or hits.judgments != "grades" else _part_notes(qrels, run)
    found = nothing_judged(
        overlap,
        extras.metadata,
        ids_change=extras.ids_change,
        path=extras.judged_path,
        is_explained=bool(notes),
        has_option=bool(returned),
    )
    return (found, *notes, *returned)


# -- labels of which none is an id: what was returned may contain them ------------------------------------------------

MIN_PART = 3  # bytes of a label that is looked for in ids and texts
EXAMINED_PER_QUERY = 100  # labels, and results
MIN_SHARE = 0.5  # of the labels that must be found, so that the option is worth its name


def _part_notes(qrels: Qrels, run: Run) -> tuple[Note, ...]:
    """A note if labels are parts of the ids of results, or of their texts, with the option that compares these.

    A part of an id begins and ends at a mark: if ``doc-1`` is also found in ``doc-10``, comparing parts is no way out.
    """
    extras = run.extras or RunExtras()
    texts = extras.texts if extras.is_live else {}  # those of a log are not kept on every way in
    in_ids: list[tuple[str, str]] = []
    in_texts: list[tuple[str, str]] = []
    labels_seen, is_loose = 0, False
    for labels, results in _labels_and_results(qrels, run):
        labels_seen += len(labels)
        for label in labels:
            if len(label.encode("utf-8", "surrogateescape")) < MIN_PART:
                continue
            with_part = [result for result in results if label in result]
            is_loose = is_loose or any(not _is_bounded(label, result) for result in with_part)
            in_ids += [(label, with_part[0])] if with_part else []
            in_text = (result for result in results if label in (texts.get(result) or ""))
            in_texts += [(label, result) for result in islice(in_text, 1)]
    if in_ids and not is_loose and len(in_ids) >= max(MIN_SHARE * labels_seen, len(in_texts)):
        return (_part_note("labels-contained", in_ids, labels_seen, "part of a result's id", "contains"),)
    if in_texts and len(in_texts) >= MIN_SHARE * labels_seen:
        return (_part_note("labels-in-texts", in_texts, labels_seen, "in the text of a result", "text"),)
    return ()


def _part_note(code: str, found: list[tuple[str, str]], labels_seen: int, where: str, rule: str) -> Note:
    label, result = found[0]
    verb = "is" if len(found) == 1 else "are"
    in_result = f"{shown(label)} in {'that of ' if rule == 'text' else ''}{shown(result)}"
    count = f"{len(found):,} of {plural(labels_seen, 'label')}"
    return Note(code, f"{count} {verb} {where}: {in_result}: --match {rule} (Reading(match={rule!r}))")


def _is_bounded(label: str, result: str) -> bool:
    """Whether a label is in an id, and neither a letter nor a digit is beside it."""
    start = result.find(label)
    while start >= 0:
        before, after = result[max(start - 1, 0) : start], result[start + len(label) :][:1]
        if not (before.isalnum() and label[0].isalnum()) and not (after.isalnum() and label[-1].isalnum()):
            return True
        start = result.find(label, start + 1)
    return False


def _labels_and_results(qrels: Qrels, run: Run) -> Iterator[tuple[list[str], list[str]]]:
    """The relevant labels and the ids of the results of each query, as far as the first results go."""
    queries, numbers = qrels.query_index.find(run.queries, np.zeros(len(run.queries), dtype=np.int64))
    results_seen = 0
    for query, number in zip(queries.tolist(), numbers.tolist(), strict=True):
        results = np.arange(int(run.offsets[query]), int(run.offsets[query + 1]))
        results_seen += len(results)
        if results_seen > EXAMINED_PATHS:
            return
        own = np.arange(int(qrels.offsets[number]), int(qrels.offsets[number + 1]))
        labels = qrels.docs.take(own[qrels.grades[own] > 0][:EXAMINED_PER_QUERY]).to_text()
        yield labels, run.docs.take(results[:EXAMINED_PER_QUERY]).to_text()


# -- labels that are paths: the end of one may be what results have --------------------------------------------------

EXAMINED_LABELS = 1000  # that were not retrieved, to see whether they are paths
EXAMINED_PATHS = 1 << 14  # results that are compared with labels
PATH = re.compile(rb"/|\.[A-Za-z][A-Za-z0-9]{0,5}$")  # a folder, or the extension of a file


def _has_unretrieved_paths(qrels: Qrels, hits: Hits) -> bool:
    """Whether relevant documents of answered queries were not retrieved, and their ids look like paths."""
    if hits.judgments != "grades":
        return False
    rows = np.flatnonzero(_unretrieved(qrels, hits) & (hits.status == Status.ANSWERED)[qrels.query])
    return any(PATH.search(label) for label in qrels.docs.take(rows[:EXAMINED_LABELS]))


def _unretrieved(qrels: Qrels, hits: Hits) -> NDArray[np.bool_]:
    """Which judgments are of relevant documents that were not retrieved."""
    is_unretrieved: NDArray[np.bool_] = qrels.grades > 0
    is_unretrieved[hits.ordinal] = False
    return is_unretrieved


def _path_notes(qrels: Qrels, run: Run, hits: Hits) -> tuple[Note, ...]:
    """A note if labels that were not retrieved are the ends of paths that were, or are the same but for a slash.

    A label without a folder may be the name of many files: it counts only if no result of its query is judged. If no
    result is judged at all, and most labels are not the ends of paths, they may be parts of ids: no note then.
    """
    from rankgauge.io.matching import path_key, resolve_paths  # few labels are paths

    is_unretrieved = _unretrieved(qrels, hits)
    found: list[tuple[str, str]] = []
    labels_seen = results_seen = 0
    queries, numbers = qrels.query_index.find(run.queries, np.zeros(len(run.queries), dtype=np.int64))
    for query, number in zip(queries.tolist(), numbers.tolist(), strict=True):
        results = np.arange(int(run.offsets[query]), int(run.offsets[query + 1]))
        results_seen += len(results)
        if results_seen > EXAMINED_PATHS:
            break
        own = np.arange(int(qrels.offsets[number]), int(qrels.offsets[number + 1]))
        labels_seen += int((qrels.grades[own] > 0).sum())
        labels = qrels.docs.take(own[is_unretrieved[own]]).to_text()
        labels = [label for label in labels if not hits.count[number] or "/" in path_key(label)]
        resolved = resolve_paths(labels, run.docs.take(results).to_text()) if labels else {}
        found += [(label, next(iter(ids))) for label, ids in resolved.items()]
    is_rare = not len(hits.rank) and len(found) < MIN_SHARE * labels_seen
    if not found or (is_rare and _part_notes(qrels, run)):
        return ()
    label, result = found[0]
    return (
        Note(
            "labels-suffix",
            f"{len(found):,} of {plural(labels_seen, 'label')} would match a result by the end of a path: "
            f"{shown(label)} is {shown(result)} in the run: --match suffix (Reading(match='suffix'))",
        ),
    )


# -- labels of which some are parts of documents, and others whole ones ----------------------------------------------

PART_MARK = "#"  # before the name of a part: guide.md#install


def _has_unretrieved_wholes(qrels: Qrels, hits: Hits) -> bool:
    """Whether labels of queries without a judged result are whole documents, while others are parts of documents."""
    is_unfound = (hits.status == Status.ANSWERED) & (hits.count == 0)
    if hits.judgments != "grades" or not is_unfound.any():
        return False
    mark, rows = PART_MARK.encode(), np.flatnonzero(is_unfound[qrels.query] & (qrels.grades > 0))
    has_wholes = any(mark not in label for label in qrels.docs.take(rows[:EXAMINED_LABELS]))
    return has_wholes and any(mark in label for label in qrels.docs.head(EXAMINED_LABELS))


def _whole_notes(qrels: Qrels, run: Run) -> tuple[Note, ...]:
    """A note if no label of a query was retrieved, and one is the document of a part that was."""
    found: list[tuple[str, str]] = []
    labels_seen = 0
    for labels, results in _labels_and_results(qrels, run):
        labels_seen += len(labels)
        if set(labels).isdisjoint(results):
            pairs = [(label, part) for label in labels for part in results if part.startswith(label + PART_MARK)]
            found += {label: (label, part) for label, part in pairs}.values()
    return (_part_note("labels-contained", found, labels_seen, "part of a result's id", "contains"),) if found else ()


def _near_notes(near: Near, what: str, qrels_ids: Ids, run_ids: Ids) -> Iterator[Note]:
    from rankgauge.core.id_overlap import REWRITINGS  # few runs need it

    for code, qrels_rows, run_rows in near:
        show = escape_id if code == "ids-unicode" else shown  # ids that look the same are escaped
        yield Note(
            code,
            f"{plural(len(qrels_rows), f'{what} id')} of the run would match the judgments {REWRITINGS[code][0]}: "
            f"{show(run_ids[int(run_rows[0])])} is {show(qrels_ids[int(qrels_rows[0])])} there",
        )
