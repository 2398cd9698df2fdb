"""Run a benchmark: fetch the run of every system, measure its cost, score, compare, and write the results."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rankgauge.benchmark.chunkings import CombinedCorpus, chunking_of, chunks_path, write_chunkings
from rankgauge.benchmark.folder import (
    INPUTS_FOLDER,
    MANIFEST,
    PAGE,
    RUNS_FOLDER,
    SNIPPETS,
    SUBFOLDERS,
    StoredInputs,
    StoredJudgments,
    claim,
    digests,
    evaluation_path,
    install,
    rendered,
    report_of_inputs,
    run_path,
    validate_judgments,
)
from rankgauge.benchmark.gold import (
    BenchmarkGold,
    labels_with_texts,
    read_labels,
    resolved_labels,
    resolved_path,
    stored_labels,
)
from rankgauge.benchmark.listener import BenchmarkListener
from rankgauge.benchmark.plan import BenchmarkPlan
from rankgauge.benchmark.record import BenchmarkInputs, CorpusRecord, SystemResult, chunk_records, manifest_of
from rankgauge.benchmark.system import SystemRunner
from rankgauge.core.formatting import plural
from rankgauge.core.run import Run
from rankgauge.errors import InputError, Note, RankgaugeError, RetrieverError, StorageError
from rankgauge.evaluation.groups import check_columns
from rankgauge.io.byte_streams import LoadedFile, load_file
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.reading import read_corpus
from rankgauge.io.owned import temporary_folder
from rankgauge.io.queries import Queries, read_queries
from rankgauge.io.read import build_qrels
from rankgauge.io.writing import write_atomically
from rankgauge.render.html import as_html
from rankgauge.report import manifest as manifests
from rankgauge.report.report import Report
from rankgauge.report.snippets import snippets_and_count
from rankgauge.retrieval.base import QueryBatch
from rankgauge.retrieval.fetch.language import language_notes
from rankgauge.secrets import error_text, registered_secrets_ignored


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
    labels_file, queries_file = load_file(plan.labels), load_file(plan.queries)
    queries = read_queries(queries_file)
    documents = None if plan.corpus is None else read_corpus(plan.corpus)
    labels, judgments = None, None
    if plan.gold is None:
        judgments = _valid_judgments(plan, labels_file, queries, listener)
    else:
        labels = read_labels(plan.gold, queries, documents)
    _check_settings(plan, queries)
    batch = QueryBatch.from_queries(queries)
    for note in _language_notes(plan, documents, batch):
        listener.noted(note)
    with claim(folder) as work:
        if labels is not None:
            labels_file = LoadedFile("gold.jsonl", labels_with_texts(labels))
        copies = _store(labels_file, work, "qrels" if labels is None else "gold"), _store(queries_file, work, "queries")
        inputs = BenchmarkInputs(plan, *copies, queries)
        chunks = _chunks(plan, documents, work)
        if labels is not None:
            for name, content in resolved_labels(labels, chunks, plan.matching):
                _write(work / name, content)
        with _index_folder(index) as indexes:
            runner = SystemRunner(plan, work, batch, documents, indexes, listener, restart, chunks)
            results, failed = _run_systems(runner)
        if not results:
            if not any((work / RUNS_FOLDER).glob("*.journal")):
                shutil.rmtree(work)
            raise next(iter(failed.values()))
        runs = {name: load_file(work / run_path(name)) for name in results}
        fetched = [result.fetched.run for result in results.values()]
        snippets, count = _write_snippets(work, CombinedCorpus(chunks) if chunks else documents, fetched)
        if chunks and documents is not None:
            count = sum(1 for _ in documents)
        files = [inputs.labels, inputs.queries, *runs.values(), *snippets]
        of_chunkings = {path_of(name) for name in chunks for path_of in (chunks_path, resolved_path)}
        _remove_leftovers(work, list(results), {_name(work, file) for file in files} | of_chunkings)
        corpus = None if documents is None else CorpusRecord(documents.source, documents.sha256, count, *snippets)
        manifest = manifest_of(inputs, corpus, runs, results, failed, chunk_records(plan, chunks))
        manifest["times"] |= {"start": start, "seconds": round(time.monotonic() - begin, 3)}
        scored_on = judgments or _stored_gold(work, inputs, chunks, list(results))
        stored = StoredInputs({_name(work, file): file for file in files}, queries, scored_on)
        report = write_reports(work, manifest, stored)
        install(work, folder)
    return report


def _stored_gold(
    folder: Path, inputs: BenchmarkInputs, chunks: Mapping[str, Corpus], systems: list[str]
) -> BenchmarkGold:
    """The gold of a benchmark as `report verify` will read it."""
    labels = stored_labels(folder, _name(folder, inputs.labels), inputs.parsed_queries)
    chunkings = {name: chunking_of(inputs.plan.systems[name]) for name in systems}
    return BenchmarkGold(labels, chunks, chunkings, inputs.plan.matching)


def _chunks(plan: BenchmarkPlan, documents: Corpus | None, folder: Path) -> dict[str, Corpus]:
    """The chunks that the systems search, by chunking, if there is gold to score them on."""
    if plan.gold is None or documents is None:
        return {}
    return write_chunkings(documents, map(chunking_of, plan.systems.values()), plan.chunkings, folder)


def _run_systems(runner: SystemRunner) -> tuple[dict[str, SystemResult], dict[str, RankgaugeError]]:
    """The results of the systems that ran, and the errors of those that failed."""
    results: dict[str, SystemResult] = {}
    failed: dict[str, RankgaugeError] = {}
    for name, system in runner.plan.systems.items():
        try:
            results[name] = runner.run(name, system)
        except StorageError:
            raise  # the others could not be stored either
        except RankgaugeError as error:
            failed[name] = error
        except (Exception, SystemExit) as error:  # whatever an engine raises, the others go on
            failed[name] = RetrieverError(error_text(error))
        runner.listener.finished(name, failed[name].message if name in failed else None)
    return results, failed


def _valid_judgments(
    plan: BenchmarkPlan, qrels: LoadedFile, queries: Queries, listener: BenchmarkListener
) -> StoredJudgments:
    """The judgments and their validation; raises if they are invalid."""
    validation, parsed = validate_judgments(qrels, queries)
    listener.validated(validation)
    if not validation.ok:
        raise InputError.at(
            qrels.path,
            None,
            f"the judgments have {plural(validation.errors, 'error')}",
            hint="`rankgauge qrels validate` shows where, and --fix repairs what is safe to repair",
        )
    return StoredJudgments(validation, build_qrels(parsed.source_rows(), name=plan.title))


def _check_settings(plan: BenchmarkPlan, queries: Queries) -> None:
    """Raise, before any work, if the reports could not be made."""
    plan.settings.conventions.measures(plan.settings.measures)
    check_columns(plan.settings.by or (), queries.columns, hint=f"add it to {plan.queries}, or leave out --by")


def _language_notes(plan: BenchmarkPlan, documents: Corpus | None, queries: QueryBatch) -> tuple[Note, ...]:
    """Whether the texts are in a language that the systems do not know."""
    settings = [system.settings for system in plan.systems.values()]
    return language_notes(settings, [] if documents is None else [documents], queries.texts)


@registered_secrets_ignored()
def write_reports(folder: Path, manifest: dict[str, Any], inputs: StoredInputs) -> Report:
    """Compute the report of the stored inputs, and write it into the folder."""
    report = report_of_inputs(inputs, manifest)
    written = {**rendered(report), PAGE: as_html(report).encode("utf-8", "surrogateescape")}
    for name, data in written.items():
        _write(folder / name, data)
    in_memory = {**inputs.files, **{name: LoadedFile(str(folder / name), data) for name, data in written.items()}}
    manifest = {**manifest, "files": digests(folder, in_memory)}
    _write(folder / MANIFEST, manifests.to_bytes(manifest))
    return report


def _write(path: Path, content: bytes) -> None:
    with write_atomically(path) as file:
        file.write(content)


@contextmanager
def _index_folder(path: str | Path | None) -> Iterator[Path]:
    """The folder of indexes; a temporary one if there is no path."""
    if path is not None:
        yield Path(path)
        return
    with temporary_folder() as temporary:
        yield temporary


def _store(file: LoadedFile, folder: Path, name: str) -> LoadedFile:
    """Write an input into the folder, byte by byte, and return it under its path there."""
    target = folder / f"{INPUTS_FOLDER}/{name}{''.join(Path(file.path).suffixes[-2:])}"
    with write_atomically(target, inputs=[file.path]) as output:
        output.write(file.stored)
    return LoadedFile(str(target), file.stored)


def _name(folder: Path, file: LoadedFile) -> str:
    return Path(file.path).relative_to(folder).as_posix()


def _write_snippets(folder: Path, documents: Corpus | None, runs: list[Run]) -> tuple[list[LoadedFile], int]:
    """The file of snippets, if there is a corpus, and the number of its documents."""
    if documents is None:
        return [], 0
    snippets, count = snippets_and_count(documents, runs)
    rows = (json.dumps({"_id": document, "text": text}, ensure_ascii=False) for document, text in snippets.items())
    data = "".join(f"{row}\n" for row in rows).encode("utf-8", "surrogateescape")
    _write(folder / SNIPPETS, data)
    return [LoadedFile(str(folder / SNIPPETS), data)], count


def _remove_leftovers(folder: Path, systems: list[str], inputs: set[str]) -> None:
    """Remove the files of an interrupted benchmark that are not part of this one."""
    kept = inputs | {SNIPPETS} | {path_of(name) for name in systems for path_of in (run_path, evaluation_path)}
    for part in SUBFOLDERS:
        for path in (folder / part).iterdir():
            if path.relative_to(folder).as_posix() not in kept:
                path.unlink()
