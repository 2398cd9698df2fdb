"""Which entries of a history are meant."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class EntryFilter:
    """Which entries are meant: those of a branch, a tag, a system, a collection, or from a time on."""

    branch: str | None = None
    tag: str | None = None
    system: str | None = None
    collection: str | None = None
    since: str | None = None  # UTC, as in 2026-11-02 or 2026-11-02T10:11:12Z

    def where(self) -> tuple[str, list[str]]:
        """The condition of a query and its values."""
        conditions = {
            "branch": "branch = ?",
            "tag": "id IN (SELECT entry FROM tags WHERE tag = ?)",
            "system": "system = ?",
            "collection": "collection = ?",
            "since": "saved >= ?",
        }
        given = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        used = {name: value for name, value in given.items() if value is not None}
        text = " AND ".join(conditions[name] for name in used)
        return (f"WHERE {text}" if text else ""), list(used.values())


ALL_ENTRIES = EntryFilter()
