"""Anything that holds results or judgments, opened as batches of rows.

A source knows its name and its batches, which can be read again from the start. A file or a pipe, a folder of Parquet
files, a collection of ir_datasets, a data frame or lazy table: each has a small adapter here. Dicts, lists and the
answers of a live retriever become a ``Run``; the partitions of another engine are batches already.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.core.batch import Batch
from rankgauge.core.qrels import JudgmentKind, Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError, InputTypeError, UsageError, shown
from rankgauge.io.byte_streams import (
    COMPRESSED,
    DEFAULT_LIMITS,
    SELECTOR_MARK,
    AnyFile,
    ByteStream,
    Limits,
    LoadedFile,
    file_of,
    first_bytes,
    is_dataset,
    is_folder,
    open_source,
    rereadable,
    sha256_of_part,
    source_name,
)
from rankgauge.io.faults import Faults
from rankgauge.io.formats import trec
from rankgauge.io.formats.named_columns import Columns, Kind, Wanted, batch_of_table
from rankgauge.io.formats.text_blocks import check_no_nul
from rankgauge.io.row_checks import find_system
from rankgauge.io.text_checks import BOM

if TYPE_CHECKING:
    from rankgauge.io.formats.registry import Format

DETECTION_BYTES = 1 << 16

# Other formats than TREC's, and their detection, are imported only if a file is not certainly a TREC file.


class Source(ABC):
    """Something that holds results or judgments. ``title`` is the name of a run that has no other."""

    format: str | None = None
    judgments: JudgmentKind = "grades"
    has_many_runs = False  # whether a column of tags separates runs

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title

    @abstractmethod
    def batches(self, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
        """All rows from the start, batch by batch; what is wrong with them is added to the faults."""

    def position(self) -> int:
        """The number of bytes that were read."""
        return 0

    def sha256(self) -> str | None:
        """The hash of what is stored, after the last batch; None if it has none, or it was not requested."""
        return None

    def check_columns(self, columns: Columns | None) -> None:  # noqa: B027 - only files may have formats without names
        """Raise if columns are named and the source has no names."""


class FileSource(Source):
    """A file that is open, of a format that is known."""

    def __init__(self, path: AnyFile, stream: ByteStream, kind: Kind, format: str | None) -> None:
        super().__init__(stream.path, source_name(path))
        self.stream = stream
        self.format = format or detect_format(stream, kind)
        self._is_fresh = True
        self._reader: Format | None = None
        if self.format != "trec":
            from rankgauge.io.formats.registry import format_named

            self._reader = format_named(self.format, kind)
            self.judgments = self._reader.judgments
            self.has_many_runs = kind == "run" and self._reader.may_have_several_runs

    def batches(self, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
        """All rows from the start."""
        with self.started() as stream:
            yield from (trec.read_batches if self._reader is None else self._reader.read)(stream, wanted, faults)

    @contextmanager
    def started(self) -> Iterator[ByteStream]:
        """The stream from its first byte on. If it is not text at all, no other error is raised."""
        if not self._is_fresh:
            self.stream.rewind()
        self._is_fresh = False
        try:
            yield self.stream
        except InputError:
            if self._reader is None or self._reader.is_text:
                self.stream.rewind()
                check_no_nul(self.stream)
            raise

    def position(self) -> int:
        """The number of bytes that were read."""
        return self.stream.bytes_read

    def sha256(self) -> str | None:
        """The hash of the file as it is stored."""
        return self.stream.sha256

    def check_columns(self, columns: Columns | None) -> None:
        """Raise if columns are named and the format has no names."""
        if columns and not (self._reader is not None and self._reader.has_names):
            raise UsageError(
                f"{self.name} is read as {self.format}, whose columns have no names",
                hint=f"remove columns, --column {shown(next(iter(columns)))}, or choose another format",
            )


def detect_format(stream: ByteStream, kind: Kind) -> str:
    """The name of a file's format, from its first bytes; reading the stream still starts with these."""
    data = b""
    while (b"\n" not in data and len(data) <= stream.limits.max_line) or len(data) < DETECTION_BYTES:
        more = stream.grow_head(DETECTION_BYTES)
        if more is None:
            break
        data = more
        if trec.is_certainly_trec(data, kind):
            return "trec"
    from rankgauge.io.formats import registry as formats

    return formats.detect_format(data, kind, stream.path).name


