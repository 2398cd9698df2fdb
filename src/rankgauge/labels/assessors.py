"""Who judged what, and how closely assessors agree: kappa, alpha and confusions, with intervals over queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats, query_columns
from rankgauge.core.formatting import number, plural
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView, ResultTuple
from rankgauge.errors import InputError, UsageError, printable, shown
from rankgauge.evaluation.evaluate import unique_names
from rankgauge.evaluation.query_groups import groups
from rankgauge.io.formats.judgment_lines import current_judgments, has_provenance, read_judgments
from rankgauge.io.read import as_qrels
from rankgauge.io.reading_options import DEFAULT_READING, Reading
from rankgauge.stats.draws import DEFAULT_RESAMPLING, Resampling
from rankgauge.stats.rater_agreement import (
    TableStatistic,
    agreement_intervals,
    alpha_statistic,
    coincidence_table,
    kappa_statistic,
)
from rankgauge.stats.results import Interval


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
        for query, doc, grade in zip(qrels.query.tolist(), qrels.docs, qrels.grades.tolist(), strict=True):
            if grade >= 0:
                rows.setdefault((names[query], doc), [np.nan] * len(raters))[column] = grade
    shared = {pair: grades for pair, grades in rows.items() if sum(grade == grade for grade in grades) > 1}
    if not shared:
        labels = " and ".join(shown(rater.name) for rater in raters)
        raise InputError(
            f"no document is judged by both {labels}", hint="ids of queries and documents must be the same"
        )
    queries = sorted({query for query, _ in shared})
    numbers = {query: row for row, query in enumerate(queries)}
    return Ratings(
        tuple(rater.name for rater in raters),
        tuple(query.decode("utf-8", "surrogateescape") for query in queries),
        np.array([numbers[query] for query, _ in shared], dtype=np.int64),
        np.array(list(shared.values()), dtype=np.float64),
    )


AGREEMENT_NAMES = {
    "agreement": "same grade",
    "kappa": "Cohen's kappa",
    "linear": "kappa, linear weights",
    "quadratic": "kappa, quadratic weights",
    "alpha": "Krippendorff's alpha",
}


@dataclass(frozen=True, eq=False)
class RaterAgreement(HtmlView):
    """How closely some raters agree on the documents that they all judged, perhaps in one group of queries.

    ``table`` counts the grades of the first rater (rows) and of the second (columns). More than two raters have only
    alpha, and no table.
    """

    names: tuple[str, ...]
    grades: tuple[float, ...]
    documents: int
    queries: int
    values: Mapping[str, Interval]  # by the keys of AGREEMENT_NAMES; estimate is the value
    table: Floats | None = None
    group: tuple[str, str] | None = None  # column and label

    def __repr__(self) -> str:
        values = ", ".join(f"{AGREEMENT_NAMES[key]} {number(one.estimate, 3)}" for key, one in self.values.items())
        group = "" if self.group is None else f", {': '.join(self.group)}"
        return f"RaterAgreement({', '.join(self.names)}{group}, {plural(self.documents, 'document')}: {values})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        values = {name: {"value": interval.estimate, **interval.to_dict()} for name, interval in self.values.items()}
        return {
            "raters": list(self.names),
            "group": None if self.group is None else {"by": self.group[0], "label": self.group[1]},
            "documents": self.documents,
            "queries": self.queries,
            "values": values,
            "grades": list(self.grades),
            "confusion": None if self.table is None else self.table.astype(int).tolist(),
        }


def rater_agreement(
    ratings: Ratings,
    *,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    by: Sequence[str] = (),
    confidence: float = 0.95,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> tuple[RaterAgreement, ...]:
    """The agreement of each pair of raters, of all of them if there are more, and of each pair in each group."""
    out = []
    for pair in combinations(range(len(ratings.names)), 2):
        out.append(_pair(ratings, pair, confidence, resampling))
        for group, rows in _group_rows(ratings, columns or {}, by):
            out.append(_pair(ratings, pair, confidence, resampling, rows, group))
    if len(ratings.names) > 2:
        out.append(_all_raters(ratings, confidence, resampling))
    return ResultTuple(row for row in out if row.documents)


def _group_rows(
    ratings: Ratings, columns: Mapping[str, Mapping[str, Any]], by: Sequence[str]
) -> Iterator[tuple[tuple[str, str], Ints]]:
    known = query_columns(columns, Ids.from_text(ratings.queries)) if by else {}
    for name in by:
        for label, members in groups(known, name):
            yield (name, label), np.flatnonzero(members[ratings.query])


def _pair(
    ratings: Ratings,
    pair: tuple[int, int],
    confidence: float,
    resampling: Resampling,
    rows: Ints | None = None,
    group: tuple[str, str] | None = None,
) -> RaterAgreement:
    grades = ratings.grades[:, list(pair)]
    kept = np.flatnonzero(~np.isnan(grades).any(axis=1))
    kept = kept if rows is None else np.intersect1d(kept, rows)
    values, codes = np.unique(grades[kept], return_inverse=True)
    codes = codes.reshape(-1, 2)
    queries, query = np.unique(ratings.query[kept], return_inverse=True)
    tables = np.zeros((len(queries), len(values), len(values)))
    np.add.at(tables, (query, codes[:, 0], codes[:, 1]), 1.0)
    names = (ratings.names[pair[0]], ratings.names[pair[1]])
    labeled = Resampling(resampling.resamples, resampling.seed, (*resampling.labels, *names, *(group or ())))
    intervals = (
        agreement_intervals(tables, _statistics(values), confidence=confidence, resampling=labeled) if len(kept) else {}
    )
    return RaterAgreement(names, tuple(values.tolist()), len(kept), len(queries), intervals, tables.sum(axis=0), group)


def _statistics(values: Floats) -> dict[str, TableStatistic]:
    """The statistics of a confusion table. Two raters' coincidences are the table and its mirror image."""
    alpha = alpha_statistic(values, "ordinal")

    def share_of_equal_grades(tables: Floats) -> Floats:
        total = tables.sum(axis=(-1, -2))
        with np.errstate(divide="ignore", invalid="ignore"):
            share: Floats = np.trace(tables, axis1=-2, axis2=-1) / total
        return share

    return {
        "agreement": share_of_equal_grades,
        "kappa": kappa_statistic(len(values), "none"),
        "linear": kappa_statistic(len(values), "linear", values),
        "quadratic": kappa_statistic(len(values), "quadratic", values),
        "alpha": lambda tables: alpha(tables + np.swapaxes(tables, -1, -2)),
    }


def _all_raters(ratings: Ratings, confidence: float, resampling: Resampling) -> RaterAgreement:
    values = np.unique(ratings.grades[~np.isnan(ratings.grades)])
    tables = np.stack(
        [coincidence_table(ratings.grades[ratings.query == query], values) for query in range(len(ratings.queries))]
    )
    statistics = {"alpha": alpha_statistic(values, "ordinal")}
    intervals = agreement_intervals(tables, statistics, confidence=confidence, resampling=resampling)
    return RaterAgreement(ratings.names, tuple(values.tolist()), len(ratings.grades), len(ratings.queries), intervals)
