"""Whatever a caller has, as judgments or as a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.errors import InputTypeError
from rankgauge.io.reading import read_qrels, read_run
from rankgauge.io.sources import DEFAULT, Limits


def as_qrels(given: Any, *, format: str | None = None, limits: Limits = DEFAULT) -> Qrels:
    """Judgments from the object itself, a path, ``{query: {document: grade}}``, ``{query: [documents]}`` or a frame."""
    if isinstance(given, Qrels):
        return given
    if isinstance(given, (str, Path)):
        return read_qrels(given, format=format, limits=limits)
    if isinstance(given, Mapping):
        return Qrels.from_dict(given) if is_graded(given) else Qrels.from_lists(given)
    from rankgauge.io.formats.frames import is_frame, qrels_from_frame

    if is_frame(given):
        return qrels_from_frame(given)
    raise InputTypeError(f"judgments must be a frame, a path, a dict or Qrels, found {type(given).__name__}")


def as_run(given: Any, *, on_duplicate: OnDuplicate = "error") -> Run:
    """A run from the object itself, a path, ``{query: {document: score}}``, ``{query: [documents]}`` or a frame."""
    if isinstance(given, Run):
        return given
    if isinstance(given, (str, Path)):
        return read_run(given, on_duplicate=on_duplicate)
    if isinstance(given, Mapping):
        return Run.from_dict(given) if is_graded(given) else Run.from_lists(given, on_duplicate=on_duplicate)
    from rankgauge.io.formats.frames import is_frame, run_from_frame

    if is_frame(given):
        return run_from_frame(given, on_duplicate=on_duplicate)
    raise InputTypeError(f"a run must be a frame, a path, a dict or Run, found {type(given).__name__}")


def is_graded(given: Mapping[str, Any]) -> bool:
    """Whether a dict of queries maps documents to numbers, rather than listing them."""
    return not given or isinstance(next(iter(given.values())), Mapping)
