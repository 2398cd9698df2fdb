"""Test cases whose gold is text: quotes are not ids, and scored as ids they would silently be worth 0."""

from __future__ import annotations

from collections.abc import Collection

from rankgauge.errors import InputError, shown
from rankgauge.rag.cases import Cases

MIN_SENTENCE = 5  # words from which a value is a sentence, even if ids have white space
HINT = (
    "quotes are labels by text: score them with --gold in place of --cases, or with rankgauge.labels.evaluate_gold; "
    'ids that have white space belong under "relevant_ids"'
)


def check_no_quotes(cases: Cases, retrieved: Collection[str]) -> None:
    """Raise if what should be ids are quotes: text that no result of any query has as its id.

    White space makes a text, unless results have ids with white space; then a sentence does. Ids under a key that says
    so (relevant_ids) are ids.
    """
    if cases.has_id_key or not retrieved:
        return
    values = [
        (case, value) for case in cases.cases for value in cases.judgments[case.id].relevant if len(value.split()) > 1
    ]
    if any(value in retrieved for _, value in values):
        return
    least = MIN_SENTENCE if any(len(name.split()) > 1 for name in retrieved) else 2
    for case, value in values:
        if len(value.split()) >= least:
            raise InputError.at(
                cases.source,
                None,
                f"expected the ids of relevant documents for query {shown(case.id)}, found text that is the id of no "
                f"result: {shown(value)}",
                hint=HINT,
            )
