"""Split an iterable into lists of a fixed size; report how far a corpus is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from rankgauge.core.progress import phase
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument

Item = TypeVar("Item")


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of ``size`` items, the last one possibly shorter (itertools has this from Python 3.12 on)."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def reported_batches(name: str, corpus: Corpus, size: int) -> Iterator[list[CorpusDocument]]:
    """The documents of a corpus in lists, each reported when the next is asked for."""
    with phase(name, "document", corpus.size_estimate) as work:
        work.is_estimate = True
        for batch in batches(corpus, size):
            yield batch
            work.advance(len(batch))
