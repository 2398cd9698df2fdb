"""What a check decides, and its exit code: one table for every command that has a verdict.

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
