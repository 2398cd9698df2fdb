"""MS MARCO's runs: ``query document rank`` separated by tabs, without scores. Its judgments are TREC's."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.columns import rows_from_columns
from rankgauge.io.formats.delimited import Cells, split_cells
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.formats.trec import qrels_rows
from rankgauge.io.rows import Rows
from rankgauge.io.text import check_text

RUN_NAMES = ("query_id", "doc_id", "rank")
RANK = re.compile(rb"[0-9]{1,9}")


def rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """The rows; the scores of a run are derived from its ranks."""
    if kind == "qrels":
        return qrels_rows(faults, data)
    data = check_text(faults, data)
    cells = split_cells(faults, data, b"\t", quoted=False)  # a quotation mark is part of an id here
    if len(cells.cells) != len(RUN_NAMES):
        raise InputError.at(
            faults.source, int(cells.line[0]), f"expected 3 columns (query document rank), found {len(cells.cells)}"
        )
    return rows_from_columns(faults, Cells(RUN_NAMES, cells.line, cells.cells), kind)


def has_ranks(lines: Sequence[bytes]) -> bool:
    """Whether the third of three columns is a rank: whole numbers that increase from 0 or 1 in each query.

    Raises if they could as well be scores, as in 3, 1, 2.
    """
    rows = [line.split(b"\t") for line in lines]
    if not rows or any(len(cells) != 3 or not RANK.fullmatch(cells[2]) for cells in rows):
        return False
    values: dict[bytes, list[int]] = {}
    for query, _, number in rows:
        values.setdefault(query, []).append(int(number))
    if all(numbers[0] in (0, 1) and np.all(np.diff(numbers) > 0) for numbers in values.values()):
        return True
    never_increase = all(np.all(np.diff(numbers) <= 0) for numbers in values.values())
    if never_increase and not all(sorted(numbers) == list(range(1, len(numbers) + 1)) for numbers in values.values()):
        return False
    raise InputError(
        f"the third column may be a rank or a score: {shown(lines[0])}",
        hint="choose one: format='msmarco' (ranks) or format='tsv' (scores), --run-format, --from",
    )
