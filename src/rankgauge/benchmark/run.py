"""Run a benchmark: fetch every system's run, measure what it costs, score, compare, write."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rankgauge.benchmark.folder import (
    EVALUATIONS,
    INPUTS,
    MANIFEST,
    PAGE,
    RUNS,
    SNIPPETS,
    claim,
    digests,
    evaluation_path,
    install,
    read_report,
    rendered,
    run_path,
)
from rankgauge.benchmark.plan import BenchmarkPlan, PlannedSystem
from rankgauge.benchmark.record import Done, manifest_of
from rankgauge.core.run import Run
from rankgauge.errors import InputError, RankgaugeError, RetrieverError, UsageError, nearest, shown
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.reading import read_corpus
from rankgauge.io.queries import Queries, read_queries
from rankgauge.io.writing import write_atomically
from rankgauge.report import manifest as manifests
from rankgauge.report.report import Cost, Report
from rankgauge.report.snippets import snippets_of
from rankgauge.retrieval.base import QueryBatch, Retriever
from rankgauge.retrieval.fetch.fetch import FetchOptions, FetchProgress, fetch_run
from rankgauge.retrieval.fetch.latency import Latency, measure_latency
from rankgauge.retrieval.fetch.modes import RetrieverSettings, make_retriever
from rankgauge.validation.findings import Validation
from rankgauge.validation.options import ValidationOptions
from rankgauge.validation.validate import validate_qrels


class BenchmarkListener:
    """Receives the progress of a benchmark. This one ignores it."""

    def validated(self, validation: Validation) -> None:
        """The judgments were validated."""

    def started(self, system: str) -> FetchProgress | None:
        """A system starts; returns what its progress is reported to."""

    def finished(self, system: str, error: str | None) -> None:
        """A system is finished, or failed with an error."""

    def warned(self, system: str, message: str) -> None:
        """A warning about a system that did not fail."""


def run_benchmark(
    plan: BenchmarkPlan,
    out: str | Path,
    *,
    index: str | Path | None = None,
    restart: bool = False,
    listener: BenchmarkListener | None = None,
) -> Report:
    """Run every system of a plan and write everything into a folder.

    A system that breaks is named in the report and does not lose the others; where all break, the first error is
    raised. ``index`` is a folder to keep indexes in; without one they are made in a temporary place.
    """
    listener, folder, begun = listener or BenchmarkListener(), Path(out), time.monotonic()
    start = datetime.now(UTC).replace(microsecond=0).isoformat()
    checked = validate_qrels(plan.qrels, queries=plan.queries, options=ValidationOptions(max_places=3))
    listener.validated(checked)
    if not checked.ok:
        raise InputError.at(
            plan.qrels,
            None,
            f"the judgments have {checked.errors} error{'s' * (checked.errors != 1)}",
            hint="`rankgauge qrels validate` shows where, and --fix repairs what is safe to repair",
        )
    queries = read_queries(plan.queries)
    asked = QueryBatch.from_queries(queries)
    documents = None if plan.corpus is None else read_corpus(plan.corpus)
    _refuse_mistakes(plan, queries)
    work = claim(folder)
    stored = {name: _store(path, work, name) for name, path in (("qrels", plan.qrels), ("queries", plan.queries))}
    done: dict[str, Done] = {}
    failed: dict[str, RankgaugeError] = {}
    with _indexes(index) as indexes:
        for name, system in plan.systems.items():
            bench = _Bench(plan, work, name, asked, documents, indexes, listener)
            try:
                done[name] = bench.run(system, listener.started(name), restart=restart)
            except RankgaugeError as error:
                failed[name] = error
            except (Exception, SystemExit) as error:  # whatever an engine raises, the others go on
                failed[name] = RetrieverError(f"{type(error).__name__}: {error}")
            listener.finished(name, failed[name].message if name in failed else None)
    if not done:
        if not any((work / RUNS).glob("*.journal")):
            shutil.rmtree(work)
        raise next(iter(failed.values()))
    _write_snippets(work, documents, [one.fetched.run for one in done.values()])
    _tidy(work, list(done), set(stored.values()))
    manifest = manifest_of(plan, work, documents, stored, queries, done, failed)
    manifest["times"] |= {"start": start, "seconds": round(time.monotonic() - begun, 3)}
    report = write_reports(work, manifest)
    install(work, folder)
    return report


def _refuse_mistakes(plan: BenchmarkPlan, queries: Queries) -> None:
    """Raise, before any work, where the reports could not be made."""
    plan.settings.conventions.measures(plan.settings.measures)
    for column in plan.settings.by or ():
        if column not in queries.columns:
            close = nearest(column, list(queries.columns))
            raise UsageError(
                f"the queries have no column {shown(column)}" + (f"; did you mean {close}?" if close else ""),
                hint=f"they have {', '.join(queries.columns)}" if queries.columns else None,
            )


def write_reports(folder: Path, manifest: dict[str, Any]) -> Report:
    """Compute what the runs of a folder say, and write it beside them."""
    from rankgauge.render.html import as_html

    report = read_report(folder, manifest)
    files = {**rendered(report), PAGE: as_html(report).encode("utf-8", "surrogateescape")}
    for name, data in files.items():
        with write_atomically(folder / name) as file:
            file.write(data)
    manifest = {**manifest, "files": digests(folder)}
    with write_atomically(folder / MANIFEST) as file:
        file.write(manifests.sealed(manifest))
    return report


class _Bench:
    """One system's turn."""

    def __init__(
        self,
        plan: BenchmarkPlan,
        folder: Path,
        name: str,
        asked: QueryBatch,
        documents: Corpus | None,
        indexes: Path,
        listener: BenchmarkListener,
    ) -> None:
        self.plan, self.folder, self.name, self.asked = plan, folder, name, asked
        self.documents, self.indexes, self.listener = documents, indexes, listener

    def run(self, system: PlannedSystem, progress: FetchProgress | None, *, restart: bool) -> Done:
        """Make the retriever, fetch its run, and time single calls of it."""
        experts = {name: read_corpus(path) for name, path in system.experts.items()}
        home = self.indexes / _kind(system.settings) if system.settings.index is None else Path(system.settings.index)
        parts = [home / part for part in _parts(system)]
        fresh = all(not part.exists() for part in parts)
        begun = time.monotonic()
        settings = replace(system.settings, index=str(home), on_duplicate=self.plan.settings.on_duplicate)
        retriever = make_retriever(settings, self.documents, self.asked, experts=experts)
        seconds = round(time.monotonic() - begun, 3)
        fetched = fetch_run(
            retriever,
            self.asked,
            self.folder / run_path(self.name),
            k=self.plan.k,
            options=FetchOptions(tag=self.name, restart=restart),
            progress=progress,
        )
        if fetched.resumed:
            self.listener.warned(self.name, f"{fetched.resumed} answers are from an attempt that was stopped")
        if not any(answer.docs for answer in fetched.answers):
            raise RetrieverError("it found nothing for any query")
        calls = self.plan.latency
        latency = self._latency(retriever, calls) if calls else Latency()
        files = [path for part in parts for path in part.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files) if files else None
        built = seconds if fresh and files and calls else None
        return Done(fetched, retriever, Cost(**asdict(latency), index_bytes=size, index_seconds=built))

    def _latency(self, retriever: Retriever, calls: int) -> Latency:
        """How long single calls take; a call that fails now costs the times, not the run."""
        try:
            return measure_latency(retriever, self.asked, self.plan.k, calls)
        except (Exception, SystemExit) as error:
            self.listener.warned(self.name, f"latency could not be measured: {error}")
            return Latency()


