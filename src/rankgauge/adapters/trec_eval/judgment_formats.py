"""trec_eval's formats of judgments (``-R``), and which families of measures it computes from each."""

from __future__ import annotations

from typing import Literal

from rankgauge.core.qrels import JudgmentKind
from rankgauge.measures import trec_names as trec

JudgmentFormat = Literal["qrels", "prefs", "qrels_prefs", "qrels_jg"]
JUDGMENT_FORMATS: dict[JudgmentFormat, JudgmentKind] = {
    "qrels": "grades",
    "prefs": "preferences",
    "qrels_prefs": "preferences",
    "qrels_jg": "groups",
}
ANY_FORMAT_NAMES = frozenset(("runid", "num_q"))


def accepts(family: trec.TrecFamily, judgments: JudgmentFormat) -> bool:
    """Whether trec_eval computes a family from judgments in this format."""
    if family.name in ANY_FORMAT_NAMES:
        return True
    needed = None if family.make is None else family.make.judgments
    return (needed or "grades") == JUDGMENT_FORMATS[judgments]
