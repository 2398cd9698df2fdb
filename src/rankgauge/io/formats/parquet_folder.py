"""A folder of Parquet files as one table: nested, partitioned in Hive's way (``run=bm25/part-0.parquet``) or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from rankgauge.core.batch import Batch
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import Limits, open_source, sha256_of_file
from rankgauge.io.faults import Faults
from rankgauge.io.formats.arrow import ArrowFile
from rankgauge.io.formats.named_columns import Wanted

SUFFIXES = (".parquet", ".pq")
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class ParquetFolder:
    """The Parquet files of a folder, sorted by path. Names that begin with ``.`` or ``_`` are left out.

    Messages name the file and the row in it.
    """

    def __init__(self, path: str | Path, limits: Limits) -> None:
        self.name, self.limits = str(path), limits
        self.files = self._find_files(Path(path))
        self.bytes_read = 0
        if not self.files:
            raise InputError.at(
                self.name,
                None,
                "a folder without Parquet files (*.parquet or *.pq)",
                hint="a run is a file, or a folder of Parquet files",
            )

    def _find_files(self, folder: Path) -> list[Path]:
        try:
            found = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES)
            visible = [file for file in found if not any(part.startswith((".", "_")) for part in file.parts)]
            return [file for file in visible if (folder / file).is_file()]
        except OSError as error:
            raise InputError.at(self.name, None, f"cannot read: {error.strerror or error}") from None

    def batches(self, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
        """The rows of all files, batch by batch."""
        faults.files = []
        rows_before = bytes_before = 0
        first_roles: set[str] | None = None
        for file in self.files:
            path = Path(self.name) / file
            with open_source(path, limits=self.limits) as stream:
                table = ArrowFile(stream, wanted, _partition_values(file))
                roles = set(table.roles)
                first_roles = first_roles or roles
                if roles != first_roles:
                    other = ", ".join(sorted(roles ^ first_roles))
                    expected = f"the columns of {shown(str(self.files[0]))}"
                    raise InputError.at(str(path), None, f"expected {expected}, found a difference: {other}")
                faults.files.append((str(file), rows_before))
                for rows in table.batches(faults, rows_before):
                    self.bytes_read = bytes_before + stream.bytes_read
                    yield rows
                rows_before += table.row_count
            bytes_before += path.stat().st_size

    def sha256(self) -> str:
        """The hash of the lines that ``sha256sum`` prints for the files, sorted by path."""
        import hashlib

        lines = (f"{sha256_of_file(Path(self.name) / file)}  {file.as_posix()}\n" for file in self.files)
        return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _partition_values(file: Path) -> dict[str, str]:
    """The columns that the names of folders stand for; without a value, a column is empty."""
    pairs = (part.split("=", 1) for part in file.parts[:-1] if "=" in part)
    return {unquote(name): "" if value == NULL_PARTITION else unquote(value) for name, value in pairs}
