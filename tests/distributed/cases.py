"""Judgments and runs with what makes a distributed evaluation hard, for the kernel's tests and for Spark's checks."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.evaluation.scores import Scores

QUERIES = 24
Row = tuple[str, str, str, float]  # run, query, document, score


def judgments(seed: int = 1) -> dict[str, dict[str, float]]:
    """Grades from −1 to 3 for each query; one query has only a negative grade, and one no relevant document."""
    draw = random.Random(seed)
    judged: dict[str, dict[str, float]] = {
        f"q{query}": {f"d{draw.randrange(50)}": draw.choice([-1, 0, 1, 2, 3]) for _ in range(9)}
        for query in range(QUERIES)
    }
    return {**judged, "nothing": {"d1": -1}, "irrelevant": {"d1": 0, "d2": -1}, "é": {"d1": 1, "ü": 2}}


def results(seed: int = 2, runs: str = "ab") -> list[Row]:
    """Shuffled results with many ties; some judged queries have none, and some queries are not judged."""
    draw = random.Random(seed)
    names = [*(f"q{query}" for query in range(3, QUERIES + 5)), "nothing", "irrelevant", "é"]
    rows = []
    for run in runs:
        for query in names:
            if draw.random() < 0.9:
                documents = draw.sample([*(f"d{number}" for number in range(50)), "ü"], draw.randrange(1, 30))
                rows += [(run, query, doc, draw.choice([0.5, 1.0, 2.0, 1 + 1e-9, draw.random()])) for doc in documents]
    draw.shuffle(rows)
    return rows


def local_scores(qrels: Any, rows: list[Row], run: str, measures: Any, **options: Any) -> Scores:
    """What one machine computes for one of the runs."""
    own = [row for row in rows if row[0] == run]
    judged = qrels if isinstance(qrels, Qrels) else Qrels.from_dict(qrels)
    queries, docs, scores = ([row[1] for row in own], [row[2] for row in own], [row[3] for row in own])
    return evaluate(judged, Run.from_columns(queries, docs, scores, name=run), measures, **options)


def assert_same(scores: Scores, expected: Scores) -> None:
    """Raise unless two results are the same to the last bit, with the same caveats."""
    assert scores.run == expected.run
    assert scores.queries == expected.queries
    assert scores.measures == expected.measures
    assert scores.requested == expected.requested
    assert scores.values.tobytes() == expected.values.tobytes()
    assert np.array_equal(scores.averaged, expected.averaged)
    assert np.array_equal(scores.status, expected.status)
    assert np.array_equal(scores.without_relevant, expected.without_relevant)
    assert scores.over_queries == expected.over_queries
    # Only one machine looks for ids that nearly match, and counts relevant documents from another grade than 1 on.
    own = [note for note in expected.notes if not note.code.startswith("ids-") and "RecallAll(rel=" not in note.message]
    assert list(scores.notes) == own
