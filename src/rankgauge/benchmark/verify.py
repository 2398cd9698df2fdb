"""Check the folder of a benchmark: every number computed again, every other byte by its digest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rankgauge._version import __version__
from rankgauge.benchmark.folder import INPUTS, MANIFEST, PAGE, RUNS, digests, read_report, rendered
from rankgauge.errors import shown
from rankgauge.render.html import as_html
from rankgauge.report import manifest as manifests

WIDE = 60  # of a value in a message


@dataclass(frozen=True)
class Change:
    """A place that is not as it was written."""

    file: str
    field: str | None  # a path into JSON, a line of a text; None for a file as a whole
    message: str

    def __str__(self) -> str:
        where = self.file if self.field is None else f"{self.file}: {self.field}"
        return f"{where}: {self.message}"


@dataclass(frozen=True)
class Verified:
    """What was looked at, and what was found changed."""

    files: int
    recomputed: int  # numbers
    changes: tuple[Change, ...]

    @property
    def ok(self) -> bool:
        """Whether all is as it was written."""
        return not self.changes


def verify_benchmark(folder: str | Path) -> Verified:
    """Compute every score, interval and p of a benchmark's folder anew, and check the digests of the rest."""
    root = Path(folder)
    manifest = manifests.opened(root / MANIFEST)
    if not manifests.intact(manifest) or (root / MANIFEST).read_bytes() != manifests.sealed(manifest):
        change = Change(MANIFEST, "sha256", "the content is not what was written, and nothing else can be trusted")
        return Verified(1, 0, (change,))
    changes, count = changed_files(root, manifest), len(manifest["files"]) + 1
    if any(change.file.startswith((f"{RUNS}/", f"{INPUTS}/")) for change in changes):
        # Computing from something else would find a change in everything that follows from it.
        return Verified(count, 0, tuple(changes))
    report = read_report(root, manifest)
    made = rendered(report)
    if any(change.file == PAGE for change in changes):  # to say where; an intact page may have been packed otherwise
        made[PAGE] = as_html(report).encode("utf-8", "surrogateescape")
    here = f"rankgauge=={__version__}" in manifest["platform"]["software"]["libraries"]["python"]
    found = {name: _difference(name, root / name, data, here) for name, data in made.items()}
    named = [change for change in found.values() if change is not None]
    # A file that can be made again says more than its digest.
    told = {change.file for change in named}
    rest = [change for change in changes if change.file not in told]
    numbers = sum(_numbers(json.loads(data)) for name, data in made.items() if name.endswith(".json"))
    return Verified(count, numbers, (*named, *rest))


def changed_files(root: Path, manifest: Mapping[str, Any]) -> list[Change]:
    """The files that are not as the manifest says, by their digests."""
    found, stored = digests(root), manifest["files"]
    changes = [Change(name, None, "is missing") for name in stored if name not in found]
    changes += [
        Change(name, None, "was not there when the benchmark was written") for name in found if name not in stored
    ]
    changes += [
        Change(name, None, f"has changed: its sha256 is {found[name][:16]}…, the manifest says {digest[:16]}…")
        for name, digest in stored.items()
        if name in found and found[name] != digest
    ]
    return changes


def _difference(name: str, path: Path, made: bytes, here: bool) -> Change | None:
    """The first place where a file is not what comes out; what another version worded otherwise is no change."""
    if not path.is_file() or (stored := path.read_bytes()) == made:
        return None
    if name.endswith(".json"):
        try:
            old, new = json.loads(stored), json.loads(made)
        except ValueError as error:
            return Change(name, None, f"is no JSON any more: {error}")
        if not here and isinstance(old, dict):
            old["rankgauge"] = new["rankgauge"] = None
        found = _field(old, new, "")
        return None if found is None else Change(name, found[0] or None, found[1])
    if not here:
        return None
    for number, (old, new) in enumerate(zip_longest(stored.split(b"\n"), made.split(b"\n")), start=1):
        if old != new:
            begin = max(0, _same(old or b"", new or b"") - WIDE // 3)
            said = [None if line is None else line[begin : begin + WIDE] for line in (old, new)]
            return Change(name, f"line {number}", f"{_said(said[0])} is stored, {_said(said[1])} comes out")
    return None


def _same(one: bytes, other: bytes) -> int:
    """How many bytes two lines begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _field(stored: Any, made: Any, path: str) -> tuple[str, str] | None:
    """The first field that differs, as ``a.b[3].c``, and how."""
    if isinstance(stored, dict) and isinstance(made, dict):
        for key in [*made, *(key for key in stored if key not in made)]:
            inside = f"{path}.{key}" if path else str(key)
            if key not in stored or key not in made:
                return inside, "is missing" if key not in stored else "does not belong there"
            found = _field(stored[key], made[key], inside)
            if found is not None:
                return found
        return None
    if isinstance(stored, list) and isinstance(made, list):
        for place, (old, new) in enumerate(zip(stored, made, strict=False)):
            found = _field(old, new, f"{path}[{place}]")
            if found is not None:
                return found
        return None if len(stored) == len(made) else (path, f"has {len(stored)} entries, {len(made)} come out")
    if type(stored) is type(made) and stored == made:
        return None
    return path, f"{_said(stored)} is stored, {_said(made)} comes out"


def _said(value: Any) -> str:
    if isinstance(value, bytes):
        return shown(value)
    return "nothing" if value is None else shown(json.dumps(value, ensure_ascii=False)[:WIDE])


def _numbers(data: Any) -> int:
    if isinstance(data, dict):
        return sum(map(_numbers, data.values()))
    if isinstance(data, list):
        return sum(map(_numbers, data))
    return int(isinstance(data, float))
