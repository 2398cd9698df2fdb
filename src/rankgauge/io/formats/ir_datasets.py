"""Collections of ir_datasets, as in ``irds:beir/scifact/test`` (extra ``datasets``). Only this file imports it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankgauge.core.batch import Batch
from rankgauge.errors import InputError, MissingExtraError, shown
from rankgauge.io.byte_streams import DATASET_PREFIX
from rankgauge.io.faults import Faults
from rankgauge.io.formats.json_text import Records
from rankgauge.io.formats.named_columns import Kind, Wanted, batch_of_table

ITER_FIELDS = ("iteration", "subtopic_id")


def dataset_batch(path: str, kind: Kind, faults: Faults) -> Batch:
    """The judgments of a collection, or the results that come with it."""
    items = _read_items(path, "qrels" if kind == "qrels" else "scoreddocs")
    value = "relevance" if kind == "qrels" else "score"
    iters = next((name for name in ITER_FIELDS if items and hasattr(items[0], name)), None)
    names = ["query_id", "doc_id", value, *([iters] if iters and kind == "qrels" else [])]
    records = [{name: getattr(item, name) for name in names} for item in items]
    columns = {"query": "query_id", "doc": "doc_id", "grade" if kind == "qrels" else "score": value}
    if iters and kind == "qrels":
        columns["iter"] = iters
    return batch_of_table(faults, Records(np.arange(1, len(records) + 1), records), Wanted(kind, columns))


def queries(path: str) -> list[dict[str, Any]]:
    """The queries of a collection, each with all its fields."""
    return [dict(item._asdict()) for item in _read_items(path, "queries")]


def _read_items(path: str, what: str) -> list[Any]:
    try:
        import ir_datasets
    except ModuleNotFoundError:
        raise MissingExtraError(
            f"{path} needs the library ir_datasets", hint="pip install 'rankgauge[datasets]'"
        ) from None
    name = path.removeprefix(DATASET_PREFIX)
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        raise InputError(
            f"ir_datasets has no collection {shown(name)}", hint="see https://ir-datasets.com for their names"
        ) from None
    if not hasattr(dataset, f"{what}_iter"):
        raise InputError(f"collection {shown(name)} has no {what}")
    try:
        items = list(getattr(dataset, f"{what}_iter")())
    except MemoryError:
        raise
    except Exception as error:  # a failed download, each kind with an error of its own
        raise InputError(f"{path}: cannot be read: {shown(str(error), 200)}") from None
    if not items:
        raise InputError(f"collection {shown(name)} has no {what}")
    return items
