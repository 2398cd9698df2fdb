"""A shortcut: the judged documents are looked up in ``{query: {document: score}}``, without building a run.

Each entry of the results is touched once, to get its score and to see that its document is a text; only judged
documents are looked up, and ids are compared only if scores are tied. The extension does it, or NumPy query by query.
Anything but dicts of texts and numbers is left to the pipeline.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, SupportsFloat

import numpy as np

from rankgauge.core import compiled, ranking
from rankgauge.core.arrays import Floats
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import JudgedQueries, JudgedRows, build_hits
from rankgauge.core.ids import Ids, Ints, encode_id
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError

FEW_HITS = 4  # their ranks are counted, instead of sorting all scores

Results = Mapping[str, Mapping[str, SupportsFloat]]


def dict_hits(qrels: Qrels, results: Results, compat: Compat = "trec_eval-9") -> Hits | None:
    """The hits of results; None if one of them is not a dict of texts and numbers."""
    if any(type(query) is not str for query in results) or any(
        type(row) is not dict or "" in row for row in results.values()
    ):
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
    docs = [] if qrels is None else qrels.doc_names
    offsets = np.zeros(len(rows) + 1, dtype=np.int64) if qrels is None else np.ascontiguousarray(qrels.offsets)
    if compiled.scanner is None:
        return _look_up_with_numpy(rows, docs, offsets, compat)
    found = compiled.scanner.join_dicts(rows, docs, offsets, compat == "trec_eval-10")
    if found is None:
        return None
    return JudgedRows(*np.ascontiguousarray(np.frombuffer(found, dtype=np.int64).reshape(-1, 5).T))


def _look_up_with_numpy(rows: list[Any], docs: list[str], offsets: Ints, compat: Compat) -> JudgedRows | None:
    """What the extension's ``join_dicts`` finds, in the same order; None if it would leave the rows to the pipeline."""
    found = [np.zeros((5, 0), dtype=np.int64)]
    bounds = offsets.tolist()
    for number, row in enumerate(rows):
        if row is None:
            continue
        ordinals = [at for at in range(bounds[number], bounds[number + 1]) if docs[at] in row]
        try:
            "".join(row)  # raises if a document is not a text
            # Packing raises if a score is not a number; NumPy would take the text '1' for one, and is slower.
            scores = np.frombuffer(struct.pack(f"{len(row)}d", *row.values()))
            if np.isnan(scores).any():
                return None
            ranks = _ranks(row, scores, [docs[at] for at in ordinals], compat)
        except (TypeError, OverflowError, struct.error, InputError):
            return None
        if ordinals:
            query = np.full(len(ordinals), number)
            hits = np.array([query, ranks.rank, ranks.tie_first, ranks.tie_last, ordinals])
            found.append(hits[:, np.argsort(ranks.rank)])
    return JudgedRows(*np.concatenate(found, axis=1))


def _ranks(row: dict[str, Any], scores: Floats, judged: list[str], compat: Compat) -> ranking.Ranking:
    """The ranks of the judged documents of a row; ids are read only if scores are tied."""
    key = ranking.comparable(scores, compat)
    own = ranking.comparable(np.array([row[doc] for doc in judged], dtype=np.float64), compat)
    if len(judged) <= FEW_HITS:
        first = np.array([np.count_nonzero(key > one) for one in own], dtype=np.int64) + 1
        last = np.array([np.count_nonzero(key >= one) for one in own], dtype=np.int64)
    else:
        rising = np.sort(-key)
        first, last = np.searchsorted(rising, -own, "left") + 1, np.searchsorted(rising, -own, "right")
    if np.array_equal(first, last):
        return ranking.Ranking(first, first, last)
    ids = list(row)
    at = dict(zip(ids, range(len(ids)), strict=True))
    rank = ranking.rank(np.array([0, len(ids)]), Ids.from_text(ids, "document id"), scores, compat).rank
    return ranking.Ranking(rank[[at[doc] for doc in judged]], first, last)


def first_judged_queries(qrels: Qrels, rankings: Results, most: int) -> Run:
    """The results of the first judged queries, until there are ``most``."""
    judged_queries = set(qrels.queries)
    examined: dict[str, Any] = {}
    size = 0
    for query, row in rankings.items():
        if size < most and encode_id(query, "query id") in judged_queries:
            examined[query] = row
            size += len(row)
    return Run.from_dict(examined)
