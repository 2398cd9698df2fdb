"""What a gate found: the verdict, and all that led to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.causes import Blame, LabelGrowth
from rankgauge.comparison.gate.decision import ComparedMeasure
from rankgauge.comparison.gate.requirements import Requirement, Rule, required_measures
from rankgauge.comparison.statistics_options import describe_family
from rankgauge.core.formatting import given, number, p_equals, plural, signed
from rankgauge.core.query_answers import Leak
from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Status
from rankgauge.errors import printable
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.evaluate import Evaluation, unique_names
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.measure import Measure
from rankgauge.stats.joint_tests import POWER
from rankgauge.stats.noise import false_alarm_quantile
from rankgauge.validation.label_rot import LABEL_STATES, LabelCheck

Verdict = Literal["pass", "fail", "skipped", "rotted"]
VERDICT_WORDS: dict[Verdict, str] = {"rotted": "labels rotted"}  # if not the verdict itself
MAX_MEASURES_NAMED = 4
CHANGE_DIGITS = 4


@dataclass(frozen=True, slots=True)
class RequiredValue:
    """A requirement and the value that met or missed it."""

    requirement: Requirement
    value: float | None
    met: bool
    low: float | None = None  # of the value's interval
    high: float | None = None

    @property
    def value_text(self) -> str:
        """The value as text: that of a measure with four decimals."""
        if self.value is None:
            return "no value"
        return number(self.value) if isinstance(self.requirement.measure, Measure) else given(self.value)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        requirement = self.requirement
        return {
            "measure": requirement.measure.name,
            "sign": requirement.sign,
            "bound": requirement.bound,
            "value": self.value,
            "interval": [self.low, self.high],
            "met": self.met,
        }


@dataclass(frozen=True)
class AffectedQuery:
    """A query that a user would notice: it leaked a document, was answered without an answer, or lost evidence."""

    kind: Literal["leaked", "answered", "lost"]
    query: str
    detail: str


@dataclass(frozen=True, eq=False)
class GateResult(HtmlView):
    """The verdict of a gate. ``skipped`` means that nothing could be tested, and is not a pass.

    ``rotted`` means that relevant labels no longer fit the corpus, and that the run did not fail on the queries whose
    labels do; scores and comparisons are those of these queries, also if the run failed on them. It is not a pass.
    ``current`` is this run as the next baseline: ``result.current.write("baseline.json")``.
    """

    verdict: Verdict
    evaluation: Evaluation  # this run, then those of the baseline if it is made of runs
    rule: Rule
    required: tuple[RequiredValue, ...] = ()
    compared: tuple[ComparedMeasure, ...] = ()
    baseline: Baseline | None = None
    blame: Blame | None = None  # if something got worse
    notes: tuple[Note, ...] = ()
    reason: str | None = None  # why it was skipped
    rot: LabelCheck | None = None  # if relevant labels rotted
    growth: LabelGrowth | None = None  # if labels changed since the baseline was stored
    anchored: tuple[ComparedMeasure, ...] = ()  # the same beside the anchor of the baseline, if it has one

    @property
    def scores(self) -> Scores:
        """The scores of this run."""
        return self.evaluation.scores[0]

    @property
    def failed_queries(self) -> tuple[str, ...]:
        """The queries for which a live retriever gave no answer."""
        failed = self.scores.status == Status.FAILED
        return tuple(query for query, is_failed in zip(self.scores.queries, failed, strict=True) if is_failed)

    def page_evaluation(self) -> Evaluation:
        """The runs as a report shows them: the baseline first, if it is made of runs, under names of their own."""
        order = [*range(1, len(self.evaluation.scores)), 0]
        scores = tuple(self.evaluation.scores[index] for index in order)
        joined = tuple(self.evaluation.joined[index] for index in order if self.evaluation.joined)
        evaluation = replace(self.evaluation, scores=scores, joined=joined)
        names = [join.name for join in joined] or [run.run for run in scores]  # without rankings, there is no join
        return evaluation.renamed(unique_names(names))

    @cached_property
    def current(self) -> Baseline | None:
        """The run as the next baseline; None if the gate was skipped, or if labels rotted."""
        has_all_queries = self.verdict != "skipped" and self.rot is None
        return Baseline.of(self.evaluation, 0) if has_all_queries else None

    @property
    def passed(self) -> bool:
        """Whether it passed; a skipped gate did not."""
        return self.verdict == "pass"

    @property
    def failed(self) -> bool:
        """Whether the run failed; a skipped gate did not, and labels that rotted are no fault of the run."""
        return self.verdict == "fail"

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        return f"{VERDICT_WORDS.get(self.verdict, self.verdict)}: {self.answer(printable)}."

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"GateResult({self.sentence})"

    def answer(self, show: Callable[[str], str]) -> str:
        """The sentence without the verdict; names from data are escaped by ``show``."""
        if self.reason is not None:
            return self.reason
        parts = [*self._baseline_sentence(show), *self._requirements_sentence()]
        only_missed = self.failed and self.blame is None  # what failed comes first
        found = [*self._failures_sentence(show), *self._leaks_sentence(show)]
        ordered = [*found, *(reversed(parts) if only_missed else parts)]
        return "; ".join(ordered if self.rot is None else self._with_rot(self.rot, ordered))

    def _with_rot(self, rot: LabelCheck, parts: list[str]) -> list[str]:
        """What is known about rotted labels, and that the rest holds for the other queries; what failed comes first."""
        touched, tested = plural(len(rot.rotted_queries), "query"), len(self.scores)
        labels = f"{rot.summary}, relevant ones in {touched}"
        if not tested:
            return [f"{labels}; no query is left to test the retriever with"]
        which = f"on the {plural(tested, 'query')} whose labels fit"
        return (
            [f"{which}, {parts[0]}", *parts[1:], labels]
            if self.failed
            else [labels, f"{which}, {parts[0]}", *parts[1:]]
        )

    @property
    def affected(self) -> list[AffectedQuery]:
        """The queries behind leaks, behind false answers that are new, and those that lost evidence."""
        found = [AffectedQuery("leaked", leak.query, f"{leak.document} at rank {leak.rank}") for leak in self.leaks]
        for row in self.compared:
            if row.measure == "FalseAnswer":
                found += [
                    AffectedQuery("answered", query, "has no answer") for query, before, now in self._worse_queries(row)
                ]
            elif row.measure.startswith(("StRecall", "EvidenceAll")) and self.evaluation.qrels.lists_evidence:
                found += [
                    AffectedQuery("lost", query, f"{row.measure} {number(before, 2)} → {number(now, 2)}")
                    for query, before, now in self._worse_queries(row)
                ]
        return list({(one.kind, one.query): one for one in reversed(found)}.values())[::-1]

    def _worse_queries(self, row: ComparedMeasure) -> list[tuple[str, float, float]]:
        """The queries on which a measure got worse, with its values before and now."""
        if self.baseline is None or row.measure not in self.baseline.measures:
            return []
        before, now = self.baseline.column(row.measure), self.scores.per_query(row.measure)
        pairs = [(query, before[place], now.get(query)) for place, query in enumerate(self.baseline.queries)]
        sign = -1 if row.lower_is_better else 1
        return [(query, float(old), new) for query, old, new in pairs if new is not None and sign * (old - new) > 0]

    @property
    def leaks(self) -> list[Leak]:
        """The forbidden documents that a requirement on leaks did not allow."""
        missed = required_measures(row.requirement for row in self.required if not row.met)
        guards = [measure for measure in missed if measure.definition.name == "Leak"]
        return list(dict.fromkeys(leak for measure in guards for leak in self.scores.leaks(measure)))

    def _leaks_sentence(self, show: Callable[[str], str]) -> list[str]:
        found = [f"{show(leak.document)} at rank {leak.rank} for {show(leak.query)}" for leak in self.leaks]
        return [f"{plural(len(found), 'forbidden document')} returned: {enumeration(found)}"] if found else []

    def _failures_sentence(self, show: Callable[[str], str]) -> list[str]:
        failed = [show(query) for query in self.failed_queries]
        return [f"the retriever failed for {plural(len(failed), 'query')} ({enumeration(failed)})"] if failed else []

    def _baseline_sentence(self, show: Callable[[str], str]) -> list[str]:
        if self.baseline is None:
            return []
        name, baseline = show(self.scores.run), show(self.baseline.run)
        if name == baseline or self.baseline.anchor is not None:
            name, baseline = "this run", "the baseline"
        elif len({run.name for run in self.baseline.runs}) > 1:
            baseline = "the baseline"
        losses = [(baseline, self.compared)]
        if self.baseline.anchor is not None:
            losses.append((f"the anchor {show(self.baseline.anchor.run)}", self.anchored))
        worse = [f"{other} on {enumeration(_drops(rows))}" for other, rows in losses if _drops(rows)]
        better = [row.measure for row in self.compared if row.decision.outcome == "no worse" and not self.rule.margin]
        if worse:
            but = f", and better on {enumeration(better)}" if better else ""
            return [f"{name} is worse than {' and than '.join(worse)}{but}"]
        outcomes = {row.decision.outcome for row in self.compared}
        if outcomes == {"unchanged"}:
            return [f"{name} has the same values as {baseline}"]
        held = [row.measure for row in self.compared if row.decision.outcome == "no worse"]
        unchanged = [row.measure for row in self.compared if row.decision.outcome == "unchanged"]
        inconclusive = [row.measure for row in self.compared if row.decision.outcome == "inconclusive"]
        margin = f" by the margin of {given(self.rule.margin)}" if self.rule.margin else ""
        parts = [f"{name} is no worse than {baseline}{margin} on {enumeration(held)}"] if held else []
        if unchanged:
            parts.append(f"{'' if held else f'{name} is '}unchanged on {enumeration(unchanged)}")
        if inconclusive:
            parts.append(f"inconclusive on {enumeration(inconclusive)}" if parts else "no significant drop")
        return parts

    def _requirements_sentence(self) -> list[str]:
        missed = [row for row in self.required if not row.met]
        if missed:
            texts = [f"{row.requirement} ({row.value_text})" for row in missed]
            return [f"missed {enumeration(texts)}"]
        if not self.required:
            return []
        verb = "is" if len(self.required) == 1 else "are"
        return [f"{plural(len(self.required), 'requirement')} {verb} met"]

    @property
    def test_description(self) -> str:
        """How drops are tested."""
        statistics = self.rule.statistics
        sides = "two-sided" if self.rule.two_sided else "one-sided"
        families = []
        for lower in (False, True):
            size, anchored = (
                sum(row.lower_is_better == lower for row in rows) for rows in (self.compared, self.anchored)
            )
            if size:
                factors = [(size, "measure"), *([(2, "baseline")] if anchored else [])]
                families.append(describe_family(statistics.correction, size + anchored, *factors))
        if len(families) > 1:
            families[1] = f"lower is better: {families[1]}"
        return f"{sides} paired {statistics.test} test, {'; '.join(families)}"

    @cached_property
    def false_alarm_rate(self) -> float | None:
        """The share of unchanged builds that 95 of 100 baselines like this one fail at most; None if it is unknown.

        It is that of the noisiest measure, tested alone: as if all measures moved together, which is the worst case.
        """
        alpha = self.rule.alpha / (2 if self.rule.two_sided else 1)
        rates = [
            false_alarm_quantile(row.noise, row.decision.units, alpha=alpha, margin=self.rule.margin)
            for row in self.compared
            if row.noise is not None
        ]
        return max((rate for rate in rates if rate is not None), default=None)

    def _baseline_dict(self, baseline: Baseline) -> dict[str, Any]:
        return {
            "run": baseline.run,
            "sha256": baseline.run_sha256,
            "file": baseline.source,
            "runs": len(baseline.runs),
            "false_alarm_rate_95": self.false_alarm_rate,
        }

    def _rot_dict(self, rot: LabelCheck) -> dict[str, Any]:
        return {
            "corpus": rot.corpus,
            "labels": len(rot.labels),
            **{state: rot.counts[state] for state in LABEL_STATES},
            "queries": sorted(rot.rotted_queries),
            "tested_queries": len(self.scores),
            "rotted": [asdict(label) for label in rot.rotted],
        }

    def to_dict(self) -> dict[str, Any]:
        """What JSON has under ``gate``, beside the scores."""
        statistics = self.rule.statistics
        blame = None if self.blame is None else asdict(self.blame)
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "margin": self.rule.margin,
            "confidence": statistics.confidence,
            "power": POWER,
            "two_sided": self.rule.two_sided,
            "test": statistics.test,
            "correction": statistics.correction,
            "resamples": statistics.draws,
            "seed": statistics.seed,
            "description": self.test_description if self.compared else None,
            "baseline": None if self.baseline is None else self._baseline_dict(self.baseline),
            "required": [row.to_dict() for row in self.required],
            "compared": [row.to_dict() for row in self.compared],
            "anchor": None if self.baseline is None or self.baseline.anchor is None else self.baseline.anchor.run,
            "anchored": [row.to_dict() for row in self.anchored],
            "blame": blame,
            "rot": None if self.rot is None else self._rot_dict(self.rot),
            "labels": None if self.growth is None else self.growth.to_dict(),
            "failed_queries": list(self.failed_queries),
            "leaks": [leak.to_dict() for leak in self.leaks],
            "affected": [asdict(one) for one in self.affected],
            "notes": [asdict(note) for note in self.notes],
        }


def _drops(rows: tuple[ComparedMeasure, ...]) -> list[str]:
    """The measures that got worse, each with its change."""
    return [
        f"{row.measure} ({signed(row.change, CHANGE_DIGITS)}, {p_equals(row.decision.p)})"
        for row in rows
        if row.decision.outcome == "worse"
    ]


def enumeration(parts: list[str]) -> str:
    """The parts of a list as a sentence has them: ``a, b and c``."""
    kept = (
        parts
        if len(parts) <= MAX_MEASURES_NAMED + 1
        else [*parts[:MAX_MEASURES_NAMED], f"{len(parts) - MAX_MEASURES_NAMED} more"]
    )
    return kept[0] if len(kept) == 1 else f"{', '.join(kept[:-1])} and {kept[-1]}"
