"""The manifest of a benchmark, or of an evaluation: its inputs, its methods and its results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.benchmark.chunkings import (
    INPUTS_FOLDER,
    RETURNED_CHUNKS,
    BenchmarkGold,
    chunking_of,
    chunks_path,
    resolved_path,
)
from rankgauge.benchmark.folder import SNIPPETS, StoredInputs, settings_of
from rankgauge.benchmark.plan import STORED_METHOD, BenchmarkPlan
from rankgauge.config.settings import Settings
from rankgauge.core.ranking import TIE_RULE
from rankgauge.core.run import Run, Status
from rankgauge.errors import RankgaugeError, UsageError, shown
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.query_groups import groupable_columns
from rankgauge.io.byte_streams import AnyFile, LoadedFile, sha256_of_file
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.queries import Queries
from rankgauge.labels.gold.gold_judgments import GoldOptions
from rankgauge.report import manifest as manifests
from rankgauge.retrieval.embedders.embedder import embedders_in
from rankgauge.retrieval.latency import Cost, cost_of
from rankgauge.retrieval.open_retriever import OWN_MODE, is_own_retriever


@dataclass(frozen=True)
class IndexRecord:
    """An index that a system searched: its folder in the folder of indexes, and the hash of its content."""

    path: str
    sha256: str


@dataclass(frozen=True, eq=False)
class SystemResult:
    """The run of one system and its path, the queries that failed, what identifies its retriever, its cost, and the
    indexes that it searched.
    """

    run: Run
    path: str
    failures: Mapping[str, str]
    method: str
    identity: Mapping[str, Any]
    cost: Cost
    indexes: tuple[IndexRecord, ...] = ()
    chunking: str | None = None  # of the chunks that it returned, if they are not those of the plan


def result_of_run(run: Run, path: str, cost: Cost, method: str = STORED_METHOD) -> SystemResult:
    """The result of a system that is known by its run."""
    errors = {} if run.extras is None else run.extras.errors
    failed = run.queries.take(np.flatnonzero(run.status == Status.FAILED)).to_text()
    failures = {query: errors.get(query, "failed") for query in failed}
    identity = {"mode": method, "results": run.name, "queries": len(run.queries)}
    return SystemResult(run, path, failures, method, identity, cost)


@dataclass(frozen=True, eq=False)
class BenchmarkInputs:
    """The plan, the labels and queries as they are stored in the folder, and the queries in memory."""

    plan: BenchmarkPlan
    labels: LoadedFile
    queries: LoadedFile
    parsed_queries: Queries


@dataclass(frozen=True)
class CorpusRecord:
    """What the manifest says of a corpus."""

    path: str
    sha256: str
    documents: int
    snippets: LoadedFile  # the first words of documents near the top of a ranking


RETURNED = "returned by the retrievers"  # what the texts are, if there is no corpus


def chunk_records(plan: BenchmarkPlan, chunks: Mapping[str, Corpus]) -> dict[str, dict[str, Any]]:
    """How the documents were split, and the files of chunks."""
    return {
        name: {
            **(plan.chunkings[name].to_dict() if name in plan.chunkings else {}),
            "description": str(plan.chunkings.get(name, "not split")),
            **({"description": RETURNED, "complete": False} if _is_returned(plan, name) else {}),
            "path": chunks_path(name),
            "sha256": corpus.sha256,
            "chunks": len(corpus.ids),
            "labels": resolved_path(name),
        }
        for name, corpus in chunks.items()
    }


def _is_returned(plan: BenchmarkPlan, chunking: str) -> bool:
    return plan.corpus is None or chunking == RETURNED_CHUNKS


def manifest_of(
    inputs: BenchmarkInputs,
    corpus: CorpusRecord | None,
    runs: Mapping[str, LoadedFile],
    results: Mapping[str, SystemResult],
    failed: Mapping[str, RankgaugeError],
    chunkings: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything but the times and the digests of files, which are known at the very end."""
    plan, queries = inputs.plan, inputs.parsed_queries
    planned = plan.settings.baseline
    baseline = planned if planned is not None and planned in results else next(iter(results))
    by = groupable_columns(queries) if plan.settings.by is None else plan.settings.by
    settings = replace(plan.settings, baseline=baseline, by=by)
    collection = {
        "name": plan.title,
        "source": None
        if corpus is None
        else {
            "path": manifests.plain_path(corpus.path),
            "sha256": corpus.sha256,
            "documents": corpus.documents,
            "snippets": {"path": SNIPPETS, "sha256": corpus.snippets.sha256},
        },
        "qrels": _file(inputs.labels, plan.labels),
        "topics": {**_file(inputs.queries, plan.queries), "queries": len(queries)},
        **({"chunkings": dict(chunkings), "matching": _matching(plan.matching)} if chunkings else {}),
    }
    retrieval = [
        _retrieval(name, runs[name].sha256, result)
        | ({"chunking": result.chunking or chunking_of(plan.systems[name])} if chunkings else {})
        for name, result in results.items()
    ]
    reasons = {name: _reason(error, name == planned, baseline) for name, error in failed.items()}
    return _experiment(collection, results, retrieval, settings, plan.k, plan.command) | {"failed": reasons}


