"""Preferences: judgment groups that contradict themselves."""

from __future__ import annotations

import numpy as np

from rankgauge.core.hits_builder import join
from rankgauge.core.preference_join import preferences_of
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError
from rankgauge.validation.table import CheckedRows


def report_contradictory_preferences(table: CheckedRows) -> None:
    """Report the first contradiction of each query whose preferences contradict each other."""
    rows = table.rows
    if table.judgments != "preferences" or rows.iters is None or table.has_fault("conflicting-judgment"):
        return
    qrels = Qrels.build_by_group(rows.query, rows.iters, rows.doc, rows.value, subgroup=rows.subgroup)
    hits = join(qrels, Run.from_dict({}))
    line_of_query = dict(zip(table.queries, table.rows.line[table.first_rows].tolist(), strict=True))
    lines, messages = [], []
    for number, query in enumerate(hits.queries):
        try:
            preferences_of(hits, number)
        except InputError as error:
            lines.append(line_of_query[query])
            messages.append(error.message)
    expected = "preferences of each judgment group that agree with each other"
    table.add_lines("contradiction", np.array(lines, dtype=np.int64), expected=expected, found=lambda at: messages[at])
