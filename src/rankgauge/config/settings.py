"""One ``Settings`` for all commands, from the command line, ``rankgauge.yaml`` and Python, with one meaning in each.

A command puts its options over what a configuration sets (``configured_settings``), and builds ``Settings`` from both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.comparison.statistics_options import LARGEST_CHANGES, Statistics
from rankgauge.core.dataclass import dataclass
from rankgauge.core.settings import Section, check_settings, declared, setting, setting_of
from rankgauge.errors import InputError
from rankgauge.evaluation.conventions import Conventions
from rankgauge.io.byte_streams import Limits
from rankgauge.io.reading_options import DEFAULT_READING, Reading

if TYPE_CHECKING:
    from rankgauge.config.bands import Bands

HISTORY_PREFIX = "history:"  # of a baseline that is not a file
CONVENTIONS = tuple(entry.name for entry in fields(Conventions))
STATISTICS = tuple(entry.name for entry in fields(Statistics))


@dataclass(frozen=True)
class OutputSettings:
    """How much is shown, and in which order."""

    sort: str | None = setting(
        None,
        "Sort runs by a measure, the best first; by `name`; or as `given`. JSON always has them as given.  "
        "[default: the first measure]",
        Section.OUTPUT,
        flag="output.sort",
    )
    changes: int = setting(
        LARGEST_CHANGES,
        "Show this many of the largest changes of queries, each way.",
        Section.OUTPUT,
        limits=">=0",
        flag="output.changes",
    )
    texts: bool | None = setting(
        None,
        "Show texts of documents, too, or no texts at all.  [default: those of queries]",
        Section.OUTPUT,
        flag="output.texts",
    )


@dataclass(frozen=True)
class SavedDate:
    """The date of a result that is saved."""

    date: str | None = setting(
        None,
        "With --save, date the entries with this time instead of now, for results of the past.",
        Section.HISTORY,
        flag="history.date",
    )


@dataclass(frozen=True)
class Settings:
    """How runs are read, scored, compared and shown. The first measure is the one that the answer is about."""

    measures: tuple[str, ...] | None = setting(  # None: the command's default
        None, "Compute a measure or a set of them; repeatable.", Section.MEASURES, flag="-m/--measure NAME", common=True
    )
    conventions: Conventions = field(default_factory=Conventions)
    statistics: Statistics = field(default_factory=Statistics)
    reading: Reading = DEFAULT_READING
    confidence_intervals: bool = setting(
        False,
        "Show the confidence interval of each mean.",
        Section.STATISTICS,
        flag="--ci",
        common=True,
    )
    significance_testing: bool = setting(
        False,
        "Whether `evaluate` compares the runs with the baseline, as the other commands always do.",
        Section.STATISTICS,
        flag="-",
    )
    baseline: str | None = setting(
        None,
        "Compare with this run or retriever, by name.  [default: the first]",
        Section.STATISTICS,
        flag="--baseline RUN",
        common=True,
    )
    by: tuple[str, ...] | None = setting(  # None: the command's default
        None,
        "Group queries by a column: category, difficulty, …; repeatable.",
        Section.STATISTICS,
        flag="--by COLUMN",
        common=True,
    )
    bands: Bands | None = None
    changes: int = setting_of(OutputSettings, "changes")
    batch_size: int = setting(100, "Queries held in memory at once, for lists.", Section.OTHER, flag="-", limits=">=1")
    caching: bool = False

    def __post_init__(self) -> None:
        check_settings(self)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Settings:
        """Settings from a flat mapping: the fields of this class, of ``Conventions`` and of ``Statistics`` by name."""
        own = {entry.name for entry in fields(cls)} - {"conventions", "statistics"}
        return cls(
            conventions=Conventions(**{name: values[name] for name in CONVENTIONS if name in values}),
            statistics=Statistics(**{name: values[name] for name in STATISTICS if name in values}),
            **{name: value for name, value in values.items() if name in own},
        )

    def to_dict(self) -> dict[str, Any]:
        """What numbers depend on, for a manifest."""
        return {
            "measures": None if self.measures is None else list(self.measures),
            "conventions": asdict(self.conventions),
            "statistics": asdict(self.statistics),
            "baseline": self.baseline,
            "by": None if self.by is None else list(self.by),
            "kpi": None if self.bands is None else self.bands.to_dict(),
            "changes": self.changes,
            **self._matching(),
        }

    def _matching(self) -> dict[str, Any]:
        """How labels are matched with results, unless it is by the same ids."""
        reading = self.reading
        return {} if reading.matches_ids else {"match": reading.match, "ignore_case": reading.ignore_case}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Settings:
        """The inverse of ``to_dict``."""
        from rankgauge.config.bands import Bands  # which an evaluation without targets does without

        return cls(
            measures=None if data["measures"] is None else tuple(data["measures"]),
            conventions=Conventions(**data["conventions"]),
            statistics=Statistics(**data["statistics"]),
            baseline=data["baseline"],
            by=None if data["by"] is None else tuple(data["by"]),
            bands=None if data["kpi"] is None else Bands.from_dict(data["kpi"]),
            changes=data["changes"],
            reading=Reading(match=data.get("match", "exact"), ignore_case=data.get("ignore_case", False)),
        )


def make_reading(values: Mapping[str, Any]) -> Reading:
    """How files are read, from the fields of ``Reading`` and of ``Limits`` by name."""
    limits = {name: values[name] for name in declared(Limits) if name in values}
    own = {name: value for name, value in values.items() if name not in limits}
    return Reading(limits=Limits(**limits), **own)


def expanded_path(path: str) -> Path:
    """A path that may begin with the folder of a user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:  # nobody of this name, or a process whose user has neither a name nor HOME
        raise InputError.at(path, None, "the home folder is unknown", hint="set HOME, or name the whole path") from None
