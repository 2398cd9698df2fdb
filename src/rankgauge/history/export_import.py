"""Export to and import from a folder: one file per entry, and one per version of the judgments.

No file is ever changed by a later export of the same entry, except if its tags changed, so that folders of several
branches merge without conflicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, write_errors
from rankgauge.history.entries import SavedEntry, check_consistency
from rankgauge.history.entry_codec import (
    ENTRY_SCHEMA,
    entry_lines,
    labels_lines,
    pack_contents,
    pack_labels,
    read_entry,
    read_labels,
)
from rankgauge.history.sql_tables import insert_entry, insert_labels
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.byte_streams import load_file, open_stored
from rankgauge.io.stored_json import parse_record

if TYPE_CHECKING:
    from rankgauge.history.store import History

LABELS_FOLDER = "labels"
SUFFIX = ".jsonl"
UNCHANGED_HINT = "an entry never changes: restore the file, or delete it"
MAX_HEAD = 1 << 24  # bytes of the first line of a file


@dataclass(frozen=True)
class ImportedEntries:
    """The names of entries that were imported, and of those that the history had already."""

    added: tuple[str, ...]
    known: tuple[str, ...]


def export_entries(history: History, folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write entries; files that are there already with the same content stay untouched."""
    chosen = [history.summary(name).name for name in names] or [entry.name for entry in history.entries()]
    with write_errors(folder):
        (folder / LABELS_FOLDER).mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    exported: set[str] = set()
    homes = {uid: path for path in sorted(folder.glob(f"*{SUFFIX}")) if (uid := _uid_in(path)) is not None}
    for name in dict.fromkeys(chosen):
        entry = history.entry(name)
        labels = entry.summary.labels
        if entry.qrels is not None and labels not in exported:
            exported.add(labels)
            path = folder / LABELS_FOLDER / f"{labels}{SUFFIX}"
            if not path.exists():
                _write(path, labels_lines(entry.qrels))
        path = homes.get(entry.summary.uid) or _free_path(folder, entry)
        _write(path, entry_lines(entry))
        written.append(path)
    return written


def import_files(history: History, paths: Sequence[Path]) -> ImportedEntries:
    """Read every file before anything is written, and write all new entries in one transaction."""
    entries, labels = dict[str, SavedEntry](), dict[str, Qrels]()
    for path in _files(paths):
        entry = read_entry(path)
        file = path.parent / LABELS_FOLDER / f"{entry.summary.labels}{SUFFIX}"
        if entry.summary.labels not in labels and file.exists():
            labels[entry.summary.labels] = read_labels(file)
        _check_judgments(path, file, entry, labels.get(entry.summary.labels))
        other = entries.setdefault(entry.summary.uid, entry)
        if entry_lines(other) != entry_lines(entry):
            raise InputError.at(path, None, f"differs from another file of the entry {other.name}", hint=UNCHANGED_HINT)
        if history.database.query("SELECT 1 FROM entries WHERE uid = ?", (entry.summary.uid,)):
            _check_unchanged(history, path, entry)
    added, present = [], []
    with history.database.transaction() as connection:
        for entry in entries.values():
            summary = entry.summary
            row = connection.execute("SELECT id, name FROM entries WHERE uid = ?", (summary.uid,)).fetchone()
            if row is not None:
                tags = [(row[0], tag) for tag in summary.tags]
                connection.executemany("INSERT OR IGNORE INTO tags VALUES (?, ?)", tags)
                present.append(row[1].decode())
                continue
            qrels = labels.get(summary.labels)
            insert_labels(connection, summary.labels, None if qrels is None else pack_labels(qrels))
            added.append(insert_entry(connection, summary, *pack_contents(entry.scores, entry.run)).name)
    return ImportedEntries(tuple(added), tuple(present))


def _files(paths: Sequence[Path]) -> list[Path]:
    """The files of entries: those that are named, and those in folders that are."""
    files = []
    for path in paths:
        found = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
        if not found:
            raise InputError.at(path, None, "no exported entry in this folder", hint="rankgauge history export DIR")
        files += found
    return list(dict.fromkeys(files))


def _check_judgments(path: Path, file: Path, entry: SavedEntry, qrels: Qrels | None) -> None:
    """Raise if judgments are not those of an entry."""
    try:
        check_consistency(replace(entry, qrels=qrels))
    except ValueError as error:
        raise InputError.at(path, None, f"{error} ({file.name})", hint=UNCHANGED_HINT) from None


def _check_unchanged(history: History, path: Path, entry: SavedEntry) -> None:
    """Raise if an entry differs from the one that the history has, in anything but its tags and its name."""
    name = history.database.query("SELECT name FROM entries WHERE uid = ?", (entry.summary.uid,))[0][0].decode()
    stored = history.entry(name)
    imported = replace(entry, summary=replace(entry.summary, name=name, tags=stored.summary.tags))
    if not stored.summary.has_run:  # it may have been pruned
        imported = replace(imported, summary=replace(imported.summary, has_run=False), run=None)
    if not entry.summary.has_run:
        stored = replace(stored, summary=replace(stored.summary, has_run=False), run=None)
    if entry_lines(stored) != entry_lines(imported):
        raise InputError.at(
            path,
            None,
            f"differs from the entry {name} of the history, which is the same entry by its uid",
            hint=UNCHANGED_HINT,
        )


def _free_path(folder: Path, entry: SavedEntry) -> Path:
    """A file that is not another entry's: somebody else may have saved one of the same name."""
    path = folder / f"{entry.name}{SUFFIX}"
    return folder / f"{entry.name}-{entry.summary.uid[:8]}{SUFFIX}" if path.exists() else path


def _uid_in(path: Path) -> str | None:
    """The uid of the entry in a file; None if it is something else."""
    with open_stored(path) as file:
        head = file.readline(MAX_HEAD)
    try:
        data = parse_record(str(path), 1, head)
    except InputError:
        return None
    uid = data.get("entry", {}).get("uid") if isinstance(data, dict) and data.get("schema") == ENTRY_SCHEMA else None
    return uid if isinstance(uid, str) else None


def _write(path: Path, content: bytes) -> None:
    if path.exists() and load_file(path).stored == content:
        return
    with write_atomically(path) as file:
        file.write(content)
