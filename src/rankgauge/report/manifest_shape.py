"""The shape of a manifest: what must be in it before anything is done with it.

A manifest may come from somebody else. Its paths stay inside its folder, and its numbers are small enough to be used.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath

from rankgauge.io.shapes import AtMost, Between, MapOf, Matching, Maybe

SYSTEM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=,-]*")  # part of the names of its files
MAX_RESAMPLES = 100_000_000
MAX_RESULTS = 1_000_000_000  # per query


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
DURATION = Maybe(Between(0, 1e12))
COST_SHAPE = {
    "calls": AtMost(2**53),
    "p50": DURATION,
    "p95": DURATION,
    "p99": DURATION,
    "index_bytes": Maybe(AtMost(2**53)),
    "index_seconds": DURATION,
    "max": DURATION,
}
SETTINGS = {
    "measures": Maybe([str]),
    "conventions": {
        "compat": str,
        "query_set": str,
        "no_relevant": str,
        "rel": float,
        "graded": bool,
        "split": Maybe(str),
    },
    "statistics": {
        "test": str,
        "correction": str,
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
            "uplifts?": MapOf({"size": float, "relative": bool}),
        }
    ),
    "changes": AtMost(MAX_RESULTS),
    "k": AtMost(MAX_RESULTS),
}
MANIFEST_SHAPE = {
    "data": {
        "test collection": {
            "name": str,
            "source": Maybe({"path": str, "sha256": str, "documents": AtMost(2**62), "snippets": STORED_FILE}),
            "qrels": STORED_FILE,
            "topics": STORED_FILE,
            "chunkings?": MapOf({**STORED_FILE, "description": str, "chunks": AtMost(2**62)}, keys=NAME),
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
