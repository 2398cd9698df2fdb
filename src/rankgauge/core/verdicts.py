"""What a check decides, and its exit code; and the words for what a difference is: one table for every command.

``docs/reference/exit-codes.md`` shows it, and ``tests/cli/test_exit_codes.py`` tries every command on every outcome.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

CheckOutcome = Literal["pass", "skipped", "undecided", "undecidable", "fail"]
EXIT_CODES: dict[CheckOutcome, int] = {
    "pass": 0,
    "skipped": 0,  # there was nothing to check, and that is not a fault
    "undecided": 0,  # checked, and the data are too few to decide
    "undecidable": 2,  # cannot be decided from this input
    "fail": 1,
}
PRECEDENCE: tuple[CheckOutcome, ...] = ("fail", "undecidable", "undecided", "pass", "skipped")


def overall(outcomes: Iterable[CheckOutcome]) -> CheckOutcome:
    """The outcome of several checks: the first of ``PRECEDENCE`` that one of them has; of none, skipped."""
    every = set(outcomes)
    return next((outcome for outcome in PRECEDENCE if outcome in every), "skipped")


def exit_code(*outcomes: CheckOutcome) -> int:
    """The exit code of one or several checks."""
    return EXIT_CODES[overall(outcomes)]


# What a difference is, in a word: the same one in `compare`, `gate` and the history, in every output.

Comparative = Literal["better", "worse", "higher", "lower"]
Claim = Literal["equivalent", "no worse"]
DifferenceOutcome = Literal[
    "better",  # significantly
    "worse",  # significantly; in a gate, also by at least the margin
    "higher",  # significantly, on a measure that is neither good nor bad
    "lower",
    "negligible",  # significant, and shown to be smaller than the margin
    "equivalent",  # shown to be within the margin in both directions
    "no worse",  # shown not to be worse by the margin
    "inconclusive",  # none of these is shown
    "undecided",  # queries changed, and are too few for any change to be significant
    "unchanged",  # no query changed
    "not comparable",  # the results of the two sides do not allow a comparison
]
NOT_WORSE: frozenset[DifferenceOutcome] = frozenset({"better", "negligible", "equivalent", "no worse", "unchanged"})


def difference_outcome(
    significant: Comparative | None, claim: Claim | None, *, is_unchanged: bool = False, is_too_few: bool = False
) -> DifferenceOutcome:
    """The word for a difference: what is significant of it, and what its interval shows about the margin."""
    if is_unchanged:
        return "unchanged"
    if significant is not None:
        return significant if claim is None else "negligible"
    if claim is not None:
        return claim
    return "undecided" if is_too_few else "inconclusive"
