"""The whole page inside a notebook: in a frame of its own, which can run its scripts and reach nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from rankgauge.comparison.result import Comparison
from rankgauge.core.formatting import byte_size
from rankgauge.history.store import History
from rankgauge.io.writing import write_atomically
from rankgauge.rag.results import RetrievalResult
from rankgauge.render.html import as_html
from rankgauge.render.html.text import plain
from rankgauge.render.notebook.fragment import as_fragment, wrapped
from rankgauge.report.report import Report

MAX_EMBEDDED_BYTES = 2_000_000  # a notebook stores what it shows
DEFAULT_HEIGHT = 760


@dataclass(frozen=True, eq=False)
class Explorer:
    """A page as a notebook embeds it: its charts, and each query with its rankings.

    A page of more than 2 MB is not embedded, since the notebook would store it; ``save`` writes it to a file.
    """

    title: str
    page: str = field(repr=False)
    height: int = DEFAULT_HEIGHT  # of the frame, in pixels

    def save(self, path: str | Path) -> Path:
        """Write the page to a file."""
        with write_atomically(path) as out:
            out.write(self.page.encode("utf-8"))
        return Path(path)

    def _repr_html_(self) -> str:
        size = len(self.page.encode("utf-8"))
        if size > MAX_EMBEDDED_BYTES:
            limit = byte_size(MAX_EMBEDDED_BYTES)
            sentence = (
                f"The page has {byte_size(size)}, and a notebook embeds at most {limit}: write it with save(path)."
            )
            return as_fragment([sentence], "Explorer")
        # Scripts run with an origin of their own: they cannot read the notebook, its cookies or its storage.
        frame = (
            f'<iframe title="{escape(plain(self.title))}" sandbox="allow-scripts" allow="clipboard-write" '
            f'height="{int(self.height)}" srcdoc="{escape(self.page)}"></iframe>'
        )
        return wrapped(frame, "Explorer", "whole-page")


def explorer(result: Report | Comparison | RetrievalResult | History, *, height: int = DEFAULT_HEIGHT) -> Explorer:
    """The page of a result, for ``display`` in a notebook.

    A comparison needs its rankings: ``compare(…, reading=Reading(keep_rankings=True))``.
    """
    return Explorer(f"rankgauge: {_title(result)}", as_html(result), height)


def _title(result: Report | Comparison | RetrievalResult | History) -> str:
    if isinstance(result, Report):
        return result.title
    if isinstance(result, Comparison):
        return ", ".join(result.names)
    return result.scores.run if isinstance(result, RetrievalResult) else "history"
