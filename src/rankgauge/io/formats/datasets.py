"""Collections of ir_datasets, as ``irds:beir/scifact/test`` (extra ``datasets``), whose only importer is this file."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankgauge.errors import InputError, MissingExtraError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.columns import rows_of
from rankgauge.io.formats.jsonl import Records
from rankgauge.io.formats.names import Kind
from rankgauge.io.rows import Rows
from rankgauge.io.sources import SCHEME

ITERS = ("iteration", "subtopic_id")


def rows(path: str, kind: Kind) -> Rows:
    """The judgments of a collection, or the results that come with it."""
    faults = Faults(path)
    found = _listed(path, "qrels" if kind == "qrels" else "scoreddocs")
    value = "relevance" if kind == "qrels" else "score"
    iters = next((name for name in ITERS if found and hasattr(found[0], name)), None)
    names = ["query_id", "doc_id", value, *([iters] if iters and kind == "qrels" else [])]
    records = [{name: getattr(row, name) for name in names} for row in found]
    roles = {"query": "query_id", "doc": "doc_id", "grade" if kind == "qrels" else "score": value}
    if iters and kind == "qrels":
        roles["iter"] = iters
    return rows_of(faults, Records(np.arange(1, len(records) + 1), records), kind, roles)


def queries(path: str) -> list[dict[str, Any]]:
    """The queries of a collection, each with all that is known of it."""
    return [dict(row._asdict()) for row in _listed(path, "queries")]


def _listed(path: str, what: str) -> list[Any]:
    try:
        import ir_datasets
    except ImportError:
        raise MissingExtraError(
            f"{path} needs the library ir_datasets", hint="pip install 'rankgauge[datasets]'"
        ) from None
    name = path.removeprefix(SCHEME)
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        raise InputError(
            f"ir_datasets has no collection {shown(name)}", hint="see https://ir-datasets.com for their names"
        ) from None
    if not hasattr(dataset, f"{what}_iter"):
        raise InputError(f"collection {shown(name)} has no {what}")
    try:
        found = list(getattr(dataset, f"{what}_iter")())
    except Exception as error:  # a download that failed, each kind with an error of its own
        raise InputError(f"{path}: cannot be read: {shown(str(error), 200)}") from None
    if not found:
        raise InputError(f"collection {shown(name)} has no {what}")
    return found
