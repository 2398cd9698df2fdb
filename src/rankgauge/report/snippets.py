"""The beginnings of the documents that stand in front somewhere, so that a page can show them."""

from __future__ import annotations

from collections.abc import Iterable

from rankgauge.evaluation.evaluate import AnyRun
from rankgauge.io.join.inputs import as_run
from rankgauge.retrieval.corpus.documents import Documents

CHARACTERS = 240
RANKS = 10  # of each run whose documents have a snippet


def snippets_of(documents: Documents, runs: Iterable[AnyRun]) -> dict[str, str]:
    """By document id, in the corpus's order. The corpus is read once, the runs one after the other."""
    wanted: set[bytes] = set()
    for run in runs:
        wanted.update(as_run(run, on_duplicate="first").top(RANKS).docs)
    return {
        document.id.decode("utf-8", "surrogateescape"): shortened(document.whole)
        for document in documents
        if document.id in wanted
    }


def shortened(text: str) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= CHARACTERS else line[: CHARACTERS - 1].rstrip() + "…"
