"""The folder of a benchmark: where each file is, and how it is read back into a report."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.benchmark.chunkings import INPUTS_FOLDER, BenchmarkGold, stored_labels
from rankgauge.benchmark.label_inputs import LABELS_FILE, BenchmarkLabels, read_label_file
from rankgauge.benchmark.plan import STORED_METHOD
from rankgauge.config.settings import Settings
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import RunExtras
from rankgauge.errors import InputError, UsageError, shown, write_error, write_errors
from rankgauge.io.byte_streams import LoadedFile, load_file, sha256_of_file
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.io.owned_files import LOCK_FILE, is_marked, lock_folder, sweep
from rankgauge.io.queries import Queries, read_queries
from rankgauge.io.read import build_qrels, run_from_rows
from rankgauge.io.stored_json import parse_record
from rankgauge.labels.gold.gold_judgments import GoldOptions
from rankgauge.render.documents.benchmark import benchmark_document, json_texts
from rankgauge.render.formats.markdown import as_markdown
from rankgauge.report import manifest as manifests
from rankgauge.report.report import Report, evaluate_for_report, report_of
from rankgauge.retrieval.latency import Cost
from rankgauge.secrets import registered_secrets_ignored
from rankgauge.validation.findings import Validation
from rankgauge.validation.qrels_validation import validate_qrels
from rankgauge.validation.run_validation import validate_run
from rankgauge.validation.validated_file import ValidatedFile, ValidationOptions, read_for_validation

MANIFEST = "ExperimentManifest.json"
REPORT = "BenchmarkReport.json"
COMPARISON = "BenchmarkComparison.md"
PAGE = "report.html"
RUNS_FOLDER, EVALUATIONS_FOLDER = "runs", "evaluations"
SUBFOLDERS = (RUNS_FOLDER, EVALUATIONS_FOLDER, INPUTS_FOLDER)
SNIPPETS = f"{INPUTS_FOLDER}/snippets.jsonl"
MAX_PLACES = 3  # of each fault in the report of a validation
NEW_FOLDER_HINT = "name a new folder: -o DIR"
REPLACED_SUFFIX = ".rankgauge-replaced"  # of the old folder, for the moment in which the new one takes its name
SNIPPET_SHAPE = {"_id": str, "text": str}
JOURNALS = "*.journal"  # of answers to queries, in the folder of the runs
BENCHMARK_FILES = {MANIFEST, REPORT, COMPARISON, PAGE, *SUBFOLDERS}


@contextmanager
def claim(folder: Path) -> Iterator[Path]:
    """A working folder beside ``folder``, for this process only, which ``install`` puts in its place at the end.

    ``folder`` must not exist, or hold a benchmark and nothing else, so that no other files are lost. A working folder
    that exists is used again only if an interrupted benchmark of the same user made it.
    """
    target = folder.resolve()
    if target == Path.cwd() or not target.name:
        raise InputError.at(
            folder,
            None,
            "a benchmark replaces its output folder, which cannot be the working folder",
            hint="name another one: -o DIR",
        )
    if target.exists() and not target.is_dir():
        raise InputError.at(folder, None, "cannot write: it is a file", hint="name a folder")
    _restore_replaced(target)
    _check_only(target, _benchmark_files(target))
    work = target.with_name(f"{target.name}.partial")
    _check_work_folder(work)
    with write_errors(work):
        work.mkdir(parents=True, exist_ok=True)
    with lock_folder(work):
        for name in SUBFOLDERS:
            with write_errors(work / name):
                (work / name).mkdir(exist_ok=True)
        _move_journals(target, work)
        yield work


def _move_journals(source: Path, work: Path) -> bool:
    """Move journals that are in a finished folder to a working folder, where the next benchmark finds them."""
    journals = sorted((source / RUNS_FOLDER).glob(JOURNALS))
    for journal in journals:
        with write_errors(journal):
            journal.replace(work / RUNS_FOLDER / journal.name)
    return bool(journals)


def _check_work_folder(work: Path) -> None:
    """Raise if a working folder is not one of ours: its files will be overwritten and deleted."""
    if not work.exists() and not work.is_symlink():
        return
    if work.is_symlink() or not work.is_dir():
        raise InputError.at(work, None, "exists and is not a folder", hint=NEW_FOLDER_HINT)
    is_other_users = hasattr(os, "geteuid") and work.stat().st_uid != os.geteuid()
    if is_other_users or (any(work.iterdir()) and not is_marked(work)):
        raise InputError.at(
            work, None, "exists and was not made by an interrupted benchmark of yours", hint=NEW_FOLDER_HINT
        )
    check_no_links(work)
    for part in (work, *(work / name for name in SUBFOLDERS)):
        sweep(part)  # a file that was being written when the benchmark was killed
    _check_only(work, None)


def check_no_links(folder: Path) -> None:
    """Raise if a folder of ours contains a symbolic link, which would lead to a file outside of it."""
    link = next((path for path in sorted(folder.rglob("*")) if path.is_symlink()), None)
    if link is not None:
        raise InputError.at(link, None, "is a symbolic link, and a benchmark has none", hint="copy the file instead")


def _benchmark_files(folder: Path) -> set[str]:
    """The files of the benchmark in a folder; none if there is no benchmark."""
    if not (folder / MANIFEST).is_file():
        return set()
    return {*manifests.load(folder / MANIFEST)["files"], MANIFEST}


def _check_only(folder: Path, expected_files: set[str] | None) -> None:
    """Raise if a folder has a file that is not part of the benchmark; if its files are unknown, by their folders."""
    for name in _file_names(folder):
        top = name.partition("/")[0]
        if (top not in BENCHMARK_FILES) if expected_files is None else (name not in expected_files):
            raise InputError.at(folder, None, f"exists and contains other files ({name})", hint=NEW_FOLDER_HINT)


def _file_names(folder: Path) -> list[str]:
    """The paths of all files of a folder, in order, without our mark and journals."""
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()]
    return sorted(name for name in files if name != LOCK_FILE and not Path(name).match(f"{RUNS_FOLDER}/{JOURNALS}"))


def install(work: Path, folder: Path) -> None:
    """Replace the folder with the finished working folder; journals that are left stay in a working folder."""
    target = folder.resolve()
    old = target.with_name(f".{target.name}{REPLACED_SUFFIX}")
    try:
        if target.exists():
            target.rename(old)
        work.rename(target)
    except OSError as error:
        raise write_error(folder, error, hint=f"the results are in {work.name}") from None
    with suppress(OSError):  # the new folder is in place, and the next run deletes what is left
        (target / LOCK_FILE).unlink(missing_ok=True)
        _delete_replaced(old)
    if any((target / RUNS_FOLDER).glob(JOURNALS)):
        (work / RUNS_FOLDER).mkdir(parents=True)
        with lock_folder(work):
            _move_journals(target, work)


def _restore_replaced(target: Path) -> None:
    """Finish what ``install`` was killed in: put the replaced folder back, or delete it if the new one is there."""
    old = target.with_name(f".{target.name}{REPLACED_SUFFIX}")
    if old.is_symlink() or not (old / MANIFEST).is_file():
        with suppress(OSError):
            old.rmdir()  # if its manifest was the last to be deleted
        return
    _check_only(old, _benchmark_files(old))
    with write_errors(old):
        if target.exists():
            _delete_replaced(old)
        else:
            old.rename(target)


def _delete_replaced(old: Path) -> None:
    """Delete a folder with its manifest last: without it, nobody knows that the rest is a benchmark."""
    if old.exists():
        for path in list(old.iterdir()):
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != MANIFEST:
                path.unlink()
        (old / MANIFEST).unlink(missing_ok=True)
        old.rmdir()


def run_path(system: str, *, is_log: bool = False) -> str:
    """The path of a system's run: a log if it has what a TREC run cannot hold, texts or ids with white space."""
    return f"{RUNS_FOLDER}/{system}.{'jsonl' if is_log else 'trec'}"


