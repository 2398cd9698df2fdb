"""What a gate found: the verdict, and all that led to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from rankgauge.comparison.comparability import shared_causes
from rankgauge.comparison.differences import Mask
from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.changed_queries import QueryList, query_lists, query_texts
from rankgauge.comparison.gate.compared_measures import ComparedMeasure
from rankgauge.comparison.gate.golden import HeldQueries
from rankgauge.comparison.gate.lost_documents import LostDocuments
from rankgauge.comparison.gate.requirements import (
    LEAK,
    SHOWN_CHANGES,
    GateRule,
    QueryGroup,
    Requirement,
    required_measures,
)
from rankgauge.comparison.statistics_options import describe_family
from rankgauge.core.formatting import given, number, p_equals, plural, signed
from rankgauge.core.query_answers import Leak
from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Status
from rankgauge.core.verdicts import EXIT_CODES, CheckOutcome, DifferenceOutcome, overall
from rankgauge.errors import printable
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.evaluate import Evaluation, unique_names
from rankgauge.evaluation.query_groups import groups
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.measure import Measure
from rankgauge.stats.detectable import POWER

Verdict = Literal["pass", "fail", "undecided", "not comparable", "nothing to judge", "leaks unknown"]
VERDICT_OUTCOMES: dict[Verdict, CheckOutcome] = {
    "pass": "pass",
    "fail": "fail",
    "undecided": "undecided",
    "not comparable": "undecidable",
    "nothing to judge": "undecidable",
    "leaks unknown": "undecidable",
}
ROW_OUTCOMES: dict[DifferenceOutcome, CheckOutcome] = {  # others pass
    "worse": "fail",
    "not comparable": "undecidable",
    "undecided": "undecided",
}
MAX_MEASURES_NAMED = 4
WORST_NAMED = 3  # queries that got worse although the gate passed
CHANGE_DIGITS = 4


@dataclass(frozen=True, slots=True)
class RequiredValue:
    """A requirement and the value that met or missed it."""

    requirement: Requirement
    value: float | None
    met: bool
    low: float | None = None  # of the value's interval
    high: float | None = None
    group: QueryGroup | None = None

    @property
    def title(self) -> str:
        """The requirement, and the group if it is of one."""
        return str(self.requirement) if self.group is None else f"{self.requirement} [{self.group}]"

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
            "group": None if self.group is None else self.group._asdict(),
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
    measure: str


@dataclass(frozen=True, eq=False)
class GateResult(HtmlView):
    """The verdict of a gate, and everything that led to it.

    ``undecided`` means that queries got worse and are too few for any drop to be significant. Three verdicts say that
    nothing can be decided from this input: ``not comparable`` (the results of both sides were collected in different
    ways), ``nothing to judge`` (no result has a label), and ``leaks unknown`` (nothing forbidden may be returned, and
    some queries failed). None of these is a pass.
    """

    verdict: Verdict
    evaluation: Evaluation  # this run, then those of the baseline
    rule: GateRule
    required: tuple[RequiredValue, ...] = ()
    compared: tuple[ComparedMeasure, ...] = ()
    baseline: Baseline | None = None
    lost: LostDocuments | None = None  # if something got worse
    notes: tuple[Note, ...] = ()
    reason: str | None = None  # why there is nothing to judge
    grouped: tuple[ComparedMeasure, ...] = ()  # the same in each group of queries
    held: HeldQueries | None = None  # if every query was held to a requirement
    lost_queries: tuple[str, ...] = ()  # that the baseline has a value of, and this run has not
    lost_everything: bool = False  # whether no result is judged, although the baseline has judged ones
    changes: int = SHOWN_CHANGES  # queries behind each check that are shown
    document_texts: Mapping[str, str] = field(default_factory=dict)  # shown with documents; private by default
    hides_texts: bool = False  # whether the texts of queries are left out

    @property
    def scores(self) -> Scores:
        """The scores of this run."""
        return self.evaluation.scores[0]

    @property
    def failed_queries(self) -> tuple[str, ...]:
        """The queries for which a live retriever gave no answer."""
        failed = self.scores.status == Status.FAILED
        return tuple(query for query, is_failed in zip(self.scores.queries, failed, strict=True) if is_failed)

    @property
    def has_too_many_failures(self) -> bool:
        """Whether more queries failed than the rule allows."""
        return self.rule.max_failures is not None and len(self.failed_queries) > self.rule.max_failures

    @property
    def not_asked(self) -> tuple[str, ...]:
        """The labeled queries that the results do not have, though they would have them without results."""
        return tuple(self.scores.queries[row] for row in np.flatnonzero(~self.scores.asked).tolist())

    @property
    def lost_too_many(self) -> bool:
        """Whether more queries were lost than the rule allows to fail."""
        return self.rule.max_failures is not None and len(self.lost_queries) > self.rule.max_failures

    def page_evaluation(self) -> Evaluation:
        """The runs as a report shows them: the baseline first, under names of their own."""
        order = [*range(1, len(self.evaluation.scores)), 0]
        scores = tuple(self.evaluation.scores[index] for index in order)
        joined = tuple(self.evaluation.joined[index] for index in order if self.evaluation.joined)
        evaluation = replace(self.evaluation, scores=scores, joined=joined)
        names = [join.name for join in joined] or [run.run for run in scores]  # without rankings, there is no join
        return evaluation.renamed(unique_names(names))

    @cached_property
    def texts(self) -> dict[str, str]:
        """The texts of queries, as far as they are known and may be shown."""
        return {} if self.hides_texts else query_texts(self.evaluation.qrels, self.evaluation.texts)

    @cached_property
    def query_lists(self) -> list[QueryList]:
        """The queries behind each check, the worst first."""
        return query_lists(self, self.changes)

    @property
    def outcome(self) -> CheckOutcome:
        """What the verdict is in the table of outcomes and exit codes."""
        return VERDICT_OUTCOMES[self.verdict]

    @property
    def exit_code(self) -> int:
        """The exit code of `rankgauge gate`: 0 passed or undecided, 1 failed, 2 cannot be decided from this input."""
        return EXIT_CODES[self.outcome]

    @property
    def passed(self) -> bool:
        """Whether it passed; a gate that is undecided, or that cannot be decided, did not."""
        return self.verdict == "pass"

    @property
    def failed(self) -> bool:
        """Whether the run failed."""
        return self.verdict == "fail"

    @property
    def rows(self) -> tuple[ComparedMeasure, ...]:
        """Everything that is compared: of all queries, and in groups."""
        return (*self.compared, *self.grouped)

    def decided(self) -> GateResult:
        """The result with its verdict: what failed comes before what cannot be decided, and that before undecided."""
        outcomes: list[CheckOutcome] = [ROW_OUTCOMES.get(row.decision.outcome, "pass") for row in self.rows]
        outcomes += ["pass" if row.met else "fail" for row in self.required]
        outcomes += ["fail"] if self.held is not None and self.held.in_state("missed") else []
        outcomes += ["fail"] if self.lost_everything or self.lost_too_many else []
        if self.has_too_many_failures:
            outcomes.append("undecidable" if self.guards_leaks else "fail")
        if self.guards_leaks and self.not_asked:
            return replace(self, verdict="leaks unknown")
        if self.rule.undecided == "fail":
            outcomes = ["fail" if outcome == "undecided" else outcome for outcome in outcomes]
        outcome = overall([*outcomes, "pass"])
        if outcome == "undecidable":
            return replace(self, verdict=self._undecidable())
        verdict: Verdict = "fail" if outcome == "fail" else "undecided" if outcome == "undecided" else "pass"
        return replace(self, verdict=verdict)

    def _undecidable(self) -> Verdict:
        """Which verdict says that nothing can be decided."""
        return "leaks unknown" if self.guards_leaks and self.has_too_many_failures else "not comparable"

    @property
    def guards_leaks(self) -> bool:
        """Whether no forbidden document may be returned, on average or for any query."""
        of_queries = () if self.held is None else self.held.requirements
        required = required_measures([*(row.requirement for row in self.required), *of_queries])
        return any(measure.definition.name == LEAK for measure in required)

    def measure_of(self, name: str) -> Measure:
        """A measure by its canonical name."""
        return next(measure for measure in self.scores.measures if measure.name == name)

    def members_of(self, group: QueryGroup | None) -> Mask:
        """The queries of a group; all of them without one."""
        if group is None:
            return np.ones(len(self.scores), dtype=bool)
        return next(members for label, members in groups(self.scores.columns, group.by) if label == group.label)

    @property
    def quiet_losses(self) -> ComparedMeasure | None:
        """The measure on which most queries got worse although it did not fail; None if no query did."""
        losing = [row for row in self.compared if row.worse and ROW_OUTCOMES.get(row.decision.outcome) is None]
        return max(losing, key=lambda row: row.worse, default=None)

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        return f"{self.verdict}: {self.answer(printable)}."

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"GateResult({self.sentence})"

    def answer(self, show: Callable[[str], str]) -> str:
        """The sentence without the verdict; names from data are escaped by ``show``."""
        if self.reason is not None:
            return self.reason
        baseline = self._baseline_sentence(show)
        demands = [*self._held_sentence(show), *self._requirements_sentence()]
        if self.held is not None and not self.held.in_state("missed") and not all(row.met for row in self.required):
            demands.reverse()  # what failed is first
        has_drop = any(row.decision.outcome == "worse" for row in self.rows)
        parts = [*baseline, *demands] if has_drop or not self.failed else [*demands, *baseline]  # what failed is first
        failures, leaks = self._failures_sentence(show), self._leaks_sentence(show)
        parts = [*failures, *leaks, *parts] if self.has_too_many_failures else [*leaks, *parts, *failures]
        if self.guards_leaks and self.not_asked:
            named = enumeration([show(query) for query in self.not_asked])
            parts = [f"{plural(len(self.not_asked), 'labeled query')} not in the results ({named}) may leak", *parts]
        if self.lost_queries:
            named = enumeration([show(query) for query in self.lost_queries])
            verb = "has" if len(self.lost_queries) == 1 else "have"
            lost = f"{plural(len(self.lost_queries), 'query')} of the baseline {verb} no value now ({named})"
            parts = [lost, *parts] if self.lost_too_many else [*parts, f"{lost}, which is allowed"]
        return "; ".join(parts)

    def second_line(self, show: Callable[[str], str]) -> str | None:
        """How many queries got worse although the gate passed, and which most; None if none did, or it did not pass."""
        row = self.quiet_losses if self.passed else None
        if row is None:
            return None
        needed, n = row.decision.changes_needed, plural(row.decision.n, "query")
        text = f"{row.worse} of {n} got worse on {row.measure}"
        if needed is not None and row.worse < needed:
            text += f", fewer than the {needed} this test needs"
        elif row.better:
            text += f", {row.better} got better"
        named = ", ".join(show(loss.query) for loss in row.losses[:WORST_NAMED])
        return f"{text}: {named}{', …' if row.worse > WORST_NAMED else '.'}"

    @property
    def affected(self) -> list[AffectedQuery]:
        """The queries behind leaks, behind false answers that are new, and those that lost evidence."""
        found = [
            AffectedQuery("leaked", leak.query, f"{leak.document} at rank {leak.rank}", LEAK) for leak in self.leaks
        ]
        for row in self.compared:
            if row.measure == "FalseAnswer":
                found += [AffectedQuery("answered", loss.query, "has no answer", row.measure) for loss in row.losses]
            elif row.measure.startswith(("StRecall", "EvidenceAll")) and self.evaluation.qrels.lists_evidence:
                found += [
                    AffectedQuery("lost", query, f"{row.measure} {number(before, 2)} → {number(now, 2)}", row.measure)
                    for query, before, now in row.losses
                ]
        first: dict[tuple[str, ...], AffectedQuery] = {}
        for one in found:  # of several measures of its evidence, the first
            first.setdefault((one.kind, one.query, one.detail if one.kind == "leaked" else ""), one)
        return list(first.values())

    @property
    def leaks(self) -> list[Leak]:
        """The forbidden documents that a requirement on leaks did not allow, on average or for a query."""
        of_queries = [] if self.held is None else [miss.requirement for miss in self.held.in_state("missed")]
        missed = required_measures([*(row.requirement for row in self.required if not row.met), *of_queries])
        guards = [measure for measure in missed if measure.definition.name == LEAK]
        return list(dict.fromkeys(leak for measure in guards for leak in self.scores.leaks(measure)))

    def _leaks_sentence(self, show: Callable[[str], str]) -> list[str]:
        found = [f"{show(leak.document)} at rank {leak.rank} for {show(leak.query)}" for leak in self.leaks]
        return [f"{plural(len(found), 'forbidden document')} returned: {enumeration(found)}"] if found else []

    def _failures_sentence(self, show: Callable[[str], str]) -> list[str]:
        failed = [show(query) for query in self.failed_queries]
        if not failed:
            return []
        text = f"the retriever failed for {plural(len(failed), 'query')} ({enumeration(failed)})"
        if not self.has_too_many_failures:
            return [f"{text}, which is allowed"]
        may_leak = ", and queries that failed may leak" if self.guards_leaks and not self.leaks else ""
        return [f"{text}{may_leak}"]

    def _baseline_sentence(self, show: Callable[[str], str]) -> list[str]:
        if self.baseline is None:
            return []
        if self.lost_everything:
            return ["none of the retrieved documents is judged, and the baseline retrieved judged ones"]
        name, baseline = show(self.scores.run), show(self.baseline.run)
        if name == baseline:
            name, baseline = "this run", "the baseline"
        elif len({run.run for run in self.baseline.runs}) > 1:
            baseline = "the baseline"
        open_parts = [*self._incomparable_sentence(), *self._undecided_sentence()]
        worse = _drops(self.rows)
        measures_of = self._measures_by_outcome()
        if worse:
            better = measures_of.get("better")
            but = f", and better on {enumeration(better)}" if better else ""
            return [f"{name} is worse than {baseline} on {enumeration(worse)}{but}", *open_parts]
        if set(measures_of) == {"unchanged"}:
            return [*open_parts, f"{name} has the same values as {baseline}"]
        margin = given(self.rule.margin)
        phrases: dict[DifferenceOutcome, tuple[str, str, str]] = {  # before the other side, and after it
            "better": ("better", " than ", ""),
            "no worse": ("no worse", " than ", f" by the margin of {margin}"),
            "equivalent": ("equivalent", " to ", f" within ±{margin}"),
            "negligible": ("negligibly different", " from ", f" within ±{margin}"),
            "unchanged": ("unchanged", "", ""),
        }
        parts: list[str] = []
        for outcome, (word, joining, end) in phrases.items():
            if measures := measures_of.get(outcome):
                other = f"{joining}{baseline}" if joining and not parts else ""
                start = "" if parts else f"{name} is "
                parts.append(f"{start}{word}{other}{end} on {enumeration(measures)}")
        if inconclusive := measures_of.get("inconclusive"):
            drop = "no significant drop" + (f" of at least {margin}" if self.rule.margin else "")
            is_alone = not parts and not open_parts
            parts.append(drop if is_alone else f"inconclusive on {enumeration(inconclusive)}")
        return [*open_parts, *parts]

    def _measures_by_outcome(self) -> dict[DifferenceOutcome, list[str]]:
        """The measures that are compared with the baseline, by what was found of each."""
        found: dict[DifferenceOutcome, list[str]] = {}
        for row in self.compared:
            found.setdefault(row.decision.outcome, []).append(row.measure)
        return found

    def _incomparable_sentence(self) -> list[str]:
        """Why rows have no verdict, each cause once."""
        causes = shared_causes(row.reason for row in self.rows if row.reason is not None)
        if not causes:
            return []
        start = "" if self.verdict == "not comparable" else "not comparable: "
        return [start + "; ".join(causes)]

    def _undecided_sentence(self) -> list[str]:
        """How many queries got worse, and how many would be needed; not of queries that fail by themselves."""
        missed = set() if self.held is None else {miss.query for miss in self.held.in_state("missed")}
        rows = [
            row
            for row in self.rows
            if row.decision.outcome == "undecided"
            and not (row.worse == len(row.losses) and {loss.query for loss in row.losses} <= missed)
        ]
        parts = []
        for group in dict.fromkeys(row.group for row in rows):
            own = [row for row in rows if row.group == group]
            worst = max(own, key=lambda row: row.worse)
            where = "" if group is None else f" in {group}"
            text = f"{worst.worse} of {plural(worst.decision.n, 'query')}{where} got worse on "
            needed = max((row.queries_needed or 0 for row in own), default=0)
            enough = f": at least {needed} are needed" if needed else ""
            parts.append(f"{text}{enumeration([row.measure for row in own])}, too few to decide{enough}")
        return parts

    def _held_sentence(self, show: Callable[[str], str]) -> list[str]:
        """Which queries missed the requirement of each query."""
        held = self.held
        if held is None:
            return []
        missed = list(dict.fromkeys(miss.query for miss in held.in_state("missed")))
        own = held.requirements[0] if len(held.requirements) == 1 else None
        of = plural(held.queries, "query")
        if missed:
            kinds = {miss.requirement for miss in held.in_state("missed")}
            alone = next(iter(kinds)) if len(kinds) == 1 else None
            verb, what = ("misses", "its requirement") if len(missed) == 1 else ("miss", "their requirements")
            return [f"{len(missed)} of {of} {verb} {alone or what}: {enumeration([show(query) for query in missed])}"]
        excused = len({miss.query for miss in held.misses})
        if excused:
            verb = "is" if excused == 1 else "are"
            return [
                f"{held.queries - excused} of {of} meet {own or 'their requirements'}; {excused} {verb} known to miss"
            ]
        return [f"{'' if held.queries == 1 else 'every one of '}{of} meets {own or 'its requirement'}"]

    def _requirements_sentence(self) -> list[str]:
        missed = [row for row in self.required if not row.met]
        if missed:
            texts = [f"{row.title} ({row.value_text})" for row in missed]
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
        for is_lower in (False, True):
            rows, compared = (
                [row for row in some if row.reason is None and row.lower_is_better == is_lower]
                for some in (self.rows, self.compared)
            )
            if rows:
                factors = [(len(compared), "measure")]
                factors += [(1 + len({row.group for row in self.grouped}), "query set")] if self.grouped else []
                families.append(describe_family(statistics.correction, len(rows), *factors))
        if len(families) > 1:
            families[1] = f"lower is better: {families[1]}"
        described = "; ".join(families) or describe_family(statistics.correction, 0)
        return f"{sides} paired {statistics.test} test, {described}"

    def _baseline_dict(self, baseline: Baseline) -> dict[str, Any]:
        return {
            "run": baseline.run,
            "sha256": baseline.run_sha256,
            "runs": len(baseline.runs),
        }

    def to_dict(self) -> dict[str, Any]:
        """What JSON has under ``gate``, beside the scores."""
        statistics = self.rule.statistics
        return {
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "sentence": self.sentence,
            "margin": self.rule.margin,
            "confidence": statistics.confidence,
            "power": POWER,
            "two_sided": self.rule.two_sided,
            "undecided": self.rule.undecided,
            "test": statistics.test,
            "correction": statistics.correction,
            "resamples": statistics.draws,
            "seed": statistics.seed,
            "description": self.test_description if self.compared else None,
            "baseline": None if self.baseline is None else self._baseline_dict(self.baseline),
            "required": [row.to_dict() for row in self.required],
            "held": None if self.held is None else self.held.to_dict(),
            "compared": [row.to_dict() for row in self.compared],
            "grouped": [row.to_dict() for row in self.grouped],
            "queries": [one.to_dict(self.texts, self.document_texts) for one in self.query_lists],
            "lost_documents": None if self.lost is None else self.lost.to_dict(),
            "failed_queries": list(self.failed_queries),
            "lost_queries": list(self.lost_queries),
            "not_asked": list(self.not_asked),
            "forbidden_unseen": list(self.scores.answers.unseen) if self.scores.answers is not None else [],
            "leaks": [leak.to_dict() for leak in self.leaks],
            "affected": [asdict(one) for one in self.affected],
            "notes": [asdict(note) for note in self.notes],
        }


def _drops(rows: tuple[ComparedMeasure, ...]) -> list[str]:
    """The measures that got worse, each with its change."""
    return [
        f"{row.title} ({signed(row.change, CHANGE_DIGITS)}, {p_equals(row.decision.p)})"
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
