"""What exported files, and the summary of an entry, must look like."""

from __future__ import annotations

from rankgauge.core.run import Status
from rankgauge.history.names import ENTRY_NAME
from rankgauge.io.shapes import AtMost, MapOf, Matching, Maybe
from rankgauge.report.manifest_shape import COST_SHAPE

MAX_COUNT = 2**53
SHA256 = Matching("a SHA-256", lambda text: len(text) == 64 and not set(text) - set("0123456789abcdef"))
TIME = Matching("a time as in 2026-11-02T10:11:12Z", lambda text: len(text) == 20 and text.endswith("Z"))
FACTS_SHAPE = {
    "git": {"commit": Maybe(str), "branch": Maybe(str), "dirty": Maybe(bool)},
    "run_sha256": Maybe(str),
    "command": Maybe(str),
    "verdict": Maybe(str),
    "queries": MapOf(AtMost(MAX_COUNT)),
    "conventions": {
        "compat": str,
        "query_set": str,
        "no_relevant": str,
        "rel": float,
        "graded": bool,
        "split": Maybe(str),
    },
    "means": MapOf({"value": Maybe(float), "n": AtMost(MAX_COUNT), "low": Maybe(float), "high": Maybe(float)}),
    "coverage": Maybe(float),
    "cost": Maybe(COST_SHAPE),
    "rankgauge": str,
}
SUMMARY_SHAPE = {
    "name": Matching("the name of an entry", lambda text: ENTRY_NAME.fullmatch(text) is not None),
    "uid": Matching("32 hexadecimal digits", lambda text: len(text) == 32 and text.isalnum()),
    "saved": TIME,
    "tags": [str],
    "system": str,
    "collection": str,
    "labels": SHA256,
    "has_run": bool,
    **FACTS_SHAPE,
}
HEAD_SHAPE = {
    "entry": SUMMARY_SHAPE,
    "measures": [str],
    "requested": [str],
    "notes": [[str]],
    "run": Maybe({"name": str, "sha256": Maybe(str)}),
}
STATUS = AtMost(max(Status))
QUERY_SHAPE = {
    "query": str,
    "status": STATUS,
    "averaged": bool,
    "without_relevant": bool,
    "values": list,
    "columns": dict,
}
RANKING_SHAPE = {"ranking": str, "status": STATUS, "docs": [str], "scores": list}
LABELS_SHAPE = {"name": str, "sha256": SHA256}
JUDGMENTS_SHAPE = {"query": str, "docs": [str], "grades": [float]}
OWN_KEYS = ("name", "uid", "saved", "tags", "system", "collection", "labels", "has_run")
