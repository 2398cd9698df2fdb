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
from rankgauge.benchmark.json_fields import MAX_VALUE_LENGTH, count_numbers, differing_fields, mismatch
from rankgauge.benchmark.tolerance import same_but_for_rounding, within_tolerance
from rankgauge.core.views import HtmlView
from rankgauge.errors import InputError, location
from rankgauge.io.byte_streams import load_file
from rankgauge.io.records import parse_object
from rankgauge.render.html import as_html
from rankgauge.report import manifest as manifests
from rankgauge.retrieval.store import content_sha256


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
class Verification(HtmlView):
    """What was checked, and what has changed."""

    files: int
    recomputed: int  # numbers
    changes: tuple[FileChange, ...]
    tolerated: int = 0  # numbers that differ by less than the tolerance

    @property
    def ok(self) -> bool:
        """Whether everything is as it was written."""
        return not self.changes


def verify_benchmark(folder: str | Path, *, index: str | Path | None = None) -> Verification:
    """Recompute every score, interval and p in the folder of a benchmark, and check the digests of the rest.

    Scores must be the same to the last digit. Statistics derived from them (p, ends of intervals, effect sizes, minimum
    detectable differences) may differ by a relative 1e-9, because SciPy's distributions differ between its versions;
    if any does, rounded numbers in texts may differ by one unit of their last digit. The HTML page is checked by its
    digest. ``index`` is the folder in which the benchmark kept its indexes: their content must have the hashes of the
    manifest.
    """
    root = Path(folder)
    if not (root / MANIFEST).is_file():
        raise InputError.at(
            str(root), None, f"found no {MANIFEST} in it", hint="name the folder that `rankgauge benchmark run` wrote"
        )
    manifest = manifests.load(root / MANIFEST)
    if not manifests.is_intact(manifest) or load_file(root / MANIFEST).stored != manifests.to_bytes(manifest):
        change = FileChange(MANIFEST, "sha256", "the content has changed, so nothing else can be trusted")
        return Verification(1, 0, (change,))
    changes, file_count = changed_files(root, manifest), len(manifest["files"]) + 1
    changes += [] if index is None else changed_indexes(Path(index), manifest)
    if any(change.file.startswith((f"{RUNS_FOLDER}/", f"{INPUTS_FOLDER}/")) for change in changes):
        # Everything that is computed from a changed input would be reported as a change, too.
        return Verification(file_count, 0, tuple(changes))
    report = read_report(root, manifest)
    recomputed = rendered(report)
    if any(change.file == PAGE for change in changes):  # to find the place; compression may differ between machines
        recomputed[PAGE] = as_html(report).encode("utf-8", "surrogateescape")
    same_version = f"rankgauge=={__version__}" in manifest["platform"]["software"]["libraries"]["python"]
    differences, tolerated = _differences(root, recomputed, same_version)
    # A field that differs says more than a digest.
    located = {change.file for change in differences}
    unlocated = [change for change in changes if change.file not in located]
    numbers = sum(count_numbers(json.loads(data)) for name, data in recomputed.items() if name.endswith(".json"))
    return Verification(file_count, numbers, (*differences, *unlocated), tolerated)


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


def changed_indexes(folder: Path, manifest: Mapping[str, Any]) -> list[FileChange]:
    """The indexes whose content is not that of the manifest."""
    stored = {
        entry["path"]: entry["sha256"] for system in manifest["method"]["retrieval"] for entry in system["indexes"]
    }
    if not stored:
        raise InputError.at(MANIFEST, None, "the benchmark has recorded no index", hint="leave out --index")
    changes = []
    for name, digest in stored.items():
        current = content_sha256(folder / name)
        if current is None:
            changes.append(FileChange(f"index {name}", None, f"not found in {folder}, or damaged"))
        elif current != digest:
            message = f"has changed: its sha256 is {current[:16]}…, the manifest has {digest[:16]}…"
            changes.append(FileChange(f"index {name}", None, message))
    return changes


def _differences(root: Path, recomputed: Mapping[str, bytes], same_version: bool) -> tuple[list[FileChange], int]:
    """The first difference of each file from its recomputed content; and how many numbers are within the tolerance.

    Another version of rankgauge may word texts differently.
    """
    changes: list[FileChange | None] = []
    tolerated = 0
    for name in sorted(recomputed, key=lambda name: not name.endswith(".json")):  # JSON first: texts show its numbers
        path, content = root / name, recomputed[name]
        if not path.is_file() or (stored := load_file(path).stored) == content:
            continue
        if name.endswith(".json"):
            change, count = _json_change(name, stored, content, same_version)
            changes.append(change)
            tolerated += count
        elif same_version:
            changes.append(_text_change(name, stored, content, rounding=tolerated > 0))
    return [change for change in changes if change is not None], tolerated


def _json_change(name: str, stored: bytes, recomputed: bytes, same_version: bool) -> tuple[FileChange | None, int]:
    """The first field that differs by more than the tolerance; and how many differ by less, up to there."""
    try:
        old, new = parse_object(name, stored), parse_object(name, recomputed)
    except InputError as error:
        return FileChange(name, None, error.message.removeprefix(location(name, None))), 0
    if not same_version:
        old["rankgauge"] = new["rankgauge"] = None
    tolerated = 0
    for field in differing_fields(old, new):
        if not within_tolerance(field):
            return FileChange(name, field.path or None, field.message), tolerated
        tolerated += 1
    return None, tolerated


def _text_change(name: str, stored: bytes, recomputed: bytes, *, rounding: bool) -> FileChange | None:
    """The first line that differs; with ``rounding`` numbers may differ by one unit of their last digit."""
    lines = zip_longest(stored.split(b"\n"), recomputed.split(b"\n"))
    for number, (old, new) in enumerate(lines, start=1):
        if old != new and not (rounding and old and new and same_but_for_rounding(_text(old), _text(new))):
            start = max(0, _common_prefix(old or b"", new or b"") - MAX_VALUE_LENGTH // 3)
            part = slice(start, start + MAX_VALUE_LENGTH)
            values = (None if line is None else line[part] for line in (old, new))
            return FileChange(name, f"line {number}", mismatch(*values))
    return None


def _common_prefix(first: bytes, second: bytes) -> int:
    """The number of bytes with which both lines begin."""
    pairs = zip(first, second, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")
