"""What changed between two versions, in words: first the labels, then how the systems were compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankgauge.comparison.versions.changes import JudgmentChanges
from rankgauge.comparison.versions.crossing import Method
from rankgauge.comparison.versions.parts import ChangeParts
from rankgauge.core.formatting import listing, number, signed

QUERIES_NAMED = 3
METHODS: dict[Method, str] = {
    "same labels": "systems compared with the same labels",
    "both orders": "each run was scored with both versions of the labels; the parts are means of both orders",
    "newer labels": "systems compared with the newer labels: the older run was scored again",
    "older labels": "systems compared with the older labels: the newer run was scored again",
    "joint": "no run was kept, so system and labels are reported jointly; "
    "systems compared on the queries whose judgments did not change",
}


def changes_sentence(changes: JudgmentChanges | None, show: Callable[[str], str]) -> str:
    """What changed in the labels; ``show`` escapes the names of queries."""
    if changes is None:
        return "labels: they differ, and those of one side are unknown"
    if changes.is_empty:
        return "labels: unchanged"
    named = [f"{verb}: {listing(map(show, queries), QUERIES_NAMED)}" for verb, queries in _named_queries(changes)]
    return f"labels: {changes.describe()}" + (f" ({'; '.join(named)})" if named else "")


def _named_queries(changes: JudgmentChanges) -> Sequence[tuple[str, tuple[str, ...]]]:
    groups = (("added", changes.queries_added), ("removed", changes.queries_removed))
    return [(verb, queries) for verb, queries in groups if queries]


def parts_sentence(part: ChangeParts, digits: int = 3) -> str:
    """``nDCG@10: 0.519 to 0.543 (+0.024) = system +0.020, labels +0.004, queries +0.000``."""
    if part.total is None:
        return f"{part.measure}: no value on one side"
    named = {"system": part.system, "labels": part.labels, "system and labels": part.joint, "queries": part.queries}
    listed = ", ".join(f"{name} {signed(value, digits)}" for name, value in named.items() if value is not None)
    values = f"{number(part.before, digits)} to {number(part.after, digits)}"
    return f"{part.measure}: {values} ({signed(part.total, digits)}) = {listed}"


def method_sentence(method: Method) -> str:
    """How the part of the system was separated from that of the labels."""
    return METHODS[method]