class FolderSource(Source):
    """A folder of Parquet files."""

    format = "parquet"
    has_many_runs = True

    def __init__(self, path: str | Path, limits: Limits, *, hashed: bool) -> None:
        from rankgauge.io.formats.parquet_folder import ParquetFolder

        super().__init__(str(path), source_name(path))
        self._folder, self._is_hashed = ParquetFolder(path, limits), hashed

    def batches(self, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
        """All rows of all files."""
        return self._folder.batches(wanted, faults)

    def position(self) -> int:
        """The number of bytes that were read."""
        return self._folder.bytes_read

    def sha256(self) -> str | None:
        """The hash of the hashes of the files."""
        return self._folder.sha256() if self._is_hashed else None


class DatasetSource(Source):
    """A collection of ir_datasets."""

    format = "irds"

    def batches(self, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
        """All rows, in one batch."""
        from rankgauge.io.formats.ir_datasets import dataset_batch

        yield dataset_batch(self.name, wanted.kind, faults)


class TableSource(Source):
    """A data frame, or a lazy table, which computes its batches as they are read."""

    def __init__(self, table: Any, name: str) -> None:
        from rankgauge.io.formats.frames import is_lazy_table

        super().__init__(name, name)
        self._table, self.has_many_runs = table, is_lazy_table(table)

    def batches(self, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
        """All rows."""
        if self.has_many_runs and wanted.kind == "run":
            from rankgauge.io.formats.arrow import rows_of_batches
            from rankgauge.io.formats.frames import record_batches

            yield from rows_of_batches(faults, record_batches(self._table), wanted)
            return
        from rankgauge.io.formats.frames import frame_table

        yield batch_of_table(faults, frame_table(self._table, self.name), wanted)


class SystemSource(Source):
    """One of the systems that a log, a table or a folder holds, chosen by its name."""

    def __init__(self, source: Source, system: str) -> None:
        super().__init__(source.name, system)
        self.format, self.has_many_runs = source.format, source.has_many_runs
        self._source, self._system = source, system
        self._names: dict[str, None] = {}

    def batches(self, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
        """The rows of the system; raises after the last one if none has its name."""
        for batch in self._source.batches(wanted, faults):
            for rows in batch.by_run():
                name = rows.run_name.decode("utf-8", "surrogateescape") or self._source.title
                self._names.setdefault(name)
                if name == self._system:
                    yield rows
        find_system(self.name, list(self._names), self._system)

    def position(self) -> int:
        """The number of bytes that were read."""
        return self._source.position()

    def sha256(self) -> str | None:
        """The hash of the source if it holds no other system, else that of this part."""
        sha256 = self._source.sha256()
        return sha256 if len(self._names) == 1 else sha256_of_part(sha256, self._system)

    def check_columns(self, columns: Columns | None) -> None:
        """Raise if columns are named and the source has no names."""
        self._source.check_columns(columns)


@contextmanager
def open_results(
    data: Any, kind: Kind, *, format: str | None = None, limits: Limits = DEFAULT_LIMITS, hashed: bool = False
) -> Iterator[Source]:
    """Open whatever a caller has; raises if it is nothing that holds results or judgments."""
    if kind == "run" and isinstance(data, (str, Path)) and SELECTOR_MARK in str(data):
        log, system = split_system(data, limits)
        if system is not None:
            with open_results(log, kind, format=format, limits=limits, hashed=hashed) as source:
                yield SystemSource(source, system)
            return
    if is_dataset(data):
        yield DatasetSource(str(data), str(data))
    elif kind == "run" and is_folder(data) and format in (None, "parquet"):
        yield FolderSource(data, limits, hashed=hashed)
    elif isinstance(data, LoadedFile):
        with open_source(data, limits=limits, hashed=hashed) as stream:
            yield FileSource(data, stream, kind, format)
    elif isinstance(data, (str, Path)):
        with (
            rereadable(data, limits=limits) as file,
            open_source(file, source=str(data), limits=limits, hashed=hashed) as stream,
        ):
            yield FileSource(data, stream, kind, format)
    else:
        yield TableSource(data, kind)


def split_system(data: str | Path, limits: Limits = DEFAULT_LIMITS) -> tuple[str, str | None]:
    """A file of results, and the system of it that is chosen by its name: ``today.jsonl#hybrid``.

    A # may also be part of a file's name, or choose a list in a document, which comes first.
    """
    text = str(data)
    file, mark, system = text.rpartition(SELECTOR_MARK)
    if not mark or not file or not system or is_dataset(text) or Path(text).exists():
        return text, None
    if Path(file).is_file():
        from rankgauge.io.formats.test_sets import has_list

        return (text, None) if has_list(file, system, limits) else (file, system)
    return (file, system) if Path(file_of(file)).exists() else (text, None)


CASE_WORDS = (
    b"question",
    b"query,",
    b"query;",
    b"query\t",
    b"prompt",
    b"relevant",
    b"expect",
    b"gold",
    b"ground",
    b"reference",
    b"required",
    b"positive",
)  # in a header of test cases


def is_plain(data: Any, kind: Kind) -> bool:
    """Whether judgments or results are certainly read as they are; anything else is opened by ``io.results``.

    A file is looked at for a moment: JSON may be a log, test cases, labels by text or a baseline.
    """
    if not isinstance(data, (str, Path)):
        if isinstance(data, Mapping) and kind == "qrels":
            return is_graded(data) or not any(isinstance(row, str) or _lists_objects(row) for row in data.values())
        if isinstance(data, Mapping) and kind == "run":
            return not _is_scores(data)
        return isinstance(data, (Mapping, LoadedFile, Run if kind == "run" else Qrels))
    if is_dataset(data):
        return True
    path = Path(file_of(data))
    if not path.is_file():
        return kind == "run" and (str(data) == "-" or path.exists())
    try:
        head = first_bytes(path)
    except OSError:
        return True  # whoever reads it says why that fails
    begin = head.removeprefix(BOM).lstrip()[:2]
    is_json = begin.startswith((b"{", b"[", b"//", b"#"))  # or comments before it
    if is_json or head.startswith(COMPRESSED) or path.suffix in (".yaml", ".yml"):
        return False
    line = head.partition(b"\n")[0].lower()
    if kind == "run" or str(path) != str(data):
        return str(path) == str(data) and not _is_scores(data)
    is_binary = head.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"))
    return not is_binary and not any(word in line for word in CASE_WORDS)


def can_be_scores(data: Any) -> bool:
    """Whether something may be scores, by a glance at its first bytes; a TREC file never is."""
    if data is None or isinstance(data, (Run, Qrels, LoadedFile, list, tuple)):
        return False
    if not isinstance(data, (str, Path)):
        from rankgauge.io.formats.frames import is_frame, is_lazy_table

        return isinstance(data, Mapping) or is_frame(data) or is_lazy_table(data) or hasattr(data, "measures")
    if str(data).startswith("history:"):
        return True
    path = Path(file_of(data))
    try:
        if is_dataset(data) or not path.is_file():
            return False
        head = first_bytes(path)
    except (OSError, ValueError):
        return False
    begin = head.removeprefix(BOM).lstrip()
    if begin.startswith((b"{", b"[")) or head.startswith((*COMPRESSED, b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")):
        return True
    line = begin.partition(b"\n")[0]
    return any(separator in line for separator in (b",", b"\t", b";"))


def _is_scores(data: Any) -> bool:
    if not can_be_scores(data):
        return False
    from rankgauge.io.formats.score_tables import is_scores
    from rankgauge.io.reading_options import DEFAULT_READING

    return is_scores(data, DEFAULT_READING)


def _lists_objects(row: Any) -> bool:
    return isinstance(row, (list, tuple)) and any(isinstance(item, Mapping) for item in row[:1])


def can_read_again(data: Any) -> bool:
    """Whether results can be read twice: not standard input, a pipe, or a table that another engine computes."""
    if isinstance(data, (str, Path)):
        return is_dataset(data) or is_folder(data) or (str(data) != "-" and Path(file_of(data)).is_file())
    from rankgauge.io.formats.frames import is_lazy_table

    return not is_lazy_table(data)


def check_runs(runs: Any) -> None:
    """Raise if something that is one run, or no list at all, is given as a list of runs."""
    is_one = isinstance(runs, (str, bytes, os.PathLike, Run, Mapping)) or isinstance(getattr(runs, "run", None), Run)
    if is_one or hasattr(runs, "columns") or not isinstance(runs, Iterable):  # a frame has columns
        what = f"the path {shown(str(runs))}" if isinstance(runs, (str, os.PathLike)) else type(runs).__name__
        raise InputTypeError(f"runs must be a list of runs, found {what}", hint="put one run in a list: [run]")


def is_graded(rankings: Mapping[str, Any]) -> bool:
    """Whether every query of a dict maps documents to numbers, rather than listing them."""
    return all(issubclass(kind, Mapping) for kind in set(map(type, rankings.values())))
