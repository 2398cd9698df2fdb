"""Judgments or results as JSON objects, one per line or in an array: all at once, or block by block."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.errors import InputError
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.columns import batch_from_columns, rows_from_columns
from rankgauge.io.formats.jsontext import JsonPairs, parse_json
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.formats.record_columns import RecordColumns, RecordReader, joined_parts
from rankgauge.io.formats.text_blocks import NewColumnError, NotInBlocksError, blocks_of_bytes, blocks_of_stream
from rankgauge.io.rows import Rows
from rankgauge.io.text import check_text


def rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """Judgments or results, one per object."""
    table = read_columns(faults, check_text(faults, data), kind, columns)
    table.report_not_objects(faults)
    _check_not_empty(faults, len(table.line))
    return rows_from_columns(faults, table, kind, columns)


def run_batches(faults: Faults, stream: ByteStream, columns: Columns | None = None) -> Iterator[Rows]:
    """The results of a file that is open, block by block."""
    reader = RecordReader(faults, blocks_of_stream(faults, stream), "run", columns)
    if not reader.roles:
        raise NotInBlocksError  # or a key that appears later: only the whole file says which
    count = 0
    for table in reader.parts():
        count += len(table.line)
        table.report_not_objects(faults)
        yield batch_from_columns(faults, table, "run", reader.roles)
    _check_not_empty(faults, count)


def read_columns(faults: Faults, data: bytes, kind: Kind, columns: Columns | None) -> RecordColumns:
    """The columns of a whole text. If a later key changes which column is which, it is read again with that key."""
    names: list[str] = []
    while True:
        reader = RecordReader(faults, blocks_of_bytes(data), kind, columns, names)
        try:
            return joined_parts([*reader.parts()] or [reader.from_values([], [])])
        except NewColumnError:
            names = list(reader.names)
        except NotInBlocksError:
            return _read_array(faults, data, kind, columns)


def _read_array(faults: Faults, data: bytes, kind: Kind, columns: Columns | None) -> RecordColumns:
    """The columns of an array, decoded as a whole: something in it is not a plain object, or it is not JSON."""
    values = [
        value.to_dict(faults.source, None) if isinstance(value, JsonPairs) else value
        for value in parse_json(faults.source, None, data)
    ]
    names = dict.fromkeys(key for value in values if isinstance(value, dict) for key in value)
    reader = RecordReader(faults, blocks_of_bytes(data), kind, columns, [*names])
    return reader.from_values([0] * len(values), values)


def _check_not_empty(faults: Faults, count: int) -> None:
    if not count:
        faults.raise_errors()
        raise InputError.at(faults.source, None, "no lines with content")
