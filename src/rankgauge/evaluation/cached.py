"""``evaluate`` with a cache: judgments and run are read, but joined only if a value is not cached yet.

It pays if the same large runs are scored again and again. Reading and hashing the files are not saved, so for small
files it gains nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError
from rankgauge.evaluation.cache import MetricsCache, content_key
from rankgauge.evaluation.conventions import Conventions, MeasureNames
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Evaluation, check_one_run, score
from rankgauge.evaluation.notes import Note
from rankgauge.evaluation.scores import Scores
from rankgauge.io.options import Reading
from rankgauge.io.pipeline.joining import join_run
from rankgauge.io.queries import as_queries
from rankgauge.io.read import as_qrels, runs_and_notes
from rankgauge.io.records import parse_record
from rankgauge.io.shapes import AtMost
from rankgauge.io.sources import check_runs
from rankgauge.measures.spec import Measure

HEADER_SHAPE = {"status": [AtMost(max(Status))], "averaged": [bool], "without_relevant": [bool], "notes": [[str]]}


def evaluate_cached(
    qrels: AnyQrels,
    run: AnyRun,
    measures: MeasureNames | None = None,
    *,
    cache: MetricsCache,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
) -> Scores:
    """Score one run, taking from the cache what it has. The scores are those of ``evaluate`` to the last bit.

    Measures that were declared outside rankgauge are never cached: their code may change under the same name.
    Nor are values on gold passages: the hash of these is that of the labels, whatever the chunks are.
    """
    conventions, reading = conventions or Conventions(), reading or Reading()
    judgments = conventions.judgments(as_qrels(qrels, reading))
    rankings, file_notes = runs_and_notes(run, reading)  # notes on a file are never cached: its name may change
    check_one_run(run, [ranking.name for ranking in rankings])
    return _evaluate_run(
        judgments, rankings[0], file_notes, conventions.measures(measures), cache, conventions, reading
    )


def _evaluate_run(
    judgments: Qrels,
    ranking: Run,
    file_notes: tuple[Note, ...],
    requested: tuple[Measure, ...],
    cache: MetricsCache,
    conventions: Conventions,
    reading: Reading,
) -> Scores:
    measures: tuple[Measure, ...]
    content = content_key(judgments.sha256, _content(ranking), asdict(conventions))
    about = content_key(content, "about", sorted({m.cutoff for m in requested if isinstance(m.cutoff, int)}))
    keys = [content_key(content, measure.name, _cutoffs(judgments, measure)) for measure in requested]
    is_cacheable = judgments.judgments != "passages" and all(map(_is_built_in, requested))
    header = _parse_header(cache.get(about), len(judgments.queries)) if is_cacheable else None
    if header is not None:
        measures = tuple(measure.frozen(judgments) for measure in requested)
        columns = [
            _parse_entry(cache.get(key), _names(*pair), len(judgments.queries))
            for key, pair in zip(keys, zip(requested, measures, strict=True), strict=True)
        ]
        values = [column for column in columns if column is not None]
        if len(values) == len(columns):
            return Scores(
                run=ranking.name,
                run_sha256=ranking.sha256 if reading.fingerprint else None,
                qrels=judgments.name,
                qrels_sha256=judgments.sha256 if reading.fingerprint else None,
                queries=tuple(judgments.queries.to_text()),
                measures=measures,
                values=np.column_stack(values),
                conventions=conventions,
                columns=judgments.columns,
                requested=requested,
                status=np.array(header["status"], dtype=np.uint8),
                averaged=np.array(header["averaged"], dtype=bool),
                without_relevant=np.array(header["without_relevant"], dtype=bool),
                notes=file_notes + tuple(Note(code, message) for code, message in header["notes"]),
            )
    joined = join_run(judgments, ranking, (), reading, conventions.compat)
    scores = score(judgments, joined, requested, conventions)
    if is_cacheable:
        cache.put({about: _header(scores), **{key: _entry(scores, index) for index, key in enumerate(keys)}})
    return replace(scores, notes=file_notes + scores.notes)


def evaluate_runs_cached(
    qrels: AnyQrels,
    runs: Sequence[AnyRun],
    measures: MeasureNames | None = None,
    *,
    cache_file: str | Path,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
    queries: Any = None,
) -> Evaluation:
    """Score several runs with a cache in a file. The evaluation has no joins: cached values need none."""
    check_runs(runs)
    reading = reading or Reading()
    conventions = conventions or Conventions()
    judgments = as_qrels(qrels, reading)
    texts: dict[str, str] = {}
    if queries is not None:
        queries = as_queries(queries, limits=reading.limits)
        judgments, texts = judgments.with_columns(queries.columns), queries.known_texts()
    judgments, requested = conventions.judgments(judgments), conventions.measures(measures)
    with MetricsCache(cache_file) as cache:
        scores = [
            _evaluate_run(judgments, ranking, notes, requested, cache, conventions, reading)
            for rankings, notes in (runs_and_notes(run, reading) for run in runs)
            for ranking in rankings
        ]
    return Evaluation(judgments, (), tuple(scores), texts).uniquely_named()


def _is_built_in(measure: Measure) -> bool:
    return measure.definition.kernel.__module__.startswith("rankgauge.")


def _content(run: Run) -> str:
    """A hash of the rows in memory: the file's hash stays the same if the run is cut after reading."""
    return replace(run, source_sha256=None).sha256


def _cutoffs(qrels: Qrels, measure: Measure) -> list[object] | None:
    """The cutoff of each query if it comes from a column, which the hash of the judgments does not cover."""
    if not isinstance(measure.cutoff, str) or measure.cutoff not in qrels.columns:
        return None
    cutoffs: list[object] = qrels.columns[measure.cutoff].tolist()
    return cutoffs


def _entry(scores: Scores, index: int) -> bytes:
    """The values of one measure: its name as requested, its name as evaluated, and a float for each query."""
    names = _names(scores.requested[index], scores.measures[index])
    return names + np.ascontiguousarray(scores.values[:, index], dtype="<f8").tobytes()


def _names(requested: Measure, measure: Measure) -> bytes:
    return f"{requested}\n{measure}\n".encode()


def _parse_entry(entry: bytes | None, names: bytes, queries: int) -> Floats | None:
    """The values of a measure, one per query; None if there are none, or the entry is damaged."""
    if entry is None or not entry.startswith(names) or len(entry) != len(names) + queries * np.dtype("<f8").itemsize:
        return None
    return np.frombuffer(entry, dtype="<f8", offset=len(names))


def _header(scores: Scores) -> bytes:
    about = {
        "status": scores.status.tolist(),
        "averaged": scores.averaged.tolist(),
        "without_relevant": scores.without_relevant.tolist(),
        "notes": [[note.code, note.message] for note in scores.notes],
    }
    return json.dumps(about).encode()


def _parse_header(header: bytes | None, queries: int) -> dict[str, Any] | None:
    """What holds for all measures; None if there is nothing, or the entry is damaged."""
    if header is None:
        return None
    try:
        about: dict[str, Any] = parse_record("cache", None, header, shape=HEADER_SHAPE)
    except InputError:
        return None
    sizes = {len(about[name]) for name in ("status", "averaged", "without_relevant")}
    return about if sizes == {queries} and all(len(note) == 2 for note in about["notes"]) else None
