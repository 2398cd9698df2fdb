"""Two parts of the queries: those to develop or tune on, and those to report on. No query is in both parts.

A part is named as ``dev`` or ``test``, with parameters as a measure has them: ``test(dev_share=0.3, seed=7)``, or
``dev(column=fold)``. Without a column, the hash of a query's id decides, so that a query never changes sides when
others are added; queries with the same ``unit`` stay together. The parts without parameters are those of
``rankgauge tune``, which chooses on ``dev`` and reports on ``test``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import percent, plural
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, UsageError, shown

SPLIT_SALT = b"rankgauge split 1\n"
PARTS = ("dev", "test")
UNIT = "unit"  # the column of queries that belong together
_SPEC = re.compile(r"(?P<part>\w+)\s*+(?:\((?P<parameters>[^()]*)\))?")
_HINT = "for example dev, test, 'test(dev_share=0.3, seed=7)' or 'dev(column=fold)'"


@dataclass(frozen=True)
class QueryPart:
    """One of two parts of the queries; ``dev_share`` is the expected share of dev, whichever part this is."""

    part: str
    dev_share: float = 0.5
    seed: int = 0
    column: str | None = None  # of the queries: it says dev or test for each

    def __str__(self) -> str:
        parameters = [f"dev_share={self.dev_share:g}"] if self.dev_share != 0.5 else []
        parameters += [f"seed={self.seed}"] if self.seed else []
        parameters += [f"column={self.column}"] if self.column is not None else []
        return f"{self.part}({', '.join(parameters)})" if parameters else self.part

    @property
    def description(self) -> str:
        """How queries are assigned, for people."""
        if self.column is not None:
            return f"{self.part} queries by the column {self.column}"
        return f"{self.part} queries by hash of their ids (dev {percent(self.dev_share)}, seed {self.seed})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON: everything that decides on which side a query is."""
        if self.column is not None:
            return {"part": self.part, "column": self.column}
        return {"part": self.part, "dev_share": self.dev_share, "seed": self.seed}

    def select(self, qrels: Qrels) -> Qrels:
        """The judgments of this part."""
        if self.column is None:
            chosen = _dev_by_hash(qrels, self.dev_share, self.seed)
        else:
            chosen = _dev_by_column(qrels, self.column)
        numbers = np.flatnonzero(chosen == (self.part == "dev"))
        if not len(numbers):
            raise InputError(
                f"none of the {len(qrels.queries)} queries of {shown(qrels.name)} is in the part {self.part}",
                hint="choose another dev_share, or leave out the split",
            )
        return qrels.part(numbers, f"{self.part}: {len(numbers)} of {len(qrels.queries)} queries")


@dataclass(frozen=True)
class QuerySplit:
    """The queries to tune on and the queries to report on; no query is in both."""

    dev: tuple[str, ...]
    test: tuple[str, ...]

    def __post_init__(self) -> None:
        shared = sorted(set(self.dev) & set(self.test))
        if shared:
            raise UsageError(
                f"{plural(len(shared), 'query')} for both tuning and testing, such as {shown(shared[0])}",
                hint="a value on queries that were tuned on is biased: use each query on one side only",
            )
        if not self.dev or not self.test:
            raise UsageError(f"a split needs queries on both sides, found {len(self.dev)} and {len(self.test)}")


def split_queries(qrels: Qrels, dev: Collection[str] | None = None, test: Collection[str] | None = None) -> QuerySplit:
    """Both parts of the judged queries, by hash or as given; if only one is given, the other queries are the other."""
    queries, units = qrels.queries.to_text(), _units(qrels)
    if dev is None and test is None:
        dev = {query for query, chosen in zip(queries, _dev_by_hash(qrels).tolist(), strict=True) if chosen}
    judged = set(queries)
    for purpose, side in (("tune on", dev), ("test on", test)):
        unjudged_query = next((query for query in side or () if query not in judged), None)
        if unjudged_query is not None:
            raise UsageError(f"query {shown(unjudged_query)}, to {purpose}, has no judgments")
    if dev is None:
        dev = judged - set(test or ())
    elif test is None:
        test = judged - set(dev)
    assert test is not None
    dev_units, test_units = ({units[query] for query in side if query in units} for side in (dev, test))
    divided = dev_units & test_units
    if divided:
        raise UsageError(
            f"{plural(len(divided), 'unit')} for both tuning and testing, such as {shown(min(divided))}",
            hint="queries of one unit belong together: use them on one side only",
        )
    return QuerySplit(tuple(q for q in queries if q in dev), tuple(q for q in queries if q in test))


