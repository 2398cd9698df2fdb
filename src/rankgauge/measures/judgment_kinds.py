"""The error for a measure that needs another kind of judgments. Imported only if it is raised."""

from __future__ import annotations

from rankgauge.core.qrels import JudgmentKind
from rankgauge.errors import MeasureError
from rankgauge.measures.registry import DEFINITIONS

DESCRIPTIONS: dict[JudgmentKind, str] = {
    "grades": "one grade per document",
    "groups": "grades of several judges (qrels_jg)",
    "preferences": "preferences",
}


def unsuitable_judgments(name: str, needed: JudgmentKind | None, judgments: JudgmentKind) -> MeasureError:
    """The error for a measure that cannot be computed from this kind of judgments."""
    assert needed is not None
    return MeasureError(
        f"{name} needs {DESCRIPTIONS[needed]}, but these judgments are {DESCRIPTIONS[judgments]}",
        hint=_hint(needed, judgments),
    )


def _hint(needed: JudgmentKind, judgments: JudgmentKind) -> str:
    if judgments == "grades":
        if needed == "preferences":
            return "--qrels-format qrels_prefs reads grades as preferences, --qrels-format prefs reads preferences"
        return "--qrels-format qrels_jg reads the second column as the judgment group"
    suitable = ", ".join(name for name, definition in DEFINITIONS.items() if definition.judgments == judgments)
    other = {
        ("grades", "groups"): "; --qrels-format ndeval keeps the largest grade of each document",
        ("preferences", "groups"): "; --qrels-format qrels_prefs reads the grades as preferences",
    }.get((needed, judgments), "")
    return f"these judgments have: {suitable}{other}"
