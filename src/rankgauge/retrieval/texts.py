"""The texts of a corpus by id, in one byte buffer, so that many small documents cost no more than their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from rankgauge.core.ids import Ids
from rankgauge.errors import InputError, shown
from rankgauge.io.corpus.corpus import Corpus


class DocumentTexts:
    """Titles and texts of one or more corpora; of two documents with the same id, the first counts."""

    def __init__(self, *corpora: Corpus) -> None:
        self._rows: dict[bytes, int] = {}
        parts: list[bytes] = []
        for document in chain.from_iterable(corpora):
            if document.id not in self._rows:
                self._rows[document.id] = len(parts)
                parts.append(document.full_text.encode("utf-8", "surrogatepass"))
        self._texts = Ids.from_bytes(parts)

    def of(self, ids: Ids) -> Sequence[str]:
        """The text of each id; an id that is not in the corpus is an error."""
        names = list(ids)
        unknown_document = next((name for name in names if name not in self._rows), None)
        if unknown_document is not None:
            raise InputError(f"document {shown(unknown_document)} is not in the corpus")
        return [self._texts[self._rows[name]].decode("utf-8", "surrogatepass") for name in names]
