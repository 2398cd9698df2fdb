"""An index on disk: memory-mapped arrays, and a header that records what they were made from."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import PADDING, Ids
from rankgauge.errors import InputError

HEADER_FILE = "header.json"
Arrays = Mapping[str, NDArray[Any]]


def load_arrays(folder: Path, make_header: Callable[[], Mapping[str, Any]]) -> dict[str, NDArray[Any]] | None:
    """The memory-mapped arrays of a folder; None if it does not exist, is damaged or has another header.

    The expected header is made only if there is one to compare with: it holds the hash of the corpus, which building
    the index computes anyway.
    """
    try:
        stored = json.loads((folder / HEADER_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    names = stored.pop("arrays", None) if isinstance(stored, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) and Path(name).name == name for name in names):
        return None
    if stored != json.loads(json.dumps(make_header())):
        return None
    try:
        return {name: read_array(folder / f"{name}.npy") for name in names}
    except InputError:
        return None


def read_array(path: str | Path) -> NDArray[Any]:
    """The memory-mapped array in a .npy file."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy parses the header as Python, which raises whatever a parser can
        raise InputError.at(path, None, f"not a .npy table: {error}") from None
    if not isinstance(array, np.ndarray):
        raise InputError.at(path, None, "not a .npy table: it is an archive")
    return array


def save_arrays(folder: Path, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a folder completely or not at all; an existing folder is replaced only if it holds an index."""
    if folder.exists() and not (folder / HEADER_FILE).exists() and any(folder.iterdir()):
        raise InputError.at(folder, None, "exists and does not hold an index", hint="name a new folder")
    temporary, replaced = (folder.with_name(f".{folder.name}.{os.urandom(6).hex()}.tmp") for _ in range(2))
    try:
        temporary.mkdir(parents=True)
        for name, array in arrays.items():
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
        text = json.dumps({**header, "arrays": list(arrays)}, ensure_ascii=True, indent=1)
        (temporary / HEADER_FILE).write_text(text, encoding="utf-8")
        if folder.exists():
            folder.rename(replaced)  # a folder that is being deleted is not an index, and would be in the way
        temporary.rename(folder)
    except OSError as error:
        raise InputError.at(folder, None, f"cannot write: {error.strerror or error}") from None
    finally:
        for path in (temporary, replaced):
            with suppress(OSError):
                shutil.rmtree(path)


def ids_to_arrays(ids: Ids, name: str = "ids") -> dict[str, NDArray[Any]]:
    """A column of ids as arrays."""
    packed = ids.compact()
    return {f"{name}.bytes": packed.buffer[: int(packed.length.sum())], f"{name}.length": packed.length}


def ids_from_arrays(arrays: Arrays, name: str = "ids") -> Ids:
    """A column of ids from its arrays."""
    length = np.array(arrays[f"{name}.length"])
    buffer = np.concatenate([arrays[f"{name}.bytes"], np.zeros(PADDING, dtype=np.uint8)])
    return Ids(buffer, np.cumsum(length) - length, length)
