"""What comes out of a way in, in a form that can be compared; and the circumstances that must not matter."""

from __future__ import annotations

import io
import random
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from rankgauge import evaluate_runs, read_qrels, read_run
from rankgauge.core import compiled
from rankgauge.core.qrels import Qrels
from rankgauge.errors import RankgaugeError, RankgaugeWarning
from rankgauge.io.formats import arrow, compiled_cells, delimited, json_lines, json_mapping, text_blocks
from rankgauge.io.pipeline import run_pipeline
from rankgauge.io.read import as_qrels
from rankgauge.io.reading_options import Reading

MEASURES = ["nDCG@10", "AP", "RR", "P@5", "Judged@10", "NumRet"]


@dataclass(frozen=True)
class Circumstances:
    """Whether the extension reads, the sizes of blocks and batches, the memory, and which shortcuts are taken."""

    is_compiled: bool = True
    block_bytes: int | None = None
    block_rows: int | None = None
    memory: int | None = None
    without: tuple[str, ...] = ()  # shortcuts that are not taken


USUAL = Circumstances()
SHORTCUTS = tuple(sorted(run_pipeline.SHORTCUTS))
MODULES_WITH_ROOMS = (text_blocks, compiled_cells, delimited, json_lines, json_mapping)


def draw_circumstances(rng: random.Random, *, is_compiled: bool) -> Circumstances:
    """Random circumstances."""
    return Circumstances(
        is_compiled,
        rng.choice([None, 16, 64, 200, 1000]),
        rng.choice([None, 1, 3, 20]),
        rng.choice([None, None, 1 << 10, 1 << 14]),
        tuple(name for name in SHORTCUTS if rng.random() < 0.5),
    )


@contextmanager
def under(circumstances: Circumstances) -> Iterator[None]:
    """Read under some circumstances."""
    patches: list[Any] = []
    if not circumstances.is_compiled:
        patches.append(mock.patch.object(compiled, "scanner", None))
    if (size := circumstances.block_bytes) is not None:
        patches += [mock.patch.object(text_blocks, name, size) for name in ("BLOCK_BYTES", "WHOLE_BYTES")]
    if (rows := circumstances.block_rows) is not None:
        patches += [mock.patch.object(module, "BLOCK_ROWS", max(rows, 4)) for module in MODULES_WITH_ROOMS]
        patches.append(mock.patch.object(arrow, "BATCH_ROWS", rows))
    patches.append(mock.patch.object(run_pipeline, "SHORTCUTS", run_pipeline.SHORTCUTS - set(circumstances.without)))
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in reversed(patches):
            patch.stop()


@dataclass(frozen=True)
class Outcome:
    """Either an error or, for each run, its name, its queries and its values; and what was said on the way."""

    error: str = ""
    names: tuple[str, ...] = ()
    queries: tuple[tuple[str, ...], ...] = ()
    values: tuple[bytes, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def numbers(self) -> Outcome:
        """The outcome without names and words, which depend on the format."""
        return Outcome(error="an error" if self.error else "", queries=self.queries, values=self.values)

    @property
    def without_notes(self) -> Outcome:
        """The outcome without the notes on a file, which a run in memory has lost."""
        return replace(self, notes=())


def evaluated(
    qrels: Qrels, source: Any, circumstances: Circumstances, reading: Reading | None = None, *, name: str = ""
) -> Outcome:
    """Score a source."""
    reading = reading or Reading()
    if circumstances.memory is not None:
        reading = replace(reading, memory=circumstances.memory)

    def act() -> Outcome:
        evaluation = evaluate_runs(qrels, [source], MEASURES, reading=reading)
        return Outcome(
            names=tuple(scores.run for scores in evaluation.scores),
            queries=tuple(tuple(scores.queries) for scores in evaluation.scores),
            values=tuple(scores.values.tobytes() for scores in evaluation.scores),
            notes=tuple(f"{note.code}: {note.message}" for scores in evaluation.scores for note in scores.notes),
        )

    return _observed(act, circumstances, name or str(source))


def read_and_evaluated(qrels: Qrels, path: Path, circumstances: Circumstances) -> Outcome:
    """Read a run into memory, then score it."""

    def act() -> Outcome:
        run = read_run(path)
        evaluation = evaluate_runs(qrels, [run], MEASURES)
        (scores,) = evaluation.scores
        return Outcome("", (scores.run,), (tuple(scores.queries),), (scores.values.tobytes(),))

    return _observed(act, circumstances, str(path))


def from_standard_input(qrels: Qrels, path: Path, circumstances: Circumstances) -> Outcome:
    """Score what comes from standard input."""
    stdin = io.TextIOWrapper(io.BytesIO(path.read_bytes()))
    with mock.patch.object(sys, "stdin", stdin):
        outcome = evaluated(qrels, "-", circumstances, name="-:")
    names = tuple(path.name if name == "stdin" else name for name in outcome.names)
    return replace(outcome, names=names, error=outcome.error.replace("run 'stdin'", f"run '{path.name}'"))


def judgments(source: Any, circumstances: Circumstances) -> Outcome:
    """Read judgments."""

    def act() -> Outcome:
        qrels = read_qrels(source) if isinstance(source, Path) else as_qrels(source)
        rows = sorted(zip(qrels.query.tolist(), qrels.docs, qrels.grades.tolist(), strict=True))
        content = repr([(qrels.queries[query], doc, grade) for query, doc, grade in rows]).encode()
        return Outcome(queries=(tuple(qrels.queries.names),), values=(content,))

    return _observed(act, circumstances, str(source))


def _observed(act: Any, circumstances: Circumstances, name: str) -> Outcome:
    """What an action gives, or the words of its error; the name of the source is left out of all words."""
    with under(circumstances), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome: Outcome = act()
        except RankgaugeError as error:
            outcome = Outcome(error=f"{type(error).__name__}: {error}")
        except Exception as error:  # never right
            outcome = Outcome(error=f"internal error: {type(error).__name__}: {error}")
    messages = tuple(str(item.message) for item in caught if issubclass(item.category, RankgaugeWarning))

    def nameless(text: str) -> str:
        if not name:
            return text
        # A line begins with the name of standard input; data may have the same characters elsewhere.
        if name == "-:":
            return re.sub(r"(?m)^((?:[\w-]+: )?)-:", r"\1FILE:", text)
        return text.replace(name, "FILE" + name[len(name.rstrip(":")) :])

    return replace(
        outcome,
        error=nameless(outcome.error),
        warnings=tuple(map(nameless, messages)),
        notes=tuple(map(nameless, outcome.notes)),
    )
