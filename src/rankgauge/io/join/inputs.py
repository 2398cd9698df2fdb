"""Judgments or a run from whatever a caller has."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputTypeError, shown
from rankgauge.io.byte_streams import LoadedFile
from rankgauge.io.options import DEFAULT_READING, Reading
from rankgauge.io.reading import read_qrels, read_run


def as_qrels(source: Any, reading: Reading = DEFAULT_READING) -> Qrels:
    """Judgments from the object itself, a path, ``{query: {document: grade}}``, ``{query: [documents]}`` or a frame."""
    if isinstance(source, Qrels):
        return source
    if isinstance(source, (str, Path, LoadedFile)):
        return read_qrels(source, format=reading.qrels_format, limits=reading.limits)
    if isinstance(source, Mapping):
        return Qrels.from_dict(source) if is_graded(source) else Qrels.from_lists(source)
    from rankgauge.io.formats.frames import is_frame, qrels_from_frame

    if is_frame(source):
        return qrels_from_frame(source)
    raise InputTypeError(f"judgments must be a frame, a path, a dict or Qrels, found {type(source).__name__}")


def as_run(source: Any, reading: Reading = DEFAULT_READING) -> Run:
    """A run from the object itself, a path, ``{query: {document: score}}``, ``{query: [documents]}`` or a frame.

    What a retriever gave, live or fetched, holds its run.
    """
    if isinstance(source, Run):
        return source
    if isinstance(held := getattr(source, "run", None), Run):
        return held
    if isinstance(source, (str, Path, LoadedFile)):
        return read_run(
            source,
            format=reading.run_format,
            columns=reading.columns,
            on_duplicate=reading.on_duplicate,
            limits=reading.limits,
        )
    if isinstance(source, Mapping):
        return Run.from_dict(source) if is_graded(source) else Run.from_lists(source, on_duplicate=reading.on_duplicate)
    from rankgauge.io.formats.frames import is_frame, run_from_frame

    if is_frame(source):
        return run_from_frame(source, columns=reading.columns, on_duplicate=reading.on_duplicate)
    raise InputTypeError(
        f"a run must be a data frame, a path, a dict or Run, found {type(source).__name__}",
        hint="for several runs, call evaluate_runs or compare" if isinstance(source, (list, tuple)) else None,
    )


def check_runs(runs: Any) -> None:
    """Raise if something that is one run, or no list at all, is given as a list of runs."""
    is_one = isinstance(runs, (str, bytes, os.PathLike, Run, Mapping)) or isinstance(getattr(runs, "run", None), Run)
    if is_one or hasattr(runs, "columns") or not isinstance(runs, Iterable):  # a frame has columns
        what = f"the path {shown(str(runs))}" if isinstance(runs, (str, os.PathLike)) else type(runs).__name__
        raise InputTypeError(f"runs must be a list of runs, found {what}", hint="put one run in a list: [run]")


def is_graded(rankings: Mapping[str, Any]) -> bool:
    """Whether a dict of queries maps documents to numbers, rather than listing them."""
    return not rankings or isinstance(next(iter(rankings.values())), Mapping)
