"""The first words of documents near the top of a ranking, which the page shows."""

from __future__ import annotations

from collections.abc import Iterable

from rankgauge.core.run import Run
from rankgauge.io.corpus.corpus import Corpus

MAX_CHARACTERS = 240
TOP_RANKS = 10  # of each run whose documents have a snippet


def snippets_of(documents: Corpus, runs: Iterable[Run | None]) -> dict[str, str]:
    """Snippets by document id, in the order of the corpus, which is read once."""
    top: set[bytes] = set()
    for run in runs:
        if run is not None:
            top.update(run.top(TOP_RANKS).docs)
    return {
        document.id.decode("utf-8", "surrogateescape"): shortened(document.full_text)
        for document in documents
        if document.id in top
    }


def shortened(text: str) -> str:
    """The first words of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_CHARACTERS else line[: MAX_CHARACTERS - 1].rstrip() + "…"