def _experiment(
    collection: Mapping[str, Any],
    results: Mapping[str, SystemResult],
    retrieval: Sequence[Mapping[str, Any]],
    settings: Settings,
    k: int,
    command: str,
) -> dict[str, Any]:
    """A manifest without the times and the digests of files, in which no system failed."""
    return {
        "schema": manifests.MANIFEST_SCHEMA,
        "tag": collection["name"],
        "data": {"test collection": collection, "other": _models(map(_parameters, results.values()))},
        "method": {"automatic": True, "score ties": TIE_RULE, "retrieval": list(retrieval)},
        "research goal": _research_goal(settings),
        "settings": {**settings.to_dict(), "k": k},
        "failed": {},
        "implementation": {"executable": {"cmd": command}, "source": {"lang": ["python"]}},
        "platform": {**manifests.machine(), "software": {"libraries": {"python": manifests.libraries()}}},
        "times": {"costs": {name: asdict(result.cost) for name, result in results.items()}},
    }


def manifest_of_evaluation(
    evaluation: Evaluation, settings: Settings, sources: EvaluatedSources, k: int, command: str
) -> dict[str, Any]:
    """The manifest of an evaluation outside of a benchmark, without its times: files are where they were."""
    results = {}
    for row, scores in enumerate(evaluation.scores):
        joined = evaluation.join_of(row)
        if joined is None or joined.run is None:
            raise UsageError(f"{shown(scores.run)} has scores and no rankings, which a manifest names")
        path, method = sources.path_of(row, len(evaluation.scores))
        cost = Cost() if joined.run.extras is None else cost_of(joined.run.extras)
        results[scores.run] = result_of_run(joined.run, path, cost, method)
    first, judgments = evaluation.scores[0], evaluation.qrels.sha256
    labels = _source_file(sources.labels, judgments)
    topics = labels if sources.queries is None else _source_file(sources.queries, judgments)
    retrieval = [
        _retrieval(name, _digest_of(result.path, result.run.sha256), replace(result, path=_plain(result.path)))
        for name, result in results.items()
    ]
    collection = {
        "name": first.qrels,
        "source": None,
        "qrels": labels,
        "topics": {**topics, "queries": len(first.queries)},
    }
    requested = tuple(measure.shown for measure in first.requested or first.measures)
    manifest = _experiment(collection, results, retrieval, replace(settings, measures=requested), k, command)
    return {**manifest, "files": recorded_files(manifest)}


@dataclass(frozen=True)
class EvaluatedSources:
    """What an evaluation read: labels, queries if they have a file, and results; the run that it wrote, if it did."""

    labels: str
    queries: str | None
    results: tuple[str, ...]
    written: str | None = None

    def path_of(self, row: int, systems: int) -> tuple[str, str]:
        """Where the results of a system are, and how they were made: a file or a folder can have several systems."""
        if systems != len(self.results):
            return ", ".join(self.results), STORED_METHOD
        source = self.results[row]
        is_live = is_own_retriever(source)
        return self.written if is_live and self.written is not None else source, OWN_MODE if is_live else STORED_METHOD


