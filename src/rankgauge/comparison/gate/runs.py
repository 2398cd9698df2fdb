"""The runs of a baseline: one, or several of the same system, whose mean it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.core.run import Run
from rankgauge.core.tables import Floats


@dataclass(frozen=True, eq=False)
class BaselineRun:
    """One run of a baseline: its value for each query, and which judged documents it retrieved."""

    name: str
    sha256: str | None
    values: Floats  # queries × measures; NaN if there is none
    retrieved: Mapping[str, tuple[str, ...]]  # query → the judged documents it retrieved
    stored: Mapping[str, Any]  # the run of the scores' schema, as it is written
    ranking: Run | None = None  # the run itself, if it is known


def mean_values(runs: Sequence[BaselineRun]) -> Floats:
    """The mean of the runs, query by query; exactly the value of a query if all runs have the same."""
    return mean_of([run.values for run in runs])


def mean_of(values: Sequence[Floats]) -> Floats:
    """The mean of arrays; exactly a value if all arrays have the same."""
    first = values[0]
    return first + np.mean([one - first for one in values], axis=0) if len(values) > 1 else first


def common_name(runs: Sequence[BaselineRun]) -> str:
    """The name that all runs have, or how many there are."""
    names = {run.name for run in runs}
    return runs[0].name if len(names) == 1 else f"mean of {len(runs)} runs"


def common_sha256(runs: Sequence[BaselineRun]) -> str | None:
    """The hash of the file, if all runs have the same."""
    hashes = {run.sha256 for run in runs}
    return runs[0].sha256 if len(hashes) == 1 else None


def always_retrieved(runs: Sequence[BaselineRun]) -> dict[str, tuple[str, ...]]:
    """The judged documents that every run retrieved: one that is missing now was not missing by chance."""
    others = [{query: set(docs) for query, docs in run.retrieved.items()} for run in runs[1:]]
    kept = {
        query: tuple(doc for doc in docs if all(doc in other.get(query, ()) for other in others))
        for query, docs in runs[0].retrieved.items()
    }
    return {query: docs for query, docs in kept.items() if docs}
