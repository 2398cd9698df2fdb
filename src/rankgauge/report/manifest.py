"""How an experiment can be reproduced: its inputs, its methods, and the machine that it ran on.

The names of fields are those of ir_metadata (Breuer, Keller and Schaer 2022, https://www.ir-metadata.org) if it has
one. Nothing reveals who ran it or where the files are. A manifest may come from somebody else: before anything is done
with one, its shape is checked; its paths stay inside its folder, and its numbers are small enough to be used.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from rankgauge.core.formatting import byte_size
from rankgauge.io.formats.json_text import json_text
from rankgauge.io.stored_json import AtMost, MapOf, Matching, Maybe, read_document
from rankgauge.retrieval.latency import COST_SHAPE
from rankgauge.secrets import mask_secrets, mask_values

MANIFEST_SCHEMA = "rankgauge.manifest/2"
SYSTEM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=,-]*")  # part of the names of its files
MAX_RESAMPLES = 100_000_000
MAX_RESULTS = 1_000_000_000  # per query
LIBRARIES = ("rankgauge", "numpy", "scipy", "bm25s", "PyStemmer", "wordllama", "tokenizers")
_ABSOLUTE = re.compile(r"(?<![\w./~-])(?:[A-Za-z]:)?[/\\](?:[^\s/\\:'\"]+[/\\])+")  # all but the last part
_FILE = re.compile(r"\bfile:/+")
_HOME = re.compile(r"(?<![\w/])~\w*/(?:[^\s/:'\"]+/)*")


def is_inside(path: str) -> bool:
    """Whether a path is relative and leads nowhere but down."""
    parts = PurePosixPath(path).parts
    return (
        bool(parts)
        and not PurePosixPath(path).is_absolute()
        and not PureWindowsPath(path).drive
        and ".." not in parts
        and "\\" not in path
        and "\0" not in path
        and str(PurePosixPath(path)) == path
    )


INSIDE = Matching("a path inside the folder", is_inside)
NAME = Matching("the name of a system", lambda text: SYSTEM_NAME.fullmatch(text) is not None)
STORED_FILE = {"path": INSIDE, "sha256": str}
CONVENTIONS_SHAPE = {
    "compat": str,
    "query_set": str,
    "no_relevant": str,
    "rel": Maybe(float),
    "graded": bool,
    "split": Maybe(str),
}
SETTINGS = {
    "measures": Maybe([str]),
    "conventions": CONVENTIONS_SHAPE,
    "statistics": {
        "test": str,
        "confidence": float,
        "alternative": str,
        "resamples": Maybe(AtMost(MAX_RESAMPLES)),
        "seed": int,
        "rope": Maybe(float),
        "target_difference": Maybe(float),
    },
    "baseline": Maybe(str),
    "by": Maybe([str]),
    "kpi": Maybe(
        {
            "name": str,
            "bands": MapOf(MapOf(float)),
            "uplifts?": MapOf({"size": float, "relative": bool, "high?": float}),
        }
    ),
    "changes": AtMost(MAX_RESULTS),
    "match?": str,
    "ignore_case?": bool,
    "k": AtMost(MAX_RESULTS),
}
MANIFEST_SHAPE = {
    "data": {
        "test collection": {
            "name": str,
            "source": Maybe({"path": str, "sha256": str, "documents": AtMost(2**62), "snippets": STORED_FILE}),
            "qrels": STORED_FILE,
            "topics": STORED_FILE,
            "chunkings?": MapOf(
                {**STORED_FILE, "description": str, "chunks": AtMost(2**62), "complete?": bool}, keys=NAME
            ),
            "matching?": {"coverage": float, "tolerance": float},
        }
    },
    "method": {
        "retrieval": [
            {
                "name": NAME,
                "params": dict,
                "run": STORED_FILE,
                "indexes": [{"path": INSIDE, "sha256": str}],
                "failed queries": MapOf(str),
                "chunking?": NAME,
            }
        ]
    },
    "settings": SETTINGS,
    "failed": MapOf(str),
    "implementation": {"executable": {"cmd": Maybe(str)}},
    "platform": {"software": {"libraries": {"python": [str]}}},
    "times": {"costs": MapOf(COST_SHAPE)},
    "files": MapOf(str, keys=INSIDE),
    "sha256": str,
}


def to_bytes(manifest: Mapping[str, Any]) -> bytes:
    """A manifest as the content of a file, with the hash of its own content."""
    data = {key: value for key, value in manifest.items() if key != "sha256"}
    return _encoded({**data, "sha256": _digest(data)})


def load(path: Path) -> dict[str, Any]:
    """Read the manifest in a file; raise if it is not one."""
    return read_document(path, MANIFEST_SCHEMA, shape=MANIFEST_SHAPE, hint="run the benchmark again")


def is_intact(manifest: Mapping[str, Any]) -> bool:
    """Whether a manifest is as it was written."""
    data = {key: value for key, value in manifest.items() if key != "sha256"}
    return manifest.get("sha256") == _digest(data)


def _digest(data: Mapping[str, Any]) -> str:
    import hashlib

    return hashlib.sha256(_encoded(data)).hexdigest()


def _encoded(data: Mapping[str, Any]) -> bytes:
    return json_text(data, indent=2).encode() + b"\n"


def plain_path(path: str | Path) -> str:
    """A path that reveals nothing: one that leads out of the working folder is reduced to its name."""
    original = Path(path)
    outside = original.is_absolute() or ".." in original.parts or str(path).startswith("~")
    return original.name if outside else original.as_posix()


def plain_text(text: str) -> str:
    """A message without credentials, in which absolute paths are reduced to names."""
    text = _FILE.sub("/", mask_secrets(text))
    for find_folder in (Path.cwd, Path.home):  # literally: the name of a folder may contain spaces
        with suppress(OSError, RuntimeError):  # it was deleted; the user has none
            text = text.replace(f"{find_folder()}{os.sep}", "")
    return _HOME.sub("", _ABSOLUTE.sub("", text))


def plain_values(value: Any) -> Any:
    """Data in which every text is passed through ``plain_text``, and the values of secrets are masked."""
    return mask_values(value, plain_text)


def libraries() -> list[str]:
    """The packages that a number can depend on, with their versions."""
    from importlib.metadata import PackageNotFoundError, version  # slow, and reading a manifest does not need it

    installed = []
    for name in LIBRARIES:
        try:
            installed.append(f"{name}=={version(name)}")
        except PackageNotFoundError:
            continue
    return installed


def machine() -> dict[str, Any]:
    """A description of the machine, without its name."""
    return {
        "hardware": {
            "cpu": {
                "model": _processor(),
                "architecture": platform.machine(),
                "number of cores": os.cpu_count(),
            },
            "ram": _memory(),
        },
        "operating system": {"kernel": f"{platform.system()} {platform.release()}", "distribution": _distribution()},
        "python": platform.python_version(),
    }


def _processor() -> str | None:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or None
    return next((line.partition(":")[2].strip() for line in text.split("\n") if line.startswith("model name")), None)


def _memory() -> str | None:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return byte_size(size)


def _distribution() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None
