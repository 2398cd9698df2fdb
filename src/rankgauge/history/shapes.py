"""What exported files, and the summary of an entry, must look like."""

from __future__ import annotations

import re
import sys

from rankgauge.core.run import Status
from rankgauge.history.names import ENTRY_NAME
from rankgauge.history.times import is_saved_time
from rankgauge.io.shapes import AtMost, Between, MapOf, Matching, Maybe
from rankgauge.report.manifest_shape import COST_SHAPE

MAX_COUNT = 2**53
HEXADECIMAL = re.compile("[0-9a-f]+")
MAX_CHARACTERS = 1 << 20  # of a name, a command or a note


def _is_hexadecimal(text: str, *lengths: int) -> bool:
    return len(text) in lengths and HEXADECIMAL.fullmatch(text) is not None


TEXT = Matching(f"a text of at most {MAX_CHARACTERS} characters", lambda text: len(text) <= MAX_CHARACTERS)
SHA256 = Matching("a SHA-256", lambda text: _is_hexadecimal(text, 64))
COMMIT = Matching("the hash of a commit", lambda text: _is_hexadecimal(text, 40, 64))
UID = Matching("32 hexadecimal digits", lambda text: _is_hexadecimal(text, 32))
TIME = Matching("a time as in 2026-11-02T10:11:12Z", is_saved_time)
FINITE = Between(-sys.float_info.max, sys.float_info.max)
SHARE = Between(0, 1)
FACTS_SHAPE = {
    "git": {"commit": Maybe(COMMIT), "branch": Maybe(TEXT), "dirty": Maybe(bool)},
    "run_sha256": Maybe(SHA256),
    "command": Maybe(TEXT),
    "verdict": Maybe(TEXT),
    "queries": dict.fromkeys(("averaged", "missing", "failed", "without_relevant"), AtMost(MAX_COUNT)),
    "conventions": {
        "compat": str,
        "query_set": str,
        "no_relevant": str,
        "rel": FINITE,
        "graded": bool,
        "split": Maybe(str),
    },
    "means": MapOf({"value": Maybe(FINITE), "n": AtMost(MAX_COUNT), "low": Maybe(FINITE), "high": Maybe(FINITE)}),
    "coverage": Maybe(SHARE),
    "cost": Maybe(COST_SHAPE),
    "rankgauge": TEXT,
}
SUMMARY_SHAPE = {
    "name": Matching("the name of an entry", lambda text: ENTRY_NAME.fullmatch(text) is not None),
    "uid": UID,
    "saved": TIME,
    "tags": [str],
    "system": TEXT,
    "collection": TEXT,
    "labels": SHA256,
    "has_run": bool,
    **FACTS_SHAPE,
}
HEAD_SHAPE = {
    "entry": SUMMARY_SHAPE,
    "measures": [str],
    "requested": [str],
    "notes": [[TEXT]],
    "run": Maybe({"name": TEXT, "sha256": Maybe(SHA256)}),
}
STATUS = AtMost(max(Status))
QUERY_SHAPE = {
    "query": str,
    "status": STATUS,
    "averaged": bool,
    "without_relevant": bool,
    "values": [Maybe(FINITE)],
    "columns": MapOf(Maybe((str, float, bool))),
}
RANKING_SHAPE = {"ranking": str, "status": STATUS, "docs": [str], "scores": [(str, float)]}
LABELS_SHAPE = {"name": TEXT, "sha256": SHA256}
JUDGMENTS_SHAPE = {"query": str, "docs": [str], "grades": [FINITE]}
OWN_KEYS = ("name", "uid", "saved", "tags", "system", "collection", "labels", "has_run")
