"""A cache of computed values, keyed by the content they were computed from, and ``evaluate`` through it.

A key is a hash of content: judgments, run, canonical name of the measure, conventions. A query id, a file name or a
modification time say nothing about content, and a cache keyed by them would serve stale numbers.
"""

from __future__ import annotations

import hashlib
import json
import struct
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge._version import __version__
from rankgauge.core.arrays import Floats
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, UsageError
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Evaluation, check_one_run, needs_answers, score
from rankgauge.evaluation.scores import Scores
from rankgauge.io.owned_databases import DatabaseKind, OwnedDatabase
from rankgauge.io.pipeline.joining import join_run
from rankgauge.io.queries import as_queries
from rankgauge.io.read import as_qrels, runs_and_notes
from rankgauge.io.reading_options import Reading
from rankgauge.io.sources import check_runs
from rankgauge.io.stored_json import AtMost, parse_record
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames, parse_measure

CACHE_FORMAT = "rankgauge cache 2"
SEAL_BYTES = 16  # before each value in a file: a hash of its key and itself
MAX_ENTRIES_IN_MEMORY = 10_000
CACHE_KIND = DatabaseKind(
    "a cache",
    0x726B6763,  # "rkgc"
    version=1,
    tables=("CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",),
    hint="delete the file: its values are computed again, and nothing is lost",
    other_version="delete the file, since its values are computed again, or name another one",
)


@dataclass(frozen=True)
class CacheInfo:
    """The number of hits, misses and entries."""

    hits: int
    misses: int
    entries: int


class MetricsCache:
    """A cache in memory and, with a path, in an SQLite file that several processes may share.

    In memory the least recently used entries are evicted. The file only grows, until :meth:`clear`. Another version
    of rankgauge does not use what this one wrote.
    """

    def __init__(self, path: str | Path | None = None, *, in_memory: int = MAX_ENTRIES_IN_MEMORY) -> None:
        if in_memory < 1:
            raise UsageError(f"in_memory must be at least 1, found {in_memory}")
        self.path = None if path is None else Path(path)
        self._database = None if path is None else OwnedDatabase(Path(path), CACHE_KIND)
        self._in_memory = in_memory
        self._memory: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._hits = self._misses = 0

    # -- by content ------------------------------------------------------------------------------------------

    def get(self, key: str) -> bytes | None:
        """The value of a key; None if there is none."""
        with self._lock:
            value = self._memory.get(key)
            if value is None and self._database is not None:
                value = self._read(self._database, key)
            if value is None:
                self._misses += 1
            else:
                self._hits += 1
                self._remember(key, value)
            return value

    def put(self, entries: Mapping[str, bytes]) -> None:
        """Store entries, replacing any of the same key: it has the same value, unless it is damaged."""
        with self._lock:
            for key, value in entries.items():
                self._remember(key, value)
            if self._database is not None and entries:
                with self._database.transaction() as connection:
                    connection.executemany(
                        "INSERT OR REPLACE INTO entries VALUES (?, ?)",
                        [(key, _seal(key, value) + value) for key, value in entries.items()],
                    )

    def clear(self) -> None:
        """Delete all entries, in the file too."""
        with self._lock:
            self._memory.clear()
            if self._database is not None:
                with self._database.transaction() as connection:
                    connection.execute("DELETE FROM entries")

    def info(self) -> CacheInfo:
        """Hits and misses of this object since it was created; the entries are those of the file if there is one."""
        with self._lock:
            entries = len(self._memory)
            if self._database is not None:
                entries = self._database.query("SELECT count(*) FROM entries")[0][0]
            return CacheInfo(self._hits, self._misses, entries)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._database is not None:
                self._database.close()

    # -- the names of RETRIEVAL-METRICS-001, §8.2 ------------------------------------------------------------

    def get_cached_metric(self, query_id: str, metric: str, k: int, *, content: str | None = None) -> float | None:
        """The value of a metric for a query, if it was cached for this content.

        ``content`` is a hash of what the value was computed from (:func:`content_key` makes one). Without it the
        content is unknown: such a value lives as long as this object and is never written to its file.
        """
        key = _metric_key(query_id, metric, k, content)
        value = self.get(key) if content is not None else self._get_from_memory(key)
        return None if value is None or len(value) != struct.calcsize("<d") else float(struct.unpack("<d", value)[0])

    def cache_metric(self, query_id: str, metric: str, k: int, value: float, *, content: str | None = None) -> None:
        """Store the value of a metric for a query, for this content."""
        entry = {_metric_key(query_id, metric, k, content): struct.pack("<d", value)}
        if content is not None:
            self.put(entry)
        else:
            with self._lock:
                for key, packed in entry.items():
                    self._remember(key, packed)

    def _get_from_memory(self, key: str) -> bytes | None:
        with self._lock:
            value = self._memory.get(key)
            self._hits, self._misses = self._hits + (value is not None), self._misses + (value is None)
            return value

    # -- the two stores --------------------------------------------------------------------------------------

    def _remember(self, key: str, value: bytes) -> None:
        self._memory[key] = value
        self._memory.move_to_end(key)
        while len(self._memory) > self._in_memory:
            self._memory.popitem(last=False)

    @staticmethod
    def _read(database: OwnedDatabase, key: str) -> bytes | None:
        """The entry in the file; None if it is damaged, or the entry of another key."""
        rows = database.query("SELECT value FROM entries WHERE key = ?", (key,))
        if not rows or not isinstance(rows[0][0], bytes):  # SQLite stores any type in any column
            return None
        seal, value = rows[0][0][:SEAL_BYTES], rows[0][0][SEAL_BYTES:]
        return value if seal == _seal(key, value) else None

    def __enter__(self) -> MetricsCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _seal(key: str, value: bytes) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass") + b"\n" + value).digest()[:SEAL_BYTES]