def evaluation_path(system: str) -> str:
    """The path of the report of one system."""
    return f"{EVALUATIONS_FOLDER}/{system}.EvaluationReport.json"


@dataclass(frozen=True, eq=False)
class StoredJudgments:
    """The judgments of a benchmark, and what their validation found."""

    validation: Validation
    qrels: Qrels


@dataclass(frozen=True, eq=False)
class StoredInputs:
    """The inputs of a benchmark, each read once: files by their path in the folder, and what was parsed of them."""

    files: Mapping[str, LoadedFile]
    queries: Queries
    labels: StoredJudgments | BenchmarkLabels | BenchmarkGold


def validate_judgments(file: LoadedFile, queries: Queries) -> tuple[Validation, ValidatedFile]:
    """Read and validate the judgments of a benchmark."""
    options = ValidationOptions(max_places=MAX_PLACES)
    parsed = read_for_validation(file, "qrels", options)
    return validate_qrels(parsed, queries=queries, options=options), parsed


def read_inputs(folder: Path, manifest: Mapping[str, Any]) -> StoredInputs:
    """The inputs of a finished benchmark, from its folder."""
    collection = manifest["data"]["test collection"]
    names = [collection["qrels"]["path"], collection["topics"]["path"]]
    names += [system["run"]["path"] for system in manifest["method"]["retrieval"]]
    names += [] if collection["source"] is None else [SNIPPETS]
    check_no_links(folder)
    present = set(_file_names(folder))
    missing = next((folder / name for name in names if name not in present), None)
    if missing is not None:
        raise InputError.at(missing, None, "is missing, and nothing can be computed without it")
    files = {name: load_file(folder / name) for name in names}
    queries = read_queries(files[names[1]])
    if collection.get("chunkings"):
        return StoredInputs(files, queries, _read_gold(folder, manifest, queries))
    if Path(names[0]).name == LABELS_FILE:
        return StoredInputs(files, queries, read_label_file(files[names[0]], collection["name"]))
    validation, parsed = validate_judgments(files[names[0]], queries)
    qrels = build_qrels(parsed.source_rows(), name=collection["name"])
    return StoredInputs(files, queries, StoredJudgments(validation, qrels))