def _kind(settings: RetrieverSettings) -> str:
    """A folder for the indexes of all systems that can share them."""
    words = (settings.bm25, settings.stemmer, settings.stopwords)
    vectors = (settings.embedder, settings.document_vectors, settings.query_vectors, settings.center, settings.search)
    return hashlib.sha256(repr((words, vectors)).encode()).hexdigest()[:16]


def _parts(system: PlannedSystem) -> list[str]:
    """The folders of the indexes that a system reads; one that is called has none here."""
    kinds = {"lexical": ["lexical"], "vector": ["vector"], "hybrid": ["lexical", "vector"]}
    mine = kinds.get(system.settings.mode, [])
    return [f"{expert}/{kind}" for expert in system.experts for kind in mine] if system.experts else mine


@contextmanager
def _indexes(given: str | Path | None) -> Iterator[Path]:
    if given is not None:
        yield Path(given)
        return
    with tempfile.TemporaryDirectory(prefix="rankgauge-") as made:
        yield Path(made)


def _store(path: str, folder: Path, name: str) -> str:
    """Copy an input into the folder, byte by byte, and say where."""
    target = f"{INPUTS}/{name}{''.join(Path(path).suffixes[-2:])}"
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError.at(path, None, f"cannot read: {error.strerror}") from None
    with write_atomically(folder / target, inputs=[path]) as file:
        file.write(data)
    return target


def _write_snippets(folder: Path, documents: Corpus | None, runs: list[Run]) -> None:
    if documents is None:
        return
    with write_atomically(folder / SNIPPETS) as file:
        for name, text in snippets_of(documents, runs).items():
            row = json.dumps({"_id": name, "text": text}, ensure_ascii=False)
            file.write(row.encode("utf-8", "surrogateescape") + b"\n")


def _tidy(folder: Path, systems: list[str], inputs: set[str]) -> None:
    """Take away what work that was stopped left, and this benchmark did not make."""
    kept = inputs | {SNIPPETS} | {place(name) for name in systems for place in (run_path, evaluation_path)}
    for part in (RUNS, EVALUATIONS, INPUTS):
        for path in (folder / part).iterdir():
            if path.relative_to(folder).as_posix() not in kept:
                path.unlink()
