"""The files of an index: its arrays on disk, and the batches of documents that it is built from.

The arrays are memory-mapped, and a header records what they were made from.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import PADDING, Ids
from rankgauge.core.progress import phase
from rankgauge.errors import InputError, write_errors
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument
from rankgauge.io.owned_files import LOCK_FILE, temporary_folder
from rankgauge.io.stored_json import Matching, parse_record

HEADER_FILE = "header.json"
HASHED_ROWS = 65_536  # of an array at once
ARRAY_NAME = Matching("the name of an array", lambda text: re.fullmatch(r"[a-z][a-z._]{0,40}", text) is not None)
HEADER_SHAPE = {"arrays": [ARRAY_NAME]}
Arrays = Mapping[str, NDArray[Any]]


def load_arrays(
    folder: Path, make_header: Callable[[], Mapping[str, Any]], is_valid: Callable[[Arrays], bool]
) -> dict[str, NDArray[Any]] | None:
    """The memory-mapped arrays of a folder; None if it does not exist, is damaged or has another header.

    The expected header is made only if there is one to compare with: it holds the hash of the corpus, which building
    the index computes anyway. ``is_valid`` says whether the arrays fit each other: what they contain is used as offsets
    into each other, and a folder may come from somebody else.
    """
    stored = _read_header(folder)
    if stored is None:
        return None
    names = stored.pop("arrays")
    if stored != json.loads(json.dumps(make_header())):
        return None
    try:
        arrays = {name: read_array(folder / f"{name}.npy") for name in names}
        return arrays if is_valid(arrays) else None
    except (InputError, KeyError):  # damaged, or an array is missing
        return None


def read_array(path: str | Path) -> NDArray[Any]:
    """The memory-mapped array in a .npy file."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except MemoryError:
        raise
    except OSError as error:
        raise InputError.at(path, None, f"cannot read: {error.strerror or error}") from None
    except Exception as error:  # numpy parses the header as Python, which raises whatever a parser can
        raise InputError.at(path, None, f"not a .npy table: {error}") from None
    if not isinstance(array, np.ndarray):
        raise InputError.at(path, None, "not a .npy table: it is an archive")
    return array


def save_arrays(folder: Path, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a folder completely or not at all; an existing folder is replaced only if it holds an index alone."""
    target = Path(os.path.realpath(folder))
    if target.exists() and not _holds_only_an_index(target):
        raise InputError.at(folder, None, "exists and does not hold an index alone", hint="name a new folder")
    with write_errors(folder):
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(target) as temporary, temporary_folder(target) as replaced:
            for name, array in arrays.items():
                np.save(temporary / f"{name}.npy", array, allow_pickle=False)
            text = json.dumps({**header, "arrays": list(arrays)}, ensure_ascii=True, indent=1)
            (temporary / HEADER_FILE).write_text(text, encoding="utf-8")
            if target.exists():
                target.rename(replaced / "index")  # one that is half deleted is not an index, and would be in the way
            temporary.rename(target)  # with its mark, which stays


def content_sha256(folder: Path) -> str | None:
    """A hash of what an index was made from and of all its numbers; None if a folder holds no index.

    The same corpus and settings give the same hash in every build, wherever the folder is.
    """
    header = _read_header(folder)
    if header is None:
        return None
    names = sorted(header.pop("arrays"))
    digest = hashlib.sha256(b"rankgauge index 1\n")
    digest.update(json.dumps(header, sort_keys=True).encode())
    for name in names:
        try:
            array = read_array(folder / f"{name}.npy")
        except InputError:
            return None
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        for start in range(0, len(array), HASHED_ROWS):
            digest.update(np.ascontiguousarray(array[start : start + HASHED_ROWS]).tobytes())
    return digest.hexdigest()


def holds_index(folder: Path) -> bool:
    """Whether a folder has the header of an index."""
    return _read_header(folder) is not None


def _read_header(folder: Path) -> dict[str, Any] | None:
    path = folder / HEADER_FILE
    try:
        header: dict[str, Any] = parse_record(str(path), None, read_bytes(path)[0], shape=HEADER_SHAPE)
    except InputError:
        return None
    return header


def _holds_only_an_index(folder: Path) -> bool:
    """Whether every file in a folder is one that ``save_arrays`` wrote; an empty folder has none."""
    if not folder.is_dir():
        return False
    header = _read_header(folder)
    names = [] if header is None else [HEADER_FILE, LOCK_FILE, *(f"{name}.npy" for name in header["arrays"])]
    return all(path.name in names and path.is_file() and not path.is_symlink() for path in folder.iterdir())


def ids_to_arrays(ids: Ids, name: str = "ids") -> dict[str, NDArray[Any]]:
    """A column of ids as arrays."""
    packed = ids.compact()
    return {f"{name}.bytes": packed.buffer[: int(packed.length.sum())], f"{name}.length": packed.length}


def valid_ids(arrays: Arrays, name: str = "ids") -> bool:
    """Whether the arrays of a column of ids fit each other."""
    data, length = arrays[f"{name}.bytes"], arrays[f"{name}.length"]
    if not has_form(data, np.uint8, 1) or not has_form(length, np.int64, 1):
        return False
    return bool(np.all((length >= 0) & (length <= len(data)))) and int(length.sum()) == len(data)


def has_form(array: NDArray[Any], kind: type[np.generic], dimensions: int) -> bool:
    """Whether an array has a type and a number of dimensions."""
    return array.dtype == np.dtype(kind) and array.ndim == dimensions


def ids_from_arrays(arrays: Arrays, name: str = "ids") -> Ids:
    """A column of ids from its arrays."""
    length = np.array(arrays[f"{name}.length"])
    buffer = np.concatenate([arrays[f"{name}.bytes"], np.zeros(PADDING, dtype=np.uint8)])
    return Ids(buffer, np.cumsum(length) - length, length)


# Documents in batches.

Item = TypeVar("Item")


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of ``size`` items, the last one possibly shorter (itertools has this from Python 3.12 on)."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def reported_batches(name: str, corpus: Corpus, size: int) -> Iterator[list[CorpusDocument]]:
    """The documents of a corpus in lists, each reported when the next is asked for."""
    with phase(name, "document", corpus.size_estimate) as work:
        work.is_estimate = True
        for batch in batches(corpus, size):
            yield batch
            work.advance(len(batch))
