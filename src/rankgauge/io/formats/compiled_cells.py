"""Columns that the extension reads from a block of text, each under its name.

The extension copies ids into a buffer of their own and converts numbers. A row that needs a closer look is only found:
the reader of the format reads it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.ids import PADDING, Ids, Ints
from rankgauge.io.formats.named_columns import Kind
from rankgauge.io.formats.text_blocks import BLOCK_ROWS, TextBlocks

MAX_NAMES = 64  # columns that the extension can tell apart
ID, TEXT, NUMBER = 1, 2, 4  # what a column is for, as in the extension
NUMBER_ROLES: dict[Kind, tuple[str, ...]] = {"qrels": ("grade",), "run": ("score", "rank")}
TEXT_ROLES = ("iter", "rank", "tag")


@dataclass(frozen=True)
class WantedColumns:
    """The names of a file's columns, and what each is for."""

    names: tuple[str, ...]
    uses: bytes

    @classmethod
    def of_roles(cls, names: Sequence[str], roles: Mapping[str, str], kind: Kind) -> WantedColumns:
        """The columns of some roles."""
        uses = bytearray(len(names))
        number = number_role(roles, kind)
        for role, name in roles.items():
            use = ID if role in ("query", "doc") else TEXT if role in TEXT_ROLES else 0
            uses[list(names).index(name)] |= use | (NUMBER if role == number else 0)
        return cls(tuple(names), bytes(uses))

    @property
    def texts(self) -> list[str]:
        """The columns whose texts are wanted."""
        return [name for name, use in zip(self.names, self.uses, strict=True) if use & (ID | TEXT)]

    @property
    def ids(self) -> list[str]:
        """The columns of ids."""
        return [name for name, use in zip(self.names, self.uses, strict=True) if use & ID]

    @property
    def number(self) -> str | None:
        """The column of numbers."""
        return next((name for name, use in zip(self.names, self.uses, strict=True) if use & NUMBER), None)


def number_role(roles: Mapping[str, str], kind: Kind) -> str | None:
    """The role whose column has the numbers."""
    return next((role for role in NUMBER_ROLES[kind] if role in roles), None)


@dataclass(frozen=True, eq=False)
class CompiledCells:
    """Rows of a block. The cells of a row that is not read have no meaning."""

    line: Ints
    texts: dict[str, Ids]
    values: Floats
    odd_rows: Ints  # those that are not read, …
    begin: Ints  # … and where each is in the block
    end: Ints

    def with_rows(self, rows: Ints, texts: Mapping[str, Ids], values: Floats, keep: NDArray[np.bool_]) -> CompiledCells:
        """These cells with rows that were read in another way, and without those that are not kept."""
        merged = {name: _merge(ids, rows, texts[name], keep) for name, ids in self.texts.items()}
        all_values = self.values.copy()
        all_values[rows] = values
        return CompiledCells(self.line[keep], merged, all_values[keep], rows[:0], rows[:0], rows[:0])


def _merge(ids: Ids, rows: Ints, other: Ids, keep: NDArray[np.bool_]) -> Ids:
    start, length = ids.start.copy(), ids.length.copy()
    size = len(ids.buffer) - PADDING
    start[rows], length[rows] = other.start + size, other.length
    return Ids(np.concatenate([ids.buffer[:size], other.buffer]), start[keep], length[keep])


class CellReader:
    """Calls the extension with arrays that are used again for every block."""

    def __init__(self, blocks: TextBlocks) -> None:
        self.blocks = blocks
        self._cells = np.zeros(0, dtype=np.int64)
        self._values = np.zeros(0)
        self._texts = np.zeros(0, dtype=np.uint8)

    def read(self, wanted: WantedColumns, room: int, call: Callable[..., Any]) -> CompiledCells | None:
        """Up to ``room`` rows of the block, fewer if it ends before; None if the extension refuses the file.

        ``call`` gets the arrays for cells, values and texts.
        """
        texts = wanted.texts
        parts = 2 * len(texts) + 3
        if len(self._cells) < parts * room:
            self._cells = np.empty(parts * max(room, min(BLOCK_ROWS, 64 * room)), dtype=np.int64)
        if len(self._values) < room:
            self._values = np.empty(room)
        if len(self._texts) < self.blocks.size:
            self._texts = np.empty(self.blocks.size, dtype=np.uint8)
        found = call(self._cells[: parts * room], self._values[:room], self._texts)
        if found is None:
            return None
        self.blocks.used, self.blocks.line, rows, size = found
        cells = self._cells[: parts * room].reshape(parts, room)[:, :rows].copy()
        buffer = np.concatenate([self._texts[:size], np.zeros(PADDING, dtype=np.uint8)])
        columns = {name: Ids(buffer, cells[at], cells[len(texts) + at]) for at, name in enumerate(texts)}
        line, begin, end = cells[-3:]
        odd_rows = np.flatnonzero(end)
        return CompiledCells(line, columns, self._values[:rows].copy(), odd_rows, begin[odd_rows], end[odd_rows])
