"""What a reader must know of the answers of a retriever besides the numbers, each said once with its count."""

from __future__ import annotations

from collections.abc import Sequence

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


OWN_NUMBER = (
    "it does not take k, so set its own number of results (LangChain: search_kwargs={{'k': {k}}}, "
    "LlamaIndex: similarity_top_k={k}, a function: a parameter k)"
)
MORE_CHUNKS = "chunks collapsed into documents, so fetch more of them: RetrieverCalls(fetch={fetch}), --fetch {fetch}"
CHUNKS_PER_DOCUMENT = 5  # for an example


def answer_notes(all_facts: Sequence[AnswerFacts], sizes: Sequence[int]) -> tuple[Note, ...]:
    """The notes on all answers; ``sizes`` are the numbers of results without those that were dropped."""
    kept = sum(sizes)
    notes = _short(all_facts, sizes)
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


def _short(all_facts: Sequence[AnswerFacts], sizes: Sequence[int]) -> list[Note]:
    """A note if no query has as many results as were requested, and some have results."""
    deepest = max(sizes, default=0)
    if not deepest or not all(size < facts.short_of for facts, size in zip(all_facts, sizes, strict=True)):
        return []
    k = max(facts.short_of for facts in all_facts)
    has_collapsed = any(facts.collapsed for facts in all_facts)
    advice = MORE_CHUNKS.format(fetch=CHUNKS_PER_DOCUMENT * k) if has_collapsed else OWN_NUMBER.format(k=k)
    results = plural(deepest, "document" if has_collapsed else "result")
    return [Note("results-short", f"the retriever returned at most {results} of the {k} requested: {advice}")]