def content_key(*parts: object) -> str:
    """A hash of strings, numbers, None, and lists, sets and mappings of them.

    It is unambiguous: every part is hashed with its type and its length.
    """
    digest = hashlib.sha256(f"{CACHE_FORMAT} {__version__}\n".encode())
    for part in parts:
        _feed(digest, part)
    return digest.hexdigest()


def _feed(digest: hashlib._Hash, part: object) -> None:
    match part:
        case None | bool() | int() | float():
            text = repr(part).encode()
        case str():
            text = part.encode("utf-8", "surrogatepass")
        case bytes():
            text = part
        case Mapping():
            digest.update(f"map {len(part)}\n".encode())
            for key, value in part.items():
                _feed(digest, key)
                _feed(digest, value)
            return
        case list() | tuple():
            digest.update(f"list {len(part)}\n".encode())
            for value in part:
                _feed(digest, value)
            return
        case set() | frozenset():
            digest.update(f"set {len(part)}\n".encode())
            for inner in sorted(content_key(value) for value in part):
                digest.update(inner.encode())
            return
        case _:
            raise UsageError(f"cannot make a content key of {type(part).__name__}")
    digest.update(f"{type(part).__name__} {len(text)}\n".encode())
    digest.update(text)


def _metric_key(query_id: str, metric: str, k: int, content: str | None) -> str:
    return content_key("metric", content, query_id, parse_measure(f"{metric}@{k}").name)


# ``evaluate`` with a cache: judgments and run are read, but joined only if a value is not cached yet.
#
# It pays if the same large runs are scored again and again. Reading and hashing the files are not saved, so for small
# files it gains nothing.

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
    Nor are values on gold passages or on labels that are matched with results: the hash of these is that of the labels,
    whatever was returned.
    """
    conventions, reading = conventions or Conventions(), reading or Reading()
    judgments = conventions.judgments(as_qrels(qrels, reading))
    rankings, file_notes = runs_and_notes(run, reading)  # notes on a file are never cached: its name may change
    check_one_run(run, [ranking.name for ranking in rankings])
    return _evaluate_run(
        judgments, rankings[0], file_notes, conventions.measures(measures, judgments), cache, conventions, reading
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
    is_answered = needs_answers(requested)
    is_by_id = judgments.judgments not in ("passages", "labels")
    is_cacheable = is_by_id and not is_answered and all(map(_is_built_in, requested))
    reading = replace(reading, keep_rankings=reading.keep_rankings or is_answered)
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
    judgments, requested = conventions.judgments(judgments), conventions.measures(measures, judgments)
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
