"""The families of measures of preference judgments and of judgments by group, beside those of plain judgments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rankgauge.core.ranking import Compat
from rankgauge.measures import trec_names as trec

JudgmentFormat = Literal["qrels", "prefs", "qrels_prefs", "qrels_jg"]
PREFERENCE_FORMATS: tuple[JudgmentFormat, ...] = ("prefs", "qrels_prefs")
JUDGMENT_FORMATS: tuple[JudgmentFormat, ...] = ("qrels", *PREFERENCE_FORMATS, "qrels_jg")
ANY_FORMAT_NAMES = frozenset(("runid", "num_q"))  # which look neither at judgments nor at documents


@dataclass(frozen=True)
class GroupFamily(trec.TrecFamily):
    """A family that needs other judgments than grades; ``description`` is what -h prints."""

    formats: tuple[JudgmentFormat, ...] = ()
    description: str = ""


def _preferences(name: str, description: str, *, whole: bool = False) -> GroupFamily:
    return GroupFamily(name, whole=whole, formats=PREFERENCE_FORMATS, description=description)


IMPLIED = "counting only preferences of which at least one document is retrieved"
RETRIEVED = "counting only preferences of which both documents are retrieved"
POSSIBLE = "The number of preferences in the judgments."
FULFILLED = (
    "The number of preferences that the ranking fulfills: A is retrieved, and B is ranked after A or not retrieved"
)
SHARE = "The share of preferences that the ranking fulfills; every preference has the same weight"
PAIRS = (
    "The mean over pairs of documents of the share of groups that agree with the ranking; pairs have the same weight"
)
GROUPS = "The mean over judgment groups of the share of fulfilled preferences; every group has the same weight"
BALANCED = (
    "prefs_avgjg with as many nonrelevant documents in each group as it has relevant ones: missing ones are added "
    "after every ranked document, and of more, only the first count"
)
PREFERENCE_FAMILIES = (
    _preferences("prefs_num_prefs_poss", POSSIBLE, whole=True),
    _preferences("prefs_num_prefs_ful", f"{FULFILLED}.", whole=True),
    _preferences("prefs_num_prefs_ful_ret", f"{FULFILLED}, {RETRIEVED}.", whole=True),
    _preferences("prefs_simp", f"{SHARE}."),
    _preferences("prefs_pair", f"{PAIRS}."),
    _preferences("prefs_avgjg", f"{GROUPS}."),
    _preferences("prefs_avgjg_Rnonrel", f"{BALANCED}."),
    _preferences("prefs_simp_ret", f"{SHARE}, {RETRIEVED}."),
    _preferences("prefs_pair_ret", f"{PAIRS}, {RETRIEVED}."),
    _preferences("prefs_avgjg_ret", f"{GROUPS}, {RETRIEVED}."),
    _preferences("prefs_avgjg_Rnonrel_ret", f"{BALANCED}, {RETRIEVED}."),
    _preferences("prefs_simp_imp", f"{SHARE}, {IMPLIED}."),
    _preferences("prefs_pair_imp", f"{PAIRS}, {IMPLIED}."),
    _preferences("prefs_avgjg_imp", f"{GROUPS}, {IMPLIED}."),
)
AVERAGED = "The mean over judgment groups of {}, each computed with the judgments of one group."
GROUP_FAMILIES = (
    GroupFamily("map_avgjg", formats=("qrels_jg",), description=AVERAGED.format("average precision")),
    GroupFamily(
        "P_avgjg",
        kind="cutoffs",
        default=trec.DEFAULT_CUTOFFS,
        formats=("qrels_jg",),
        description=AVERAGED.format("the precision at k"),
    ),
    GroupFamily(
        "Rprec_mult_avgjg",
        kind="points",
        default=trec.MULTIPLES,
        formats=("qrels_jg",),
        description=AVERAGED.format("the precision at multiples of R"),
    ),
)
FAMILIES: tuple[trec.TrecFamily, ...] = (*trec.TREC_FAMILIES, *PREFERENCE_FAMILIES, *GROUP_FAMILIES)
FAMILY_BY_NAME = {family.name: family for family in FAMILIES}
POSITION = {family.name: position for position, family in enumerate(FAMILIES)}
SETS = {
    "prefs": ["runid", "num_q", *(family.name for family in PREFERENCE_FAMILIES[:6])],
    "all_prefs": ["runid", "num_q", *(family.name for family in PREFERENCE_FAMILIES)],
    "qrels_jg": ["runid", "num_q", *(family.name for family in GROUP_FAMILIES)],
}


def nickname(name: str, compat: Compat) -> list[str] | None:
    """The families behind a nickname; None if the name is not one."""
    return SETS[name] if name in SETS else trec.nickname(name, compat)


def accepts(family: trec.TrecFamily, judgments: JudgmentFormat) -> bool:
    """Whether trec_eval computes a family from judgments in this format."""
    if family.name in ANY_FORMAT_NAMES:
        return True
    return judgments in (family.formats if isinstance(family, GroupFamily) else ("qrels",))
