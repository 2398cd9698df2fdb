"""Tables of other engines that can give their rows batch by batch: duckdb's relations and polars' LazyFrames.

Neither library is imported: a caller who has such an object has the library.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankgauge.io.formats.arrow_batches import BATCH_ROWS


def is_lazy_table(value: object) -> bool:
    """Whether a value is a relation of duckdb, or a LazyFrame of a polars that can give batches."""
    name = type(value).__name__
    return name == "DuckDBPyRelation" or (name == "LazyFrame" and hasattr(value, "collect_batches"))


def record_batches(table: Any) -> Iterator[Any]:
    """The rows as pyarrow record batches; the table is computed again on each call."""
    if hasattr(table, "collect_batches"):
        for frame in table.collect_batches(chunk_size=BATCH_ROWS):
            yield from frame.to_arrow().to_batches()
        return
    read = table.to_arrow_reader if hasattr(table, "to_arrow_reader") else table.fetch_record_batch
    yield from read(BATCH_ROWS)
