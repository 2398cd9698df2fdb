"""What is asked of runs: measures, conventions, statistics. As data, so that a folder can be evaluated again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rankgauge.comparison.compare import Statistics
from rankgauge.config.bands.bands import Bands
from rankgauge.evaluation.evaluate import Conventions
from rankgauge.measures.parse import parse_measure


@dataclass(frozen=True)
class Settings:
    """How runs are scored and compared. The first measure is the one that the answer is about."""

    measures: tuple[str, ...] = ("kpi",)
    level: float | None = None  # the grade from which a document is relevant, where a measure does not say its own
    conventions: Conventions = field(default_factory=Conventions)
    statistics: Statistics = field(default_factory=Statistics)
    baseline: str | None = None  # a system; the first where none is named
    by: tuple[str, ...] = ()
    bands: Bands | None = None
    moved: int = 3

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "measures": list(self.measures),
            "level": self.level,
            "conventions": asdict(self.conventions),
            "statistics": asdict(self.statistics),
            "baseline": self.baseline,
            "by": list(self.by),
            "kpi": None if self.bands is None else self.bands.to_dict(),
            "moved": self.moved,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Settings:
        """The same again."""
        return cls(
            measures=tuple(data["measures"]),
            level=data["level"],
            conventions=Conventions(**data["conventions"]),
            statistics=Statistics(**data["statistics"]),
            baseline=data["baseline"],
            by=tuple(data["by"]),
            bands=_bands(data["kpi"]),
            moved=data["moved"],
        )


def _bands(data: Mapping[str, Any] | None) -> Bands | None:
    if data is None:
        return None
    return Bands(data["name"], {parse_measure(name): dict(found) for name, found in data["bands"].items()})
