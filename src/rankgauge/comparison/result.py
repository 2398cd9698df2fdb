"""What a comparison says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankgauge.comparison.agreement import MeasureAgreement
from rankgauge.comparison.attribution import Moves
from rankgauge.comparison.statistics import SAID
from rankgauge.evaluation.evaluate import Scores
from rankgauge.evaluation.notebook import Columns, Table, Tabular
from rankgauge.evaluation.notes import Note
from rankgauge.measures.spec import Aggregate
from rankgauge.stats.effect import Effect
from rankgauge.stats.intervals import exponential
from rankgauge.stats.results import Interval

LARGE = 1e6  # a ratio from which digits behind the point say nothing


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
    spread: tuple[float, int] | None = None  # standard deviation of independent differences, and how many there are
    too_few: bool = False  # whether so few queries cannot give a p that is small enough, whatever they show
    detectable: float | None = None  # the smallest difference that this query set shows with 80% power, corrected as p
    reason: str | None = None  # why there is no p
    needed: int | None = None  # how many queries show the wanted difference with 80% power, corrected as p
    p_equivalent: float | None = None  # of lying within the margin, where there is one
    p_equivalent_corrected: float | None = None
    aggregate: Aggregate = "mean"

    @property
    def ratio(self) -> bool:
        """Whether differences are logarithms of ratios: those of geometric means."""
        return self.aggregate == "gmean"

    @property
    def same(self) -> bool:
        """Whether no query differs."""
        return self.n > 0 and self.effect.ties == self.n

    def significant(self, alpha: float) -> bool:
        """Whether the corrected p is below alpha."""
        return self.p_corrected is not None and self.p_corrected < alpha

    def text(self, difference: float) -> str:
        """A difference of this measure as it is printed: with its sign, or as a ratio."""
        return _times(difference) if self.ratio else f"{difference:+.3f}".replace("-", "−")

    def equivalent(self, alpha: float) -> bool:
        """Whether it is shown to lie within the margin."""
        return self.p_equivalent_corrected is not None and self.p_equivalent_corrected < alpha


@dataclass(frozen=True)
class SliceDifference:
    """The same within a group of queries, corrected over all systems, measures and groups of a column."""

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
    p_corrected: float | None  # over all columns, systems and measures
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
    family_size: int  # over how many p values
    confidence: float
    margin: float | None = None  # of equivalence, where it was tested
    wanted: float | None = None  # the difference that ``needed`` is about
    agreement: tuple[MeasureAgreement, ...] = ()  # of the measures on the ranking of three or more systems
    slices: tuple[SliceDifference, ...] = ()
    slice_families: dict[str, str] = field(default_factory=dict)  # over what p is corrected in the groups of a column
    interactions: tuple[Interaction, ...] = ()
    interaction_family: str | None = None  # over what these are corrected
    moved: dict[str, tuple[Moves, ...]] = field(default_factory=dict)  # by system, on the first measure
    texts: dict[str, str] = field(default_factory=dict)  # of queries, where they are known
    notes: tuple[Note, ...] = ()

    @property
    def alpha(self) -> float:
        """What a p must be below."""
        return round(1 - self.confidence, 12)

    def __getitem__(self, key: tuple[str, str]) -> Difference:
        """The difference of a system on a measure."""
        for row in self.differences:
            if (row.system, row.measure) == key:
                return row
        raise KeyError(f"no {key[1]} of {key[0]}")

    @property
    def corrected(self) -> str | None:
        """How p was corrected; None where there was nothing to correct."""
        return None if self.correction == "none" or self.family_size < 2 else SAID[self.correction]

    def apart(self, measure: str) -> bool:
        """Whether some difference on a measure is over fewer queries than a value that it is of."""
        own = {run.run: run.over_queries[measure][1] for run in self.scores}
        rows = (row for row in self.differences if row.measure == measure)
        return any(row.n < max(own[row.system], own[self.baseline]) for row in rows)

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


def _times(logarithm: float) -> str:
    ratio = exponential(logarithm)
    if math.isinf(ratio):
        return "×∞"
    return f"×{ratio:.3f}" if ratio < LARGE else f"×{ratio:.1e}"
