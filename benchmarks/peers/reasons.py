"""Why a number or a name differs. Each reason is checked: most by giving the peer's number with another name here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.peers.checks import Check, NameCheck
from benchmarks.peers.outcomes import TEXTS, Evaluator, Outcome, is_same
from rankgauge import Conventions
from rankgauge.measures import parse_measures

CONVENTIONS = "../concepts/conventions.md"


@dataclass(frozen=True)
class Reason:
    """A convention that explains differences, and what to write for the peer's number; both in Markdown."""

    convention: str
    remedy: str
    explains: Callable[[Evaluator, Outcome], bool]


def _measure_named(pattern: str, replacement: str, provider: str) -> Callable[[Evaluator, Outcome], bool]:
    """The same number under another name."""

    def explains(evaluator: Evaluator, outcome: Outcome) -> bool:
        check = outcome.check
        if not isinstance(check, Check) or not isinstance(check.expected, float) or check.value.provider != provider:
            return False
        name, count = re.subn(pattern, replacement, check.value.measure)
        return count > 0 and is_same(
            evaluator.value(replace(check.value, measure=name)), check.expected, check.tolerance
        )

    return explains


def _only_queries_of_the_run(evaluator: Evaluator, outcome: Outcome) -> bool:
    check = outcome.check
    if not isinstance(check, Check) or not isinstance(check.expected, float) or check.value.provider != "accuracy":
        return False
    return is_same(evaluator.value(check.value, Conventions(query_set="both")), check.expected, check.tolerance)


def _run_used_up(_: Evaluator, outcome: Outcome) -> bool:
    check = outcome.check
    if not isinstance(check, Check) or check.value.provider != "pyndeval":
        return False
    return check.expected == 0 and "rel=" in check.value.measure


def _logarithm(_: Evaluator, outcome: Outcome) -> bool:
    check = outcome.check
    if not isinstance(check, Check) or not isinstance(check.expected, float) or outcome.value is None:
        return False
    logarithm = math.log(max(outcome.value, 1e-5))  # trec_eval's least value
    return check.value.measure.startswith("gm_") and is_same(logarithm, check.expected, check.tolerance)


def _interpolated_precision_of_nothing(evaluator: Evaluator, outcome: Outcome) -> bool:
    check = outcome.check
    if not isinstance(check, Check) or not isinstance(check.expected, float) or check.value.query is None:
        return False
    ranking = evaluator.inputs[check.value.input].run.get(check.value.query)
    return math.isnan(check.expected) and ranking == {} and outcome.value == 0


def _without_geometric_mean(_: Evaluator, outcome: Outcome) -> bool:
    check = outcome.check
    return isinstance(check, NameCheck) and set(parse_measures(check.requested)) == set(
        parse_measures([*check.expected, "GMAP"])
    )


def _default_cutoffs_replaced(_: Evaluator, outcome: Outcome) -> bool:
    check = outcome.check
    if not isinstance(check, NameCheck):
        return False
    requested = [
        name
        for name in check.requested
        if not any(other != name and re.match(rf"{name}[._][0-9]", other) for other in check.requested)
    ]
    return set(parse_measures(requested)) == set(parse_measures([name for name in check.expected if name not in TEXTS]))


REASONS = {
    "ir_measures": (
        Reason(
            f"ERR: 4 is the largest grade, instead of that [of the judgments]({CONVENTIONS})",
            "`ERR(max_rel=4)@20`",
            _measure_named(r"^ERR@", "ERR(max_rel=4)@", "gdeval"),
        ),
        Reason(
            f"nDCG from gdeval: [gain]({CONVENTIONS}) 2^grade − 1 under the name `nDCG@20`",
            "`nDCG(gain='exp')@20`",
            _measure_named(r"^nDCG@", "nDCG(gain='exp')@", "gdeval"),
        ),
        Reason(
            f"SetF: [beta]({CONVENTIONS}) is trec_eval's weight, not that of F-beta",
            "`SetF(weight=2)`",
            _measure_named(r"\bbeta=", "weight=", "pytrec_eval"),
        ),
        Reason(
            f"Accuracy: the mean [leaves out judged queries]({CONVENTIONS}) that the run lacks",
            '`Conventions(query_set="both")`',
            _only_queries_of_the_run,
        ),
        Reason(
            "measures over subtopics with another `rel=` in the same call: 0, because the first ones use up the run",
            "the measures one by one",
            _run_used_up,
        ),
        Reason("`official` lacks trec_eval's gm_map", "the measures one by one", _without_geometric_mean),
    ),
    "pytrec_eval": (
        Reason(
            "gm_map, gm_bpref of one query: the logarithm, instead of the value (the mean agrees)",
            "`math.log(max(value, 1e-5))`",
            _logarithm,
        ),
        Reason(
            "iprec_at_recall_0.00, 11pt_avg of an empty ranking: NaN, instead of 0",
            "–",
            _interpolated_precision_of_nothing,
        ),
        Reason(
            "`ndcg_cut` beside `ndcg_cut.1,4`: named cutoffs replace the default ones, instead of adding to them",
            "`ndcg_cut.1,4` alone",
            _default_cutoffs_replaced,
        ),
    ),
}


def reason_for(peer: str, evaluator: Evaluator, outcome: Outcome) -> Reason | None:
    """The convention that explains a difference; None if there is none."""
    return next((reason for reason in REASONS[peer] if reason.explains(evaluator, outcome)), None)
