"""Split queries into those to tune on and those to report on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rankgauge.core.formatting import plural
from rankgauge.errors import UsageError, shown
from rankgauge.evaluation.split import is_dev


@dataclass(frozen=True)
class Split:
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


def split(
    queries: Sequence[str],
    dev: Collection[str] | None = None,
    test: Collection[str] | None = None,
    units: Mapping[str, str] | None = None,
) -> Split:
    """Split queries by hash or as given; if only one side is given, the other queries are the other side.

    ``units`` are those of the queries that share one: a unit is never on both sides.
    """
    unit_of = dict(units or {})
    if dev is None and test is None:
        dev = {query for query in queries if is_dev(unit_of.get(query, query))}
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
    dev_units, test_units = ({unit_of[query] for query in side if query in unit_of} for side in (dev, test))
    divided = dev_units & test_units
    if divided:
        raise UsageError(
            f"{plural(len(divided), 'unit')} for both tuning and testing, such as {shown(min(divided))}",
            hint="queries of one unit belong together: use them on one side only",
        )
    return Split(tuple(q for q in queries if q in dev), tuple(q for q in queries if q in test))
