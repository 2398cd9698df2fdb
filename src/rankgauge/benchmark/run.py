"""Run a benchmark: fetch the run of every system, measure its cost, score, compare, and write the results."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rankgauge.benchmark.folder import (
    INPUTS_FOLDER,
    MANIFEST,
    PAGE,
    RUNS_FOLDER,
    SNIPPETS,
    SUBFOLDERS,
    claim,
    digests,
    evaluation_path,
    install,
    read_report,
    rendered,
    run_path,
)
from rankgauge.benchmark.listener import BenchmarkListener
from rankgauge.benchmark.plan import BenchmarkPlan
from rankgauge.benchmark.record import SystemResult, manifest_of
from rankgauge.benchmark.system import SystemRunner
from rankgauge.core.formatting import plural
from rankgauge.core.run import Run
from rankgauge.errors import InputError, RankgaugeError, RetrieverError
from rankgauge.evaluation.slices import check_columns
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.reading import read_corpus
from rankgauge.io.queries import Queries, read_queries
from rankgauge.io.writing import write_atomically
from rankgauge.report import manifest as manifests
from rankgauge.report.report import Report
from rankgauge.report.snippets import snippets_of
from rankgauge.retrieval.base import QueryBatch
from rankgauge.validation.options import ValidationOptions
from rankgauge.validation.validate import validate_qrels


def run_benchmark(
    plan: BenchmarkPlan,
    out: str | Path,
    *,
    index: str | Path | None = None,
    restart: bool = False,
    listener: BenchmarkListener | None = None,
) -> Report:
    """Run every system of a plan and write everything into a folder.

    A system that fails is named in the report, and the others go on; if all fail, the first error is raised.
    ``index`` is a folder to keep indexes in; without one they are built in a temporary folder.
    """
    listener, folder, begin = listener or BenchmarkListener(), Path(out), time.monotonic()
    start = datetime.now(UTC).replace(microsecond=0).isoformat()
    _check_judgments(plan, listener)
    queries = read_queries(plan.queries)
    documents = None if plan.corpus is None else read_corpus(plan.corpus)
    _check_settings(plan, queries)
    work = claim(folder)
    stored = {name: _store(path, work, name) for name, path in (("qrels", plan.qrels), ("queries", plan.queries))}
    with _index_folder(index) as indexes:
        runner = SystemRunner(plan, work, QueryBatch.from_queries(queries), documents, indexes, listener, restart)
        results, failed = _run_systems(runner)
    if not results:
        if not any((work / RUNS_FOLDER).glob("*.journal")):
            shutil.rmtree(work)
        raise next(iter(failed.values()))
    _write_snippets(work, documents, [result.fetched.run for result in results.values()])
    _remove_leftovers(work, list(results), set(stored.values()))
    manifest = manifest_of(plan, work, documents, stored, queries, results, failed)
    manifest["times"] |= {"start": start, "seconds": round(time.monotonic() - begin, 3)}
    report = write_reports(work, manifest)
    install(work, folder)
    return report


def _run_systems(runner: SystemRunner) -> tuple[dict[str, SystemResult], dict[str, RankgaugeError]]:
    """The results of the systems that ran, and the errors of those that failed."""
    results: dict[str, SystemResult] = {}
    failed: dict[str, RankgaugeError] = {}
    for name, system in runner.plan.systems.items():
        try:
            results[name] = runner.run(name, system)
        except RankgaugeError as error:
            failed[name] = error
        except (Exception, SystemExit) as error:  # whatever an engine raises, the others go on
            failed[name] = RetrieverError(f"{type(error).__name__}: {error}")
        runner.listener.finished(name, failed[name].message if name in failed else None)
    return results, failed


def _check_judgments(plan: BenchmarkPlan, listener: BenchmarkListener) -> None:
    """Raise if the judgments are invalid."""
    validation = validate_qrels(plan.qrels, queries=plan.queries, options=ValidationOptions(max_places=3))
    listener.validated(validation)
    if not validation.ok:
        raise InputError.at(
            plan.qrels,
            None,
            f"the judgments have {plural(validation.errors, 'error')}",
            hint="`rankgauge qrels validate` shows where, and --fix repairs what is safe to repair",
        )


def _check_settings(plan: BenchmarkPlan, queries: Queries) -> None:
    """Raise, before any work, if the reports could not be made."""
    plan.settings.conventions.measures(plan.settings.measures)
    check_columns(plan.settings.by or (), queries.columns, hint=f"add it to {plan.queries}, or leave out --by")


def write_reports(folder: Path, manifest: dict[str, Any]) -> Report:
    """Compute the report of the runs in a folder, and write it there."""
    from rankgauge.render.html import as_html

    report = read_report(folder, manifest)
    files = {**rendered(report), PAGE: as_html(report).encode("utf-8", "surrogateescape")}
    for name, data in files.items():
        with write_atomically(folder / name) as file:
            file.write(data)
    manifest = {**manifest, "files": digests(folder)}
    with write_atomically(folder / MANIFEST) as file:
        file.write(manifests.to_bytes(manifest))
    return report


@contextmanager
def _index_folder(path: str | Path | None) -> Iterator[Path]:
    """The folder of indexes; a temporary one if there is no path."""
    if path is not None:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="rankgauge-") as temporary:
        yield Path(temporary)


def _store(path: str, folder: Path, name: str) -> str:
    """Copy an input into the folder, byte by byte, and return its path there."""
    target = f"{INPUTS_FOLDER}/{name}{''.join(Path(path).suffixes[-2:])}"
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
        for document, text in snippets_of(documents, runs).items():
            row = json.dumps({"_id": document, "text": text}, ensure_ascii=False)
            file.write(row.encode("utf-8", "surrogateescape") + b"\n")


def _remove_leftovers(folder: Path, systems: list[str], inputs: set[str]) -> None:
    """Remove the files of an interrupted benchmark that are not part of this one."""
    kept = inputs | {SNIPPETS} | {path_of(name) for name in systems for path_of in (run_path, evaluation_path)}
    for part in SUBFOLDERS:
        for path in (folder / part).iterdir():
            if path.relative_to(folder).as_posix() not in kept:
                path.unlink()
