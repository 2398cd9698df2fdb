"""trec_eval's names for judgments other than plain qrels: preferences, and judgments by group."""

from __future__ import annotations

from typing import Literal

from rankgauge.core.ranking import Compat
from rankgauge.measures import trec_names as trec
from rankgauge.measures.families import ap, precision, rprec
from rankgauge.measures.families.preferences import PREFERENCE_MEASURES

JudgmentFormat = Literal["qrels", "prefs", "qrels_prefs", "qrels_jg"]
JUDGMENT_FORMATS: tuple[JudgmentFormat, ...] = ("qrels", "prefs", "qrels_prefs", "qrels_jg")

PREFERENCE_FAMILIES = tuple(
    trec.TrecFamily(measure.name, whole=measure.aggregate == "sum") for measure in PREFERENCE_MEASURES
)
GROUP_FAMILIES = (
    trec.TrecFamily("map_avgjg", ap.ap),
    trec.TrecFamily("P_avgjg", precision.precision, "cutoffs", trec.DEFAULT_CUTOFFS),
    trec.TrecFamily("Rprec_mult_avgjg", rprec.rprec, "points", trec.FAMILY_BY_NAME["Rprec_mult"].default),
)
PREFERENCE_NAMES = frozenset(family.name for family in PREFERENCE_FAMILIES)
GROUP_NAMES = frozenset(family.name for family in GROUP_FAMILIES)
ANY_FORMAT_NAMES = frozenset(("runid", "num_q"))

FAMILY_BY_NAME = trec.FAMILY_BY_NAME | {family.name: family for family in (*PREFERENCE_FAMILIES, *GROUP_FAMILIES)}
POSITION = {name: position for position, name in enumerate(FAMILY_BY_NAME)}

SETS = {
    "prefs": ["runid", "num_q", *(family.name for family in PREFERENCE_FAMILIES[:6])],
    "all_prefs": ["runid", "num_q", *(family.name for family in PREFERENCE_FAMILIES)],
    "qrels_jg": ["runid", "num_q", *(family.name for family in GROUP_FAMILIES)],
}


def nickname(name: str, compat: Compat) -> list[str] | None:
    """The families behind one of trec_eval's nicknames; None if the name is not one."""
    return SETS.get(name) or trec.nickname(name, compat)


def accepts(name: str, judgments: JudgmentFormat) -> bool:
    """Whether trec_eval computes a family from judgments in this format."""
    if name in ANY_FORMAT_NAMES:
        return True
    if name in PREFERENCE_NAMES:
        return judgments in ("prefs", "qrels_prefs")
    return judgments == ("qrels_jg" if name in GROUP_NAMES else "qrels")
