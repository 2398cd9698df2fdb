"""Verify the folder of a benchmark: write every generated file again from its inputs, and compare."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rankgauge._version import __version__
from rankgauge.benchmark.chunkings import INPUTS_FOLDER, BenchmarkGold, resolved_labels
from rankgauge.benchmark.folder import (
    MANIFEST,
    PAGE,
    REPORT,
    RUNS_FOLDER,
    digests,
    read_inputs,
    rendered,
    report_of_inputs,
)
from rankgauge.benchmark.record import recomputed_manifest, recorded_files
from rankgauge.core.formatting import plural
from rankgauge.core.result_views import HtmlView
from rankgauge.errors import InputError, location, shown
from rankgauge.io.byte_streams import load_file
from rankgauge.io.stored_json import parse_object
from rankgauge.render.formats import printed_json
from rankgauge.render.html import as_html
from rankgauge.render.html.page import page_contents, split_data
from rankgauge.render.html.payload_packing import LENGTH_BYTES, decompressed
from rankgauge.report import manifest as manifests
from rankgauge.report.report import Report
from rankgauge.retrieval.index_files import content_sha256

LAST_DIGITS = "a derived number, within the tolerance of 1e-9"
ROUNDING = "the same derived number, rounded differently"
COMPRESSION = "the same data, compressed differently"
MAX_PAGE_DATA = 1 << 28  # bytes of a page's data, decompressed


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
    tolerated: tuple[FileChange, ...] = ()  # differences as between two versions of SciPy, in derived numbers only
    page: bytes = field(default=b"", repr=False)  # the HTML report, recomputed

    @property
    def ok(self) -> bool:
        """Whether everything is as it was written."""
        return not self.changes


def verify_benchmark(folder: str | Path, *, index: str | Path | None = None) -> Verification:
    """Write every generated file in the folder of a benchmark again, and compare; check the digests of its inputs.

    Scores must be the same to the last digit. Statistics derived from them (p, ends of intervals, effect sizes, minimum
    detectable differences) may differ by a relative 1e-9, because SciPy's distributions differ between its versions;
    each such difference is listed in ``tolerated``. ``index`` is the folder in which the benchmark kept its indexes:
    their content must have the hashes of the manifest.
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
    generated = regenerate(root, manifest)
    differences: list[FileChange] = []
    tolerated: list[FileChange] = []
    for name in generated.files:
        if (root / name).is_file():
            difference, accepted = generated.compare(name, (root / name).read_bytes())
            differences += [] if difference is None else [difference]
            tolerated += accepted
    # A field that differs says more than a digest.
    located = {change.file for change in differences}
    unlocated = [change for change in changes if change.file not in located]
    changed = (*differences, *unlocated)
    return Verification(file_count, generated.count_numbers(), changed, tuple(tolerated), generated.files[PAGE])


