"""What rankgauge makes of an object of a library, for the checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge import InputError, evaluate_retriever


def ranking_of(retriever: Any, cases: Sequence[Mapping[str, Any]], k: int, **options: Any) -> list[str]:
    """The ids that are read from the answer to the only query."""
    (row,) = evaluate_retriever(retriever, cases, k=k, **options).per_query_metrics
    return list(row.retrieved)


def error_of(retriever: Any, cases: Sequence[Mapping[str, Any]]) -> str:
    """The error of an object that cannot be asked."""
    try:
        evaluate_retriever(retriever, cases)
    except InputError as error:
        return str(error)
    raise AssertionError("expected an error")
