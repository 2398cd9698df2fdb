"""The names and the defaults of options, apart from the tests, so that a command line can list them cheaply."""

from __future__ import annotations

from typing import Literal, get_args

Alternative = Literal["two-sided", "less", "greater"]
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)
PairedTest = Literal["t", "randomization", "wilcoxon", "sign", "bootstrap"]
PAIRED_TESTS: tuple[PairedTest, ...] = get_args(PairedTest)
PERMUTATIONS = 100_000  # the default number for tests that permute
RESAMPLES = 10_000  # the default number for bootstraps
