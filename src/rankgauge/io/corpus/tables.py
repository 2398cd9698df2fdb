"""Corpora in one file of rows: JSON Lines, a JSON array, CSV and TSV, Parquet and Arrow."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain

from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.checks.faults import Faults
from rankgauge.io.corpus.corpus import CorpusDocument
from rankgauge.io.corpus.file import DocumentKeys, FileCorpus
from rankgauge.io.formats import arrow
from rankgauge.io.formats.delimited import csv_problem, delimiter_of
from rankgauge.io.formats.json_records import read_records
from rankgauge.io.formats.jsontext import parse_plain_json
from rankgauge.io.formats.names import DOC_ID_NAMES, has_name


class JsonLinesCorpus(FileCorpus):
    """One object per line, with ``_id``, ``title`` and ``text`` (or similar names)."""

    def __iter__(self) -> Iterator[CorpusDocument]:
        keys = None
        for number, line in enumerate(self._read_lines(), start=1):
            if not line.strip():
                continue
            row = parse_plain_json(self.source, number, line)
            if not isinstance(row, dict):
                raise InputError.at(self.source, number, f"expected an object, found {shown(line)}")
            keys = keys or self._keys(number, row)
            yield self._document(number, row, keys)


class JsonArrayCorpus(FileCorpus):
    """One array of objects, which is read as a whole."""

    def __iter__(self) -> Iterator[CorpusDocument]:
        data, self._sha256 = read_bytes(self.source, limits=self.limits, hashed=True)
        faults = Faults(self.source)
        table = read_records(faults, data)
        faults.raise_errors()
        keys = self._keys(0, table.names)
        for row in table.records:
            yield self._document(0, row, keys)


class DelimitedCorpus(FileCorpus):
    """CSV or TSV with a header, or ``id tab text`` without one."""

    def __iter__(self) -> Iterator[CorpusDocument]:
        csv.field_size_limit(self.limits.max_line)
        text = (line.decode("utf-8", "surrogateescape") + "\n" for line in self._read_lines())
        first = next(text, "")
        delimiter = delimiter_of(first.encode("utf-8", "surrogateescape")).decode("ascii")
        try:
            names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
        except csv.Error as error:
            raise InputError.at(self.source, 1, csv_problem(error)) from None
        has_header = any(has_name(name, DOC_ID_NAMES) for name in names)
        if not has_header and len(names) != 2:
            raise InputError.at(
                self.source,
                1,
                f"expected a header with a document id ({', '.join(DOC_ID_NAMES)}), found {shown(first)}",
            )
        keys = self._keys(1, names) if has_header else DocumentKeys("_id", None, "text")
        columns = names if has_header else ["_id", "text"]
        reader = csv.reader(text if has_header else chain([first], text), delimiter=delimiter, strict=True)
        skipped_lines = 1 if has_header else 0
        lines_before = skipped_lines
        try:
            for row in reader:
                if row and len(row) != len(columns):
                    raise InputError.at(
                        self.source, lines_before + 1, f"expected {len(columns)} columns, found {len(row)}"
                    )
                if row:
                    yield self._document(lines_before + 1, dict(zip(columns, row, strict=True)), keys)
                lines_before = reader.line_num + skipped_lines
        except csv.Error as error:
            raise InputError.at(self.source, lines_before + 1, csv_problem(error)) from None


class ArrowCorpus(FileCorpus):
    """Parquet or Arrow IPC, read in batches."""

    def __iter__(self) -> Iterator[CorpusDocument]:
        keys: list[DocumentKeys] = []

        def choose_columns(names: Sequence[str]) -> list[str]:
            keys.append(self._keys(1, names))
            return [name for name in keys[0] if name is not None]

        for number, row in enumerate(arrow.stream_rows(self.source, choose_columns), start=1):
            yield self._document(number, row, keys[0])
