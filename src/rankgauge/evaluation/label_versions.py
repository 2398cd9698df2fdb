"""A short hash of the labels of each query, kept beside its values: equal hashes mean equal labels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from rankgauge.core.qrels import Qrels, expects_nothing

DIGEST_BYTES = 4


class LabelVersions:
    """The hash of each query's labels, computed from judgments when it is first needed, or as a file has it."""

    def __init__(self, qrels: Qrels | None = None, known: Mapping[str, str] | None = None) -> None:
        self._qrels, self._known = qrels, known

    @cached_property
    def of_query(self) -> Mapping[str, str]:
        """The hash of each query; queries without one are left out."""
        return self._known or {} if self._qrels is None else label_hashes(self._qrels)


def label_hashes(qrels: Qrels) -> dict[str, str]:
    """The hash of each query's documents, grades, subtopics, forbidden documents, and whether it has an answer."""
    from hashlib import blake2b  # which most evaluations do without

    names = qrels.queries.to_text()
    if qrels.judgments == "passages":  # whose hash is that of the quotes, whatever the chunks are
        return dict.fromkeys(names, qrels.sha256[: 2 * DIGEST_BYTES])
    if qrels.by_group is not None:
        return {name: qrels.select(np.array([row])).sha256[: 2 * DIGEST_BYTES] for row, name in enumerate(names)}
    nothing = expects_nothing(qrels.columns, len(names)).tolist()
    docs, grades, bounds = qrels.docs.to_text(), qrels.grades.tolist(), qrels.offsets.tolist()
    hashes = {}
    for row, (name, begin, end) in enumerate(zip(names, bounds[:-1], bounds[1:], strict=True)):
        labels = sorted(zip(docs[begin:end], grades[begin:end], strict=True))
        content = repr((labels, sorted(qrels.forbidden.get(name, ())), bool(nothing[row])))
        hashes[name] = blake2b(content.encode("utf-8", "surrogateescape"), digest_size=DIGEST_BYTES).hexdigest()
    return hashes
