"""What a reader must know of the answers of a retriever besides the numbers, each said once with its count."""

from __future__ import annotations

from collections.abc import Iterable

from rankgauge.core.formatting import plural
from rankgauge.errors import Note
from rankgauge.retrieval.asking.failures import AnswerFacts

SCORE_FAULTS = {
    "ascending": (
        "scores ascend in {queries}, as distances do: the order of the results counts "
        "(scores='distance', --scores distance, if they are distances)"
    ),
    "unsorted": (
        "scores contradict the order of the results in {queries}: the order counts (scores='similarity', "
        "--scores similarity, sorts by score; scores='ignore', --scores ignore, uses the order alone)"
    ),
    "incomplete": (
        "some results have no score in {queries}: the order of the results counts "
        "(scores='ignore', --scores ignore, uses the order alone)"
    ),
}


def answer_notes(facts: Iterable[AnswerFacts], kept: int) -> tuple[Note, ...]:
    """The notes on all answers; ``kept`` is the number of results without those that were dropped."""
    all_facts = list(facts)
    notes = []
    for fault, message in SCORE_FAULTS.items():
        count = sum(answer.fault == fault for answer in all_facts)
        if count:
            queries = f"{count:,} of {plural(len(all_facts), 'query')}"
            notes.append(Note("score-order", message.format(queries=queries)))
    collapsed = sum(answer.collapsed for answer in all_facts)
    if collapsed:
        chunks = f"{collapsed + kept} chunks collapsed into {kept} documents"
        notes.append(Note("chunks-collapsed", f"{chunks}: {collapsed} dropped"))
    repeated = sum(answer.repeated for answer in all_facts)
    if repeated:
        verb = "repeats" if repeated == 1 else "repeat"
        results = plural(repeated, "result")
        notes.append(
            Note("results-repeated", f"{results} {verb} an id of the same query: counted once, at the first rank")
        )
    return tuple(notes)
