"""One ``Settings`` for all commands, from the command line, ``rankgauge.yaml`` and Python, with one meaning in each.

``config_values`` is the only place that interprets a configuration file: it names every setting that the file sets. A
command puts its own options over these, and builds ``Settings`` from the result.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.comparison.statistics import Statistics
from rankgauge.config.bands.bands import Bands
from rankgauge.core.dataclass import dataclass
from rankgauge.core.settings import declared
from rankgauge.errors import InputError
from rankgauge.evaluation.conventions import Conventions
from rankgauge.io.byte_streams import Limits
from rankgauge.io.options import DEFAULT_READING, Reading

if TYPE_CHECKING:
    from rankgauge.config.schema import Config

HISTORY_PREFIX = "history:"  # of a baseline that is not a file
CONVENTIONS = tuple(entry.name for entry in fields(Conventions))
STATISTICS = tuple(entry.name for entry in fields(Statistics))


@dataclass(frozen=True)
class Settings:
    """How runs are read, scored, compared and shown. The first measure is the one that the answer is about."""

    measures: tuple[str, ...] | None = None  # None: the command's default
    conventions: Conventions = field(default_factory=Conventions)
    statistics: Statistics = field(default_factory=Statistics)
    reading: Reading = DEFAULT_READING
    confidence_intervals: bool = False  # whether evaluate shows the interval of each mean
    significance_testing: bool = False  # whether evaluate compares the runs with the baseline
    baseline: str | None = None  # the name of a system; None: the first
    by: tuple[str, ...] | None = None  # columns of the queries to group by; None: the command's default
    bands: Bands | None = None
    changes: int = 3  # the number of largest changes shown, each way
    batch_size: int = 100
    caching: bool = False
    cache_file: str | None = None

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
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Settings:
        """The inverse of ``to_dict``."""
        return cls(
            measures=None if data["measures"] is None else tuple(data["measures"]),
            conventions=Conventions(**data["conventions"]),
            statistics=Statistics(**data["statistics"]),
            baseline=data["baseline"],
            by=None if data["by"] is None else tuple(data["by"]),
            bands=None if data["kpi"] is None else Bands.from_dict(data["kpi"]),
            changes=data["changes"],
        )


def load_settings(source: str | Path | Mapping[str, Any]) -> Settings:
    """The settings in a ``rankgauge.yaml``, or in its content as a mapping."""
    from rankgauge.config.reading import load_config

    folder = None if isinstance(source, Mapping) else Path(source).parent
    config = load_config(source)
    return Settings.of({**config_values(config, folder), "reading": make_reading(reading_values(config))})


def config_values(config: Config, folder: Path | None = None, section: str | None = None) -> dict[str, Any]:
    """Every setting that a configuration sets, by its name in ``Settings``; relative paths start from ``folder``.

    The values of ``section``, a command's own part of the file, come last and override the others.
    """
    from rankgauge.config.bands.loading import configured_bands

    measures = config.measures.model_dump(exclude_unset=True, exclude_none=True)
    statistics = config.statistics.model_dump(exclude_unset=True, exclude_none=True)
    performance = config.performance.model_dump(exclude_unset=True, exclude_none=True, exclude={"parallel_processing"})
    renamed = {"names": "measures", "caching_enabled": "caching"}
    values = {renamed.get(name, name): value for name, value in (measures | statistics | performance).items()}
    if section is not None:
        values |= getattr(config, section).model_dump(exclude_unset=True, exclude_none=True)
    for name in ("measures", "by", "require"):
        if name in values:
            values[name] = tuple(values[name])
    for name in ("cache_file", *(["baseline"] if section == "gate" else [])):  # elsewhere a baseline is a name
        if name in values and folder is not None and not values[name].startswith(HISTORY_PREFIX):
            values[name] = str(folder / _expanded(values[name]))
    if config.kpi is not None:
        values["bands"] = configured_bands(config.kpi, folder)
    return values


def make_reading(values: Mapping[str, Any]) -> Reading:
    """How files are read, from the fields of ``Reading`` and of ``Limits`` by name."""
    limits = {name: values[name] for name in declared(Limits) if name in values}
    own = {name: value for name, value in values.items() if name not in limits}
    return Reading(limits=Limits(**limits), **own)


def reading_values(config: Config) -> dict[str, Any]:
    """Every setting of how files are read that a configuration sets, by its name in ``Reading`` or ``Limits``."""
    values: dict[str, Any] = config.reading.model_dump(exclude_unset=True, exclude_none=True)
    if "parallel_processing" in config.performance.model_fields_set:
        values["parallel"] = config.performance.parallel_processing
    return values


def default_cache_file() -> Path:
    """The cache of a configuration that names none: in the user's cache folder."""
    return _expanded(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "rankgauge" / "metrics.sqlite"


def _expanded(path: str) -> Path:
    """A path that may begin with the folder of a user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:  # nobody of this name, or a process whose user has neither a name nor HOME
        raise InputError.at(path, None, "the home folder is unknown", hint="set HOME, or name the whole path") from None
