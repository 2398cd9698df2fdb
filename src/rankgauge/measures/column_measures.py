"""Measures that somebody else computed: a column of values, whose name says what is better, if anything does.

A name that a measure of ours has is that measure. Of a few names it is known that lower is better; for any other,
somebody has to say so.
"""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.errors import MeasureError, shown
from rankgauge.measures.measure import Definition, Measure, MeasureScale

Better = Literal["higher", "lower"]
COLUMN = re.compile(r"column\((?P<name>.*)\)", re.DOTALL)
NAME = re.compile(r"\w[\w .:/%+-]{0,79}")
LOWER_IS_BETTER = frozenset(
    "latency latency_ms latency_s duration duration_ms elapsed response_time time_ms cost cost_usd price tokens "
    "total_tokens input_tokens output_tokens loss log_loss perplexity error errors error_rate hallucination "
    "hallucination_rate toxicity bias wer cer ter edit_distance distance rmse mse mae".split()
)


def lower_is_better(name: str) -> bool:
    """Whether a column is on the published list of those of which lower values are better."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_") in LOWER_IS_BETTER


def column_of(name: str) -> str | None:
    """The column that ``column(NAME)`` names; None for any other text."""
    match = COLUMN.fullmatch(name.strip())
    return None if match is None else match["name"].strip()


def column_name(measure: Measure) -> str | None:
    """The column whose values a measure has; None for any other measure."""
    name: str | None = measure.definition.kernel.__dict__.get("column")
    return name


def may_be_column(name: str) -> bool:
    """Whether a text could name a column: one without a cutoff or parameters."""
    return NAME.fullmatch(name) is not None


def column_measure(name: str, better: Better | None = None, *, is_ours: bool = False) -> Measure:
    """The measure whose values are those of a column; ``is_ours`` says that a measure has the same name."""
    if not NAME.fullmatch(name):
        raise MeasureError(
            f"the column {shown(name)} cannot be a measure", hint="rename it with letters, digits and . : / % + - _"
        )
    better = better or ("lower" if lower_is_better(name) else None)

    def values(hits: Hits) -> PerQuery:
        """The values of a column."""
        if name not in hits.columns:
            raise MeasureError(
                f"no column is called {shown(name)}", hint=f"there are {', '.join(hits.columns) or 'none'}"
            )
        return np.asarray(hits.columns[name], dtype=np.float64)

    values.__dict__ |= {"judgments": (None,), "column": name, "over": "all"}
    definition = Definition(
        name=f"column({name})" if is_ours else name,
        kernel=values,
        parameters={},
        at=None,
        aliases=(),
        variants={},
        scale=MeasureScale(-np.inf, np.inf, better),
        aggregate="mean",
        missing=None,
        monotone=False,
        freeze=None,
    )
    return Measure(definition, ())
