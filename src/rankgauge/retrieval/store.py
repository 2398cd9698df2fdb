"""An index on disk: arrays that are memory-mapped, under a header that says what they were made from."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import PADDING, Ids
from rankgauge.errors import InputError

HEADER = "header.json"
Arrays = Mapping[str, NDArray[Any]]


def load(folder: Path, header: Mapping[str, Any]) -> dict[str, NDArray[Any]] | None:
    """The arrays of a folder, mapped; None where it is not there or was made from something else."""
    try:
        found = json.loads((folder / HEADER).read_text(encoding="utf-8"))
    except (OSError, ValueError, EOFError):
        return None
    names = found.pop("arrays", None)
    if found != json.loads(json.dumps(header)) or not isinstance(names, list):
        return None
    try:
        return {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in names}
    except (OSError, ValueError, EOFError):
        return None


def save(folder: Path, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a folder whole or not at all; one that was there is replaced if an index was in it."""
    if folder.exists() and not (folder / HEADER).exists() and any(folder.iterdir()):
        raise InputError.at(folder, None, "is there and holds no index", hint="name a new folder")
    temporary = folder.with_name(f".{folder.name}.{os.urandom(6).hex()}.tmp")
    try:
        temporary.mkdir(parents=True)
        for name, array in arrays.items():
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
        text = json.dumps({**header, "arrays": list(arrays)}, ensure_ascii=True, indent=1)
        (temporary / HEADER).write_text(text, encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(temporary, folder)  # noqa: PTH105 - says what it does
    except OSError as error:
        raise InputError.at(folder, None, f"cannot write: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            shutil.rmtree(temporary)


def ids_to_arrays(ids: Ids, name: str = "ids") -> dict[str, NDArray[Any]]:
    """A column of ids as arrays."""
    packed = ids.compact()
    return {f"{name}.bytes": packed.buffer[: int(packed.length.sum())], f"{name}.length": packed.length}


def ids_from_arrays(arrays: Arrays, name: str = "ids") -> Ids:
    """The column back."""
    length = np.array(arrays[f"{name}.length"])
    buffer = np.concatenate([arrays[f"{name}.bytes"], np.zeros(PADDING, dtype=np.uint8)])
    return Ids(buffer, np.cumsum(length) - length, length)
