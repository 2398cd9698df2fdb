"""The error for a measure that needs another kind of judgments. Imported only if it is raised."""

from __future__ import annotations

from rankgauge.core.qrels import JudgmentKind
from rankgauge.errors import MeasureError
from rankgauge.measures.registry import DEFINITIONS
from rankgauge.measures.spec import Definition

DESCRIPTIONS: dict[JudgmentKind, str] = {
    "grades": "one grade per document",
    "groups": "grades of several judges (qrels_jg)",
    "preferences": "preferences",
    "subtopics": "grades by subtopic (ndeval)",
    "passages": "gold passages",
}


TO_READ: dict[JudgmentKind, str] = {
    "groups": "--qrels-format qrels_jg reads the second column as the judgment group",
    "preferences": "--qrels-format qrels_prefs reads grades as preferences, --qrels-format prefs reads preferences",
    "subtopics": "--qrels-format ndeval reads the second column as the subtopic",
}
OTHERWISE_READ: dict[tuple[JudgmentKind, JudgmentKind], str] = {
    ("grades", "groups"): "; --qrels-format ndeval keeps the largest grade of each document",
    ("preferences", "groups"): "; --qrels-format qrels_prefs reads the grades as preferences",
    ("groups", "subtopics"): "; --qrels-format qrels_jg reads the second column as the judgment group",
    ("subtopics", "groups"): "; --qrels-format ndeval reads the second column as the subtopic",
}


def unsuitable_judgments(name: str, needed: JudgmentKind | None, judgments: JudgmentKind) -> MeasureError:
    """The error for a measure that cannot be computed from this kind of judgments."""
    assert needed is not None
    return MeasureError(
        f"{name} needs {DESCRIPTIONS[needed]}, but these judgments are {DESCRIPTIONS[judgments]}",
        hint=_hint(needed, judgments),
    )


def _hint(needed: JudgmentKind, judgments: JudgmentKind) -> str:
    if needed == "passages":
        return "gold passages are quotes or spans, found in the texts of chunks"
    if judgments == "grades":
        return TO_READ[needed]
    suitable = ", ".join(name for name, definition in DEFINITIONS.items() if _is_for(definition, judgments))
    return f"these judgments have: {suitable}{OTHERWISE_READ.get((needed, judgments), '')}"


def _is_for(definition: Definition, judgments: JudgmentKind) -> bool:
    """Whether a measure is one of those for this kind of judgments, rather than for any kind or for grades."""
    return definition.judgments not in (None, "grades") and definition.accepts(judgments)
