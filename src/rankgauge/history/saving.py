"""What is saved of an evaluation: each of its runs as an entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from rankgauge.core.hits import Hits
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.history.entries import EntryFacts, EntrySummary
from rankgauge.history.repository import git_state
from rankgauge.history.store import History
from rankgauge.measures.parse import parse_measure
from rankgauge.report.report import Cost

COVERAGE = "Judged@10"


@dataclass(frozen=True)
class SaveOptions:
    """What is said of all entries that are saved together."""

    facts: EntryFacts
    keep_run: bool = False
    date: datetime | None = None


def save_evaluation(
    history: History,
    evaluation: Evaluation,
    options: SaveOptions,
    *,
    costs: Mapping[str, Cost] | None = None,
    only: Sequence[int] | None = None,
) -> list[EntrySummary]:
    """Save the runs of an evaluation, or some of them; ``costs`` are by the names of the systems."""
    git = git_state()
    saved = []
    for index, scores in enumerate(evaluation.scores):
        if only is not None and index not in only:
            continue
        joined = evaluation.joined[index] if evaluation.joined else None
        facts = replace(
            options.facts,
            cost=(costs or {}).get(scores.run, options.facts.cost),
            coverage=None if joined is None else coverage_of(joined.hits),
        )
        run = joined.run if options.keep_run and joined is not None else None
        saved.append(history.save(scores, evaluation.qrels, run=run, facts=facts, date=options.date, git=git))
    return saved


def coverage_of(hits: Hits) -> float | None:
    """The mean share of the top 10 that is judged; None if there is no query."""
    values = parse_measure(COVERAGE)(hits) if len(hits) and hits.judgments == "grades" else np.zeros(0)
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else None
