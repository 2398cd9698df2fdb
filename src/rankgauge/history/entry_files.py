"""The file of an entry, read back: its first line, or all of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from rankgauge.errors import InputError, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.given_scores import GivenScores, evaluate_scores
from rankgauge.history.entries import EntrySummary, SavedEntry
from rankgauge.io.formats.score_tables import SCORES_SCHEMA, read_scores
from rankgauge.io.reading_options import DEFAULT_READING

ROUNDING = 1e-9
SAVED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
FACTS = {
    "saved": str, "written": int, "system": str, "collection": str, "labels": str, "git": dict, "means": dict,
    "queries": dict, "conventions": dict, "measures": list,
}  # fmt: skip


def read_summary(path: Path) -> EntrySummary:
    """The first line of an entry's file; raises if it is not one."""
    try:
        with path.open("rb") as file:
            facts = json.loads(file.readline())
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError.at(str(path), None, f"cannot read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise InputError.at(str(path), 1, "is no entry of a history") from None
    if not isinstance(facts, dict) or not str(facts.get("schema", "")).startswith(SCORES_SCHEMA):
        raise InputError.at(str(path), 1, "is no entry of a history")
    wrong = next((name for name, kind in FACTS.items() if not isinstance(facts.get(name), kind)), None)
    if wrong is None:
        try:
            summary = EntrySummary(path, facts)
            wrong = first_wrong(summary)
        except (TypeError, KeyError, ValueError, AttributeError):
            wrong = "summary"
        if wrong is None:
            return summary
    raise InputError.at(str(path), 1, f"is a damaged entry: {wrong} is missing or of another kind")


def first_wrong(summary: EntrySummary) -> str | None:
    """The first fact of a summary that has another type than those that are written; None if all are right."""
    facts, git, cost = summary.facts, summary.git, summary.cost
    means = summary.means.values()
    numbers = [number for mean in means for number in (mean.value, mean.low, mean.high)]
    costs = [] if cost is None else [*vars(cost).values()]
    checks = {
        "saved": SAVED.fullmatch(summary.saved) is not None,
        "git": set(facts["git"]) == {"commit", "branch", "dirty"}
        and all(isinstance(one, (str, type(None))) for one in (git.commit, git.branch)),
        "means": all(isinstance(one, (int, float, type(None))) for one in numbers)
        and all(isinstance(mean.n, int) for mean in means),
        "cost": all(isinstance(one, (int, float, type(None))) for one in costs),
        "conventions": isinstance(facts["conventions"]["text"], str),
        "queries": all(isinstance(count, int) for count in summary.queries.values()) and "averaged" in facts["queries"],
        "measures": all(isinstance(name, str) for name in facts["measures"]),
        "coverage": isinstance(facts["coverage"], (int, float, type(None))),
        "depth": isinstance(facts["depth"], (int, type(None))),
        "command": isinstance(facts["command"], (str, type(None))),
        "verdict": isinstance(facts["verdict"], (str, type(None))),
    }
    return next((name for name, is_right in checks.items() if not is_right), None)


def read_entry(summary: EntrySummary) -> SavedEntry:
    """An entry with the values of its queries."""
    tables = read_scores(summary.path, DEFAULT_READING)
    if len(tables) != 1:
        raise InputError.at(str(summary.path), None, "is a damaged entry: it has several systems")
    evaluation = evaluate_scores([GivenScores(tables[0])], summary.facts["measures"], Conventions())
    scores = replace(evaluation.scores[0], qrels=summary.collection, run=summary.system)
    if int(scores.averaged.sum()) != summary.queries["averaged"]:
        raise InputError.at(
            str(summary.path),
            None,
            f"is a damaged entry: it has {scores.averaged.sum()} of {summary.queries['averaged']} queries",
        )
    for (name, mean), (value, n) in zip(summary.means.items(), scores.over_queries.values(), strict=False):
        if mean.n != n or abs((mean.value or 0.0) - (value or 0.0)) > ROUNDING:
            raise InputError.at(
                str(summary.path), 1, f"is a damaged entry: its mean of {shown(name)} is not that of its values"
            )
    return SavedEntry(summary, scores)
