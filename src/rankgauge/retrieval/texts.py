"""The texts of a corpus, found by id: one byte buffer, so that many small documents cost no more than their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from rankgauge.core.ids import Ids
from rankgauge.errors import InputError, shown
from rankgauge.retrieval.corpus.documents import Documents


class Texts:
    """Titles and texts of one corpus or of several; of two documents with the same id, the first."""

    def __init__(self, *corpora: Documents) -> None:
        self._places: dict[bytes, int] = {}
        parts: list[bytes] = []
        for document in chain.from_iterable(corpora):
            if document.id not in self._places:
                self._places[document.id] = len(parts)
                parts.append(document.whole.encode("utf-8", "surrogatepass"))
        self._texts = Ids.from_bytes(parts)

    def of(self, ids: Ids) -> Sequence[str]:
        """The text of each id; one that the corpus does not have is an error."""
        names = list(ids)
        stranger = next((name for name in names if name not in self._places), None)
        if stranger is not None:
            raise InputError(f"document {shown(stranger)} is not in the corpus")
        return [self._texts[self._places[name]].decode("utf-8", "surrogatepass") for name in names]
