"""A shortcut: the extension looks up the judged documents in ``{query: {document: score}}``, without building a run.

Each entry of the results is touched once, to get its score; only judged documents are looked up, and ids are compared
only if scores are tied. Anything but dicts of numbers is left to the pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsFloat

import numpy as np

from rankgauge.core import compiled
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import JudgedQueries, JudgedRows, build_hits
from rankgauge.core.ids import Ids, encode_id
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run, Status

Results = Mapping[str, Mapping[str, SupportsFloat]]


def dict_hits(qrels: Qrels, results: Results, compat: Compat = "trec_eval-9") -> Hits | None:
    """The hits of results; None without the extension, or if one of them is not a dict of texts and numbers."""
    if compiled.scanner is None or any(type(query) is not str for query in results):
        return None
    Ids.from_text(results, "query id")  # raises if one is not an id
    names = qrels.queries.names
    rows = [results.get(query) for query in names]
    judged = set(names)
    others = [row for query, row in results.items() if query not in judged]
    found = _look_up(rows, qrels, compat)
    if found is None or (others and _look_up(others, None, compat) is None):
        return None
    sizes = np.array([-1 if row is None else len(row) for row in rows], dtype=np.int64)
    status = np.where(sizes > 0, Status.ANSWERED, np.where(sizes < 0, Status.MISSING, Status.EMPTY))
    groups = qrels.groups_for(compat)
    columns = JudgedQueries(qrels.queries, qrels.offsets, qrels.grades, qrels.columns, groups)
    return build_hits(columns, found, status.astype(np.uint8), np.maximum(sizes, 0))


def _look_up(rows: list[Any], qrels: Qrels | None, compat: Compat) -> JudgedRows | None:
    """The judged documents of each row; without judgments only whether the rows are what they should be."""
    assert compiled.scanner is not None
    docs = [] if qrels is None else qrels.doc_names
    offsets = np.zeros(len(rows) + 1, dtype=np.int64) if qrels is None else np.ascontiguousarray(qrels.offsets)
    found = compiled.scanner.join_dicts(rows, docs, offsets, compat == "trec_eval-10")
    if found is None:
        return None
    query, rank, first, last, ordinal = np.ascontiguousarray(np.frombuffer(found, dtype=np.int64).reshape(-1, 5).T)
    return JudgedRows(query, rank, first, last, ordinal)


def first_judged_queries(qrels: Qrels, rankings: Results, most: int) -> Run:
    """The results of the first judged queries, until there are ``most``."""
    judged_queries = set(qrels.queries)
    examined: dict[str, Any] = {}
    size = 0
    for query, ranking in rankings.items():
        if size < most and encode_id(query, "query id") in judged_queries:
            examined[query] = ranking
            size += len(ranking)
    return Run.from_dict(examined)
