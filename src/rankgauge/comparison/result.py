"""What a comparison says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankgauge.comparison.agreement import MeasureAgreement
from rankgauge.comparison.attribution import Moves
from rankgauge.evaluation import Scores
from rankgauge.notebook import Columns, Table, Tabular
from rankgauge.notes import Note
from rankgauge.stats.effect import Effect
from rankgauge.stats.results import Interval


@dataclass(frozen=True)
class Difference:
    """One system against the baseline on one measure."""

    system: str
    measure: str
    n: int
    value: float | None
    baseline: float | None
    difference: float | None
    interval: Interval
    p: float | None
    p_corrected: float | None
    effect: Effect
    detectable: float | None  # the smallest difference that this query set shows with 80% power
    reason: str | None = None  # why there is no p
    needed: int | None = None  # how many queries show the wanted difference with 80% power
    p_equivalent: float | None = None  # of lying within the margin, where there is one
    p_equivalent_corrected: float | None = None
    ratio: bool = False  # whether differences are logarithms of ratios: of geometric means

    def significant(self, alpha: float) -> bool:
        """Whether the corrected p is below alpha."""
        return self.p_corrected is not None and self.p_corrected < alpha

    def text(self, difference: float) -> str:
        """A difference of this measure as it is printed: with its sign, or as a ratio."""
        return f"×{math.exp(difference):.3f}" if self.ratio else f"{difference:+.3f}".replace("-", "−")

    def equivalent(self, alpha: float) -> bool:
        """Whether it is shown to lie within the margin."""
        return self.p_equivalent_corrected is not None and self.p_equivalent_corrected < alpha


@dataclass(frozen=True)
class SliceDifference:
    """The same within a group of queries. ``p`` is corrected for the number of groups."""

    by: str
    label: str
    difference: Difference
    against: bool  # whether it points the other way than all queries together


@dataclass(frozen=True)
class Interaction:
    """Whether the difference itself differs between groups."""

    by: str
    system: str
    measure: str
    p: float | None
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class Comparison(Tabular):
    """Systems against a baseline, over the same queries."""

    scores: tuple[Scores, ...]
    names: tuple[str, ...]
    baseline: str
    differences: tuple[Difference, ...]
    test: str
    correction: str
    family: str  # over what p was corrected, and under which assumption
    level: float
    margin: float | None = None  # of equivalence, where it was tested
    wanted: float | None = None  # the difference that ``needed`` is about
    agreement: tuple[MeasureAgreement, ...] = ()  # of the measures on the ranking of three or more systems
    slices: tuple[SliceDifference, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    moved: dict[str, tuple[Moves, ...]] = field(default_factory=dict)  # by system, on the first measure
    texts: dict[str, str] = field(default_factory=dict)  # of queries, where they are known
    notes: tuple[Note, ...] = ()

    @property
    def alpha(self) -> float:
        """What a p must be below."""
        return round(1 - self.level, 12)

    def __getitem__(self, key: tuple[str, str]) -> Difference:
        """The difference of a system on a measure."""
        for row in self.differences:
            if (row.system, row.measure) == key:
                return row
        raise KeyError(f"no {key[1]} of {key[0]}")

    def paired(self, system: str, measure: str) -> tuple[list[str], list[float], list[float]]:
        """The queries behind a difference, and on each of them the system's value and the baseline's."""
        one, base = (next(run for run in self.scores if run.run == name) for name in (system, self.baseline))
        place = [asked.name for asked in one.measures].index(measure)
        ours, theirs = one.values[:, place], base.values[:, place]
        kept = np.flatnonzero(one.averaged & base.averaged & ~np.isnan(ours) & ~np.isnan(theirs))
        return [one.queries[row] for row in kept.tolist()], ours[kept].tolist(), theirs[kept].tolist()

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.names)}; baseline {self.baseline}: {self.answer()})"

    def summary_table(self) -> Table:
        """Each difference, as a notebook shows it."""
        head = ["measure", "system", "value", "difference", "low", "high", "p"]
        rows = [
            [d.measure, d.system, d.value, d.difference, d.interval.low, d.interval.high, d.p_corrected]
            for d in self.differences
        ]
        return Table(head, rows, self.answer())

    def frame_columns(self) -> Columns:
        """One row a difference, as ``to_pandas`` and ``to_polars`` give it."""
        rows = self.to_dict()["differences"]
        flat = [{**row, "low": row["ci"]["low"], "high": row["ci"]["high"]} for row in rows]
        names = [name for name in (flat[0] if flat else {}) if name != "ci"]
        return {name: [row[name] for row in flat] for name in names}

    def answer(self) -> str:
        """The sentence that a person would say."""
        from rankgauge.comparison.answer import answer

        return answer(self)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        from rankgauge.comparison.answer import as_dict

        return as_dict(self)
