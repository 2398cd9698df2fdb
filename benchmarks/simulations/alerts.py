"""Alerts: how often does a nightly check report a change if there is none, and how often and how soon a true drop?

Every night has an entry and a check of the newest 50, which reports changes of the last 7 nights that it has not
reported yet. A drop comes in the middle of the sequence.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.simulations._populations import Population
from benchmarks.simulations._tables import SEED, table
from benchmarks.simulations.changes import normal
from rankgauge.history import QualityChange
from rankgauge.history.quality_checks import CheckOptions, ReportedRange, unreported
from rankgauge.history.trends import DEFAULT_LAST
from rankgauge.stats import Resampling, change_points

CONFIDENCE = CheckOptions().confidence
DRAWS = 40
NIGHTS = 100
RESAMPLES = 299
QUERIES, RECENT = 50, 7
DROPS = (0.0, 0.05)


def reports(rng: np.random.Generator, drop: float) -> list[int]:
    """The nights on which something was reported."""
    values = normal(rng, QUERIES, NIGHTS)
    values[:, NIGHTS // 2 :] -= drop
    known: list[ReportedRange] = []
    nights = []
    for night in range(2, NIGHTS + 1):
        first = max(0, night - DEFAULT_LAST)
        resampling = Resampling(RESAMPLES, night)
        found = change_points(values[:, first:night], alpha=round(1 - CONFIDENCE, 12), resampling=resampling)
        changes = [
            _change(first + point.index, first + point.first, first + point.last, point.difference)
            for point in found.points
            if first + point.last >= night - RECENT
        ]
        for change in unreported(changes, known):
            known.append(ReportedRange(change.uid, change.after_time, change.until_time, change.difference))
            nights.append(night - 1)
    return nights


def _change(index: int, first: int, last: int, difference: float) -> QualityChange:
    return QualityChange(
        measure="", system="", collection="", branch=None, entry="", saved="", commit=None, after="", until="",
        difference=difference, p=0.0, is_worse=difference < 0,
        uid=f"{index:05}", after_time=f"{first:05}", until_time=f"{last:05}",
    )  # fmt: skip


def row(drop: float) -> list[str]:
    rng = np.random.default_rng(SEED)
    middle = NIGHTS // 2
    nights = [reports(rng, drop) for _ in range(DRAWS)]
    before = [sum(night < middle for night in found) for found in nights]
    after = [[night - middle for night in found if night >= middle] for found in nights]
    delays = [found[0] for found in after if found]
    return [
        f"{drop:g}",
        f"{np.mean([bool(count) for count in before]):.0%}",
        f"{np.mean([bool(found) for found in after]):.0%}",
        f"{np.mean([len(found) > 1 for found in after]):.0%}",
        f"{np.median(delays):.0f}" if delays else "–",
    ]


def tables(_population: Population) -> Iterator[str]:
    """One row per size of the drop."""
    head = ["drop", "any report before", "any report from then on", "two or more", "nights until the first (median)"]
    yield table(
        f"A check every night for {NIGHTS} nights, {QUERIES} queries, confidence {CONFIDENCE:.0%}, drop after "
        f"{NIGHTS // 2} nights ({DRAWS} sequences each): share of sequences",
        head,
        [row(drop) for drop in DROPS],
    )
