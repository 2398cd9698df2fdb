"""Verify the folder of a benchmark: recompute every number, and check every other byte by its digest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rankgauge._version import __version__
from rankgauge.benchmark.folder import INPUTS_FOLDER, MANIFEST, PAGE, RUNS_FOLDER, digests, read_report, rendered
from rankgauge.core.formatting import plural
from rankgauge.errors import shown
from rankgauge.render.html import as_html
from rankgauge.report import manifest as manifests

MAX_VALUE_LENGTH = 60  # of a value in a message


@dataclass(frozen=True)
class FileChange:
    """A place that is not as it was written."""

    file: str
    field: str | None  # a path into JSON, or a line of a text; None for the whole file
    message: str

    def __str__(self) -> str:
        location = self.file if self.field is None else f"{self.file}: {self.field}"
        return f"{location}: {self.message}"


@dataclass(frozen=True)
class Verification:
    """What was checked, and what has changed."""

    files: int
    recomputed: int  # numbers
    changes: tuple[FileChange, ...]

    @property
    def ok(self) -> bool:
        """Whether everything is as it was written."""
        return not self.changes


def verify_benchmark(folder: str | Path) -> Verification:
    """Recompute every score, interval and p in the folder of a benchmark, and check the digests of the rest."""
    root = Path(folder)
    manifest = manifests.load(root / MANIFEST)
    if not manifests.is_intact(manifest) or (root / MANIFEST).read_bytes() != manifests.to_bytes(manifest):
        change = FileChange(MANIFEST, "sha256", "the content has changed, so nothing else can be trusted")
        return Verification(1, 0, (change,))
    changes, file_count = changed_files(root, manifest), len(manifest["files"]) + 1
    if any(change.file.startswith((f"{RUNS_FOLDER}/", f"{INPUTS_FOLDER}/")) for change in changes):
        # Everything that is computed from a changed input would be reported as a change, too.
        return Verification(file_count, 0, tuple(changes))
    report = read_report(root, manifest)
    recomputed = rendered(report)
    if any(change.file == PAGE for change in changes):  # to find the place; compression may differ between machines
        recomputed[PAGE] = as_html(report).encode("utf-8", "surrogateescape")
    same_version = f"rankgauge=={__version__}" in manifest["platform"]["software"]["libraries"]["python"]
    differences = [
        difference
        for name, content in recomputed.items()
        if (difference := _first_difference(name, root / name, content, same_version)) is not None
    ]
    # A field that differs says more than a digest.
    located = {change.file for change in differences}
    unlocated = [change for change in changes if change.file not in located]
    numbers = sum(_count_numbers(json.loads(data)) for name, data in recomputed.items() if name.endswith(".json"))
    return Verification(file_count, numbers, (*differences, *unlocated))


def changed_files(root: Path, manifest: Mapping[str, Any]) -> list[FileChange]:
    """The files whose digests are not those of the manifest."""
    current, stored = digests(root), manifest["files"]
    changes = [FileChange(name, None, "is missing") for name in stored if name not in current]
    changes += [FileChange(name, None, "is not part of the benchmark") for name in current if name not in stored]
    changes += [
        FileChange(name, None, f"has changed: its sha256 is {current[name][:16]}…, the manifest has {digest[:16]}…")
        for name, digest in stored.items()
        if name in current and current[name] != digest
    ]
    return changes


def _first_difference(name: str, path: Path, recomputed: bytes, same_version: bool) -> FileChange | None:
    """The first place where a file differs from its recomputed content; another version may word texts differently."""
    if not path.is_file() or (stored := path.read_bytes()) == recomputed:
        return None
    if name.endswith(".json"):
        try:
            old, new = json.loads(stored), json.loads(recomputed)
        except ValueError as error:
            return FileChange(name, None, f"is not valid JSON: {error}")
        if not same_version and isinstance(old, dict):
            old["rankgauge"] = new["rankgauge"] = None
        field = _differing_field(old, new, "")
        return None if field is None else FileChange(name, field[0] or None, field[1])
    return _differing_line(name, stored, recomputed) if same_version else None


def _differing_line(name: str, stored: bytes, recomputed: bytes) -> FileChange | None:
    lines = zip_longest(stored.split(b"\n"), recomputed.split(b"\n"))
    for number, (old, new) in enumerate(lines, start=1):
        if old != new:
            start = max(0, _common_prefix(old or b"", new or b"") - MAX_VALUE_LENGTH // 3)
            part = slice(start, start + MAX_VALUE_LENGTH)
            values = (None if line is None else line[part] for line in (old, new))
            return FileChange(name, f"line {number}", _mismatch(*values))
    return None


def _common_prefix(first: bytes, second: bytes) -> int:
    """The number of bytes with which both lines begin."""
    pairs = zip(first, second, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _differing_field(stored: Any, recomputed: Any, path: str) -> tuple[str, str] | None:
    """The first field that differs, as ``a.b[3].c``, and how."""
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        for key in [*recomputed, *(key for key in stored if key not in recomputed)]:
            inner_path = f"{path}.{key}" if path else str(key)
            if key not in stored or key not in recomputed:
                return inner_path, "is missing" if key not in stored else "is not a field of this file"
            field = _differing_field(stored[key], recomputed[key], inner_path)
            if field is not None:
                return field
        return None
    if isinstance(stored, list) and isinstance(recomputed, list):
        for index, (old, new) in enumerate(zip(stored, recomputed, strict=False)):
            field = _differing_field(old, new, f"{path}[{index}]")
            if field is not None:
                return field
        if len(stored) == len(recomputed):
            return None
        return path, f"stored {plural(len(stored), 'entry')}, recomputed {len(recomputed):,}"
    if type(stored) is type(recomputed) and stored == recomputed:
        return None
    return path, _mismatch(stored, recomputed)


def _mismatch(stored: Any, recomputed: Any) -> str:
    return f"stored {_value_text(stored)}, recomputed {_value_text(recomputed)}"


def _value_text(value: Any) -> str:
    if isinstance(value, bytes):
        return shown(value)
    return "nothing" if value is None else shown(json.dumps(value, ensure_ascii=False)[:MAX_VALUE_LENGTH])


def _count_numbers(data: Any) -> int:
    if isinstance(data, dict):
        return sum(map(_count_numbers, data.values()))
    if isinstance(data, list):
        return sum(map(_count_numbers, data))
    return int(isinstance(data, float))
