"""Answers and refusals, and documents that must not be returned: what a user of an assistant notices first.

A query is answered if the log says so, else if a result reaches ``measures.min_score``, else if any result is returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.errors import MeasureError
from rankgauge.measures.measure import MeasureScale
from rankgauge.measures.registry import ANY_RELEVANT, measure, needs, over

if TYPE_CHECKING:
    from rankgauge.core.query_answers import Mask, QueryAnswers

LOWER = MeasureScale(better="lower")


def _answers(hits: Hits) -> QueryAnswers:
    if hits.answers is None:  # on a cluster, or for plain lists
        raise MeasureError(
            "measures of answers and leaks need the whole run, its labels and its metadata",
            hint="evaluate a log, or test cases and results: rankgauge evaluate today.jsonl",
        )
    return hits.answers


def _among(values: Mask, queries: Mask) -> PerQuery:
    """1 or 0 for some of the queries, no value for the others."""
    return np.where(queries, values.astype(float), np.nan)


@measure("RightAnswer", aliases=("right_answer",), at="cutoff", judged_only=False, missing=None)
@needs(*ANY_RELEVANT, "passages")
@over("answerable")
def right_answer(hits: Hits, *, cutoff: int, rel: float = 1) -> PerQuery:
    """1 if a query that has an answer is answered, and a relevant document is among the first k.

    The others are wrong answers or wrong refusals. Queries without an answer have no value.

    Formula: 1 if answered and a relevant document is in the top k, else 0
    """
    answers = _answers(hits)
    if hits.judgments == "passages":
        from rankgauge.measures.families.diversity import st_recall

        is_found = st_recall.kernel(hits, cutoff=cutoff, rel=rel) > 0
    else:
        is_found = hits.top(cutoff).relevant(rel).count > 0
    return _among(answers.is_answered & is_found, answers.is_classed & ~answers.is_unanswerable)


@measure("WrongRefusal", aliases=("wrong_refusal",), judged_only=False, missing=None, scale=LOWER)
@needs(None)
@over("answerable")
def wrong_refusal(hits: Hits) -> PerQuery:
    """1 if a query that has an answer is not answered. Queries without an answer have no value.

    Formula: 1 if not answered, else 0
    """
    answers = _answers(hits)
    return _among(~answers.is_answered, answers.is_classed & ~answers.is_unanswerable)


@measure("FalseAnswer", aliases=("false_answer",), judged_only=False, missing=None, scale=LOWER)
@needs(None)
@over("unanswerable")
def false_answer(hits: Hits) -> PerQuery:
    """1 if a query that has no answer is answered all the same. Queries that have an answer have no value.

    Formula: 1 if answered, else 0
    """
    answers = _answers(hits)
    return _among(answers.is_answered, answers.is_classed & answers.is_unanswerable)


@measure("RightRefusal", aliases=("right_refusal",), judged_only=False, missing=None)
@needs(None)
@over("unanswerable")
def right_refusal(hits: Hits) -> PerQuery:
    """1 if a query that has no answer is not answered: 1 − FalseAnswer.

    Formula: 1 if not answered, else 0
    """
    return 1 - false_answer.kernel(hits)


@measure("Leak", aliases=("leak",), at="cutoff", judged_only=False, missing=None, scale=LOWER)
@needs(None)
@over("guarded")
def leak(hits: Hits, *, cutoff: int | None = None) -> PerQuery:
    """1 if a forbidden document is among the first k, or anywhere in the ranking without k.

    It has a value for queries to which a list (forbidden in test cases and logs, the file reading.forbidden) or a rule
    (--forbid) applies. Its interval is an exact one-sided bound: 0 of 60 is at most 4.9%.

    Formula: 1 if a forbidden document is in the top k, else 0
    """
    answers = _answers(hits)
    rank = answers.forbidden_rank
    is_leak = rank > 0 if cutoff is None else (rank > 0) & (rank <= cutoff)
    return _among(is_leak, answers.is_guarded)
