"""Small pools and runs for the tests."""

from __future__ import annotations

from pathlib import Path

from rankgauge.io.formats.judgment_lines import Inclusion, Judgment
from rankgauge.labels.pool_files import PoolItem, write_pool

DEPTH = Inclusion("depth")


def items(queries: int = 2, docs: int = 3, inclusion: Inclusion = DEPTH) -> list[PoolItem]:
    """Documents of some queries, each with a text of its own."""
    return [
        PoolItem(f"q{query}", f"d{doc}", inclusion, f"query number {query}", "Title", f"text {doc} of query {query}")
        for query in range(1, queries + 1)
        for doc in range(1, docs + 1)
    ]


def pool_file(folder: Path, queries: int = 2, docs: int = 3) -> Path:
    """The same in a file."""
    path = folder / "pool.jsonl"
    write_pool(items(queries, docs), path)
    return path


def judgment(query: str, doc: str, grade: float | None, assessor: str = "ann", **details: object) -> Judgment:
    """A judgment of a terminal."""
    return Judgment(query, doc, grade, assessor, "terminal", at="2026-01-02T03:04:05Z", **details)  # type: ignore[arg-type]  # fields
