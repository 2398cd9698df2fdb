"""Whether two sets of results can be compared on a measure, before anything is tested: depth, judged share, queries.

A difference that comes from how results were collected says nothing about the systems. If one side has at most 20
documents per query and the other more, R@50 is not comparable, and no test is made. Everything else that differs, such
as the judged share of the top results, is a note. ``compare`` and the gate use the same rules and the same words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import plural, text_of
from rankgauge.core.hits import Joined
from rankgauge.core.run import Status
from rankgauge.errors import Note
from rankgauge.evaluation.caveats import POOL_DEPTH, JoinFacts
from rankgauge.evaluation.result_depth import depth_of
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.measure import Measure

SHARE_DIFFERENCE = 0.2  # of judged documents at the top, from which two sides differ enough to say so
DEPTH_HINT = (
    "fetch both sides with the same k (--k); if k was changed on purpose, choose a measure at the new k (-m), and "
    "make a new baseline"
)


@dataclass(frozen=True)
class ResultFacts:
    """How results were collected. A depth that is not known is None, and counts as unlimited."""

    depth: int | None = None
    is_requested: bool = False  # whether the depth is the k that was asked for
    judged: float | None = None  # share of the top documents; None if labels list only relevant ones
    missing: int = 0  # judged queries that are not in the results
    failed: int = 0
    is_known: bool = True  # whether anything is; of scores from elsewhere, nothing is

    @classmethod
    def of(cls, joined: Joined) -> ResultFacts:
        """The facts of a join."""
        hits = joined.hits
        depth, is_requested = depth_of(hits, joined.extras)
        facts = JoinFacts.of(hits, ())
        top = int(np.minimum(facts.retrieved, POOL_DEPTH).sum())
        has_share = top and not facts.lists_only_relevant
        return cls(
            depth,
            is_requested,
            int(facts.judged_in_pool.sum()) / top if has_share else None,
            int((hits.status == Status.MISSING).sum()),
            int((hits.status == Status.FAILED).sum()),
        )

    @classmethod
    def of_scores(cls, scores: Scores) -> ResultFacts:
        """What is known of results of which there are only scores."""
        return cls(is_known=False) if scores.depth is None else cls(*scores.depth)

    @property
    def limit(self) -> float:
        """The depth, or infinity if it is not known."""
        return math.inf if self.depth is None else self.depth

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "depth": self.depth,
            "depth_is_requested": self.is_requested,
            "judged_share": self.judged,
            "queries_missing": self.missing,
            "queries_failed": self.failed,
        }


@dataclass(frozen=True)
class NamedFacts:
    """The facts of one side, and what it is called in sentences."""

    name: str
    facts: ResultFacts

    @property
    def depth_text(self) -> str:
        """How deep its results are."""
        documents = plural(self.facts.depth or 0, "document")
        if self.facts.is_requested:
            return f"{self.name} was asked for {documents} per query"
        return f"{self.name} has at most {documents} per query"


UNPAIRED = "no query has a value on both sides"


class Incomparable(NamedTuple):
    """Why a difference on a measure would say nothing: results are too shallow, or no query has both values."""

    cause: str  # which several measures may share
    measure: str
    cutoff: int | None = None

    def __str__(self) -> str:
        if self.cutoff is None:
            return f"{self.cause} of {self.measure}"
        return f"{self.cause}, {self.measure} needs {self.cutoff}"


def shared_causes(problems: Iterable[Incomparable]) -> list[str]:
    """Each cause once, with the measures that share it."""
    sharing: dict[str, dict[str, Incomparable]] = {}
    for one in problems:
        sharing.setdefault(one.cause, {}).setdefault(one.measure, one)
    return [
        f"{cause}; {', '.join(measures)} need more"
        if len(measures) > 1 and cause != UNPAIRED
        else f"{cause} of {', '.join(measures)}"
        if cause == UNPAIRED
        else str(next(iter(measures.values())))
        for cause, measures in sharing.items()
    ]


def not_comparable(measure: Measure, system: NamedFacts, baseline: NamedFacts) -> Incomparable | None:
    """Why a difference on a measure would say nothing about the systems; None if it can be compared."""
    if not (system.facts.is_known and baseline.facts.is_known):
        return None
    cutoff = measure.cutoff
    if not isinstance(cutoff, int):
        return None
    shallow = min(system, baseline, key=lambda side: side.facts.limit)
    if system.facts.limit == baseline.facts.limit or shallow.facts.limit >= cutoff:
        return None
    return Incomparable(shallow.depth_text, measure.shown, cutoff)


def comparability_notes(measures: Sequence[Measure], system: NamedFacts, baseline: NamedFacts) -> list[Note]:
    """What else differs between two sides, or limits both."""
    notes = [*_depth_notes(measures, system, baseline)]
    shares = system.facts.judged, baseline.facts.judged
    if shares[0] is not None and shares[1] is not None and abs(shares[0] - shares[1]) >= SHARE_DIFFERENCE:
        text = f"{text_of(shares[0], 'share')} of the top {POOL_DEPTH} of {system.name} are judged,"
        notes.append(
            Note(
                "judged-share",
                f"{text} {text_of(shares[1], 'share')} of {baseline.name}: unjudged documents count as not relevant",
            )
        )
    return notes


def sent_notes(system: NamedFacts, baseline: NamedFacts) -> list[Note]:
    """A note about queries that only the baseline was sent, which count as 0 in the system."""
    count = system.facts.missing - baseline.facts.missing
    if count <= 0:
        return []
    verb = "is" if count == 1 else "are"
    text = f"{plural(count, 'query')} of {baseline.name} {verb} not in {system.name}: without results"
    return [Note("queries-not-sent", text)]


def _depth_notes(measures: Sequence[Measure], system: NamedFacts, baseline: NamedFacts) -> list[Note]:
    limits = system.facts.limit, baseline.facts.limit
    if limits[0] == limits[1]:
        beyond = [one for one in measures if isinstance(one.cutoff, int) and one.cutoff > limits[0]]
        if not beyond:
            return []
        really = ", ".join(f"{one.shown} is really @{int(limits[0])}" for one in beyond)
        documents = plural(int(limits[0]), "document")
        return [Note("same-depth", f"both sides have at most {documents} per query, so {really}")]
    whole = [one.name for one in measures if not isinstance(one.cutoff, int)]
    if not whole:
        return []
    shallow, deep = sorted((system, baseline), key=lambda side: side.facts.limit)
    more = "more" if deep.facts.depth is None else f"{deep.facts.depth:,}"
    verb = "looks" if len(whole) == 1 else "look"
    text = f"{shallow.depth_text}, {deep.name} {more}; {', '.join(whole)} {verb} at all of them"
    return [Note("depths-differ", text)]
