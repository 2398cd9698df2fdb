"""The folder of a benchmark: where each file is, and how it is read back into a report."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.config.settings import Settings
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError
from rankgauge.io.queries import Queries, read_queries
from rankgauge.io.reading import read_qrels
from rankgauge.io.sources import LoadedFile, load_file, sha256_of_file
from rankgauge.render.text.benchmark import as_json, as_markdown, evaluation
from rankgauge.report import manifest as manifests
from rankgauge.report.building import build_report
from rankgauge.report.report import Cost, Report
from rankgauge.validation.options import ValidationOptions
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


def read_report(folder: Path, manifest: Mapping[str, Any], files: Mapping[str, LoadedFile] | None = None) -> Report:
    """The report, recomputed from the runs, queries and judgments in the folder; ``files`` are in memory already."""
    collection = manifest["data"]["test collection"]

    def load(name: str) -> LoadedFile:
        if files is not None and name in files:
            return files[name]
        if not (folder / name).is_file():
            raise InputError.at(folder / name, None, "is missing, and nothing can be computed without it")
        return load_file(folder / name)

    qrels, queries = load(collection["qrels"]["path"]), read_queries(load(collection["topics"]["path"]))
    judgments = read_qrels(qrels, name=collection["name"])
    runs = {system["name"]: load(system["run"]["path"]) for system in manifest["method"]["retrieval"]}
    options = ValidationOptions(max_depth=manifest["settings"]["k"], max_places=MAX_PLACES)
    validations = [validate_qrels(qrels, queries=queries, options=ValidationOptions(max_places=MAX_PLACES))]
    validations += [validate_run(run, judgments, queries, options) for run in runs.values()]
    return build_report(
        _judgments_of_queries(judgments, queries),
        runs,
        Settings.from_dict(manifest["settings"]),
        title=collection["name"],
        topics=queries,
        snippets={} if collection["source"] is None else _snippets(load(SNIPPETS)),
        costs={name: Cost(**cost) for name, cost in manifest["times"]["costs"].items()},
        validations=tuple(
            replace(result, file=Path(file.path).relative_to(folder).as_posix())
            for result, file in zip(validations, (qrels, *runs.values()), strict=True)
        ),
        failed=manifest["failed"],
        manifest=_reproducible_part(manifest),
        reproduce=manifest["implementation"]["executable"]["cmd"],
    )


def _judgments_of_queries(judgments: Qrels, queries: Queries) -> Qrels:
    """The judgments of the queries that were run: no system answered the others."""
    _, rows = judgments.query_index.find(queries.ids, np.zeros(len(queries), dtype=np.int64))
    judged_rows = np.unique(rows)
    return judgments if len(judged_rows) == len(judgments.queries) else judgments.select(judged_rows)


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
