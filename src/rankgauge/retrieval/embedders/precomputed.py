"""Precomputed vectors of documents and queries, by their ids.

    x.parquet, x.arrow    columns ``id`` and ``vector``
    x.jsonl               one object per line with ``id`` and ``vector``
    x.npy                 a table, with the ids of its rows in ``x.ids.txt``, one per line; or, if its rows are in the
                          order of the documents or queries, with the hash of their ids in ``x.ids.sha256``

The hash is that of the file of ids, as ``sha256sum`` prints it: of every id in order, each followed by a line feed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.formatting import plural
from rankgauge.errors import InputError, printable, shown
from rankgauge.io.byte_streams import DEFAULT_LIMITS, document_limits, read_bytes, sha256_of_file
from rankgauge.io.corpus.corpus_files import read_head, read_lines
from rankgauge.io.formats import arrow
from rankgauge.io.formats.json_text import id_from_json, parse_plain_json
from rankgauge.io.formats.named_columns import DOC_ID_NAMES, QUERY_ID_NAMES, normalize_name
from rankgauge.retrieval.embedders.embedder import hashed_identity
from rankgauge.retrieval.index_files import read_array
from rankgauge.retrieval.retriever import Identity

NPY = b"\x93NUMPY"
VECTOR_NAMES = ("vector", "embedding")
ID_NAMES = {"document": DOC_ID_NAMES, "query": QUERY_ID_NAMES}
SHA256 = re.compile(r"[0-9a-f]{64}\b")


class PrecomputedEmbedder:
    """Vectors in two files, found by their ids. Tables in .npy are memory-mapped, others are held in memory.

    ``document_ids`` and ``query_ids`` are those in the order of the corpus and of the query file. They are needed for
    .npy tables without a file of ids, and read only then.
    """

    name = "precomputed"
    reads_texts = False

    def __init__(
        self,
        documents: str | Path,
        document_ids: Iterable[bytes],
        queries: str | Path,
        query_ids: Iterable[bytes],
    ) -> None:
        self._tables = {
            "document": _load_table(Path(documents), document_ids, "document"),
            "query": _load_table(Path(queries), query_ids, "query"),
        }

    def identity(self) -> Identity:
        """The hashes of both files, and of the ids of their rows."""
        sides = {side: {"vectors": table.sha256, "ids": table.ids_sha256} for side, table in self._tables.items()}
        return hashed_identity("embedder", self.name, files=sides)

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """The rows of the ids."""
        table = self._tables[side]
        missing_id = next((name for name in ids if name not in table.rows), None)
        if missing_id is not None:
            raise InputError.at(
                table.source,
                None,
                f"no vector for {side} {shown(missing_id)}; there are {plural(len(table.rows), 'vector')}",
            )
        vectors = table.vectors[[table.rows[name] for name in ids]]
        bad_rows = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(bad_rows):
            name = shown(ids[int(bad_rows[0])])
            raise InputError.at(table.source, None, f"expected finite numbers for {side} {name}, found NaN or infinity")
        return vectors


class _VectorTable(NamedTuple):
    """Vectors, the row of each id, the hashes of the file and of the ids in the order of the rows."""

    source: str
    vectors: NDArray[Any]
    rows: dict[bytes, int]
    sha256: str
    ids_sha256: str


def vector_files(path: str) -> list[str]:
    """A file of vectors and the file of its ids or of their hash, if there is one."""
    return [path, *(str(beside) for beside in (_ids_file(Path(path)), _hash_file(Path(path))) if beside.is_file())]


def _ids_file(path: Path) -> Path:
    return path.with_name(f"{path.stem}.ids.txt")


def _hash_file(path: Path) -> Path:
    return path.with_name(f"{path.stem}.ids.sha256")


def _load_table(path: Path, ids: Iterable[bytes], side: str) -> _VectorTable:
    head = read_head(path, DEFAULT_LIMITS)
    if head.startswith(NPY) or path.suffix == ".npy":
        vectors = _check_numbers(path, read_array(path))
        if _ids_file(path).is_file():
            names = _read_ids(_ids_file(path), len(vectors))
        else:
            names = list(ids)
            _check_order(path, len(vectors), names, side)
    else:
        parts = list(_read_arrow(path, side) if head.startswith(arrow.MAGIC_BYTES) else _read_json_lines(path, side))
        names = [name for part_names, _ in parts for name in part_names]
        vectors = _join(path, [part for _, part in parts])
    rows: dict[bytes, int] = {}
    for row, name in enumerate(names):
        if rows.setdefault(name, row) != row:
            places = f"for vectors {rows[name] + 1} and {row + 1}"
            raise InputError.at(path, None, f"expected each {side} id once, found {shown(name)} {places}")
    return _VectorTable(str(path), vectors, rows, sha256_of_file(path), _ids_sha256(names))


def _ids_sha256(ids: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for name in ids:
        digest.update(name + b"\n")
    return digest.hexdigest()


def _check_numbers(path: Path, table: NDArray[Any]) -> NDArray[Any]:
    if table.ndim != 2 or table.dtype.kind not in "fiu":
        raise InputError.at(
            path,
            None,
            f"expected a table of numbers with one row per vector, found {table.dtype} of shape {table.shape}",
        )
    return table


def _read_ids(path: Path, count: int) -> list[bytes]:
    """The ids of the rows of a table, one per line."""
    names = [line.removesuffix(b"\r") for line in read_lines(path, DEFAULT_LIMITS, lambda digest: None)]
    empty = next((number for number, name in enumerate(names, 1) if not name.strip()), None)
    if empty is not None:
        raise InputError.at(path, empty, "expected an id, found an empty line")
    if len(names) != count:
        raise InputError.at(
            path, None, f"expected {plural(count, 'id')}, one per row of the table, found {len(names):,}"
        )
    return names


def _check_order(path: Path, count: int, names: list[bytes], side: str) -> None:
    """Raise unless a table without ids has one row for each id, and the stored hash is that of these ids."""
    ids_file, hash_file = _ids_file(path), _hash_file(path)
    by_id = f"write the ids of its rows, one per line, to {printable(ids_file.name, None)}"
    if len(names) != count:
        of_corpus = "corpus" if side == "document" else "query file"
        raise InputError.at(
            path,
            None,
            f"expected {plural(len(names), 'row')}, one per {side} of the {of_corpus}, found {count:,}",
            hint=by_id,
        )
    digest = _ids_sha256(names)
    if not hash_file.is_file():
        raise InputError.at(
            path,
            None,
            f"nothing says which {side} each row belongs to",
            hint=f"{by_id}; or, if the rows are in the order of the {_PLURALS[side]}, store the hash of their ids: "
            f"echo {digest} > {printable(str(hash_file), None)}",
        )
    text = read_bytes(hash_file)[0].decode("utf-8", "replace").strip()
    if not SHA256.match(text):
        raise InputError.at(hash_file, 1, f"expected the SHA-256 of the ids in hexadecimal, found {shown(text)}")
    if text[:64] != digest:
        raise InputError.at(
            path,
            None,
            f"its rows are not in the order of the {_PLURALS[side]}: their ids have the hash {digest[:12]}…, but "
            f"{printable(hash_file.name, None)} has {text[:12]}…",
            hint=by_id,
        )


_PLURALS = {"document": "documents", "query": "queries"}


def _read_json_lines(path: Path, side: str) -> Iterator[tuple[list[bytes], NDArray[Any]]]:
    """The id and the vector of each line."""
    keys: tuple[str, str] | None = None
    width: int | None = None
    for number, line in enumerate(read_lines(path, document_limits(), lambda digest: None), start=1):
        if not line.strip():
            continue
        row = parse_plain_json(str(path), number, line)
        if not isinstance(row, dict):
            raise InputError.at(path, number, f"expected an object, found {shown(line)}")
        keys = keys or _keys(path, number, list(row), side)
        try:
            name = id_from_json(row.get(keys[0]), f"{side} id")
        except InputError as error:
            raise InputError.at(path, number, error.message) from None
        vector = _vector(path, number, row.get(keys[1]), keys[1])
        if width is not None and len(vector) != width:
            raise InputError.at(path, number, f"expected {plural(width, 'number')} at {keys[1]}, found {len(vector)}")
        width = len(vector)
        yield [name], vector[None]


def _vector(path: Path, number: int, value: Any, key: str) -> NDArray[np.float64]:
    is_list = isinstance(value, list) and len(value) > 0
    if not is_list or not all(isinstance(item, int | float) and not isinstance(item, bool) for item in value):
        raise InputError.at(path, number, f"expected a list of numbers at {printable(key)}, found {shown(str(value))}")
    try:
        return np.array(value, dtype=np.float64)
    except OverflowError:
        raise InputError.at(path, number, f"a number at {printable(key)} is too large") from None


def _read_arrow(path: Path, side: str) -> Iterator[tuple[list[bytes], NDArray[Any]]]:
    """The ids and vectors of a table, in batches."""
    number = 1
    for ids, vectors in arrow.stream_vectors(str(path), lambda names: _keys(path, None, names, side)):
        names = list(ids)
        empty = next((row for row, name in enumerate(names) if not name), None)
        if empty is not None:
            raise InputError.at(path, number + empty, f"expected a {side} id, found nothing")
        yield names, vectors
        number += len(names)


def _keys(path: Path, line: int | None, names: Iterable[str], side: str) -> tuple[str, str]:
    """The names of the id and of the vector."""
    found = {normalize_name(name): name for name in names}
    keys = []
    for what, known in ((f"a {side} id", ID_NAMES[side]), ("a vector", VECTOR_NAMES)):
        key = next((found[name] for name in map(normalize_name, known) if name in found), None)
        if key is None:
            listed = ", ".join(shown(name) for name in found.values()) or "nothing"
            raise InputError.at(path, line, f"expected {what} ({', '.join(known)}), found {listed}")
        keys.append(key)
    return keys[0], keys[1]


def _join(path: Path, parts: list[NDArray[Any]]) -> NDArray[Any]:
    widths = {part.shape[1] for part in parts}
    if len(widths) != 1:
        raise InputError.at(path, None, "no vectors" if not parts else "expected vectors of one length")
    return np.concatenate(parts)
