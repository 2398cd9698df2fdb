"""pandas and polars data frames, which only this file imports."""

from __future__ import annotations

from typing import Any

from rankgauge.core.views import Columns
from rankgauge.errors import MissingExtraError


def pandas_frame(columns: Columns) -> Any:
    """Make a pandas data frame."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("to_pandas requires pandas", hint="pip install pandas") from None
    return pandas.DataFrame({name: list(values) for name, values in columns.items()})


def polars_frame(columns: Columns) -> Any:
    """Make a polars data frame."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError("to_polars requires polars", hint="pip install polars") from None
    # A column may begin with many nulls, or mix integers and floats: infer its type from all rows.
    return polars.DataFrame({name: list(values) for name, values in columns.items()}, strict=False)
