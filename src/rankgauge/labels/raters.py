"""Who judged what: the judgments of several assessors, from one file that they share or from a file of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, UsageError, printable, shown
from rankgauge.evaluation.evaluate import unique_names
from rankgauge.io.options import DEFAULT_READING, Reading
from rankgauge.io.read import as_qrels
from rankgauge.labels.judged import has_provenance
from rankgauge.labels.reading import current_judgments, read_judgments


@dataclass(frozen=True, eq=False)
class Rater:
    """An assessor, or a file of judgments, and its grades."""

    name: str
    qrels: Qrels


@dataclass(frozen=True, eq=False)
class Ratings:
    """The grades of several raters: one row per document, one column per rater, NaN if a rater did not judge it."""

    names: tuple[str, ...]
    queries: tuple[str, ...]
    query: Ints  # of each row
    grades: Floats


def read_raters(
    paths: Sequence[str | Path], assessors: Sequence[str] = (), reading: Reading = DEFAULT_READING
) -> list[Rater]:
    """The raters of two or more files, one each; or the assessors who share one file, all of them or those named."""
    if len(paths) > 1:
        if assessors:
            raise UsageError("assessors are chosen within one file", hint="leave out --assessor, or name one file")
        parts = [as_qrels(path, reading) for path in paths]
        names = unique_names([part.name for part in parts])
        return [Rater(name, part) for name, part in zip(names, parts, strict=True)]
    (path,) = paths
    if not has_provenance(path):
        raise UsageError(
            f"{printable(str(path), None)} does not say who judged what, so that it agrees with nothing",
            hint="name two files, or one that `rankgauge judge` wrote for several assessors",
        )
    judgments = current_judgments(read_judgments(path))
    found = list(dict.fromkeys(judgment.assessor for judgment in judgments))
    unknown = next((name for name in assessors if name not in found), None)
    if unknown is not None:
        raise InputError.at(path, None, f"expected an assessor {shown(unknown)}, found {', '.join(map(shown, found))}")
    chosen = list(assessors) or found
    if len(chosen) < 2:
        raise InputError.at(path, None, f"expected judgments of at least two assessors, found {len(chosen)}")
    return [
        Rater(
            name,
            Qrels.from_columns(
                [judgment.query for judgment in judgments if judgment.assessor == name],
                [judgment.doc for judgment in judgments if judgment.assessor == name],
                [judgment.grade or 0.0 for judgment in judgments if judgment.assessor == name],
                name=name,
            ),
        )
        for name in chosen
    ]


def ratings_of(raters: Sequence[Rater]) -> Ratings:
    """The documents that at least two raters judged; negative grades count as unjudged."""
    rows: dict[tuple[bytes, bytes], list[float]] = {}
    for column, rater in enumerate(raters):
        qrels = rater.qrels
        names = list(qrels.queries)
        for number, doc, grade in zip(qrels.query.tolist(), qrels.docs, qrels.grades.tolist(), strict=True):
            if grade >= 0:
                rows.setdefault((names[number], doc), [np.nan] * len(raters))[column] = grade
    shared = {pair: grades for pair, grades in rows.items() if sum(grade == grade for grade in grades) > 1}
    if not shared:
        labels = " and ".join(shown(rater.name) for rater in raters)
        raise InputError(
            f"no document is judged by both {labels}", hint="ids of queries and documents must be the same"
        )
    queries = sorted({query for query, _ in shared})
    numbers = {query: number for number, query in enumerate(queries)}
    return Ratings(
        tuple(rater.name for rater in raters),
        tuple(query.decode("utf-8", "surrogateescape") for query in queries),
        np.array([numbers[query] for query, _ in shared], dtype=np.int64),
        np.array(list(shared.values()), dtype=np.float64),
    )
