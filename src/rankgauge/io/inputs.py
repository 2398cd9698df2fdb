"""Whatever a caller has, as judgments or as a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.errors import InputTypeError
from rankgauge.io.reading import read_qrels, read_run


def as_qrels(given: Qrels | Mapping[str, Any] | str | Path) -> Qrels:
    """Judgments from the object itself, a path, ``{query: {document: grade}}`` or ``{query: [documents]}``."""
    if isinstance(given, Qrels):
        return given
    if isinstance(given, (str, Path)):
        return read_qrels(given)
    if isinstance(given, Mapping):
        return Qrels.from_dict(given) if _graded(given) else Qrels.from_lists(given)
    raise InputTypeError(f"judgments must be a path, a dict or Qrels, found {type(given).__name__}")


def as_run(given: Run | Mapping[str, Any] | str | Path, *, on_duplicate: OnDuplicate = "error") -> Run:
    """A run from the object itself, a path, ``{query: {document: score}}`` or ``{query: [documents or pairs]}``."""
    if isinstance(given, Run):
        return given
    if isinstance(given, (str, Path)):
        return read_run(given, on_duplicate=on_duplicate)
    if isinstance(given, Mapping):
        return Run.from_dict(given) if _graded(given) else Run.from_lists(given, on_duplicate=on_duplicate)
    raise InputTypeError(f"a run must be a path, a dict or Run, found {type(given).__name__}")


def _graded(given: Mapping[str, Any]) -> bool:
    return not given or isinstance(next(iter(given.values())), Mapping)