def _source_file(path: str, content: str) -> dict[str, Any]:
    """A file that stays where it is; ``content`` is the hash if it is not one file."""
    return {"path": _plain(path), "original": _plain(path), "sha256": _digest_of(path, content)}


def _plain(path: str) -> str:
    return manifests.plain_text(manifests.plain_path(path))


def _digest_of(path: str, content: str) -> str:
    return sha256_of_file(path) if Path(path).is_file() else content


def _research_goal(settings: Settings) -> dict[str, Any]:
    statistics = settings.statistics
    return {
        "evaluation": {
            "reported measures": [str(measure) for measure in settings.conventions.measures(settings.measures)],
            "baseline": [] if settings.baseline is None else [settings.baseline],
            "significance test": [{"name": statistics.test, "correction method": statistics.correction}],
        }
    }


def recomputed_manifest(
    manifest: Mapping[str, Any], inputs: StoredInputs, results: Mapping[str, int]
) -> dict[str, Any]:
    """A manifest in which all that follows from the files, or from other fields, is computed again.

    ``results`` has the number of rows in the run of each system.
    """
    collection, systems = manifest["data"]["test collection"], manifest["method"]["retrieval"]
    derived: dict[str, Any] = {"topics": {**collection["topics"], "queries": len(inputs.queries)}}
    if isinstance(inputs.labels, BenchmarkGold):
        chunks = inputs.labels.chunks
        derived["chunkings"] = {
            name: {**entry, "chunks": len(chunks[name].ids)} for name, entry in collection["chunkings"].items()
        }
    retrieval = [{**system, "run": {**system["run"], "results": results[system["name"]]}} for system in systems]
    return {
        **manifest,
        "tag": collection["name"],
        "data": {
            **manifest["data"],
            "test collection": {**collection, **derived},
            "other": _models(system["params"] for system in systems),
        },
        "method": {**manifest["method"], "retrieval": retrieval},
        "research goal": _research_goal(settings_of(manifest)),
    }


def recorded_files(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The hashes of stored inputs that the manifest has beside its list of all files."""
    collection = manifest["data"]["test collection"]
    records = [collection["qrels"], collection["topics"], *collection.get("chunkings", {}).values()]
    records += [] if collection["source"] is None else [collection["source"]["snippets"]]
    records += [system["run"] for system in manifest["method"]["retrieval"]]
    return {record["path"]: record["sha256"] for record in records}


def _matching(options: GoldOptions) -> dict[str, float]:
    return {"coverage": options.coverage, "tolerance": options.tolerance}


def _reason(error: RankgaugeError, is_planned_baseline: bool, baseline: str) -> str:
    """Why a system failed, and what replaces it if it was to be the baseline."""
    message = manifests.plain_text(" ".join(str(error).split()))
    if not is_planned_baseline:
        return message
    return f"{message} (planned as the baseline: the others are compared with {baseline} instead)"


def _file(stored: LoadedFile, original: AnyFile) -> dict[str, Any]:
    path = f"{INPUTS_FOLDER}/{Path(stored.path).name}"
    return {"path": path, "original": manifests.plain_path(str(original)), "sha256": stored.sha256}


def _retrieval(name: str, sha256: str, result: SystemResult) -> dict[str, Any]:
    return {
        "name": name,
        "method": result.method,
        "params": _parameters(result),
        "run": {"path": result.path, "sha256": sha256, "results": len(result.run.docs)},
        "indexes": [asdict(index) for index in result.indexes],
        "failed queries": {query: manifests.plain_text(reason) for query, reason in result.failures.items()},
    }


def _parameters(result: SystemResult) -> dict[str, Any]:
    parameters: dict[str, Any] = manifests.plain_values(dict(result.identity))
    return parameters


def _models(parameters: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The embedders, each once, with their hashes."""
    models: dict[str, dict[str, Any]] = {}
    for identity in parameters:
        for value in embedders_in(identity):
            if "embedder" in value:
                models[json.dumps(value, sort_keys=True)] = {"name": value["embedder"], **value}
    return list(models.values())
