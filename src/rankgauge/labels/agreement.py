"""How closely assessors agree: kappa, alpha and the confusion table, with intervals that resample queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rankgauge.core.formatting import number, plural
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.tables import Floats, query_columns
from rankgauge.core.views import HtmlView, ResultTuple
from rankgauge.evaluation.groups import groups
from rankgauge.labels.raters import Ratings
from rankgauge.stats.rater_agreement import (
    TableStatistic,
    agreement_intervals,
    alpha_statistic,
    coincidence_table,
    kappa_statistic,
)
from rankgauge.stats.results import Interval
from rankgauge.stats.seeds import DEFAULT_RESAMPLING, Resampling

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
