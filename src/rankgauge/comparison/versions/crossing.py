"""Two runs scored with two versions of the judgments, as far as runs and judgments are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError, held_warnings, shown
from rankgauge.evaluation.conventions import VALUE_CONVENTIONS
from rankgauge.evaluation.evaluate import AnyRun, score
from rankgauge.evaluation.scores import Scores
from rankgauge.io.options import DEFAULT_READING, Reading
from rankgauge.io.pipeline.joining import join_any
from rankgauge.measures.spec import Measure

Method = Literal["same labels", "both orders", "newer labels", "older labels", "joint"]


@dataclass(frozen=True, eq=False)
class ScoredVersion:
    """The scores of a run, and what is known of the judgments and the ranking behind them."""

    scores: Scores
    labels: str | None  # the hash of the judgments
    qrels: Qrels | None = None  # as the conventions see them
    run: Run | None = None

    def only(self, measures: list[Measure]) -> ScoredVersion:
        """The version with some of its measures."""
        return ScoredVersion(self.scores.only(measures), self.labels, self.qrels, self.run)


@dataclass(frozen=True, eq=False)
class CrossedScores:
    """The older and the newer run, each with its own labels and, if possible, with those of the other."""

    before: Scores
    after: Scores
    same_labels: bool
    before_again: Scores | None = None  # the older run with the newer labels
    after_again: Scores | None = None  # the newer run with the older labels

    @property
    def method(self) -> Method:
        """How the part of the system is separated from that of the labels."""
        if self.same_labels:
            return "same labels"
        if self.before_again is not None and self.after_again is not None:
            return "both orders"
        if self.before_again is not None:
            return "newer labels"
        return "joint" if self.after_again is None else "older labels"


def rescored(run: AnyRun, qrels: Qrels, like: Scores, reading: Reading = DEFAULT_READING) -> Scores:
    """A run with other judgments, which the conventions have seen already; measures and conventions stay."""
    with held_warnings():  # they were issued with the scores that these are like
        (joined,) = join_any(qrels, run, reading, like.conventions.compat)
    return score(qrels, joined, like.requested or like.measures, like.conventions)


def crossed(before: ScoredVersion, after: ScoredVersion) -> CrossedScores:
    """Score each run again with the judgments of the other, if run and judgments were kept."""
    if before.labels is not None and before.labels == after.labels:
        return CrossedScores(before.scores, after.scores, same_labels=True)
    is_shared = not set(before.scores.queries).isdisjoint(after.scores.queries)
    before_again, after_again = (
        rescored(this.run, other.qrels, this.scores)
        if is_shared and this.run is not None and other.qrels is not None
        else None
        for this, other in ((before, after), (after, before))
    )
    return CrossedScores(before.scores, after.scores, False, before_again, after_again)


def check_same_conventions(before: Scores, after: Scores) -> None:
    """Raise if values were made in different ways."""
    older, newer = before.conventions.to_dict(), after.conventions.to_dict()
    for name in VALUE_CONVENTIONS:
        if older.get(name) != newer.get(name):
            raise InputError(
                f"{shown(before.run)} and {shown(after.run)} cannot be compared: {name} is "
                f"{shown(str(older.get(name)))} in one and {shown(str(newer.get(name)))} in the other",
                hint="evaluate both with the same conventions",
            )
