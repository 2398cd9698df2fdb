"""Did my retrieval get better, how sure is that, and which queries moved?

Names are imported when they are first used, so that ``import rankgauge`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.core.hits import Hits, join
    from rankgauge.core.qrels import Qrels
    from rankgauge.core.run import Run
    from rankgauge.errors import (
        InputError,
        InputTypeError,
        MeasureError,
        MissingExtraError,
        RankgaugeError,
        RankgaugeWarning,
        UsageError,
    )
    from rankgauge.evaluation import Conventions, Scores, evaluate, evaluate_all
    from rankgauge.io.reading import read_qrels, read_run
    from rankgauge.measures.parse import parse_measure, parse_measures
    from rankgauge.measures.registry import measure
    from rankgauge.measures.spec import Measure

__version__ = "0.1.0"

_HOMES = {
    "Conventions": "rankgauge.evaluation",
    "Hits": "rankgauge.core.hits",
    "InputError": "rankgauge.errors",
    "InputTypeError": "rankgauge.errors",
    "Measure": "rankgauge.measures.spec",
    "MeasureError": "rankgauge.errors",
    "MissingExtraError": "rankgauge.errors",
    "Qrels": "rankgauge.core.qrels",
    "RankgaugeError": "rankgauge.errors",
    "RankgaugeWarning": "rankgauge.errors",
    "Run": "rankgauge.core.run",
    "Scores": "rankgauge.evaluation",
    "UsageError": "rankgauge.errors",
    "evaluate": "rankgauge.evaluation",
    "evaluate_all": "rankgauge.evaluation",
    "join": "rankgauge.core.hits",
    "measure": "rankgauge.measures.registry",
    "parse_measure": "rankgauge.measures.parse",
    "parse_measures": "rankgauge.measures.parse",
    "read_qrels": "rankgauge.io.reading",
    "read_run": "rankgauge.io.reading",
}

__all__ = [
    "Conventions",
    "Hits",
    "InputError",
    "InputTypeError",
    "Measure",
    "MeasureError",
    "MissingExtraError",
    "Qrels",
    "RankgaugeError",
    "RankgaugeWarning",
    "Run",
    "Scores",
    "UsageError",
    "evaluate",
    "evaluate_all",
    "join",
    "measure",
    "parse_measure",
    "parse_measures",
    "read_qrels",
    "read_run",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rankgauge' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
