"""Results as a notebook shows them, and as data frames.

A result belongs to an early room, its document to ``render``, which comes later and is imported when one is shown.
This is the only place that reaches for a later room, and the only one that imports pandas and polars.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from rankgauge.core.dataclass import dataclass
from rankgauge.errors import MissingExtraError

RENDERER = "rankgauge.render.formats.notebook"
Columns = Mapping[str, Sequence[Any]]
T = TypeVar("T")


class HtmlView:
    """A result that a notebook shows as HTML: one entry in ``render/formats/notebook.py``."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from importlib import import_module

        html: str = import_module(RENDERER).view_of(self)
        return html


class ResultTuple(tuple[T, ...], HtmlView):
    """A tuple of results of one kind that a notebook shows together."""

    __slots__ = ()


class ResultList(list[T], HtmlView):
    """A list of results of one kind that a notebook shows together."""

    __slots__ = ()


@dataclass(frozen=True)
class SummaryTable:
    """A small table for people; numbers are rounded only when they are shown."""

    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""


class Tabular(HtmlView, ABC):
    """A result that can be converted into a data frame."""

    __slots__ = ()

    @abstractmethod
    def frame_columns(self) -> Columns:
        """The columns of the data frame, all of the same length."""

    def to_pandas(self) -> Any:
        """Convert to a pandas data frame."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise MissingExtraError("to_pandas requires pandas", hint="pip install pandas") from None
        return pandas.DataFrame({name: list(values) for name, values in self.frame_columns().items()})

    def to_polars(self) -> Any:
        """Convert to a polars data frame."""
        try:
            import polars
        except ModuleNotFoundError:
            raise MissingExtraError("to_polars requires polars", hint="pip install polars") from None
        # A column may begin with many nulls, or mix integers and floats: infer its type from all rows.
        return polars.DataFrame({name: list(values) for name, values in self.frame_columns().items()}, strict=False)