def _read_gold(folder: Path, manifest: Mapping[str, Any], queries: Queries) -> BenchmarkGold:
    """Labels by text and the chunks of every chunking."""
    collection = manifest["data"]["test collection"]
    chunks = {name: read_corpus(folder / entry["path"]) for name, entry in collection["chunkings"].items()}
    chunking_of = {system["name"]: system.get("chunking", "") for system in manifest["method"]["retrieval"]}
    unknown = next((name for name in chunking_of.values() if name not in chunks), None)
    if unknown is not None:
        raise InputError.at(MANIFEST, None, f"no chunking is called {shown(unknown)}")
    labels = stored_labels(folder, collection["qrels"]["path"], queries)
    matching = collection.get("matching")
    if matching is None:
        raise InputError.at(MANIFEST, None, "expected an object at data.test collection.matching, found nothing")
    is_complete = all(entry.get("complete", True) for entry in collection["chunkings"].values())
    options = GoldOptions(matching["coverage"], matching["tolerance"])
    return BenchmarkGold(labels, chunks, chunking_of, options, is_complete)


@registered_secrets_ignored()
def report_of_inputs(inputs: StoredInputs, manifest: Mapping[str, Any]) -> Report:
    """The report of the stored runs, queries and judgments: what `benchmark verify` recomputes."""
    try:
        return _report_of_inputs(inputs, manifest)
    except UsageError as error:  # the manifest asks for something that cannot be done
        raise InputError.at(MANIFEST, None, error.message, hint=error.hint) from None


