"""Whatever a caller has, as judgments or as a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputTypeError
from rankgauge.io.options import DEFAULT_READING, Reading
from rankgauge.io.reading import read_qrels, read_run


def as_qrels(given: Any, reading: Reading = DEFAULT_READING) -> Qrels:
    """Judgments from the object itself, a path, ``{query: {document: grade}}``, ``{query: [documents]}`` or a frame."""
    if isinstance(given, Qrels):
        return given
    if isinstance(given, (str, Path)):
        return read_qrels(given, format=reading.qrels_format, limits=reading.limits)
    if isinstance(given, Mapping):
        return Qrels.from_dict(given) if is_graded(given) else Qrels.from_lists(given)
    from rankgauge.io.formats.frames import is_frame, qrels_from_frame

    if is_frame(given):
        return qrels_from_frame(given)
    raise InputTypeError(f"judgments must be a frame, a path, a dict or Qrels, found {type(given).__name__}")


def as_run(given: Any, reading: Reading = DEFAULT_READING) -> Run:
    """A run from the object itself, a path, ``{query: {document: score}}``, ``{query: [documents]}`` or a frame."""
    if isinstance(given, Run):
        return given
    if isinstance(given, (str, Path)):
        return read_run(given, format=reading.run_format, on_duplicate=reading.on_duplicate, limits=reading.limits)
    if isinstance(given, Mapping):
        return Run.from_dict(given) if is_graded(given) else Run.from_lists(given, on_duplicate=reading.on_duplicate)
    from rankgauge.io.formats.frames import is_frame, run_from_frame

    if is_frame(given):
        return run_from_frame(given, on_duplicate=reading.on_duplicate)
    raise InputTypeError(f"a run must be a frame, a path, a dict or Run, found {type(given).__name__}")


def is_graded(given: Mapping[str, Any]) -> bool:
    """Whether a dict of queries maps documents to numbers, rather than listing them."""
    return not given or isinstance(next(iter(given.values())), Mapping)
