"""The conventions behind scores on labels that are not ids: gold passages, and labels that results are matched with."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from rankgauge.core.formatting import given
from rankgauge.core.passage_judgments import PassageJudgments
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import TIE_RULE
from rankgauge.evaluation.conventions import Conventions

ALPHA = 1  # a passage that was found adds nothing again


@dataclass(frozen=True)
class PassageConventions(Conventions):
    """How values on gold passages are made: a passage is found where the chunks so far cover enough of it.

    ``coverage`` is the share of its characters that is enough, ``tolerance`` the largest edit distance within which
    texts match, as a share of the characters that are compared.
    """

    coverage: float = 0.5
    tolerance: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **super().to_dict(),
            "measures": "unless the name says otherwise: a passage counts once (alpha=1)",
            "passages": {"coverage": self.coverage, "tolerance": self.tolerance, "alpha": ALPHA},
        }

    def __str__(self) -> str:
        averaged = "every query with gold" if self.query_set == "qrels" else "queries in run and gold"
        coverage, tolerance = given(self.coverage), given(self.tolerance)
        return (
            f"a passage is found at coverage {coverage}, matched with tolerance {tolerance}, and counts "
            f"once (alpha={ALPHA}); {averaged} averaged; ties by {TIE_RULE}, scores as {self.precision}"
        )


@dataclass(frozen=True)
class LabelConventions(Conventions):
    """How values are made if results are matched with labels by ``match``: a label counts once, at its first match."""

    match: str = "exact"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**super().to_dict(), "match": self.match}

    def __str__(self) -> str:
        return f"labels matched by {self.match}, each counted once, at its first match; {super().__str__()}"


def conventions_on(qrels: Qrels, conventions: Conventions) -> Conventions:
    """The conventions as they apply to judgments; they are as they are if the labels are ids."""
    shared = {entry.name: getattr(conventions, entry.name) for entry in fields(Conventions)}
    judgments = qrels.by_group
    if isinstance(judgments, PassageJudgments):
        return PassageConventions(**shared, coverage=judgments.coverage, tolerance=judgments.tolerance)
    return conventions if judgments is None else LabelConventions(**shared, match=judgments.match)
