"""A TREC run scanned as bytes: it yields judged rows, counts and faults, without a run in memory.

The file is read in blocks. The rows of the complete queries of a block are split into columns, ranked and looked up
among the judgments; unjudged rows are only counted. The rows of the last query, of which more may follow, are carried
over to the next block. A file whose queries are not contiguous is read again, as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from rankgauge.core import compiled, ranking
from rankgauge.core.ids import PADDING
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate
from rankgauge.errors import InputError
from rankgauge.io.byte_streams import READ_BYTES, ByteStream
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.swapped import check_kind
from rankgauge.io.formats import trec
from rankgauge.io.formats.tokens import Bytes, split_columns
from rankgauge.io.join.blocks import BlockScanner, Scan
from rankgauge.io.join.compiled_blocks import CompiledBlockScanner
from rankgauge.io.rows import Rows
from rankgauge.io.text import BOM, add_bom_warning, check_text

BLOCK_BYTES = 1 << 20  # large enough that the fixed cost of a block is small, small enough for a cache
BATCH_BYTES = 1 << 22  # of the batches that are not scanned
Progress = Callable[[int], None]
ScanBlock = Callable[[Bytes, bool], int]  # of a padded block, and whether it is the last: the bytes used
CheckFirst = Callable[[Bytes, int, bool], int]  # of the first block, its size, and whether it is the last: its new size


def scan(
    stream: ByteStream,
    qrels: Qrels,
    faults: Faults,
    *,
    compat: ranking.Compat = "trec_eval-9",
    on_duplicate: OnDuplicate = "error",
    progress: Progress | None = None,
) -> Scan:
    """Read a run from a stream and join it with judgments; raises if anything is wrong."""
    kind = BlockScanner if compiled.scanner is None else CompiledBlockScanner
    scanner = kind(qrels, faults, compat, on_duplicate, stream.limits.line)
    scan_blocks(stream, scanner.scan_block, lambda *first: check_first_block(faults, *first), progress)
    faults.raise_errors()
    if not scanner.rows:
        raise InputError.at(faults.source, None, "no lines with content")
    return scanner.result()


def scan_blocks(
    stream: ByteStream,
    scan_block: ScanBlock,
    check_first: CheckFirst,
    progress: Progress | None = None,
    *,
    block_bytes: int | None = None,
) -> None:
    """Read a stream block by block, each of complete lines; what a call leaves unused comes again in the next one."""
    buffer = np.zeros((block_bytes or BLOCK_BYTES) + PADDING, dtype=np.uint8)
    kept, is_last, is_first = 0, False, True
    while not is_last:
        filled, is_last = _fill(stream, buffer, kept)
        if is_first:
            filled, is_first = check_first(buffer, filled, is_last), False
        size = filled if is_last else _complete_lines(stream, buffer, filled)
        used = scan_block(buffer[: size + PADDING], is_last) if size else 0
        kept = filled - used
        buffer[:kept] = buffer[used:filled].copy()
        if not used and not is_last:
            # One query, or one line, fills the entire block: it needs a larger one.
            buffer = np.concatenate([buffer, np.zeros(len(buffer), dtype=np.uint8)])
        if progress is not None:
            progress(stream.bytes_read)


def trec_batches(faults: Faults, stream: ByteStream) -> Iterator[Rows]:
    """The rows of a run, batch by batch, as the plain reader gives them."""
    buffer = np.zeros(BATCH_BYTES + PADDING, dtype=np.uint8)
    kept, is_last, is_first, lines_before, usual_columns, has_rows = 0, False, True, 0, 0, False
    while not is_last:
        filled, is_last = _fill(stream, buffer, kept)
        if is_first:
            filled, is_first = check_first_block(faults, buffer, filled, is_last), False
        size = filled if is_last else _complete_lines(stream, buffer, filled)
        rest = buffer[size:filled].copy()
        if size:
            block = np.zeros(size + PADDING, dtype=np.uint8)
            block[:size] = buffer[:size]
            lines = split_columns(block, len(trec.RUN_COLUMNS), before=lines_before)
            lines_before += lines.total
            usual_columns = usual_columns or (int(lines.count[0]) if len(lines) else 0)
            has_rows = has_rows or bool(len(lines) or len(lines.short))
            yield trec.rows_from_lines(faults, lines, usual_columns or len(trec.RUN_COLUMNS))
        elif not is_last:  # one line fills the entire buffer
            buffer = np.zeros(2 * len(buffer), dtype=np.uint8)
        buffer[: len(rest)] = rest
        kept = len(rest)
    if not has_rows:
        raise InputError.at(faults.source, None, "no lines with content")


def scan_scattered(
    stream: ByteStream, qrels: Qrels, faults: Faults, *, compat: ranking.Compat = "trec_eval-9"
) -> Scan | None:
    """Read a run whose queries are not contiguous, all of it in memory; None if that is left to the plain reader."""
    if compiled.scanner is None:
        return None
    data, view = bytearray(), memoryview(bytearray(READ_BYTES))
    while size := stream.readinto(view):
        data += view[:size]
    if data.startswith(BOM):
        add_bom_warning(faults)
        del data[: len(BOM)]
    data += bytes(PADDING)
    scanner = CompiledBlockScanner(qrels, faults, compat, "error", stream.limits.line)
    is_read = scanner.scan_whole(np.frombuffer(data, dtype=np.uint8)) is not None and not faults.total("error")
    return scanner.result() if is_read else None


def _fill(stream: ByteStream, buffer: Bytes, kept: int) -> tuple[int, bool]:
    """Read until the buffer is full; return its size and whether the stream is at its end."""
    view = buffer.data
    filled, room = kept, len(buffer) - PADDING
    while filled < room:
        size = stream.readinto(view[filled:room])
        if not size:
            return filled, True
        filled += size
    return filled, False


def check_first_block(faults: Faults, buffer: Bytes, filled: int, is_last: bool) -> int:
    """Raise if the first block is not the text of a run; skip a byte order mark and return the new size."""
    data = check_text(faults, buffer[:filled].tobytes())
    check_kind(faults.source, data if is_last else data[: data.rfind(b"\n") + 1], "run")
    buffer[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return len(data)


def _complete_lines(stream: ByteStream, buffer: Bytes, filled: int) -> int:
    """The size of the complete lines; 0 if there is none yet."""
    reach = min(filled, stream.limits.line + 1)
    for size in (min(4096, reach), reach):
        newline = buffer[filled - size : filled].tobytes().rfind(b"\n")
        if newline >= 0:
            return filled - size + newline + 1
    if filled > stream.limits.line:
        raise InputError.at(
            stream.path, None, f"a line of more than {stream.limits.line} bytes", hint="raise the limit with --max-line"
        )
    return 0
