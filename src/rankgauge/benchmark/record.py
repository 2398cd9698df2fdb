"""What a benchmark's manifest says: what went in, what was done with it, what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.benchmark.folder import run_path
from rankgauge.benchmark.plan import BenchmarkPlan
from rankgauge.errors import RankgaugeError
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.queries import Queries
from rankgauge.io.sources import sha256_of_file
from rankgauge.report import manifest as manifests
from rankgauge.report.report import Cost
from rankgauge.retrieval.base import Retriever
from rankgauge.retrieval.fetch.fetch import FetchResult

GROUPS = 8  # a column of the queries with more groups than this is no slice


@dataclass(frozen=True, eq=False)
class Done:
    """What came of one system."""

    fetched: FetchResult
    retriever: Retriever
    cost: Cost


def manifest_of(
    plan: BenchmarkPlan,
    folder: Path,
    documents: Corpus | None,
    stored: Mapping[str, str],
    queries: Queries,
    done: Mapping[str, Done],
    failed: Mapping[str, RankgaugeError],
) -> dict[str, Any]:
    """All but the times and the files' digests, which are known at the very end."""
    wanted = plan.settings.baseline
    baseline = wanted if wanted is not None and wanted in done else next(iter(done))
    by = groupable_columns(queries) if plan.settings.by is None else plan.settings.by
    settings = replace(plan.settings, baseline=baseline, by=by)
    how = settings.statistics
    return {
        "schema": manifests.SCHEMA,
        "tag": plan.title,
        "data": {
            "test collection": {
                "name": plan.title,
                "source": None
                if documents is None
                else {
                    "path": manifests.plain_path(documents.source),
                    "sha256": documents.sha256,
                    "documents": sum(1 for _ in documents),
                },
                "qrels": _file(folder, stored["qrels"], plan.qrels),
                "topics": {**_file(folder, stored["queries"], plan.queries), "queries": len(queries)},
            },
            "other": _models(done),
        },
        "method": {
            "automatic": True,
            "score ties": "document id descending",
            "retrieval": [_retrieval(folder, name, one) for name, one in done.items()],
        },
        "research goal": {
            "evaluation": {
                "reported measures": [str(measure) for measure in settings.conventions.measures(settings.measures)],
                "baseline": [baseline],
                "significance test": [{"name": how.test, "correction method": how.correction}],
            }
        },
        "settings": {**settings.to_dict(), "k": plan.k},
        "failed": {name: _told(error, name == plan.settings.baseline, baseline) for name, error in failed.items()},
        "implementation": {"executable": {"cmd": plan.command}, "source": {"lang": ["python"]}},
        "platform": {**manifests.machine(), "software": {"libraries": {"python": manifests.libraries()}}},
        "times": {"costs": {name: asdict(one.cost) for name, one in done.items()}},
    }


def groupable_columns(queries: Queries) -> tuple[str, ...]:
    """The columns of the queries that make a few groups of at least two."""
    found = []
    for name, values in queries.columns.items():
        labels, sizes = np.unique([str(value) for value in values.values()], return_counts=True)
        if name not in ("unit", "weight", "k") and 2 <= len(labels) <= GROUPS and sizes.min() >= 2:
            found.append(name)
    return tuple(found)


def _told(error: RankgaugeError, was_baseline: bool, baseline: str) -> str:
    said = manifests.plain_text(" ".join(str(error).split()))
    return f"{said} (it was to be the baseline: the others are compared with {baseline})" if was_baseline else said


def _file(folder: Path, name: str, given: str) -> dict[str, Any]:
    return {"path": name, "given": manifests.plain_path(given), "sha256": sha256_of_file(folder / name)}


def _retrieval(folder: Path, name: str, one: Done) -> dict[str, Any]:
    path = run_path(name)
    results = sum(len(answer.docs) for answer in one.fetched.answers)
    return {
        "name": name,
        "method": one.retriever.identity().get("mode", one.retriever.name),
        "params": manifests.plain_values(dict(one.retriever.identity())),
        "run": {"path": path, "sha256": sha256_of_file(folder / path), "results": results},
    }


def _models(done: Mapping[str, Done]) -> list[dict[str, Any]]:
    """The embedders, each once, with the hashes of their weights."""
    found: dict[str, dict[str, Any]] = {}

    def walk(value: Any) -> None:
        if isinstance(value, Mapping):
            if "embedder" in value and isinstance(value["embedder"], str):
                found[json.dumps(value, sort_keys=True)] = {"name": value["embedder"], **value}
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    for one in done.values():
        walk(manifests.plain_values(dict(one.retriever.identity())))
    return list(found.values())
