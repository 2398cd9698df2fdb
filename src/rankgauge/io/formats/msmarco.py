"""MS MARCO's runs: ``query document rank`` between tabs, without scores. Its judgments are TREC's."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.columns import rows_of
from rankgauge.io.formats.delimited import Cells, cut
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.formats.trec import qrels_rows
from rankgauge.io.rows import Rows
from rankgauge.io.text import checked

NAMES = ("query_id", "doc_id", "rank")
WHOLE = re.compile(rb"[0-9]{1,9}")


def rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """The rows; a run's scores are made from its ranks."""
    if kind == "qrels":
        return qrels_rows(faults, data)
    data = checked(faults, data)
    cells = cut(faults, data, b"\t", quoted=False)  # a quotation mark is part of an id here
    if len(cells.cells) != len(NAMES):
        raise InputError.at(
            faults.source, int(cells.line[0]), f"expected 3 columns (query document rank), found {len(cells.cells)}"
        )
    return rows_of(faults, Cells(NAMES, cells.line, cells.cells), kind)


def looks(lines: Sequence[bytes]) -> bool:
    """Whether three columns end in ranks: whole numbers that rise from 0 or 1 in each query.

    Raises where they may as well be scores: nobody can tell 3, 1, 2 apart.
    """
    split = [line.split(b"\t") for line in lines]
    if not split or any(len(cells) != 3 or not WHOLE.fullmatch(cells[2]) for cells in split):
        return False
    ranks: dict[bytes, list[int]] = {}
    for query, _, rank in split:
        ranks.setdefault(query, []).append(int(rank))
    if all(found[0] in (0, 1) and np.all(np.diff(found) > 0) for found in ranks.values()):
        return True
    falling = all(np.all(np.diff(found) <= 0) for found in ranks.values())
    if falling and not all(sorted(found) == list(range(1, len(found) + 1)) for found in ranks.values()):
        return False
    raise InputError(
        f"the third column may be a rank or a score: {shown(lines[0])}",
        hint="say which: format='msmarco' (ranks) or format='tsv' (scores), --run-format, --from",
    )
