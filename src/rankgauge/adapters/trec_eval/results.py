"""The join of a run with judgments. A run without oddities is read as for ``evaluate``, not into memory.

In such a run, trec_eval and ``evaluate`` read every line the same way. Whatever is reported, except for warnings about
rows that are read all the same, leads to the reader that knows how trec_eval reads odd lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.adapters.trec_eval.errors import TREC_FILE_ERROR, TrecEvalError
from rankgauge.adapters.trec_eval.files import check_run_path, read_run
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run
from rankgauge.errors import InputError
from rankgauge.io.byte_streams import open_source, rereadable
from rankgauge.io.checks.invisible import INVISIBLE_CHARACTER
from rankgauge.io.checks.ranks import RANK_ORDER
from rankgauge.io.options import DEFAULT_READING
from rankgauge.io.pipeline.runs import RunReader, RunRows
from rankgauge.io.row_checks import SPLIT_QUERY
from rankgauge.io.sources import FileSource

HARMLESS = {RANK_ORDER, INVISIBLE_CHARACTER, SPLIT_QUERY}  # the row is read as any other


@dataclass(frozen=True)
class Results:
    """A run joined with judgments, with the run id of its last line."""

    hits: Hits
    run_id: bytes
    queries: Ids  # all of them, judged or not, by their bytes
    run: Run | None = None  # all rows, if they had to be read; otherwise no document appears twice


def join_results(path: str, qrels: Qrels, compat: Compat, *, is_unique: bool) -> Results:
    """Join a run with judgments, in which ``is_unique`` tells that no document appears twice in a query."""
    check_run_path(path, compat)
    try:
        with rereadable(path) as file:
            scanned = _scan(str(file), qrels, compat) if is_unique else None
            if scanned is not None:
                assert scanned.hits is not None
                return Results(scanned.hits, scanned.tag, scanned.queries.take(scanned.queries.order()))
            run, run_id = read_run(str(file), compat, source=path)
    except InputError as error:
        raise TrecEvalError(TREC_FILE_ERROR, error.message) from None
    return Results(join(qrels, run, compat=compat), run_id, run.queries, run)


def _scan(path: str, qrels: Qrels, compat: Compat) -> RunRows | None:
    """The run as ``evaluate`` reads it; None if trec_eval may read a line of it in another way."""
    try:
        with open_source(path) as stream:
            reader = RunReader(FileSource(path, stream, "run", "trec"), DEFAULT_READING, qrels=qrels, compat=compat)
            (run,) = reader.builders()
    except InputError:
        return None
    if run.is_empty or {code for code, _ in reader.faults.counts} - HARMLESS:
        return None
    scanned = run.result()
    first_bytes = scanned.queries.buffer[scanned.queries.start]
    has_comments = compat == "trec_eval-10" and bool(np.any(first_bytes == ord("#")))
    return None if has_comments else scanned
