"""What a gate found: the verdict, and all that led to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.blame import Blame
from rankgauge.comparison.gate.decide import Decision, Rule
from rankgauge.comparison.gate.requirements import Requirement
from rankgauge.errors import printable
from rankgauge.evaluation.evaluate import Scores
from rankgauge.evaluation.notes import Note

Verdict = Literal["pass", "fail", "skipped"]
LISTED = 4
TEST = "one-sided paired max-T over the gated measures; no worse: one-sided t against the margin"


@dataclass(frozen=True, slots=True)
class Required:
    """A requirement and the value that it met or missed."""

    requirement: Requirement
    value: float | None
    met: bool
    low: float | None = None  # of the value's interval at 1 − alpha
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        wanted = self.requirement
        return {
            "measure": wanted.measure.name,
            "sign": wanted.sign,
            "bound": wanted.bound,
            "value": self.value,
            "interval": [self.low, self.high],
            "met": self.met,
        }


@dataclass(frozen=True, slots=True)
class Compared:
    """A measure then and now, over the queries that both have."""

    measure: str
    before: float
    now: float
    lower_is_better: bool
    decision: Decision

    @property
    def change(self) -> float:
        """Now − then, as the measure counts."""
        return self.now - self.before

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """Of the change."""
        low, high = self.decision.low, self.decision.high
        if not self.lower_is_better:
            return low, high
        return (None if high is None else -high), (None if low is None else -low)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        found = self.decision
        return {
            "measure": self.measure,
            "outcome": found.outcome,
            "before": self.before,
            "now": self.now,
            "change": self.change,
            "interval": list(self.interval),
            "p": found.p,
            "p_no_worse": found.p_no_worse,
            "smallest_drop": found.smallest_drop,
            "n": found.n,
            "units": found.units,
        }


@dataclass(frozen=True, eq=False)
class GateResult:
    """The verdict of a gate. ``skipped`` means that there was nothing to look at, and is not a pass.

    ``current`` is this run as the next baseline: ``result.current.write("baseline.json")``.
    """

    verdict: Verdict
    scores: Scores
    rule: Rule
    required: tuple[Required, ...] = ()
    compared: tuple[Compared, ...] = ()
    against: Baseline | None = None
    blame: Blame | None = None  # where something got worse
    notes: tuple[Note, ...] = ()
    reason: str | None = None  # why it was skipped
    current: Baseline | None = None

    @property
    def passed(self) -> bool:
        """Whether it passed; a skipped gate did not."""
        return self.verdict == "pass"

    @property
    def failed(self) -> bool:
        """Whether it failed; a skipped gate did not."""
        return self.verdict == "fail"

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        return f"{self.verdict}: {self.answer(printable)}."

    def __str__(self) -> str:
        return self.sentence

    def answer(self, show: Callable[[str], str]) -> str:
        """The sentence without the verdict, names from data made safe by ``show``."""
        if self.reason is not None:
            return self.reason
        said = [*self._said_of_baseline(show), *self._said_of_requirements()]
        only_missed = self.failed and self.blame is None  # what failed comes first
        return "; ".join(reversed(said) if only_missed else said)

    def _said_of_baseline(self, show: Callable[[str], str]) -> list[str]:
        if self.against is None:
            return []
        name, then = show(self.scores.run), show(self.against.run)
        if name == then:
            name, then = "this run", "the baseline"
        worse = [row for row in self.compared if row.decision.outcome == "worse"]
        if worse:
            said = [f"{row.measure} ({signed(row.change)}, p {short(row.decision.p)})" for row in worse]
            return [f"{name} is worse than {then} on {listed(said)}"]
        outcomes = {row.decision.outcome for row in self.compared}
        if outcomes == {"unchanged"}:
            return [f"{name} has every value of {then}"]
        held = [row.measure for row in self.compared if row.decision.outcome in ("no worse", "unchanged")]
        unknown = [row.measure for row in self.compared if row.decision.outcome == "inconclusive"]
        margin = f" by the margin of {self.rule.margin:g}" if self.rule.margin else ""
        said = [f"{name} is no worse than {then}{margin} on {listed(held)}"] if held else []
        if unknown:
            said.append(f"nobody can tell on {listed(unknown)}" if held else "no drop is more than luck can explain")
        return said

    def _said_of_requirements(self) -> list[str]:
        missed = [row for row in self.required if not row.met]
        if missed:
            texts = [f"{row.requirement} ({'no value' if row.value is None else f'{row.value:.4f}'})" for row in missed]
            return [f"misses {listed(texts)}"]
        if not self.required:
            return []
        count = len(self.required)
        return ["the requirement is met" if count == 1 else f"{count} of {count} requirements are met"]

    def to_dict(self) -> dict[str, Any]:
        """What JSON has under ``gate``, beside the scores."""
        blamed = None
        if self.blame is not None:
            blamed = {**asdict(self.blame), "shares": [asdict(share) for share in self.blame.shares]}
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "margin": self.rule.margin,
            "alpha": self.rule.alpha,
            "power": self.rule.power,
            "resamples": self.rule.resamples,
            "seed": self.rule.seed,
            "test": TEST,
            "against": None
            if self.against is None
            else {"run": self.against.run, "sha256": self.against.run_sha256, "file": self.against.source},
            "required": [row.to_dict() for row in self.required],
            "compared": [row.to_dict() for row in self.compared],
            "blame": blamed,
            "notes": [asdict(note) for note in self.notes],
        }


def short(p: float | None) -> str:
    """A p value as people read it, behind the letter."""
    if p is None:
        return "unknown"
    return "≤ 0.0001" if p <= 0.0001 else f"= {p:.4f}"


def listed(parts: list[str]) -> str:
    """Some of a list, as a sentence has it."""
    shown = parts if len(parts) <= LISTED + 1 else [*parts[:LISTED], f"{len(parts) - LISTED} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def signed(value: float | None) -> str:
    """A change with its sign, the minus a minus."""
    return "–" if value is None else f"{value:+.4f}".replace("-", "−")
