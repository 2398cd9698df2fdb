"""Judgments or results in CSV and TSV: all at once, or block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rankgauge.core import compiled
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.columns import batch_from_columns, rows_from_columns
from rankgauge.io.formats.delimited import comma_or_semicolon, rows_of_cells
from rankgauge.io.formats.delimited_columns import DelimitedReader, joined_parts
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.formats.text_blocks import NotInBlocksError, blocks_of_bytes, blocks_of_stream
from rankgauge.io.rows import Rows
from rankgauge.io.text import check_text

DelimiterOf = Callable[[bytes], bytes]  # the delimiter of a file by its first line


def csv_rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """Rows separated by commas, or by semicolons if the first line has them and no comma."""
    return _rows(faults, data, kind, columns, comma_or_semicolon)


def tsv_rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """Rows separated by tabs."""
    return _rows(faults, data, kind, columns, _tab)


def csv_batches(faults: Faults, stream: ByteStream, columns: Columns | None = None) -> Iterator[Rows]:
    """The rows of a run in CSV that is open, block by block."""
    return _batches(faults, stream, columns, comma_or_semicolon)


def tsv_batches(faults: Faults, stream: ByteStream, columns: Columns | None = None) -> Iterator[Rows]:
    """The rows of a run in TSV that is open, block by block."""
    return _batches(faults, stream, columns, _tab)


def _tab(line: bytes) -> bytes:
    return b"\t"


def _rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None, delimiter_of: DelimiterOf) -> Rows:
    data = check_text(faults, data)
    if compiled.scanner is not None:
        try:
            blocks, is_quoted = blocks_of_bytes(data), b'"' in data
            reader = DelimitedReader(faults, blocks, kind, columns, delimiter_of=delimiter_of, is_quoted=is_quoted)
            parts = [*reader.parts()]
            if parts:
                table = joined_parts(parts)
                table.report_wrong_lines(faults)
                return rows_from_columns(faults, table, kind, columns)
        except NotInBlocksError:
            pass  # too unusual for the extension, or wrong
    return rows_of_cells(faults, data, delimiter_of(Head(data).line), kind, columns)


def _batches(faults: Faults, stream: ByteStream, columns: Columns | None, delimiter_of: DelimiterOf) -> Iterator[Rows]:
    blocks = blocks_of_stream(faults, stream)
    reader = DelimitedReader(faults, blocks, "run", columns, delimiter_of=delimiter_of)
    for table in reader.parts():
        table.report_wrong_lines(faults)
        yield batch_from_columns(faults, table, "run", reader.roles)
