"""Files as validation reads them: every line that can be read, and a fault for each that cannot."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rankgauge.errors import InputError
from rankgauge.io.byte_streams import AnyFile, is_dataset, read_bytes
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import datasets
from rankgauge.io.formats import registry as formats
from rankgauge.io.formats.names import Kind
from rankgauge.io.formats.tokens import NO_LINES
from rankgauge.io.rows import Rows
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

    def rows(self) -> Rows:
        """The rows of a file without errors, to build judgments or a run from: nothing is reported a second time."""
        if self.table is None:
            raise InputError.at(self.faults.source, None, "the file has no rows")
        return replace(self.table.rows, faults=Faults(self.faults.source), sha256=self.sha256)


def read_for_validation(
    source: AnyFile | Rows | ValidatedFile, kind: Kind, options: ValidationOptions = DEFAULT_OPTIONS
) -> ValidatedFile:
    """The rows of a file, with the faults of its text and of its lines; a file that was read already as it is."""
    if isinstance(source, ValidatedFile):
        return source
    if isinstance(source, Rows) or is_dataset(source):
        rows = source if isinstance(source, Rows) else datasets.rows(str(source), kind)
        # Checks add faults: those of the caller must not change.
        faults = rows.faults.copy(limit=options.max_places)
        return ValidatedFile(faults, CheckedRows(replace(rows, faults=faults), NO_LINES), rows.sha256, None)
    format = None if options.format is None else formats.format_named(options.format, kind)
    data, digest = read_bytes(source, limits=options.limits, hashed=options.hashed)
    format = format or formats.detect_format(data, kind, str(source))
    faults = Faults(str(source), limit=options.max_places)
    if format.name != "trec":
        rows = format.read(faults, data, kind)
        if not len(rows) and not faults.examples:
            faults.add("empty", [0], expected="at least one row", found="none")
        return ValidatedFile(faults, CheckedRows(rows, NO_LINES), digest, format.name)
    text = prepare_text(faults, data, kind)
    if text is None:
        return ValidatedFile(faults, None, digest, format.name)
    rows = format.read(faults, text.data, kind)
    return ValidatedFile(faults, CheckedRows(rows, report_line_faults(faults, text, rows.line)), digest, format.name)