def _report_of_inputs(inputs: StoredInputs, manifest: Mapping[str, Any]) -> Report:
    collection, queries = manifest["data"]["test collection"], inputs.queries
    options = ValidationOptions(max_depth=manifest["settings"]["k"], max_places=MAX_PLACES)
    settings = settings_of(manifest)
    labels, validations, runs = inputs.labels, [], {}
    if isinstance(labels, StoredJudgments):
        validations.append(replace(labels.validation, file=collection["qrels"]["path"]))
        judgments = labels.qrels if settings.reading.matches_ids else None
        labeled = set(labels.qrels.queries.to_text())
    elif isinstance(labels, BenchmarkLabels):
        judgments, labeled = None, set(labels.labels.judgments.queries.to_text())
    else:
        judgments, labeled = None, set(labels.labels.queries)
    for system in manifest["method"]["retrieval"]:
        path, name = system["run"]["path"], system["name"]
        own = replace(options, max_depth=None) if system["method"] == STORED_METHOD else options
        parsed = read_for_validation(inputs.files[path], "run", own)
        failed = set(system["failed queries"])
        validation = validate_run(parsed, judgments, _expected_queries(queries, labeled, parsed, failed), own)
        validations.append(replace(validation, file=path))
        run = run_from_rows(parsed.source_rows(), name=name).with_failed(sorted(failed))
        if system["method"] != STORED_METHOD:  # which was asked for k results
            run = replace(run, extras=replace(run.extras or RunExtras(), requested_k=manifest["settings"]["k"]))
        runs[name] = run
    if isinstance(labels, StoredJudgments):
        evaluation = evaluate_for_report(
            _judgments_of_queries(labels.qrels, queries),
            runs,
            settings,
            queries=queries,
            reading=replace(settings.reading, keep_rankings=True),  # the runs are in memory
        )
    else:
        evaluation = labels.evaluate(runs, settings, queries)
    return report_of(
        evaluation,
        settings,
        title=collection["name"],
        snippets={} if collection["source"] is None else _snippets(inputs.files[SNIPPETS]),
        costs={name: _cost(cost) for name, cost in manifest["times"]["costs"].items()},
        validations=tuple(validations),
        failed=manifest["failed"],
        manifest=_reproducible_part(manifest),
        reproduce=manifest["implementation"]["executable"]["cmd"],
    )


def settings_of(manifest: Mapping[str, Any]) -> Settings:
    """The settings in a manifest; raises if they are not settings."""
    try:
        return Settings.from_dict(manifest["settings"])
    except TypeError as error:  # a name that is not a setting
        raise InputError.at(MANIFEST, None, f"settings: {error}") from None


def _cost(values: Mapping[str, Any]) -> Cost:
    return Cost(**{field.name: values[field.name] for field in fields(Cost)})


def _judgments_of_queries(judgments: Qrels, queries: Queries) -> Qrels:
    """The judgments of the queries that were run: no system answered the others."""
    _, rows = judgments.query_index.find(queries.ids, np.zeros(len(queries), dtype=np.int64))
    judged_rows = np.unique(rows)
    return judgments if len(judged_rows) == len(judgments.queries) else judgments.select(judged_rows)


def _expected_queries(queries: Queries, labeled: Set[str], run: ValidatedFile, failed: Set[str]) -> list[str]:
    """The queries whose absence from a run is a fault: not those that failed, which the report names, nor those without
    judgments, whose empty answer has no score.
    """
    answered = set() if run.table is None else set(run.table.queries.to_text())
    scored = labeled | answered
    return [query for query in queries.ids.to_text() if query in scored and query not in failed]


def _reproducible_part(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest without what differs between machines or days."""
    kept = {key: value for key, value in manifest.items() if key not in ("files", "sha256", "times")}
    return {**kept, "platform": {"software": manifest["platform"]["software"]}}


def _snippets(file: LoadedFile) -> dict[str, str]:
    lines = enumerate(file.stored.split(b"\n"), start=1)
    rows = [parse_record(file.path, number, line, shape=SNIPPET_SHAPE) for number, line in lines if line]
    return {row["_id"]: row["text"] for row in rows}


@registered_secrets_ignored()
def rendered(report: Report) -> dict[str, bytes]:
    """The content of the files that show results, by their path in the folder, without the page."""
    report_text, evaluations = json_texts(report)
    texts = {REPORT: report_text, COMPARISON: as_markdown(benchmark_document(report), titled=True)}
    texts |= {evaluation_path(system): text for system, text in evaluations.items()}
    return {name: text.encode("utf-8", "surrogateescape") for name, text in texts.items()}


def digests(folder: Path, files: Mapping[str, LoadedFile] | None = None) -> dict[str, str]:
    """The hash of every file of a benchmark except its manifest, by name; ``files`` are in memory already."""
    check_no_links(folder)
    in_memory = files or {}
    return {
        name: in_memory[name].sha256 if name in in_memory else sha256_of_file(folder / name)
        for name in _file_names(folder)
        if name != MANIFEST
    }
