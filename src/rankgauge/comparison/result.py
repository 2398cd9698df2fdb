"""What a comparison says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from rankgauge.comparison.agreement import MeasureAgreement
from rankgauge.comparison.attribution import QueryChange
from rankgauge.comparison.plain_data import comparison_data
from rankgauge.comparison.sentences import answer, headline
from rankgauge.comparison.shared_queries import shared_queries
from rankgauge.comparison.statistics import CORRECTION_LABELS, Statistics, is_significant
from rankgauge.core.formatting import text_of
from rankgauge.core.views import Columns, ResultTuple, Tabular
from rankgauge.evaluation.notes import Note
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Aggregate, Direction
from rankgauge.stats.effect_size import Effect
from rankgauge.stats.intervals import exponential
from rankgauge.stats.results import Interval

if TYPE_CHECKING:
    from rankgauge.comparison.ranking import SystemRanking
    from rankgauge.comparison.weighted import WeightedFamily
    from rankgauge.evaluation.evaluate import Evaluation

Comparative = Literal["better", "worse", "higher", "lower"]
Outcome = Literal["better", "worse", "higher", "lower", "negligible", "equivalent", "inconclusive", "unchanged"]


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
    too_few_queries: bool = False  # whether no p can be small enough with this number of queries
    detectable: float | None = None  # the minimum detectable difference: 80% power, at the corrected level
    changes_needed: int | None = None  # one-way changes that would be significant, if few queries changed
    reason: str | None = None  # why there is no p
    queries_needed: int | None = None  # for 80% power at the target difference and the corrected level
    caveat: str | None = None  # what the test cannot see, if the difference is significant
    rope: float | None = None  # differences within ± this do not matter
    aggregate: Aggregate = "mean"
    direction: Direction = 1  # the sign of an improvement; 0 if the measure is neither good nor bad

    @property
    def is_ratio(self) -> bool:
        """Whether differences are logarithms of ratios: those of geometric means."""
        return self.aggregate == "gmean"

    @property
    def is_unchanged(self) -> bool:
        """Whether no query differs."""
        return self.n > 0 and self.effect.ties == self.n

    @property
    def improves(self) -> bool:
        """Whether the system is better than the baseline, significantly or not."""
        return (self.difference or 0.0) * self.direction > 0

    @property
    def comparative(self) -> Comparative:
        """What the system is, compared with the baseline: better or worse, or higher or lower without a direction."""
        if self.direction:
            return "better" if self.improves else "worse"
        return "higher" if (self.difference or 0.0) > 0 else "lower"

    def is_significant(self, alpha: float) -> bool:
        """Whether the corrected p is at most alpha."""
        return is_significant(self.p_corrected, alpha)

    @property
    def is_negligible(self) -> bool:
        """Whether the whole interval lies within the region of practical equivalence."""
        low, high = self.interval.low, self.interval.high
        return self.rope is not None and low is not None and high is not None and -self.rope <= low <= high <= self.rope

    def outcome(self, alpha: float) -> Outcome:
        """What the difference is: better or worse, equivalent, or neither is known."""
        if self.is_unchanged:
            return "unchanged"
        if self.is_significant(alpha):
            return "negligible" if self.is_negligible else self.comparative
        return "equivalent" if self.is_negligible else "inconclusive"

    def mark(self, alpha: float) -> str:
        """▲ if significantly better, ▼ if significantly worse, else nothing."""
        return ("▲" if self.improves else "▼") if self.direction and self.is_significant(alpha) else ""

    def text(self, difference: float) -> str:
        """A difference of this measure as text: with its sign, or as a ratio."""
        return text_of(exponential(difference), "ratio") if self.is_ratio else text_of(difference, "difference")


@dataclass(frozen=True)
class GroupDifference:
    """A difference within a group of queries, corrected over all systems, measures and groups of a column."""

    by: str
    label: str
    difference: Difference
    opposite: bool  # whether it is opposite to the overall direction


@dataclass(frozen=True)
class Interaction:
    """Whether the difference itself differs between groups."""

    by: str
    system: str
    measure: str
    p: float | None
    p_corrected: float | None  # over all columns, systems and measures
    reason: str | None = None


class PairedValues(NamedTuple):
    """The queries behind a difference, with the system's and the baseline's value for each."""

    queries: list[str]
    system: list[float]
    baseline: list[float]


@dataclass(frozen=True, eq=False)
class Comparison(Tabular):
    """Systems against a baseline, over the same queries."""

    scores: tuple[Scores, ...]
    names: tuple[str, ...]
    baseline: str
    differences: tuple[Difference, ...]
    statistics: Statistics
    family: str  # over what p was corrected, and under which assumption
    family_sizes: tuple[int, int]  # the number of p values corrected for: of the primary measure, and of the others
    weighted: WeightedFamily | None = None  # the primary measure, if queries have weights
    ranking: SystemRanking | None = None  # of three or more systems
    agreement: tuple[MeasureAgreement, ...] = ()  # of the measures on the order of three or more systems
    groups: tuple[GroupDifference, ...] = ()
    group_families: dict[str, str] = field(default_factory=dict)  # by column: over what p is corrected in its groups
    interactions: tuple[Interaction, ...] = ()
    interaction_family: str | None = None
    changes: dict[str, tuple[QueryChange, ...]] = field(default_factory=dict)  # by system, on the first measure
    texts: dict[str, str] = field(default_factory=dict)  # of queries, if they are known
    notes: tuple[Note, ...] = ()
    evaluation: Evaluation | None = None  # behind it, if rankings were kept: a page shows them

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", ResultTuple(self.scores))

    @property
    def alpha(self) -> float:
        """The largest p that is significant."""
        return self.statistics.alpha

    @property
    def confidence(self) -> float:
        """The confidence of the intervals."""
        return self.statistics.confidence

    @property
    def systems(self) -> list[str]:
        """The systems that are compared with the baseline."""
        return [name for name in self.names if name != self.baseline]

    def __getitem__(self, key: tuple[str, str]) -> Difference:
        """The difference of a system on a measure."""
        for row in self.differences:
            if (row.system, row.measure) == key:
                return row
        raise KeyError(f"no {key[1]} of {key[0]}")

    def of_system(self, system: str) -> list[Difference]:
        """The differences of one system."""
        return [row for row in self.differences if row.system == system]

    @property
    def correction_label(self) -> str | None:
        """The correction of p; None if there was nothing to correct."""
        correction = self.statistics.correction
        return None if correction == "none" or max(self.family_sizes) < 2 else CORRECTION_LABELS[correction]

    @property
    def primary(self) -> str:
        """The measure that the answer is about: the first."""
        return self.scores[0].measures[0].name

    @property
    def interval_kind(self) -> str:
        """What the intervals are: simultaneous, for example; empty if each is for itself."""
        return self.statistics.intervals_of(max(self.family_sizes))

    def group_interval_kind(self, by: str) -> str:
        """What the intervals of the groups of a column are, which are a family of their own."""
        tested = sum(row.difference.p is not None for row in self.groups if row.by == by)
        return self.statistics.intervals_of(tested)

    def has_unpaired_queries(self, measure: str) -> bool:
        """Whether a difference on a measure is over fewer queries than the values it compares."""
        counts = {run.run: run.over_queries[measure][1] for run in self.scores}
        rows = (row for row in self.differences if row.measure == measure)
        return any(row.n < max(counts[row.system], counts[self.baseline]) for row in rows)

    def paired(self, system: str, measure: str) -> PairedValues:
        """The queries behind a difference, with the system's and the baseline's value for each."""
        run, base = (next(run for run in self.scores if run.run == name) for name in (system, self.baseline))
        column = [measured.name for measured in run.measures].index(measure)
        kept = np.flatnonzero(shared_queries(run, base, [column]))
        queries = [run.queries[row] for row in kept.tolist()]
        return PairedValues(queries, run.values[kept, column].tolist(), base.values[kept, column].tolist())

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.names)}; baseline {self.baseline}: {headline(self)[0]})"

    def frame_columns(self) -> Columns:
        """One row per difference, as ``to_pandas`` and ``to_polars`` give it."""
        rows = self.to_dict()["differences"]
        flat = [{**row, "low": row["ci"]["low"], "high": row["ci"]["high"]} for row in rows]
        names = [name for name in (flat[0] if flat else {}) if name != "ci"]
        return {name: [row[name] for row in flat] for name in names}

    def answer(self) -> str:
        """Which system is better, by how much and with what confidence: the answer on the primary measure first."""
        return answer(self)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return comparison_data(self)