def _dev_by_hash(qrels: Qrels, dev_share: float = 0.5, seed: int = 0) -> NDArray[np.bool_]:
    units = _units(qrels)
    names = [units.get(query, query) for query in qrels.queries.to_text()]
    return np.array([is_dev(name, dev_share, seed) for name in names], dtype=bool)


def _units(qrels: Qrels) -> dict[str, str]:
    """The unit of each query that has one; a whole number is the same unit whether or not others are missing."""
    if UNIT not in qrels.columns:
        return {}
    cells = zip(qrels.queries.to_text(), qrels.columns[UNIT].tolist(), strict=True)
    known = {query: unit for query, unit in cells if unit is not None and unit == unit}  # numbers have NaN for None
    return {
        query: str(int(unit)) if isinstance(unit, float) and unit.is_integer() else str(unit)
        for query, unit in known.items()
    }


def _dev_by_column(qrels: Qrels, column: str) -> NDArray[np.bool_]:
    if column not in qrels.columns:
        raise UsageError(
            f"the queries have no column {shown(column)} to split by", hint="name a file that has it: --queries"
        )
    values = [str(value).strip().lower() for value in qrels.columns[column].tolist()]
    for query, value in zip(qrels.queries.to_text(), values, strict=True):
        if value not in PARTS:
            raise InputError(
                f"column {shown(column)}: expected dev or test for query {shown(query)}, found {shown(value)}"
            )
    return np.array([value == "dev" for value in values], dtype=bool)


def is_dev(name: str, dev_share: float = 0.5, seed: int = 0) -> bool:
    """Whether a query or a unit is for development: by a hash of its id, so that adding others changes nothing."""
    salt = SPLIT_SALT + (f"{seed}\n".encode() if seed else b"")
    digest = hashlib.sha256(salt + name.encode("utf-8", "surrogateescape")).digest()
    return int.from_bytes(digest[:8], "big") < dev_share * 2**64


def parse_part(spec: str) -> QueryPart:
    """The part of the queries that a text names."""
    found = _SPEC.fullmatch(spec.strip())
    if found is None or found["part"] not in PARTS:
        raise UsageError(f"unknown part of the queries {shown(spec)}: expected dev or test", hint=_HINT)
    values = _parameters(spec, found["parameters"] or "")
    try:
        part = QueryPart(
            found["part"], float(values.get("dev_share", 0.5)), int(values.get("seed", 0)), values.get("column")
        )
    except ValueError:
        raise UsageError(f"expected numbers as dev_share and seed, found {shown(spec)}", hint=_HINT) from None
    if not 0 < part.dev_share < 1:
        raise UsageError(f"dev_share must be between 0 and 1, found {part.dev_share:g}", hint=_HINT)
    if part.column is not None and len(values) > 1:
        raise UsageError("a split by column has no dev_share and no seed", hint=_HINT)
    return part


def _parameters(spec: str, text: str) -> Mapping[str, str]:
    values: dict[str, str] = {}
    for entry in filter(None, map(str.strip, text.split(","))):
        name, equals, value = (word.strip() for word in entry.partition("="))
        if name not in ("dev_share", "seed", "column") or not equals or not value or name in values:
            raise UsageError(
                f"expected dev_share, seed or column with a value in {shown(spec)}, found {shown(entry)}", hint=_HINT
            )
        values[name] = value
    return values
