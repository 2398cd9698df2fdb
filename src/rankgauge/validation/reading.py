"""Files as validation reads them: every line that can be read, and a fault for each that cannot."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from rankgauge.errors import InputError
from rankgauge.io.byte_streams import AnyFile, LoadedFile, is_dataset, read_bytes
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.datasets import dataset_batch
from rankgauge.io.formats.names import Kind, Wanted
from rankgauge.io.read import SourceRows, collect
from rankgauge.io.sources import Source, open_results
from rankgauge.validation.options import DEFAULT_OPTIONS, ValidationOptions
from rankgauge.validation.table import CheckedRows
from rankgauge.validation.text import prepare_text, report_line_faults


@dataclass(frozen=True, eq=False)
class ValidatedFile:
    """A file that was read: its faults so far, and its rows if it has any."""

    faults: Faults
    table: CheckedRows | None
    sha256: str | None
    format: str | None

    def source_rows(self) -> SourceRows:
        """The rows of a file without errors, to build judgments or a run from: nothing is reported a second time."""
        if self.table is None:
            raise InputError.at(self.faults.source, None, "the file has no rows")
        faults = Faults(self.faults.source)
        return SourceRows(self.table.rows, faults, self.format, self.table.judgments, self.sha256)


def read_for_validation(
    source: AnyFile | SourceRows | ValidatedFile, kind: Kind, options: ValidationOptions = DEFAULT_OPTIONS
) -> ValidatedFile:
    """The rows of a file, with the faults of its text and of its lines; a file that was read already as it is."""
    if isinstance(source, ValidatedFile):
        return source
    if isinstance(source, SourceRows):
        # Checks add faults: those of the caller must not change.
        faults = source.faults.copy(limit=options.max_places)
        return ValidatedFile(
            faults, CheckedRows(source.rows, faults, judgments=source.judgments), source.sha256, source.format
        )
    faults = Faults(str(source), limit=options.max_places)
    if is_dataset(source):
        return ValidatedFile(faults, CheckedRows(dataset_batch(str(source), kind, faults), faults), None, None)
    data, digest = read_bytes(source, limits=options.limits, hashed=options.hashed)
    with _opened(source, data, kind, options) as file:
        if file.format != "trec":
            rows = collect(file, Wanted(kind), faults)
            if not len(rows) and not faults.examples:
                faults.add("empty", [0], expected="at least one row", found="none")
            return ValidatedFile(faults, CheckedRows(rows, faults, judgments=file.judgments), digest, file.format)
    text = prepare_text(faults, data, kind)
    if text is None:
        return ValidatedFile(faults, None, digest, "trec")
    with _opened(source, text.data, kind, replace(options, format="trec")) as file:
        rows = collect(file, Wanted(kind), faults)
    table = CheckedRows(rows, faults, report_line_faults(faults, text, rows.line))
    return ValidatedFile(faults, table, digest, "trec")


def _opened(source: AnyFile, data: bytes, kind: Kind, options: ValidationOptions) -> AbstractContextManager[Source]:
    """The text of a file, or of what is left of it, as a source."""
    return open_results(LoadedFile(str(source), data), kind, format=options.format, limits=options.limits)
