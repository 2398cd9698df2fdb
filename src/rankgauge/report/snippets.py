"""The first words of documents near the top of a ranking, which the page shows."""

from __future__ import annotations

from collections.abc import Iterable

from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run
from rankgauge.io.corpus.corpus import Corpus

MAX_CHARACTERS = 240
TOP_RANKS = 10  # of each run whose documents have a snippet


def snippets_of(documents: Corpus, runs: Iterable[Run | None], compat: Compat = "trec_eval-9") -> dict[str, str]:
    """Snippets by document id, in the order of the corpus, which is streamed once."""
    return snippets_and_count(documents, runs, compat)[0]


def snippets_and_count(
    documents: Corpus, runs: Iterable[Run | None], compat: Compat = "trec_eval-9"
) -> tuple[dict[str, str], int]:
    """The snippets, and the number of documents in the corpus, which is streamed once for both."""
    top: set[bytes] = set()
    for run in runs:
        if run is not None:
            top.update(run.top(TOP_RANKS, compat).docs)
    snippets, count = {}, 0
    for document in documents:
        count += 1
        if document.id in top:
            snippets[document.id.decode("utf-8", "surrogateescape")] = shortened(document.full_text)
    return snippets, count


def shortened(text: str) -> str:
    """The first words of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_CHARACTERS else line[: MAX_CHARACTERS - 1].rstrip() + "…"
