"""Queries for choosing and queries for reporting, kept apart."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rankgauge.errors import UsageError, shown

SALT = b"rankgauge split 1\n"


@dataclass(frozen=True)
class Split:
    """The queries to tune on and the queries to report on; none is both."""

    dev: tuple[str, ...]
    test: tuple[str, ...]

    def __post_init__(self) -> None:
        shared = sorted(set(self.dev) & set(self.test))
        if shared:
            raise UsageError(
                f"{len(shared)} queries are for tuning and for testing, {shown(shared[0])} for one",
                hint="what is tuned on the test queries says nothing: take each query on one side only",
            )
        if not self.dev or not self.test:
            raise UsageError(f"a split needs queries on both sides, found {len(self.dev)} and {len(self.test)}")


def is_dev(query: str) -> bool:
    """Whether a query is for tuning: the first bit of a hash of its id, so that everybody gets the same split."""
    return hashlib.sha256(SALT + query.encode("utf-8", "surrogateescape")).digest()[0] < 128


def split(queries: Sequence[str], dev: Collection[str] | None = None, test: Collection[str] | None = None) -> Split:
    """Split queries by hash, or as given; with one side given, the other is the rest."""
    if dev is None and test is None:
        return Split(tuple(q for q in queries if is_dev(q)), tuple(q for q in queries if not is_dev(q)))
    for side, given in (("tune on", dev), ("test on", test)):
        unknown = next((query for query in given or () if query not in set(queries)), None)
        if unknown is not None:
            raise UsageError(f"query {shown(unknown)}, to {side}, has no judgments")
    if dev is None:
        dev = set(queries) - set(test or ())
    elif test is None:
        test = set(queries) - set(dev)
    assert test is not None
    return Split(tuple(q for q in queries if q in dev), tuple(q for q in queries if q in test))
