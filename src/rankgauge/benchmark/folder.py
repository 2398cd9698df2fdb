"""The folder of a benchmark: where each file is, and how it is read back into a report."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.config.settings import Settings
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError
from rankgauge.io.queries import Queries, read_queries
from rankgauge.io.rows import build_qrels, build_run
from rankgauge.io.sources import LoadedFile, load_file, sha256_of_file
from rankgauge.render.text.benchmark import as_json, as_markdown, evaluation
from rankgauge.report import manifest as manifests
from rankgauge.report.building import build_report
from rankgauge.report.report import Cost, Report
from rankgauge.validation.findings import Validation
from rankgauge.validation.options import ValidationOptions
from rankgauge.validation.reading import ValidatedFile, read_for_validation
from rankgauge.validation.validate import validate_qrels, validate_run

MANIFEST = "ExperimentManifest.json"
REPORT = "BenchmarkReport.json"
COMPARISON = "BenchmarkComparison.md"
PAGE = "report.html"
RUNS_FOLDER, EVALUATIONS_FOLDER, INPUTS_FOLDER = "runs", "evaluations", "inputs"
SUBFOLDERS = (RUNS_FOLDER, EVALUATIONS_FOLDER, INPUTS_FOLDER)
SNIPPETS = f"{INPUTS_FOLDER}/snippets.jsonl"
MAX_PLACES = 3  # of each fault in the report of a validation
BENCHMARK_FILES = {MANIFEST, REPORT, COMPARISON, PAGE, *SUBFOLDERS}


def claim(folder: Path) -> Path:
    """Create a working folder beside ``folder``, which replaces it at the end.

    ``folder`` must not exist, or hold a benchmark and nothing else, so that no other files are lost.
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
    work = target.with_name(f"{target.name}.partial")
    for leftover in work.rglob(".*.tmp"):  # of a process that was killed while it wrote a file
        leftover.unlink(missing_ok=True)
    for path, expected_files in ((target, _benchmark_files(target)), (work, None)):
        foreign_file = _foreign_file(path, expected_files)
        if foreign_file is not None:
            raise InputError.at(
                path, None, f"exists and contains other files ({foreign_file})", hint="name a new folder: -o DIR"
            )
    try:
        for name in SUBFOLDERS:
            (work / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError.at(work, None, f"cannot write: {error.strerror}") from None
    return work


def _benchmark_files(folder: Path) -> set[str]:
    """The files of the benchmark in a folder; none if there is no benchmark."""
    if not (folder / MANIFEST).is_file():
        return set()
    return {*manifests.load(folder / MANIFEST)["files"], MANIFEST}


def _foreign_file(folder: Path, expected_files: set[str] | None) -> str | None:
    """A file that is not part of the benchmark; if its files are unknown, one outside of its subfolders."""
    files = [path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()] if folder.is_dir() else []
    for name in sorted(files):
        is_expected = name.parts[0] in BENCHMARK_FILES if expected_files is None else name.as_posix() in expected_files
        if not is_expected:
            return name.as_posix()
    return None


def install(work: Path, folder: Path) -> None:
    """Replace the folder with the finished working folder."""
    target = folder.resolve()
    old = target.with_name(f".{target.name}.{os.urandom(6).hex()}.old")
    try:
        if target.exists():
            target.rename(old)
        work.rename(target)
        if old.exists():
            shutil.rmtree(old)
    except OSError as error:
        raise InputError.at(
            folder, None, f"cannot write: {error.strerror}", hint=f"the results are in {work.name}"
        ) from None


def run_path(system: str) -> str:
    """The path of a system's run."""
    return f"{RUNS_FOLDER}/{system}.trec"


def evaluation_path(system: str) -> str:
    """The path of the report of one system."""
    return f"{EVALUATIONS_FOLDER}/{system}.EvaluationReport.json"


@dataclass(frozen=True, eq=False)
class StoredInputs:
    """The inputs of a benchmark, each read once: files by their path in the folder, and what was parsed of them."""

    files: Mapping[str, LoadedFile]
    queries: Queries
    judgments: Qrels
    validation: Validation  # of the judgments


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
    missing = next((folder / name for name in names if not (folder / name).is_file()), None)
    if missing is not None:
        raise InputError.at(missing, None, "is missing, and nothing can be computed without it")
    files = {name: load_file(folder / name) for name in names}
    queries = read_queries(files[names[1]])
    validation, parsed = validate_judgments(files[names[0]], queries)
    return StoredInputs(files, queries, build_qrels(parsed.rows(), name=collection["name"]), validation)


def read_report(folder: Path, manifest: Mapping[str, Any]) -> Report:
    """The report of a finished benchmark, recomputed from its folder."""
    return report_of_inputs(read_inputs(folder, manifest), manifest)


def report_of_inputs(inputs: StoredInputs, manifest: Mapping[str, Any]) -> Report:
    """The report of the stored runs, queries and judgments: what `report verify` recomputes."""
    collection, judgments, queries = manifest["data"]["test collection"], inputs.judgments, inputs.queries
    options = ValidationOptions(max_depth=manifest["settings"]["k"], max_places=MAX_PLACES)
    validations, runs = [replace(inputs.validation, file=collection["qrels"]["path"])], {}
    for system in manifest["method"]["retrieval"]:
        path, name = system["run"]["path"], system["name"]
        parsed = read_for_validation(inputs.files[path], "run", options)
        failed = set(system.get("failed queries", ()))
        validation = validate_run(parsed, judgments, _expected_queries(queries, judgments, parsed, failed), options)
        validations.append(replace(validation, file=path))
        runs[name] = build_run(parsed.rows(), name=name).with_failed(sorted(failed))
    return build_report(
        _judgments_of_queries(judgments, queries),
        runs,
        Settings.from_dict(manifest["settings"]),
        title=collection["name"],
        topics=queries,
        snippets={} if collection["source"] is None else _snippets(inputs.files[SNIPPETS]),
        costs={name: Cost(**cost) for name, cost in manifest["times"]["costs"].items()},
        validations=tuple(validations),
        failed=manifest["failed"],
        manifest=_reproducible_part(manifest),
        reproduce=manifest["implementation"]["executable"]["cmd"],
    )


def _judgments_of_queries(judgments: Qrels, queries: Queries) -> Qrels:
    """The judgments of the queries that were run: no system answered the others."""
    _, rows = judgments.query_index.find(queries.ids, np.zeros(len(queries), dtype=np.int64))
    judged_rows = np.unique(rows)
    return judgments if len(judged_rows) == len(judgments.queries) else judgments.select(judged_rows)


def _expected_queries(queries: Queries, judgments: Qrels, run: ValidatedFile, failed: Set[str]) -> list[str]:
    """The queries whose absence from a run is a fault: not those that failed, which the report names, nor those without
    judgments, whose empty answer has no score.
    """
    answered = set() if run.table is None else set(run.table.queries.to_text())
    scored = set(judgments.queries.to_text()) | answered
    return [query for query in queries.ids.to_text() if query in scored and query not in failed]


def _reproducible_part(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest without what differs between machines or days."""
    kept = {key: value for key, value in manifest.items() if key not in ("files", "sha256", "times")}
    return {**kept, "platform": {"software": manifest["platform"]["software"]}}


def _snippets(file: LoadedFile) -> dict[str, str]:
    rows = [json.loads(line) for line in file.stored.decode("utf-8", "surrogateescape").split("\n") if line]
    return {row["_id"]: row["text"] for row in rows}


def rendered(report: Report) -> dict[str, bytes]:
    """The content of the files that show results, by their path in the folder."""
    texts = {REPORT: as_json(report), COMPARISON: as_markdown(report)}
    for scores in report.scores:
        texts[evaluation_path(scores.run)] = evaluation(report, scores)
    return {name: text.encode("utf-8", "surrogateescape") for name, text in texts.items()}


def digests(folder: Path, files: Mapping[str, LoadedFile] | None = None) -> dict[str, str]:
    """The hash of every file of a benchmark except its manifest, by name; ``files`` are in memory already."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    in_memory = files or {}
    return {
        name: in_memory[name].sha256 if name in in_memory else sha256_of_file(folder / name)
        for name in names
        if name != MANIFEST
    }