def changed_files(root: Path, manifest: Mapping[str, Any]) -> list[FileChange]:
    """The files whose digests are not those of the manifest; it has those of inputs twice."""
    current, stored = digests(root), manifest["files"]
    changes = [FileChange(name, None, "is missing") for name in stored if name not in current]
    changes += [FileChange(name, None, "is not part of the benchmark") for name in current if name not in stored]
    expected = dict.fromkeys([*stored.items(), *recorded_files(manifest).items()])
    changes += [
        FileChange(name, None, f"has changed: its sha256 is {current[name][:16]}…, the manifest has {digest[:16]}…")
        for name, digest in expected
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


def regenerate(root: Path, manifest: Mapping[str, Any]) -> GeneratedFiles:
    """Every generated file of a benchmark, from the inputs in its folder and the settings in its manifest."""
    inputs = read_inputs(root, manifest)
    report = report_of_inputs(inputs, manifest)
    gold = inputs.labels if isinstance(inputs.labels, BenchmarkGold) else None
    results = {name: 0 if run is None else len(run.docs) for name, run in zip(report.names, report.runs, strict=True)}
    files = {
        MANIFEST: manifests.to_bytes(recomputed_manifest(manifest, inputs, results)),
        **rendered(report),
        **({} if gold is None else dict(resolved_labels(gold.labels, gold.chunks, gold.options))),
        PAGE: as_html(report).encode("utf-8", "surrogateescape"),
    }
    versions = manifest["platform"]["software"]["libraries"]["python"]
    writer = next((name for name in versions if name.startswith("rankgauge==")), "another version of rankgauge")
    stored_report = (root / REPORT).read_bytes() if (root / REPORT).is_file() else b""
    return GeneratedFiles(report, files, stored_report, None if writer == f"rankgauge=={__version__}" else writer)


@dataclass(frozen=True, eq=False)
class GeneratedFiles:
    """The generated files of a benchmark as they should be."""

    report: Report
    files: Mapping[str, bytes]  # by their path in the folder
    stored_report: bytes  # the JSON report as it is in the folder
    writer: str | None  # the version of rankgauge that wrote the folder, if it is another one

    def compare(self, name: str, stored: bytes) -> tuple[FileChange | None, list[FileChange]]:
        """The first difference of a stored file that counts, and those before it that are tolerated."""
        tolerated: list[FileChange] = []
        if stored == self.files[name]:
            return None, tolerated
        for change, is_tolerated in self._differences(name, stored):
            if not is_tolerated:
                return change, tolerated
            tolerated.append(change)
        return None, tolerated

    def count_numbers(self) -> int:
        """The number of values with decimals in JSON."""
        names = [name for name in self.files if name.endswith(".json") and name != MANIFEST]
        return sum(count_numbers(json.loads(self.files[name])) for name in names)

    @cached_property
    def derived(self) -> tuple[float, ...]:
        """The derived statistics that differ within the tolerance: only these may be rounded differently in texts."""
        try:
            stored = parse_object(REPORT, self.stored_report)
        except InputError:
            return ()
        differences = differing_fields(stored, json.loads(self.files[REPORT]))
        return tuple(difference.recomputed for difference in differences if is_close(difference))

    @cached_property
    def page_contents(self) -> frozenset[bytes]:
        """The data of the page in every size: which one fits depends on the version of zlib."""
        return frozenset(page_contents(self.report))

    def _differences(self, name: str, stored: bytes) -> Iterator[tuple[FileChange, bool]]:
        """The differences of a file, each with whether it is tolerated; nothing counts after the first that is not."""
        recomputed = self.files[name]
        if name.endswith(".json"):
            yield from self._json_differences(name, stored, recomputed)
        elif self.writer is not None:
            message = f"differs from what rankgauge {__version__} writes, and only {self.writer} can verify it"
            yield FileChange(name, None, message), False
        elif name == PAGE:
            old, new = (split_data(_text(content)) for content in (stored, recomputed))
            yield from _text_differences(name, _bytes(old[0]), _bytes(new[0]), self.derived)
            if old[1] != new[1]:
                yield self._data_difference(old[1], new[1])
        else:
            yield from _text_differences(name, stored, recomputed, self.derived)

    def _json_differences(self, name: str, stored: bytes, recomputed: bytes) -> Iterator[tuple[FileChange, bool]]:
        try:
            old, new = parse_object(name, stored), parse_object(name, recomputed)
        except InputError as error:
            yield FileChange(name, None, error.message.removeprefix(location(name, None))), False
            return
        for difference in differing_fields(old, new):
            is_tolerated = within_tolerance(difference, self.derived)
            if is_tolerated:
                yield FileChange(name, difference.path, f"{difference.message} ({LAST_DIGITS})"), True
            elif self.writer is None or difference.path != "rankgauge":
                yield FileChange(name, difference.path or None, difference.message), False
        yield from _text_differences(
            name, stored, _bytes(printed_json(old)), ()
        )  # the same values, written in another way

    def _data_difference(self, stored: str, recomputed: str) -> tuple[FileChange, bool]:
        """The difference of the data of a page, which are compressed."""
        try:
            old = decompressed(stored, MAX_PAGE_DATA)
        except ValueError as error:
            return FileChange(PAGE, "data", f"cannot be read: {error}"), False
        new = decompressed(recomputed, MAX_PAGE_DATA)
        if old == new or old in self.page_contents:
            return FileChange(PAGE, "data", COMPRESSION), True
        difference = next(_payload_differences(old, new), "a column of numbers or ids differs")
        return FileChange(PAGE, "data", difference), False


def _text_differences(
    name: str, stored: bytes, recomputed: bytes, derived: Sequence[float]
) -> Iterator[tuple[FileChange, bool]]:
    """The lines that differ, up to the first that differs in more than the rounding of a derived number."""
    lines = zip_longest(stored.split(b"\n"), recomputed.split(b"\n"))
    for number, (old, new) in enumerate(lines, start=1):
        if old == new:
            continue
        start = max(0, _common_prefix(old or b"", new or b"") - MAX_VALUE_LENGTH // 3)
        part = slice(start, start + MAX_VALUE_LENGTH)
        message = mismatch(*(None if line is None else line[part] for line in (old, new)))
        is_rounding = old and new and same_but_for_rounding(_text(old), _text(new), derived)
        yield (
            FileChange(name, f"line {number}", f"{message} ({ROUNDING})" if is_rounding else message),
            bool(is_rounding),
        )


def _payload_differences(stored: bytes, recomputed: bytes) -> Iterator[str]:
    """The fields of the JSON text in a page's data that differ."""
    texts = [data[LENGTH_BYTES:][: int.from_bytes(data[:LENGTH_BYTES], "little")] for data in (stored, recomputed)]
    try:
        old, new = (parse_object(PAGE, text) for text in texts)
    except InputError as error:
        yield error.message.removeprefix(location(PAGE, None))
        return
    yield from (f"{difference.path}: {difference.message}" for difference in differing_fields(old, new))


def _common_prefix(first: bytes, second: bytes) -> int:
    """The number of bytes with which both lines begin."""
    pairs = zip(first, second, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# Which differences do not count, because another SciPy computes them: scores, means and differences are exact on every
# machine; statistics derived from them use SciPy's distributions, which may differ in the last digits from version to
# version.

RELATIVE_TOLERANCE = 1e-9
ABSOLUTE_TOLERANCE = 1e-12
INTERVAL_ENDS = ("low", "high")
# The names of statistics in JSON: ends of intervals, p values, effect sizes, what the queries can detect.
DERIVED_FIELDS = frozenset(
    (
        *(*INTERVAL_ENDS, "p", "p_corrected", "p_equivalent", "p_equivalent_corrected", "d_z", "hedges_g"),
        "minimum_detectable_difference",
    )
)
SENTENCE_FIELDS = frozenset({"answer"})  # texts that show such statistics, rounded
_DECIMAL = re.compile(r"([+−-]?[0-9][0-9,]{0,30}\.[0-9]+)")  # bounded: a text of digits is not searched again and again
_SIGNS = "+−-"


def is_close(difference: FieldDifference) -> bool:
    """Whether two values of a derived statistic in JSON differ only as versions of SciPy may."""
    stored, recomputed = difference.stored, difference.recomputed
    if difference.key not in DERIVED_FIELDS or not isinstance(stored, float) or not isinstance(recomputed, float):
        return False
    # An end of an interval is a difference of two larger numbers, so its error is relative to the whole interval.
    scales = [difference.beside.get(end) for end in INTERVAL_ENDS] if difference.key in INTERVAL_ENDS else []
    scale = max((abs(end) for end in scales if isinstance(end, float)), default=0.0)
    return math.isclose(stored, recomputed, rel_tol=RELATIVE_TOLERANCE, abs_tol=_absolute(scale))


def within_tolerance(difference: FieldDifference, derived: Sequence[float]) -> bool:
    """Whether a field in JSON differs only as it may; ``derived`` are the statistics that do, which sentences show."""
    if (
        difference.key in SENTENCE_FIELDS
        and isinstance(difference.stored, str)
        and isinstance(difference.recomputed, str)
    ):
        return same_but_for_rounding(difference.stored, difference.recomputed, derived)
    return is_close(difference)


def same_but_for_rounding(stored: str, recomputed: str, derived: Sequence[float]) -> bool:
    """Whether two texts differ only in numbers that are derived statistics halfway between two roundings."""
    old, new = _DECIMAL.split(stored), _DECIMAL.split(recomputed)
    return (
        len(old) == len(new)
        and old[::2] == new[::2]
        and all(a == b or _is_halfway(a, b, derived) for a, b in zip(old[1::2], new[1::2], strict=True))
    )


def _is_halfway(first: str, second: str, derived: Sequence[float]) -> bool:
    """Whether two texts are roundings of the same statistic, one down and one up."""
    decimals = {len(text.partition(".")[2]) for text in (first, second)}
    if len(decimals) > 1 or (first[0] in _SIGNS) != (second[0] in _SIGNS):
        return False
    half_unit = 0.5 * 10.0 ** -decimals.pop()
    one, other = (float(text.replace("−", "-").replace(",", "")) for text in (first, second))
    return any(
        max(abs(abs(one) - abs(value)), abs(abs(other) - abs(value))) <= half_unit + _absolute(abs(value))
        for value in derived
    )


def _absolute(scale: float) -> float:
    return max(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * scale)


MAX_VALUE_LENGTH = 60  # of a value in a message


@dataclass(frozen=True)
class FieldDifference:
    """A field that is not the same on both sides."""

    path: str  # as ``a.b[3].c``
    key: str  # the last name in the path
    message: str
    stored: Any = None
    recomputed: Any = None
    beside: Mapping[str, Any] = field(default_factory=dict)  # the recomputed object that has the field


def differing_fields(
    stored: Any, recomputed: Any, path: str = "", key: str = "", beside: Mapping[str, Any] | None = None
) -> Iterator[FieldDifference]:
    """Every value that differs; a list of another length, or a name that only one side has, is one difference."""
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        for name in [*recomputed, *(name for name in stored if name not in recomputed)]:
            inner_path = f"{path}.{name}" if path else str(name)
            if name not in stored or name not in recomputed:
                message = "is missing" if name not in stored else "is not a field of this file"
                yield FieldDifference(inner_path, name, message)
            else:
                yield from differing_fields(stored[name], recomputed[name], inner_path, name, recomputed)
    elif isinstance(stored, list) and isinstance(recomputed, list):
        for index, (old, new) in enumerate(zip(stored, recomputed, strict=False)):
            yield from differing_fields(old, new, f"{path}[{index}]", key, beside)
        if len(stored) != len(recomputed):
            message = f"stored {plural(len(stored), 'entry')}, recomputed {len(recomputed):,}"
            yield FieldDifference(path, key, message)
    elif type(stored) is not type(recomputed) or stored != recomputed:
        yield FieldDifference(path, key, mismatch(stored, recomputed), stored, recomputed, beside or {})


def mismatch(stored: Any, recomputed: Any) -> str:
    """Both values, in words."""
    return f"stored {_value_text(stored)}, recomputed {_value_text(recomputed)}"


def _value_text(value: Any) -> str:
    if isinstance(value, bytes):
        return shown(value)
    return "nothing" if value is None else shown(json.dumps(value, ensure_ascii=False), MAX_VALUE_LENGTH)


def count_numbers(data: Any) -> int:
    """The number of values with decimals."""
    if isinstance(data, dict):
        return sum(map(count_numbers, data.values()))
    if isinstance(data, list):
        return sum(map(count_numbers, data))
    return int(isinstance(data, float))
