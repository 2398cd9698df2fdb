"""The folder of a benchmark: what lies where, and how it is read back into a report."""

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
from rankgauge.io.queries import read_queries
from rankgauge.io.reading import read_qrels
from rankgauge.io.sources import sha256_of_file
from rankgauge.render.text.benchmark import as_json, as_markdown, evaluation
from rankgauge.report import manifest as manifests
from rankgauge.report.building import build_report
from rankgauge.report.report import Cost, Report
from rankgauge.validation.findings import Validation
from rankgauge.validation.options import ValidationOptions
from rankgauge.validation.validate import validate_qrels, validate_run

MANIFEST = "ExperimentManifest.json"
REPORT = "BenchmarkReport.json"
COMPARISON = "BenchmarkComparison.md"
PAGE = "report.html"
RUNS, EVALUATIONS, INPUTS = "runs", "evaluations", "inputs"
SNIPPETS = f"{INPUTS}/snippets.jsonl"
OURS = {MANIFEST, REPORT, COMPARISON, PAGE, RUNS, EVALUATIONS, INPUTS}


def claim(folder: Path) -> Path:
    """A folder beside it to work in, which takes its place at the end; what is there stays until then.

    What is there must be nothing, or a benchmark and nothing else: then nobody's files are lost.
    """
    target = folder.resolve()
    if target == Path.cwd() or not target.name:
        raise InputError.at(folder, None, "a benchmark takes the place of its folder", hint="name another: -o DIR")
    if target.exists() and not target.is_dir():
        raise InputError.at(folder, None, "cannot write: it is a file", hint="name a folder")
    work = target.with_name(f"{target.name}.partial")
    for place, known in ((target, _written(target)), (work, None)):
        strange = _strange(place, known)
        if strange is not None:
            raise InputError.at(
                place, None, f"is there and holds other files ({strange})", hint="name a new folder: -o"
            )
    try:
        for name in (RUNS, EVALUATIONS, INPUTS):
            (work / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError.at(work, None, f"cannot write: {error.strerror}") from None
    return work


def _written(folder: Path) -> set[str]:
    """The files of the benchmark that a folder holds; none where it holds none."""
    if not (folder / MANIFEST).is_file():
        return set()
    return {*manifests.opened(folder / MANIFEST)["files"], MANIFEST}


def _strange(folder: Path, known: set[str] | None) -> str | None:
    """A file that does not belong there; in a folder to work in, where nothing is known yet, by its place alone."""
    files = [path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()] if folder.is_dir() else []
    for name in sorted(files):
        if name.as_posix() not in known if known is not None else name.parts[0] not in OURS:
            return name.as_posix()
    return None


def install(work: Path, folder: Path) -> None:
    """Let the finished work take the place of what was there."""
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
            folder, None, f"cannot write: {error.strerror}", hint=f"the work is in {work.name}"
        ) from None


def run_path(system: str) -> str:
    """Where a system's run lies."""
    return f"{RUNS}/{system}.trec"


def evaluation_path(system: str) -> str:
    """Where the report of one system lies."""
    return f"{EVALUATIONS}/{system}.EvaluationReport.json"


def read_report(folder: Path, manifest: Mapping[str, Any]) -> Report:
    """Everything that was reported, computed anew from the runs, queries and judgments of the folder."""
    collection = manifest["data"]["test collection"]
    qrels, topics = folder / collection["qrels"]["path"], folder / collection["topics"]["path"]
    for path in (qrels, topics):
        if not path.is_file():
            raise InputError.at(path, None, "is missing, and nothing can be computed without it")
    judged = _asked(read_qrels(qrels, name=collection["name"]), topics)
    runs = {one["name"]: folder / one["run"]["path"] for one in manifest["method"]["retrieval"]}
    lost = next((path for path in runs.values() if not path.is_file()), None)
    if lost is not None:
        raise InputError.at(lost, None, "is missing, and nothing can be computed without it")
    settings = Settings.from_dict(manifest["settings"])
    return build_report(
        judged,
        runs,
        settings,
        title=collection["name"],
        topics=topics,
        snippets=_snippets(folder / SNIPPETS),
        costs={name: Cost(**found) for name, found in manifest["times"]["costs"].items()},
        validations=validations(folder, qrels, topics, runs, manifest["settings"]["k"]),
        failed=manifest["failed"],
        manifest=_timeless(manifest),
        reproduce=manifest["implementation"]["executable"]["cmd"],
    )


def _asked(judged: Qrels, topics: Path) -> Qrels:
    """The judgments of the queries that were asked: nobody answered the others."""
    asked = read_queries(topics).ids
    _, found = judged.query_index.find(asked, np.zeros(len(asked), dtype=np.int64))
    known = np.unique(found)
    return judged if len(known) == len(judged.queries) else judged.select(known)


def _timeless(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest without what another machine or another day would change."""
    kept = {key: value for key, value in manifest.items() if key not in ("files", "sha256", "times")}
    return {**kept, "platform": {"software": manifest["platform"]["software"]}}


def validations(folder: Path, qrels: Path, topics: Path, runs: Mapping[str, Path], k: int) -> tuple[Validation, ...]:
    """What is wrong with the judgments and with each run; files are named as in the folder."""
    found = [validate_qrels(qrels, queries=topics, options=ValidationOptions(max_places=3))]
    found += [validate_run(path, qrels, topics, ValidationOptions(max_depth=k, max_places=3)) for path in runs.values()]
    names = [path.relative_to(folder).as_posix() for path in (qrels, *runs.values())]
    return tuple(replace(one, file=name) for one, name in zip(found, names, strict=True))


def _snippets(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", errors="surrogateescape") as file:
        rows = [json.loads(line) for line in file]
    return {row["_id"]: row["text"] for row in rows}


def rendered(report: Report) -> dict[str, bytes]:
    """The files that say what came out, by their place in the folder."""
    texts = {REPORT: as_json(report), COMPARISON: as_markdown(report)}
    for scores in report.scores:
        texts[evaluation_path(scores.run)] = evaluation(report, scores)
    return {name: text.encode("utf-8", "surrogateescape") for name, text in texts.items()}


def digests(folder: Path) -> dict[str, str]:
    """The hash of every file of a benchmark but its manifest, in the order of their names."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name: sha256_of_file(folder / name) for name in names if name != MANIFEST}
